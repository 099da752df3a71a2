//! What lowered how much agents may do, and who raised it again: a stream for each scope.

use aurora_gate::approval::autonomy::Lowering;
use aurora_model::{Autonomy, AutonomyEvent, Decider, DeciderKind, Timestamp};
use aurora_store::{Append, Expected, NewRecord, Record, Store, StreamId};

use crate::error::{Error, Result};

/// What the names of the streams begin with.
pub const PREFIX: &str = "autonomy/";
/// Which shape the payload of an event has.
const SCHEMA: u16 = 1;
/// How many records are read at once.
const BATCH: usize = 1000;
/// How many scopes there can be.
const MAX_SCOPES: usize = 100_000;
/// How often something is written again because somebody else wrote first.
const MAX_RETRIES: usize = 1000;

/// What is lowered at present.
///
/// # Errors
/// When the log cannot be read.
pub async fn lowering(store: &dyn Store) -> Result<Lowering> {
    let mut lowering = Lowering::default();
    for head in store.heads(PREFIX, MAX_SCOPES).await? {
        for (_, event) in read(store, &head.stream).await? {
            lowering.apply(&event);
        }
    }
    Ok(lowering)
}

/// A scope that is lowered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lowered {
    /// Whose level: `project`, `role:backend`, `agent:claude`.
    pub scope: String,
    /// To which level at most.
    pub to: Autonomy,
    /// Since when.
    pub at: Timestamp,
    /// What happened, or what the person said.
    pub why: Option<String>,
    /// Who, where it was a person.
    pub by: Option<Decider>,
}

/// Every scope that is lowered at present, and why.
///
/// # Errors
/// When the log cannot be read.
pub async fn lowered(store: &dyn Store) -> Result<Vec<Lowered>> {
    let mut all = Vec::new();
    for head in store.heads(PREFIX, MAX_SCOPES).await? {
        let (mut lowering, mut last) = (Lowering::default(), None);
        for (at, event) in read(store, &head.stream).await? {
            let before = lowering.of_scope(event.scope());
            lowering.apply(&event);
            if lowering.of_scope(event.scope()) != before {
                last = Some((at, event));
            }
        }
        let Some((at, event)) = last else { continue };
        let Some(to) = lowering.of_scope(event.scope()) else { continue };
        let scope = event.scope().to_owned();
        let (why, by) = match event {
            AutonomyEvent::Lowered { why, by, .. } => (Some(why), by),
            AutonomyEvent::Raised { why, by, .. } => (why, Some(by)),
        };
        all.push(Lowered { scope, to, at, why, by });
    }
    Ok(all)
}

/// Everything that happened to a scope, in order.
///
/// # Errors
/// When the log cannot be read.
pub async fn history(store: &dyn Store, scope: &str) -> Result<Vec<(Timestamp, AutonomyEvent)>> {
    read(store, &stream_of(scope)).await
}

/// Lets a scope do no more than a level from now on. One that may do no more already stays as it is,
/// and then it is false.
///
/// # Errors
/// When the log cannot be written.
pub async fn lower(
    store: &dyn Store,
    scope: &str,
    to: Autonomy,
    why: &str,
    now: Timestamp,
) -> Result<bool> {
    let (scope, why) = (scope.to_owned(), why.to_owned());
    let event = AutonomyEvent::Lowered { scope, to, why, by: None };
    write(store, &event, now, |cap| cap.is_none_or(|cap| to < cap)).await
}

/// The same, because a person says so.
///
/// # Errors
/// When the log cannot be written.
pub async fn lower_by(
    store: &dyn Store,
    scope: &str,
    to: Autonomy,
    (by, why): (&Decider, &str),
    now: Timestamp,
) -> Result<bool> {
    let (scope, why) = (scope.to_owned(), why.to_owned());
    let event = AutonomyEvent::Lowered { scope, to, why, by: Some(by.clone()) };
    write(store, &event, now, |cap| cap.is_none_or(|cap| to < cap)).await
}

/// Lets a scope do more again, up to a level. Only a person can. One that may do so much already
/// stays as it is, and then it is false.
///
/// # Errors
/// When it is no person who says so, or the log cannot be written.
pub async fn raise(
    store: &dyn Store,
    scope: &str,
    to: Autonomy,
    (by, why): (&Decider, Option<&str>),
    now: Timestamp,
) -> Result<bool> {
    if by.kind != DeciderKind::Person {
        let what = format!("{} is no person, and only a person lets an agent do more", by.name);
        let refused = aurora_gate::approval::Refused::NotAllowed { why: what };
        return Err(Error::Request { id: scope.to_owned(), refused });
    }
    let (scope, by, why) = (scope.to_owned(), by.clone(), why.map(ToOwned::to_owned));
    let event = AutonomyEvent::Raised { scope, to, by, why };
    write(store, &event, now, |cap| cap.is_some_and(|cap| to > cap)).await
}

/// Writes an event when it changes something as the scope stands.
async fn write(
    store: &dyn Store,
    event: &AutonomyEvent,
    now: Timestamp,
    changes: impl Fn(Option<Autonomy>) -> bool,
) -> Result<bool> {
    let stream = stream_of(event.scope());
    let payload = serde_json::to_string(event)
        .map_err(|error| Error::Lost { what: format!("an event cannot be written: {error}") })?;
    for _ in 0..MAX_RETRIES {
        let before = read(store, &stream).await?;
        let mut lowering = Lowering::default();
        before.iter().for_each(|(_, event)| lowering.apply(event));
        if !changes(lowering.of_scope(event.scope())) {
            return Ok(false);
        }
        let kind = event.kind().to_owned();
        let append = Append {
            stream: stream.clone(),
            expected: Expected::Version(before.len() as u64),
            at: now,
            records: vec![NewRecord { kind, schema: SCHEMA, payload: payload.clone() }],
            outgoing: Vec::new(),
            mark: None,
        };
        match store.append(append).await {
            Ok(_) => return Ok(true),
            Err(aurora_store::Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Lost { what: format!("{stream} is written by others all the time") })
}

async fn read(store: &dyn Store, stream: &StreamId) -> Result<Vec<(Timestamp, AutonomyEvent)>> {
    let mut all = Vec::new();
    loop {
        let records = store.read(stream, all.len() as u64, BATCH).await?;
        for record in &records {
            all.push((record.at, event_of(record)?));
        }
        if records.len() < BATCH {
            return Ok(all);
        }
    }
}

fn stream_of(scope: &str) -> StreamId {
    StreamId(format!("{PREFIX}{scope}"))
}

fn event_of(record: &Record) -> Result<AutonomyEvent> {
    serde_json::from_str(&record.payload).map_err(|error| Error::Unreadable {
        stream: record.stream.to_string(),
        version: record.version,
        why: error.to_string(),
    })
}
