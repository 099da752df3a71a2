//! Drives a run: records what was decided, then performs what became owed, until nothing is.
//!
//! One driver owns a run; it holds the claim on the run's stream. What others append to the stream
//! (an answer from another terminal) is read before the next decision, because every append says
//! which version it follows.

mod carrying;
mod journal;
mod stop;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aurora_model::{QuestionId, RunId, RunOutcome, Timestamp};
use aurora_store::Store;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::approvals::{Queue, Registrar, Silence};
use crate::error::{Error, Result};
use crate::machine::{Command, Effect, Phase, Refused, State, owed};

pub use carrying::{carry_over, decide};
pub use journal::{Journal, Told, load, stream_of};
pub use stop::{Stop, Stopper, pair as stop_pair};

/// How long what is running may take to end after it was told to; then it is ended.
const LEAVE_LIMIT: Duration = Duration::from_secs(15);

/// What comes of performing an effect; nothing when there is nothing to tell, as where nobody is
/// there to be asked.
pub type Performed = Pin<Box<dyn Future<Output = Result<Option<Command>>> + Send>>;

/// The world as a run sees it: what is owed is performed there.
pub trait World: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Performs an effect that is recorded as owed. When `stop` says so, it ends early: an attempt
    /// is then told as interrupted, and everything that it started is gone.
    fn perform(&self, effect: &Effect, state: &Arc<State>, stop: Stop) -> Performed;

    /// Whoever puts the questions of runs into the queue; without one they are only in the run.
    fn registrar(&self) -> Option<Arc<Registrar>> {
        None
    }

    /// Sees what was recorded, after it was. It must not block for long.
    fn recorded(&self, told: &Told, state: &Arc<State>);
}

/// What a person does to a run while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Stop, so that it can be resumed.
    Interrupt {
        /// How it was said.
        by: String,
    },
    /// Stop at once.
    Kill,
}

/// Why a driver let go of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to do.
    Finished,
    /// Somebody stopped it; it can be resumed.
    Interrupted,
    /// It waits for answers that nobody here can give.
    Waiting,
}

/// Drives runs.
pub struct Driver {
    store: Arc<dyn Store>,
    world: Arc<dyn World>,
    /// Whether it stays while answers are missing that nobody here can give.
    stays: bool,
}

/// What is being performed.
struct Performing {
    /// Which time: what was given up may still be ending while the same is performed again.
    time: u64,
    stopper: Stopper,
    /// Whether it ended without anything to tell.
    idle: bool,
}

/// One run in the hands of its driver.
struct Hands {
    journal: Journal,
    tasks: JoinSet<(Effect, u64, Result<Option<Command>>)>,
    performing: BTreeMap<Effect, Performing>,
    /// How many effects were performed so far.
    times: u64,
    /// When what is still running is ended; nothing while nobody stopped the run.
    leave_at: Option<Instant>,
}

impl Driver {
    /// A driver for runs of this log in this world.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, world: Arc<dyn World>) -> Self {
        Self { store, world, stays: false }
    }

    /// The same, waiting for answers from elsewhere instead of letting go.
    #[must_use]
    pub fn staying(self, stays: bool) -> Self {
        Self { stays, ..self }
    }

    /// Begins or resumes a run and drives it as far as it goes.
    ///
    /// # Errors
    /// When the log cannot be written, another process drives the run, or the command does not fit.
    pub async fn drive(
        &self,
        run: &RunId,
        first: Command,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> Result<(Ended, Arc<State>)> {
        let _claim = self.store.claim(&stream_of(run)).await?;
        let journal = Journal::open(Arc::clone(&self.store), run).await?;
        let mut journal = journal.registering(self.world.registrar());
        // What happened before is known from the state; only what happens now is told.
        drop(journal.take_news());
        let mut hands = Hands {
            journal,
            tasks: JoinSet::new(),
            performing: BTreeMap::new(),
            times: 0,
            leave_at: None,
        };
        let outcome = self.go(&mut hands, first, signals).await;
        if outcome.is_err() {
            // What cannot be recorded must not go on.
            hands.stop_all();
            let _ = tokio::time::timeout(LEAVE_LIMIT, hands.drain()).await;
        }
        hands.tasks.shutdown().await;
        let (outcome, state) = (outcome?, hands.journal.state());
        if let Some(registrar) = self.world.registrar() {
            carrying::cancel_left(&registrar.queue, &state, self.world.now()).await;
        }
        Ok((outcome, state))
    }

    async fn go(
        &self,
        hands: &mut Hands,
        first: Command,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> Result<Ended> {
        let mut news = self.store.subscribe();
        let mut seen = news.position();
        if first == Command::Resume {
            // What was decided meanwhile is known before anything goes on.
            self.carry_all(hands).await?;
        }
        self.tell(hands, &first).await?;
        loop {
            self.perform_owed(hands);
            match self.is_over(hands) {
                Some(Ended::Waiting) if self.carry_all(hands).await? => continue,
                Some(ended) => return Ok(ended),
                None => {}
            }
            let leave_at = hands.leave_at;
            // In this order, so that a person is heard first and a replay takes the same turns.
            tokio::select! {
                biased;
                Some(signal) = signals.recv() => match signal {
                    Signal::Interrupt { by } => self.interrupt(hands, by).await?,
                    Signal::Kill => {
                        hands.tasks.shutdown().await;
                        self.interrupt(hands, "killed".to_owned()).await?;
                        return Ok(Ended::Interrupted);
                    }
                },
                () = reached(leave_at), if leave_at.is_some() => {
                    // Nothing is there any more, so that the next turn is the last.
                    hands.tasks.shutdown().await;
                }
                Some(done) = hands.tasks.join_next() => self.settle(hands, done).await?,
                true = news.past(seen) => {
                    let at = news.position();
                    seen = self.catch_up(hands, seen).await?.max(at);
                }
                else => return Ok(Ended::Waiting),
            }
        }
    }

    /// Whether the driver has nothing left to do here.
    fn is_over(&self, hands: &Hands) -> Option<Ended> {
        let state = hands.journal.state();
        match state.phase {
            // A run that was given up may have something going on, which leaves first.
            Phase::Finished(RunOutcome::Aborted) if !hands.tasks.is_empty() => return None,
            Phase::Finished(_) => return Some(Ended::Finished),
            Phase::Interrupted if hands.tasks.is_empty() => return Some(Ended::Interrupted),
            _ => {}
        }
        let waits = state.phase == Phase::Open
            && hands.performing.values().all(|one| one.idle)
            && hands.tasks.is_empty();
        (waits && !self.stays).then_some(Ended::Waiting)
    }

    /// Begins what became owed, and stops what no longer is.
    fn perform_owed(&self, hands: &mut Hands) {
        let state = hands.journal.state();
        let owed = owed(&state);
        if matches!(state.phase, Phase::Interrupted | Phase::Finished(_)) {
            hands.leave_at.get_or_insert_with(|| Instant::now() + LEAVE_LIMIT);
        }
        let known: BTreeSet<&Effect> = owed.iter().collect();
        hands.performing.retain(|effect, one| {
            let still = known.contains(effect);
            if !still {
                one.stopper.stop();
            }
            still
        });
        for effect in owed {
            if hands.performing.contains_key(&effect) {
                continue;
            }
            let (stopper, stop) = stop::pair();
            let performed = self.world.perform(&effect, &state, stop);
            hands.times += 1;
            let (key, time) = (effect.clone(), hands.times);
            hands.tasks.spawn(async move { (key, time, performed.await) });
            hands.performing.insert(effect, Performing { time, stopper, idle: false });
        }
    }

    /// Records what came of something that was performed.
    async fn settle(
        &self,
        hands: &mut Hands,
        done: std::result::Result<(Effect, u64, Result<Option<Command>>), JoinError>,
    ) -> Result<()> {
        let (effect, time, command) = done.map_err(|error| Error::Lost {
            what: format!("something of ours ended before it was done: {error}"),
        })?;
        let command = command?;
        let current = hands.performing.get_mut(&effect).filter(|one| one.time == time);
        match (command, current) {
            (Some(command), current) => {
                if current.is_some() {
                    hands.performing.remove(&effect);
                }
                self.tell(hands, &command).await
            }
            (None, Some(current)) => {
                current.idle = true;
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    async fn interrupt(&self, hands: &mut Hands, by: String) -> Result<()> {
        self.tell(hands, &Command::Interrupt { by }).await?;
        hands.stop_all();
        Ok(())
    }

    /// Records what a command leads to. One that comes too late changes nothing, and a question that
    /// has no such answer stays open, so that it is put again.
    async fn tell(&self, hands: &mut Hands, command: &Command) -> Result<()> {
        let first = matches!(command, Command::Start(_) | Command::Resume);
        let told = hands.journal.tell(command, self.world.now()).await;
        self.show(hands);
        match told {
            Err(Error::Refused(
                Refused::Stale { .. } | Refused::Answered { .. } | Refused::NoSuchChoice { .. },
            )) if !first => Ok(()),
            // An answer that does not count in the queue does not count in the run either.
            Err(Error::Request { .. }) if !first => Ok(()),
            told => told,
        }
    }

    /// Tells the run what was decided in the queue about these questions; whether there was anything
    /// to tell. What is being asked here right now is left to whoever asks.
    async fn carry(&self, hands: &mut Hands, ids: Vec<QuestionId>) -> Result<bool> {
        let Some(registrar) = self.world.registrar() else { return Ok(false) };
        let is_asked = |question: QuestionId| {
            let asked = hands.performing.get(&Effect::Ask { question });
            asked.is_some_and(|one| !one.idle)
        };
        let ids: Vec<QuestionId> = ids.into_iter().filter(|id| !is_asked(id.clone())).collect();
        let state = hands.journal.state();
        let told = carrying::decided(&registrar, &state, &ids, self.world.now()).await?;
        for command in &told {
            self.tell(hands, command).await?;
        }
        Ok(!told.is_empty())
    }

    async fn carry_all(&self, hands: &mut Hands) -> Result<bool> {
        let state = hands.journal.state();
        let ids = state.open_questions().map(|question| question.id.clone()).collect();
        self.carry(hands, ids).await
    }

    /// Reads what was appended after a position, to the run's stream or to its requests; returns the
    /// position up to which it did.
    async fn catch_up(&self, hands: &mut Hands, seen: u64) -> Result<u64> {
        let in_queue = self.world.registrar().is_some();
        let (ids, position) = match in_queue {
            true => carrying::touched(&self.store, hands.journal.run(), seen).await?,
            false => (BTreeSet::new(), seen),
        };
        let read = hands.journal.catch_up().await;
        self.show(hands);
        read?;
        self.carry(hands, ids.into_iter().collect()).await?;
        Ok(position)
    }

    fn show(&self, hands: &mut Hands) {
        let state = hands.journal.state();
        hands.journal.take_news().iter().for_each(|one| self.world.recorded(one, &state));
    }
}

impl Hands {
    fn stop_all(&self) {
        self.performing.values().for_each(|one| one.stopper.stop());
    }

    async fn drain(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Waits for a moment; for ever when there is none.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Answers a question of a run, interrupts it or gives it up from outside: recorded at once, whether
/// or not somebody drives it. Everything else is told by the run's driver only.
///
/// # Errors
/// When there is no such run or question, or it was answered before.
pub async fn answer(
    store: &Arc<dyn Store>,
    run: &RunId,
    command: &Command,
    now: Timestamp,
) -> Result<Arc<State>> {
    let outside = matches!(
        command,
        Command::Answer { .. }
            | Command::Closed { .. }
            | Command::Interrupt { .. }
            | Command::Abandon
    );
    if !outside {
        let what = format!("only what drives {run} can tell that");
        return Err(Refused::Unsound { what }.into());
    }
    let mut journal = Journal::open(Arc::clone(store), run).await?;
    if journal.state().phase == Phase::New {
        return Err(Error::NoRun { run: run.to_string() });
    }
    journal.tell(command, now).await?;
    let state = journal.state();
    // Nobody is told of it, and the time is the one that was given.
    let queue = Queue::new(Arc::clone(store), Arc::new(Silence), || Timestamp { unix_ms: 0 });
    carrying::cancel_left(&queue, &state, now).await;
    Ok(state)
}
