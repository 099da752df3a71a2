//! A world of chance: attempts succeed, fail, hang and conflict; what may not happen is checked where
//! it would happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aurora_engine::approvals::Registrar;
use aurora_engine::driver::{Performed, Told};
use aurora_engine::machine::{Command, Effect, State, TaskStatus, owed};
use aurora_engine::{Error, Stop, World};
use aurora_model::{
    Answer, Answerer, AttemptEnd, Choice, Cost, Operation, Question, QuestionId, Reason, Span,
    TaskId, Timestamp,
};

use crate::calls::{self, Ledger};
use crate::chance::Chance;
use crate::faulty::{Fates, crash};
use crate::watch::Watched;

/// The attempts that are going on, each at its desk.
pub type Live = Arc<Mutex<BTreeMap<(TaskId, u32), u32>>>;

/// The world of one seed; it outlives every driver.
pub struct Sim {
    pub seed: u64,
    pub watch: Watched,
    pub fate: Fates,
    pub live: Live,
    /// Every attempt that was ever begun, with how often it had gone on after it was parked.
    begun: Mutex<BTreeSet<(TaskId, u32, usize)>>,
    /// What became of the calls of parked attempts.
    pub calls: Ledger,
    /// Whoever puts questions into the queue; nobody does in half of the worlds.
    pub registrar: Option<Arc<Registrar>>,
    /// Every attempt that ended well.
    went_well: Arc<Mutex<BTreeSet<(TaskId, u32)>>>,
    /// Which attempt of a task was taken over.
    adopted: Arc<Mutex<BTreeMap<TaskId, u32>>>,
    /// How often something was performed.
    pub performed: AtomicU64,
    /// From now on all goes well, and people want to get on.
    pub mild: Arc<AtomicBool>,
}

/// Gone from the world when it is dropped, however that comes.
pub struct Alive(Live, (TaskId, u32));

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.lock().unwrap().remove(&self.1);
    }
}

impl Sim {
    pub fn new(seed: u64, watch: Watched, fate: Fates) -> Self {
        Self {
            seed,
            watch,
            fate,
            live: Live::default(),
            begun: Mutex::default(),
            calls: Ledger::default(),
            registrar: None,
            went_well: Arc::default(),
            adopted: Arc::default(),
            performed: AtomicU64::new(0),
            mild: Arc::default(),
        }
    }

    pub fn is_mild(&self) -> bool {
        self.mild.load(Ordering::Relaxed)
    }

    /// Nothing is performed that was not recorded first.
    fn was_recorded(&self, effect: &Effect, state: &State) {
        if let Effect::Check { task, attempt, .. } | Effect::Adopt { task, attempt, .. } = effect {
            let well = self.went_well.lock().unwrap().contains(&(task.clone(), *attempt));
            assert!(well, "{effect:?}: the attempt did not end well");
        }
        let watch = self.watch.lock().unwrap();
        assert_eq!(*watch.state_at(state.version), *state, "the log tells another state");
        assert!(owed(state).contains(effect), "{effect:?} is not owed");
    }

    pub fn begins(&self, task: &TaskId, attempt: u32, desk: u32, state: &State) -> Alive {
        let most = state.brief.as_ref().unwrap().settings.max_parallel.max(1);
        assert!(!self.adopted.lock().unwrap().contains_key(task), "{task} is done again");
        let part = self.watch.lock().unwrap().parts(task, attempt, state.version);
        let new = self.begun.lock().unwrap().insert((task.clone(), attempt, part));
        assert!(new, "attempt {attempt} of {task} is begun twice");
        let mut live = self.live.lock().unwrap();
        assert!(!live.keys().any(|(one, _)| one == task), "{task} is alive: {live:?}");
        assert!(!live.values().any(|one| *one == desk), "desk {desk} is in use: {live:?}");
        assert!((live.len() as u64) < u64::from(most), "too many at once: {live:?}");
        live.insert((task.clone(), attempt), desk);
        Alive(Arc::clone(&self.live), (task.clone(), attempt))
    }

    /// What was taken over in the world is what the log says, once everything is recorded.
    pub fn agrees(&self) {
        self.calls.agree(&self.watch);
        let watch = self.watch.lock().unwrap();
        let adopted = self.adopted.lock().unwrap();
        for task in watch.state.tasks.iter() {
            let done = matches!(task.status, TaskStatus::Completed { .. });
            let last = task.attempts.last().map(|one| one.number);
            if done {
                assert_eq!(adopted.get(task.id()), last.as_ref(), "{} was not done", task.id());
            } else if watch.state.phase
                != aurora_engine::machine::Phase::Finished(aurora_model::RunOutcome::Aborted)
            {
                assert!(!adopted.contains_key(task.id()), "{} was done unnoticed", task.id());
            }
        }
    }

    fn outcome(&self, effect: &Effect, state: &State) -> (u64, Option<Command>) {
        let turn = self.performed.load(Ordering::Relaxed);
        let mut chance = match effect {
            // Who is asked again may answer in another way.
            Effect::Ask { .. } => Chance::of(self.seed, &format!("{effect:?} {turn}")),
            // Who goes on may end in another way than by waiting again.
            Effect::Attempt { task, attempt, .. } => {
                let part = self.watch.lock().unwrap().parts(task, *attempt, state.version);
                Chance::of(self.seed, &format!("{effect:?} {part}"))
            }
            _ => Chance::of(self.seed, &format!("{effect:?}")),
        };
        let millis = if chance.one_in(8) { 5_000 } else { chance.below(50) };
        let command = match effect {
            Effect::Ask { question } => ask(self, state, question, &mut chance),
            // It is made or refused when its time comes.
            Effect::Settle { .. } => None,
            Effect::WritePlan => Some(Command::PlanWritten { path: "plans/1".to_owned() }),
            Effect::Judge { task } => {
                let (decision, reasons) = judge(&mut chance, self.is_mild());
                Some(Command::Judged { task: task.clone(), decision, reasons, needs_person: false })
            }
            Effect::Attempt { task, attempt, .. } => {
                if chance.one_in(if self.is_mild() { 9 } else { 3 }) {
                    let calls = 1 + chance.below(3);
                    Some(calls::parked(task, *attempt, calls, &mut chance))
                } else {
                    Some(over(task, *attempt, end(&mut chance, self.is_mild()), millis))
                }
            }
            Effect::Check { task, attempt, .. } => {
                let (decision, reasons) = judge(&mut chance, self.is_mild());
                let (task, attempt, result) = (task.clone(), *attempt, None);
                let (files, lines) = (chance.below(9), chance.below(99));
                Some(Command::ChangesJudged {
                    task,
                    attempt,
                    decision,
                    reasons,
                    files,
                    lines,
                    paths: vec!["~ x".to_owned()],
                    place: None,
                    result,
                    needs_person: false,
                })
            }
            Effect::Adopt { task, attempt, .. } => Some(adopt(self, task, *attempt, &mut chance)),
        };
        (millis, command)
    }
}

pub fn over(task: &TaskId, attempt: u32, end: AttemptEnd, millis: u64) -> Command {
    let (task, cost, transcript, base) = (task.clone(), Cost::default(), None, None);
    let noticed = Vec::new();
    Command::AttemptOver { task, attempt, end, cost, millis, transcript, base, noticed }
}

fn judge(chance: &mut Chance, mild: bool) -> (Answer, Vec<Reason>) {
    let decision = match chance.below(10) {
        0 | 1 => Answer::Ask,
        2 if !mild => Answer::Deny,
        _ => return (Answer::Allow, Vec::new()),
    };
    let reason = Reason {
        answer: decision,
        operation: Operation::None,
        rule: "rules.x".to_owned(),
        message: "it is risky".to_owned(),
        span: Span { start: 0, end: 0 },
        instead: None,
        origin: "built-in defaults".to_owned(),
    };
    (decision, vec![reason])
}

fn end(chance: &mut Chance, mild: bool) -> AttemptEnd {
    match chance.below(if mild { 20 } else { 10 }) {
        0 | 1 => AttemptEnd::Failed { error: "broken".to_owned() },
        2 => AttemptEnd::TimedOut { seconds: 120 },
        3 => AttemptEnd::OverBudget { error: "too dear".to_owned() },
        _ => AttemptEnd::Succeeded { summary: "did it".to_owned() },
    }
}

fn adopt(sim: &Sim, task: &TaskId, attempt: u32, chance: &mut Chance) -> Command {
    let mut adopted = sim.adopted.lock().unwrap();
    // What was taken over and not told is taken over: saying it again is the same as once.
    if !adopted.contains_key(task) && chance.one_in(5) {
        let (task, error, conflicts) = (task.clone(), "conflict in x".to_owned(), Vec::new());
        return Command::NotAdopted { task, attempt, error, conflicts };
    }
    let before = adopted.insert(task.clone(), attempt);
    assert!(before.is_none_or(|before| before == attempt), "{task} is taken over twice");
    Command::Adopted {
        task: task.clone(),
        attempt,
        checkpoint: None,
        changed: Vec::new(),
        noticed: Vec::new(),
    }
}

/// The answer of somebody who wants to get on.
pub fn going_on(question: &Question) -> Choice {
    let good = [Choice::Proceed, Choice::Allow, Choice::Skip];
    *good.iter().find(|choice| question.options.contains(choice)).unwrap()
}

pub fn answer(question: &QuestionId, choice: Choice, by: &str) -> Command {
    let answerer = Answerer { by: by.to_owned(), surface: "terminal".to_owned(), reason: None };
    Command::Answer { question: question.clone(), choice, answerer }
}

fn ask(sim: &Sim, state: &State, id: &QuestionId, chance: &mut Chance) -> Option<Command> {
    let question = &state.question(id).unwrap().question;
    let choice = match chance.below(20) {
        _ if sim.is_mild() => going_on(question),
        0..5 => return None,
        5 => return Some(calls::late(id)),
        6 | 7 => *chance.pick(&Choice::ALL),
        8..14 => *chance.pick(&question.options),
        _ => going_on(question),
    };
    Some(answer(id, choice, "ann"))
}

impl World for Sim {
    fn now(&self) -> Timestamp {
        let turn = self.performed.load(Ordering::Relaxed);
        Timestamp { unix_ms: i64::try_from(turn).unwrap() }
    }

    fn perform(&self, effect: &Effect, state: &Arc<State>, mut stop: Stop) -> Performed {
        self.was_recorded(effect, state);
        self.performed.fetch_add(1, Ordering::Relaxed);
        let alive = match effect {
            Effect::Attempt { task, attempt, desk } => {
                Some(self.begins(task, *attempt, *desk, state))
            }
            _ => None,
        };
        let power = self.fate.lock().unwrap().next_effect();
        let fate = Arc::clone(&self.fate);
        let mut chance = Chance::of(self.seed, &format!("{effect:?} stop"));
        let (stubborn, broken) = (chance.one_in(15), chance.one_in(80) && !self.is_mild());
        let interrupted = match effect {
            Effect::Attempt { task, attempt, .. } => {
                let kept = calls::kept(task, *attempt, &mut chance);
                kept.or_else(|| Some(over(task, *attempt, AttemptEnd::Interrupted {}, 1)))
            }
            _ => None,
        };
        // What is done is done when it ends; only what is waited for can be given up.
        let waits = matches!(effect, Effect::Attempt { .. } | Effect::Ask { .. });
        let (millis, command) = self.outcome(effect, state);
        let went_well = Arc::clone(&self.went_well);
        let call = match effect {
            Effect::Settle { task, question, .. } => Some((task.clone(), question.clone())),
            _ => None,
        };
        let (ledger, watch) = (Arc::clone(&self.calls), Arc::clone(&self.watch));
        let state = Arc::clone(state);
        Box::pin(async move {
            let _alive = alive;
            if power == Some(false) {
                crash(&fate).await;
            }
            let settled = match call {
                Some(call) => {
                    let (fate, fortune) = (Arc::clone(&fate), (power, millis));
                    Some(calls::settle(ledger, watch, fate, call, state, fortune).await)
                }
                None => None,
            };
            let command = settled.or(command);
            let work = tokio::time::sleep(Duration::from_millis(millis));
            let command = tokio::select! {
                biased;
                () = stop.asked(), if waits => {
                    if stubborn {
                        tokio::time::sleep(Duration::from_secs(3600)).await;
                    }
                    interrupted
                }
                () = work => command,
            };
            if let Some(Command::AttemptOver { task, attempt, end, .. }) = &command
                && matches!(end, AttemptEnd::Succeeded { .. })
            {
                went_well.lock().unwrap().insert((task.clone(), *attempt));
            }
            if power == Some(true) {
                crash(&fate).await;
            }
            if broken {
                return Err(Error::Lost { what: "the world broke".to_owned() });
            }
            Ok(command)
        })
    }

    fn registrar(&self) -> Option<Arc<Registrar>> {
        self.registrar.clone()
    }

    fn recorded(&self, told: &Told, state: &Arc<State>) {
        let watch = self.watch.lock().unwrap();
        let at = usize::try_from(told.version).unwrap() - 1;
        assert_eq!(watch.log[at], told.event, "the log has something else there");
        if told.version == state.version {
            assert_eq!(*watch.state_at(state.version), **state, "the log tells another state");
        }
    }
}
