//! The one durable queue of everything that waits for a person.
//!
//! A request is a stream of its own, so that deciding it costs the same however much else is in the
//! log, and every edge of its life is a compare-and-set on that stream.

pub mod autonomy;
mod batch;
pub mod clock;
mod id;
mod page;
pub mod register;
mod timekeeper;

use std::sync::Arc;

use aurora_gate::approval::{Command, Refused, Standing, apply, decide, next_wake};
use aurora_model::{
    ApprovalEvent, ApprovalState, Choice, Decider, Digest, QuestionId, Request, Timestamp,
};
use aurora_store::{Append, Expected, Mark, NewRecord, Outgoing, Record, Store, StreamId};

use crate::error::{Error, Result};

pub use clock::{Clock, SystemClock};
pub use id::fresh_id;
pub use page::{Filter, Page};
pub use register::Registrar;
pub use timekeeper::{Listener, Timekeeper};

/// What the names of the streams begin with.
pub const PREFIX: &str = "approval/";
/// Which shape the payload of an event has.
const SCHEMA: u16 = 1;
/// How many records are read at once.
const BATCH: usize = 1000;
/// How often a decision is made again because somebody else wrote first.
const MAX_RETRIES: usize = 10_000;

/// Says who is told what happened to a request. It must not block.
pub trait Notices: Send + Sync {
    /// The messages that leave together with these events; `first` is the version of the first.
    fn notices(&self, standing: &Standing, events: &[ApprovalEvent], first: u64) -> Vec<Outgoing>;
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silence;

impl Notices for Silence {
    fn notices(&self, _: &Standing, _: &[ApprovalEvent], _: u64) -> Vec<Outgoing> {
        Vec::new()
    }
}

/// The queue.
#[derive(Clone)]
pub struct Queue {
    store: Arc<dyn Store>,
    notices: Arc<dyn Notices>,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// What somebody decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The option.
    pub choice: Choice,
    /// Who.
    pub by: Decider,
    /// The digest of what they saw.
    pub seen: Digest,
    /// The digest of the policy in force.
    pub policy: Digest,
    /// Why.
    pub reason: Option<String>,
}

/// The stream of a request.
#[must_use]
pub fn stream_of(id: &QuestionId) -> StreamId {
    StreamId(format!("{PREFIX}{id}"))
}

impl Queue {
    /// The queue of a log.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        notices: Arc<dyn Notices>,
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self { store, notices, now: Arc::new(now) }
    }

    /// The log.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// How a request stands; nothing when there is none.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn load(&self, id: &QuestionId) -> Result<Option<Standing>> {
        self.read_on(id, None).await
    }

    /// How a request stands, when it is known how it stood before.
    async fn read_on(
        &self,
        id: &QuestionId,
        mut standing: Option<Standing>,
    ) -> Result<Option<Standing>> {
        let stream = stream_of(id);
        loop {
            let known = standing.as_ref().map_or(0, |standing| standing.records);
            let records = self.store.read(&stream, known, BATCH).await?;
            standing = follow(standing, &records)?;
            if records.len() < BATCH {
                return Ok(standing);
            }
        }
    }

    /// Everything that happened to a request, in order.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn history(&self, id: &QuestionId) -> Result<Vec<(Timestamp, ApprovalEvent)>> {
        let stream = stream_of(id);
        let mut all = Vec::new();
        loop {
            let records = self.store.read(&stream, all.len() as u64, BATCH).await?;
            for record in &records {
                all.push((record.at, event_of(record)?));
            }
            if records.len() < BATCH {
                return Ok(all);
            }
        }
    }

    /// What puts a request into the queue, to be appended together with what led to it.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn opening(&self, request: &Request) -> Result<Append> {
        let event = ApprovalEvent::Requested { request: Box::new(request.clone()) };
        self.following(&request.id, None, &[event], request.asked_at)
    }

    /// Puts a request into the queue; one that is there already stays as it is.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub async fn open(&self, request: &Request) -> Result<Standing> {
        match self.store.append(self.opening(request)?).await {
            Ok(_) | Err(aurora_store::Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let lost = || Error::Lost { what: format!("{} is not in the queue", request.id) };
        self.load(&request.id).await?.ok_or_else(lost)
    }

    /// Tells a request something, after what the clock has to say to it.
    ///
    /// # Errors
    /// When it is refused, or the log cannot be written.
    pub async fn tell(&self, id: &QuestionId, command: &Command) -> Result<Standing> {
        let mut standing = None;
        for _ in 0..MAX_RETRIES {
            // Whoever was overtaken reads only by what: a crowd costs each of them a line or two.
            standing = self.read_on(id, standing).await?;
            let now = self.now();
            let clock = decide(standing.as_ref(), &Command::Wake, now).unwrap_or_default();
            let by_clock = !clock.is_empty();
            let events = match by_clock {
                true => clock,
                false => decide(standing.as_ref(), command, now)
                    .map_err(|refused| refusal(id, refused))?,
            };
            if !events.is_empty() {
                let append = self.following(id, standing.as_ref(), &events, now)?;
                match self.store.append(append).await {
                    Ok(_) => standing = fold(standing, &events, now),
                    Err(aurora_store::Error::Conflict { .. }) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            if !by_clock || *command == Command::Wake {
                return standing.ok_or_else(|| refusal(id, Refused::Unknown));
            }
        }
        Err(Error::Lost { what: format!("{id} is written by others all the time") })
    }

    /// Decides a request. Whoever comes second is told who was first.
    ///
    /// # Errors
    /// When it is refused, or the log cannot be written.
    pub async fn decide(&self, id: &QuestionId, saying: &Saying) -> Result<Standing> {
        let Saying { choice, by, seen, policy, reason } = saying.clone();
        self.tell(id, &Command::Decide { choice, by, seen, policy, reason }).await
    }

    /// Waits until a request is not pending any more.
    ///
    /// # Errors
    /// When the log cannot be read, or there is no such request.
    pub async fn closed(&self, id: &QuestionId) -> Result<Standing> {
        let mut news = self.store.subscribe();
        let mut known = None;
        loop {
            let seen = news.position();
            let standing = self.read_on(id, known).await?;
            let standing = standing.ok_or_else(|| refusal(id, Refused::Unknown))?;
            if standing.state != ApprovalState::Pending {
                return Ok(standing);
            }
            known = Some(standing);
            if !news.past(seen).await {
                return Err(Error::Lost { what: "the log is gone".to_owned() });
            }
        }
    }

    /// The append of what follows a standing.
    fn following(
        &self,
        id: &QuestionId,
        standing: Option<&Standing>,
        events: &[ApprovalEvent],
        now: Timestamp,
    ) -> Result<Append> {
        let version = standing.map_or(0, |standing| standing.records);
        // Time never goes back for a request, whatever the clock was set to.
        let now = standing.map_or(now, |standing| now.max(standing.last_at));
        let after = fold(standing.cloned(), events, now);
        let mark = after.as_ref().map(mark_of);
        let outgoing = after
            .map(|after| self.notices.notices(&after, events, version + 1))
            .unwrap_or_default();
        Ok(Append {
            stream: stream_of(id),
            expected: Expected::Version(version),
            at: now,
            records: events.iter().map(record_of).collect::<Result<Vec<_>>>()?,
            outgoing,
            mark,
        })
    }
}

/// What a request is found by.
fn mark_of(standing: &Standing) -> Mark {
    Mark { label: standing.state.name().to_owned(), wake_at: next_wake(standing) }
}

fn fold(standing: Option<Standing>, events: &[ApprovalEvent], now: Timestamp) -> Option<Standing> {
    events.iter().fold(standing, |standing, event| apply(standing, event, now))
}

/// How a request stands after some records.
fn follow(mut standing: Option<Standing>, records: &[Record]) -> Result<Option<Standing>> {
    for record in records {
        standing = apply(standing, &event_of(record)?, record.at);
        // It would be asked again for ever what comes after nothing.
        if standing.is_none() {
            let why = format!("nobody asked, and it was {}", record.kind);
            return Err(unreadable(record, why));
        }
    }
    Ok(standing)
}

fn refusal(id: &QuestionId, refused: Refused) -> Error {
    Error::Request { id: id.to_string(), refused }
}

fn record_of(event: &ApprovalEvent) -> Result<NewRecord> {
    let payload = serde_json::to_string(event)
        .map_err(|error| Error::Lost { what: format!("an event cannot be written: {error}") })?;
    Ok(NewRecord { kind: event.kind().to_owned(), schema: SCHEMA, payload })
}

fn event_of(record: &Record) -> Result<ApprovalEvent> {
    serde_json::from_str(&record.payload).map_err(|error| unreadable(record, error.to_string()))
}

fn unreadable(record: &Record, why: String) -> Error {
    Error::Unreadable { stream: record.stream.to_string(), version: record.version, why }
}
