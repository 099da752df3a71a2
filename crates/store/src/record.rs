//! What the log holds: records in streams, each with its version, its place in the whole, its hashes.

use std::fmt;

use aurora_model::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

/// The name of a stream: `run/spawn-1705234567`, `budget/2026-11`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub String);

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something to record. The payload is JSON text, kept byte for byte as it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// What kind of thing happened, such as `task_completed`.
    pub kind: String,
    /// Which shape the payload has, counted up when it changes.
    pub schema: u16,
    /// The payload, as JSON.
    pub payload: String,
}

/// Something recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its place in the whole log, counted from 1 without gaps.
    pub position: u64,
    /// Its stream.
    pub stream: StreamId,
    /// Its place in the stream, counted from 1 without gaps.
    pub version: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// What kind of thing happened.
    pub kind: String,
    /// Which shape the payload has.
    pub schema: u16,
    /// The payload, as JSON.
    pub payload: String,
    /// The hash over stream, version, time, kind, schema, payload and the hash of the record before
    /// it in its stream: a stream can be verified on its own.
    pub hash: Digest,
    /// The hash over `hash`, the position and the chain of the record before it in the whole log: a
    /// stream that is taken out is missed.
    pub chain: Digest,
}

/// What the writer knows of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It has exactly this many records; with 0 it does not exist yet.
    Version(u64),
    /// It does not matter.
    Any,
}

/// Records to append to one stream, all of them or none.
#[derive(Debug, Clone)]
pub struct Append {
    /// The stream.
    pub stream: StreamId,
    /// What the writer knows of it.
    pub expected: Expected,
    /// When it happens, by the writer's clock.
    pub at: Timestamp,
    /// The records.
    pub records: Vec<NewRecord>,
    /// Messages that leave in the same moment: recorded together with the records or not at all.
    pub outgoing: Vec<Outgoing>,
    /// What the stream is found by from now on, in place of what it was found by; nothing changes
    /// nothing. A stream without records is found by nothing.
    pub mark: Option<Mark>,
}

/// What a stream is found by without reading it. It is a help and no truth: whoever finds a stream by
/// it reads the stream before doing anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// One word for how it stands, such as `pending`.
    pub label: String,
    /// When somebody must look at it.
    pub wake_at: Option<Timestamp>,
}

/// A stream that was found by its mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// The stream.
    pub stream: StreamId,
    /// What it is found by.
    pub mark: Mark,
    /// Its place among all streams, in the order in which they began: where a page ends.
    pub place: u64,
}

/// A message to somebody outside, delivered at least once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Its name, by which a receiver knows that it has it already.
    pub id: String,
    /// To what: `terminal`, `webhook` …
    pub topic: String,
    /// The message, as JSON.
    pub payload: String,
    /// How often it was given out before this time; whoever appends it says 0.
    #[serde(default)]
    pub tried: u32,
}

/// What was appended, durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The stream's version now.
    pub version: u64,
    /// The position of the last of the records.
    pub position: u64,
}

/// How a stream stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The stream.
    pub stream: StreamId,
    /// How many records it has.
    pub version: u64,
    /// When the first was recorded.
    pub first_at: Timestamp,
    /// When the last was recorded.
    pub last_at: Timestamp,
    /// The kind of the last.
    pub last_kind: String,
    /// The hash of the last.
    pub hash: Digest,
}
