//! People in another terminal: they answer at the same time, twice, wrongly, or stop everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aurora_engine::Error;
use aurora_engine::approvals::{Queue, Saying};
use aurora_engine::driver::{self, Signal};
use aurora_engine::machine::{Asked, Command, Phase, Refused, State};
use aurora_model::{ApprovalState, Choice, Decider, DeciderKind, QuestionId, Surface, Timestamp};
use aurora_store::Store;
use tokio::sync::mpsc;

use crate::calls::late;
use crate::chance::Chance;
use crate::tasks::run;
use crate::watch::Watched;
use crate::world::{answer, going_on};

pub const NOW: Timestamp = Timestamp { unix_ms: 7 };

/// People who come by another door as long as a driver lives.
pub struct Elsewhere {
    pub store: Arc<dyn Store>,
    pub watch: Watched,
    pub chance: Chance,
    pub signals: mpsc::Sender<Signal>,
    pub mild: Arc<AtomicBool>,
    /// The queue, where questions are requests in it.
    pub queue: Option<Queue>,
}

impl Elsewhere {
    pub async fn go_on(mut self) {
        loop {
            let longest = if self.chance.one_in(3) { 20 } else { 2_000 };
            let pause = 1 + self.chance.below(longest);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let state = self.watch.lock().unwrap().state.clone();
            if state.phase == Phase::New {
                continue;
            }
            if self.mild.load(Ordering::Relaxed) {
                answer_all(&self.store, &self.watch).await;
                continue;
            }
            match self.chance.below(60) {
                0 => {
                    let _ = self.signals.try_send(Signal::Interrupt { by: "SIGINT".to_owned() });
                    if self.chance.one_in(3) {
                        let _ = self.signals.try_send(Signal::Kill);
                    }
                }
                1 => self.tell(&Command::Interrupt { by: "bob".to_owned() }).await,
                2 if self.chance.one_in(10) => self.tell(&Command::Abandon).await,
                3 => self.tell_what_only_a_driver_may().await,
                _ => self.answer_something(&state).await,
            }
        }
    }

    /// Something that may come too late.
    async fn tell(&self, command: &Command) {
        match driver::answer(&self.store, &run(), command, NOW).await {
            Ok(_) | Err(Error::Refused(Refused::Stale { .. })) => {}
            Err(error) => panic!("{command:?}: {error}"),
        }
    }

    async fn tell_what_only_a_driver_may(&self) {
        let told = driver::answer(&self.store, &run(), &Command::Resume, NOW).await;
        assert!(matches!(told, Err(Error::Refused(Refused::Unsound { .. }))));
    }

    async fn answer_something(&mut self, state: &State) {
        if self.chance.one_in(20) || state.questions.is_empty() {
            let nobody = answer(&QuestionId::parse("nobody").unwrap(), Choice::Skip, "bob");
            let told = driver::answer(&self.store, &run(), &nobody, NOW).await;
            assert!(matches!(told, Err(Error::Refused(Refused::Unknown { .. }))));
            return;
        }
        let open: Vec<_> = state.questions.iter().filter(|asked| asked.is_open()).collect();
        let all: Vec<_> = state.questions.iter().collect();
        let from = if open.is_empty() || self.chance.one_in(5) { &all } else { &open };
        let asked = *self.chance.pick(from);
        if self.chance.one_in(6) {
            return self.close(asked, state).await;
        }
        let choice = match self.chance.below(6) {
            0 => *self.chance.pick(&Choice::ALL),
            1 | 2 => *self.chance.pick(&asked.question.options),
            _ => going_on(&asked.question),
        };
        if self.chance.one_in(3) && self.queue.is_some() {
            return self.decide(asked, choice).await;
        }
        let command = answer(&asked.question.id, choice, "bob");
        let told = driver::answer(&self.store, &run(), &command, NOW).await;
        let finished = matches!(state.phase, Phase::Finished(_));
        match (&asked.answer, told) {
            (Some((_, who)), Err(Error::Refused(Refused::Answered { by, .. }))) => {
                assert_eq!(by, who.by, "the refusal names who was first");
            }
            // Somebody decided it in the queue, or what was answered does not count there.
            (None, Err(Error::Refused(Refused::Answered { .. }) | Error::Request { .. }))
                if self.queue.is_some() => {}
            (None, Ok(_)) if asked.closed.is_none() => {
                assert!(asked.question.options.contains(&choice) && !finished);
                let again = driver::answer(&self.store, &run(), &command, NOW).await;
                let Err(Error::Refused(Refused::Answered { by, .. })) = again else {
                    panic!("a second answer is taken");
                };
                assert_eq!(by, "bob");
            }
            (None, Err(Error::Refused(Refused::NoSuchChoice { .. }))) if asked.is_open() => {
                assert!(!asked.question.options.contains(&choice));
            }
            (None, Err(Error::Refused(Refused::Stale { .. }))) => {
                assert!(finished || asked.closed.is_some());
            }
            (answer, told) => panic!("{command:?} after {answer:?}: {told:?}"),
        }
    }
}

impl Elsewhere {
    /// Decides a request in the queue and tells the run nothing: its driver finds it.
    async fn decide(&self, asked: &Asked, choice: Choice) {
        let (queue, id) = (self.queue.as_ref().unwrap(), &asked.question.id);
        let Some(standing) = queue.load(id).await.unwrap() else { return };
        let saying = Saying {
            choice,
            by: Decider {
                name: "bob".to_owned(),
                kind: DeciderKind::Person,
                roles: Vec::new(),
                surface: Surface::Http,
            },
            seen: standing.request.digest.clone(),
            policy: standing.request.subject.policy.clone(),
            reason: Some("because".to_owned()),
        };
        let open = standing.state == ApprovalState::Pending;
        match queue.decide(id, &saying).await {
            Ok(_) => assert!(open && asked.question.options.contains(&choice)),
            Err(Error::Request { .. }) => {
                assert!(!open || !asked.question.options.contains(&choice));
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Time is over for a question; what was decided or closed before stays as it is.
    async fn close(&self, asked: &Asked, state: &State) {
        let late = driver::answer(&self.store, &run(), &late(&asked.question.id), NOW).await;
        let finished = matches!(state.phase, Phase::Finished(_));
        match late {
            Ok(_) => assert!(asked.is_open() && !finished),
            Err(Error::Refused(Refused::Answered { .. })) => {
                assert!(asked.answer.is_some() || self.queue.is_some());
            }
            Err(Error::Refused(Refused::Stale { .. })) => {
                assert!(finished || asked.closed.is_some());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Somebody answers everything that is open, so that the run gets on.
pub async fn answer_all(store: &Arc<dyn Store>, watch: &Watched) {
    let state = watch.lock().unwrap().state.clone();
    for question in state.open_questions() {
        let command = answer(&question.id, going_on(question), "eve");
        match driver::answer(store, &run(), &command, NOW).await {
            Ok(_) | Err(Error::Refused(_) | Error::Request { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
