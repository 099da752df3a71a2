//! One run through as many lives of its driver as it takes, until it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aurora_engine::approvals::{Queue, Registrar, Silence};
use aurora_engine::driver::Driver;
use aurora_engine::machine::{Command, Phase};
use aurora_engine::{Ended, Error};
use aurora_gate::approval::Rules;
use aurora_model::{ApprovalState, Brief, Digest};
use aurora_store::Store;
use tokio::sync::mpsc;

use crate::chance::Chance;
use crate::elsewhere::{Elsewhere, NOW, answer_all};
use crate::faulty::{Fate, Faulty, Mishap};
use crate::tasks::run;
use crate::world::Sim;

/// Nothing in a simulated life takes longer; whatever does, is stuck.
const TOO_LONG: Duration = Duration::from_secs(1_000_000);

/// A run, its log and its world.
pub struct Story {
    pub brief: Brief,
    pub store: Faulty,
    pub sim: Arc<Sim>,
    pub chance: Chance,
    pub lives: u64,
    /// Whether people elsewhere meddle.
    pub meddling: bool,
}

/// What all lives of a run came to.
#[derive(Default)]
pub struct Sum {
    pub lives: u64,
    pub appends: u64,
    pub effects: u64,
}

impl Story {
    pub fn new(seed: u64, brief: Brief, meddling: bool) -> Self {
        let store = Faulty::new();
        let fate = Arc::clone(store.fate.as_ref().unwrap());
        let mut sim = Sim::new(seed, Arc::clone(&store.watch), fate);
        if (seed / 2).is_multiple_of(2) {
            sim.registrar = Some(Arc::new(registrar(Arc::new(store.clone()))));
        }
        let sim = Arc::new(sim);
        Self { brief, store, sim, chance: Chance::new(seed), lives: 0, meddling }
    }

    pub fn phase(&self) -> Phase {
        self.store.watch.lock().unwrap().state.phase
    }

    /// Lives on until the run has ended, and checks that it ended right.
    pub async fn go_on_until_it_ends(&mut self, mut fate: impl FnMut(&mut Self) -> Fate) -> Sum {
        while !matches!(self.phase(), Phase::Finished(_)) {
            self.lives += 1;
            assert!(self.lives < 500, "the run does not end");
            let asked = self.store.watch.lock().unwrap().state.questions.len();
            if self.lives > 40 || asked > 60 {
                self.sim.mild.store(true, Ordering::Relaxed);
            }
            let fate = fate(self);
            self.live(fate).await;
        }
        self.sim.agrees();
        let sum = self.sum();
        let whole = aurora_store::verify(&self.store.inner, None).await.unwrap();
        assert!(whole.is_whole(), "{:?}", whole.findings);
        let recorded = self.store.watch.lock().unwrap().log.len() as u64;
        match &self.sim.registrar {
            Some(registrar) => self.queue_agrees(&registrar.queue).await,
            None => assert_eq!(whole.position, recorded),
        }
        sum
    }

    /// The queue tells the same story as the run.
    async fn queue_agrees(&self, queue: &Queue) {
        let state = self.store.watch.lock().unwrap().state.clone();
        for asked in state.questions.iter() {
            let id = &asked.question.id;
            let Some(standing) = queue.load(id).await.unwrap() else {
                // Whoever answers elsewhere puts nothing into the queue.
                assert!(self.meddling, "{id} is not in the queue");
                continue;
            };
            let decided = standing.decision.as_ref().map(|decision| decision.choice);
            match (&asked.answer, &asked.closed) {
                (Some((choice, _)), _) => assert_eq!(decided, Some(*choice), "{id}"),
                (None, Some(_)) => assert!(standing.state != ApprovalState::Pending, "{id}"),
                // What is left open is cancelled where there is time for it.
                (None, None) => assert!(matches!(self.phase(), Phase::Finished(_))),
            }
        }
    }

    /// Checks the end, and says what all lives came to.
    fn sum(&self) -> Sum {
        let watch = self.store.watch.lock().unwrap();
        watch.ends();
        let effects = self.sim.performed.load(Ordering::Relaxed);
        Sum { lives: self.lives, appends: watch.appends, effects }
    }

    /// One life of a driver, until it lets go or the power goes off.
    async fn live(&mut self, fate: Fate) {
        let crash = Arc::clone(&fate.crash);
        let mishap = fate.append.map(|(_, mishap)| mishap);
        *self.sim.fate.lock().unwrap() = fate;
        let first = match self.phase() {
            Phase::New => Command::Start(Box::new(self.brief.clone())),
            _ => Command::Resume,
        };
        let (sender, mut signals) = mpsc::channel(4);
        let stays = self.meddling && self.chance.one_in(2);
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let world: Arc<dyn aurora_engine::World> = self.sim.clone();
        let driver = Driver::new(store, world).staying(stays);
        let meddler = self.meddling.then(|| {
            let (store, signals) = (self.store.other_door(), sender.clone());
            let chance = Chance::new(self.chance.next());
            let (watch, mild) = (Arc::clone(&self.store.watch), Arc::clone(&self.sim.mild));
            let queue = self.sim.registrar.as_ref().map(|_| registrar(Arc::clone(&store)).queue);
            tokio::spawn(Elsewhere { store, watch, chance, signals, mild, queue }.go_on())
        });
        let run = run();
        let ended = tokio::select! {
            biased;
            () = crash.notified() => None,
            ended = driver.drive(&run, first, &mut signals) => Some(ended),
            () = tokio::time::sleep(TOO_LONG) => panic!("stuck: {:#?}", self.store.watch.lock().unwrap().state),
        };
        if let Some(meddler) = meddler {
            meddler.abort();
            match meddler.await {
                Err(error) if error.is_cancelled() => {}
                Err(error) => std::panic::resume_unwind(error.into_panic()),
                Ok(()) => {}
            }
        }
        match ended {
            None => self.is_gone().await,
            Some(ended) => {
                self.nothing_lives();
                self.let_go(ended, mishap).await;
            }
        }
    }

    /// What a driver that let go said is so.
    async fn let_go(
        &self,
        ended: aurora_engine::Result<(Ended, Arc<aurora_engine::machine::State>)>,
        mishap: Option<Mishap>,
    ) {
        match ended {
            Ok((Ended::Finished, _)) => assert!(matches!(self.phase(), Phase::Finished(_))),
            Ok((Ended::Interrupted, state)) => assert_ne!(state.phase, Phase::Open),
            Ok((Ended::Waiting, state)) => {
                assert!(state.open_questions().next().is_some(), "nobody knows what it waits for");
                answer_all(&self.store.other_door(), &self.store.watch).await;
            }
            Err(Error::Store(error)) => {
                let told = matches!(mishap, Some(Mishap::Full | Mishap::Broken | Mishap::Lost));
                assert!(told, "{error}");
            }
            Err(Error::Lost { what }) if what == "the world broke" => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// When a driver has let go, nothing that it began goes on.
    fn nothing_lives(&self) {
        let live = self.sim.live.lock().unwrap();
        assert!(live.is_empty(), "left behind: {live:?}");
    }

    /// The power is off: what was going on is gone with it.
    async fn is_gone(&self) {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.nothing_lives();
    }
}

/// Whoever puts questions into the queue of a log.
pub fn registrar(store: Arc<dyn Store>) -> Registrar {
    Registrar {
        queue: Queue::new(store, Arc::new(Silence), || NOW),
        rules: Arc::new(Rules::default()),
        policy: Digest::of_bytes([7; 32]),
        project: "/w".to_owned(),
    }
}

/// A clock that jumps, and one thread: the same seed is the same story.
pub fn in_a_quiet_place<T>(story: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(story)
}
