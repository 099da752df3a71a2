//! The timekeeper: sleeps until a request has something coming, and lets the clock say it.
//!
//! Nothing that it knows is needed by anybody: what is due stands in the log, so whoever starts next
//! says it, and when several run, the log lets each thing be said once.

use std::collections::HashMap;
use std::sync::Arc;

use aurora_gate::approval::{Command, decide};
use aurora_model::{QuestionId, Timestamp};
use aurora_store::{Append, Mark, Marked, StreamId};
use tokio::task::JoinHandle;

use super::clock::{Clock, SystemClock};
use super::{PREFIX, Queue};
use crate::error::{Error, Result};

/// So many requests are woken at once, and then it is others' turn.
const BATCH: usize = 200;
/// So often others may be first before each request is woken on its own.
const OVERTAKEN: u32 = 3;
/// After so long it is tried again what could not be done, in milliseconds.
const AGAIN_MS: i64 = 60_000;
/// After so long a log is asked again that could not be read, in milliseconds.
const TROUBLE_MS: i64 = 5_000;

/// Whoever is told what went wrong.
pub type Listener = Arc<dyn Fn(&Error) + Send + Sync>;

/// Somebody who wakes what is due, as long as it lives.
#[derive(Debug)]
pub struct Timekeeper {
    task: JoinHandle<()>,
}

impl Timekeeper {
    /// Begins to wake what is due in a queue, by the clock of the system, and tells nobody what goes
    /// wrong. Must be called where a runtime is.
    #[must_use]
    pub fn start(queue: Queue) -> Self {
        Self::start_with(queue, Arc::new(SystemClock), Arc::new(|_| {}))
    }

    /// Begins to wake what is due in a queue, by this clock. It must be the queue's own.
    #[must_use]
    pub fn start_with(queue: Queue, clock: Arc<dyn Clock>, told: Listener) -> Self {
        Self { task: tokio::spawn(keep(queue, clock, told)) }
    }

    /// Whether it has ended: that happens only when the log is gone.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Timekeeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What was due and could not be woken, with the mark by which it was found. Nobody waits for it; it
/// is tried again after a while.
#[derive(Debug, Default)]
struct Aside {
    marks: HashMap<StreamId, Mark>,
    again_at: Option<Timestamp>,
    /// How often others were first, one time after the other.
    overtaken: u32,
}

impl Aside {
    fn put(&mut self, marked: &Marked, now: Timestamp) {
        self.marks.insert(marked.stream.clone(), marked.mark.clone());
        self.again_at.get_or_insert(later(now, AGAIN_MS));
    }

    fn holds(&self, marked: &Marked) -> bool {
        self.marks.get(&marked.stream) == Some(&marked.mark)
    }

    /// Lets everything be tried again when its time has come, or when time went back.
    fn look(&mut self, now: Timestamp) {
        let far = later(now, AGAIN_MS);
        if self.again_at.is_some_and(|at| at <= now || at > far) {
            *self = Self::default();
        }
    }
}

async fn keep(queue: Queue, clock: Arc<dyn Clock>, told: Listener) {
    let mut news = queue.store().subscribe();
    let mut aside = Aside::default();
    loop {
        let seen = news.position();
        let now = queue.now();
        aside.look(now);
        let wake_at = match queue.round(&mut aside, &told).await {
            Ok(Round::More) => {
                tokio::task::yield_now().await;
                continue;
            }
            Ok(Round::Done { wake_at }) => [wake_at, aside.again_at].into_iter().flatten().min(),
            Err(error) => {
                told(&error);
                Some(later(now, TROUBLE_MS))
            }
        };
        let sleeps = async {
            match wake_at {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            there = news.past(seen) => if !there { return },
            () = sleeps => {}
        }
    }
}

/// What one round came to.
enum Round {
    /// Something was woken, and more may be due.
    More,
    /// Nothing is due.
    Done {
        /// When something will be.
        wake_at: Option<Timestamp>,
    },
}

impl Queue {
    /// Says everything that the clock has to say by now, for a command that does not stay. What cannot
    /// be woken is left to whoever asks for it by name.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub async fn catch_up_clock(&self) -> Result<()> {
        let mut aside = Aside::default();
        let told: Listener = Arc::new(|_| {});
        while let Round::More = self.round(&mut aside, &told).await? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Wakes some of what is due.
    async fn round(&self, aside: &mut Aside, told: &Listener) -> Result<Round> {
        let now = self.now();
        let Some(first) = self.next(aside).await? else {
            return Ok(Round::Done { wake_at: None });
        };
        if first > now {
            return Ok(Round::Done { wake_at: Some(first) });
        }
        let due = self.store().due(now, BATCH + aside.marks.len()).await?;
        let due: Vec<Marked> = due.into_iter().filter(|one| !aside.holds(one)).collect();
        if self.wake_together(&due, now, aside, told).await? {
            aside.overtaken = 0;
            return Ok(Round::More);
        }
        // Whoever wrote first has mostly done our work: look again at what is left of it.
        aside.overtaken += 1;
        if aside.overtaken > OVERTAKEN {
            aside.overtaken = 0;
            for marked in &due {
                self.wake_alone(marked, now, aside, told).await?;
            }
        }
        Ok(Round::More)
    }

    /// When something will be due that was not put aside.
    async fn next(&self, aside: &Aside) -> Result<Option<Timestamp>> {
        if aside.marks.is_empty() {
            return Ok(self.store().next_wake().await?);
        }
        let ever = Timestamp { unix_ms: i64::MAX };
        let first = self.store().due(ever, aside.marks.len() + 1).await?;
        let mut first = first.iter().filter(|one| !aside.holds(one));
        Ok(first.find_map(|one| one.mark.wake_at))
    }

    /// Wakes all of these in one write; false when somebody else wrote one of them first.
    async fn wake_together(
        &self,
        due: &[Marked],
        now: Timestamp,
        aside: &mut Aside,
        told: &Listener,
    ) -> Result<bool> {
        let mut appends = Vec::new();
        for marked in due {
            match self.waking(marked, now).await {
                Ok(Some(append)) => appends.push(append),
                Ok(None) => aside.put(marked, now),
                Err(error) => give_up(marked, error, now, aside, told)?,
            }
        }
        if appends.is_empty() {
            return Ok(true);
        }
        match self.store().append_all(appends).await {
            Ok(_) => Ok(true),
            Err(aurora_store::Error::Conflict { .. } | aurora_store::Error::Refused { .. }) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What the clock has to say to a request now.
    async fn waking(&self, marked: &Marked, now: Timestamp) -> Result<Option<Append>> {
        let Some(id) = id_of(&marked.stream) else { return Ok(None) };
        let standing = self.load(&id).await?;
        let events = decide(standing.as_ref(), &Command::Wake, now).unwrap_or_default();
        if events.is_empty() {
            return Ok(None);
        }
        self.following(&id, standing.as_ref(), &events, now).map(Some)
    }

    async fn wake_alone(
        &self,
        marked: &Marked,
        now: Timestamp,
        aside: &mut Aside,
        told: &Listener,
    ) -> Result<()> {
        let Some(id) = id_of(&marked.stream) else { return Ok(()) };
        match self.tell(&id, &Command::Wake).await {
            Ok(_) => Ok(()),
            Err(error) => give_up(marked, error, now, aside, told),
        }
    }
}

/// One request that cannot be woken keeps none of the others waiting; a log that cannot be written
/// does.
fn give_up(
    marked: &Marked,
    error: Error,
    now: Timestamp,
    aside: &mut Aside,
    told: &Listener,
) -> Result<()> {
    let of_this_one = match &error {
        Error::Store(error) => matches!(error, aurora_store::Error::Refused { .. }),
        _ => true,
    };
    if !of_this_one {
        return Err(error);
    }
    told(&error);
    aside.put(marked, now);
    Ok(())
}

fn id_of(stream: &StreamId) -> Option<QuestionId> {
    stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse)
}

fn later(moment: Timestamp, ms: i64) -> Timestamp {
    Timestamp { unix_ms: moment.unix_ms.saturating_add(ms) }
}
