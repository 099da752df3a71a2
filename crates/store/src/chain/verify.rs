//! Goes through the whole log once and tells what is not as it was written, and where.

use std::collections::HashMap;
use std::fmt;

use aurora_model::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

use super::{BEGINNING, Hash, bytes, hash_of, link};
use crate::error::{Error, Result};
use crate::record::{Head, Record, StreamId};
use crate::store::Store;

/// So many records are read at once.
pub(super) const PAGE: usize = 256;
/// So many findings are told; the rest is counted.
const TOLD: usize = 1000;

/// Something in the log that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The position in the whole log, where one can be told; otherwise the last one before it.
    pub position: u64,
    /// The stream; empty when the whole log is meant.
    pub stream: StreamId,
    /// The version in the stream.
    pub version: u64,
    /// What is wrong there.
    #[serde(flatten)]
    pub what: What,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// Its text, time, kind or place in the stream is not what was hashed.
    Changed,
    /// It does not follow from the record before it in the log: something was moved, put in, or
    /// replaced. The records up to `through` cannot be told apart from it.
    Unlinked {
        /// The last position that this reaches.
        through: u64,
    },
    /// Positions are missing from the log.
    Missing {
        /// The last position that is missing.
        through: u64,
    },
    /// Versions are missing from the stream.
    Skipped {
        /// The last version that is missing.
        through: u64,
    },
    /// Its version does not come next in its stream.
    OutOfOrder {
        /// The version that comes next.
        expected: u64,
    },
    /// The stream ends before its head says.
    CutOff {
        /// The version that the head says.
        expected: u64,
    },
    /// It is past what the stream's head says, or its stream has no head.
    Uncounted,
    /// The stream's head says something else than its last record.
    WrongHead,
    /// From here on the log cannot be read: the file itself is damaged.
    Unreadable {
        /// What is known about it.
        why: String,
    },
    /// What the record refers to is not what was kept beside the log, or is gone.
    Lost {
        /// By which name it was kept.
        digest: Digest,
        /// What is wrong with it.
        why: String,
    },
    /// The log never had the head that was expected, or has it no longer.
    OtherHead {
        /// What was expected.
        expected: Digest,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, stream, version, what } = self;
        match what {
            What::Missing { through } => {
                return write!(f, "position {}: missing", span(*position, *through));
            }
            What::OtherHead { expected } => {
                return write!(f, "no record of the log has the expected chain {expected}");
            }
            What::Unreadable { why } => {
                return write!(f, "after position {position}: the log cannot be read on: {why}");
            }
            What::Skipped { through } => {
                let versions = span(*version, *through);
                return write!(
                    f,
                    "{stream} version {versions}: missing before position {position}"
                );
            }
            _ => write!(f, "position {position}, {stream} version {version}: ")?,
        }
        match what {
            What::Changed => f.write_str("changed after it was recorded"),
            What::Unlinked { through } => {
                let reach = span(*position, *through);
                write!(f, "moved, put in or replaced ({reach} does not follow what is before it)")
            }
            What::OutOfOrder { expected } => write!(f, "stands where version {expected} belongs"),
            What::CutOff { expected } => {
                write!(f, "the last one of {expected}: the end was cut off")
            }
            What::Lost { why, .. } => write!(f, "what it refers to is lost: {why}"),
            What::Uncounted => f.write_str("added past the end of its stream"),
            _ => f.write_str("the stream's head says something else"),
        }
    }
}

/// One number, or two and what is between them.
fn span(from: u64, through: u64) -> String {
    if from == through { from.to_string() } else { format!("{from} to {through}") }
}

/// What a verification saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// How many records there are.
    pub records: u64,
    /// How many streams.
    pub streams: u64,
    /// The last position.
    pub position: u64,
    /// The chain of the last record: what to note elsewhere, and to expect the next time.
    pub chain: Option<Digest>,
    /// How many things that records refer to beside the log were looked at.
    #[serde(default)]
    pub beside: u64,
    /// What is wrong, in the order of the log; none when all is well.
    pub findings: Vec<Finding>,
    /// How many more findings there are than are told.
    pub more: u64,
}

impl Verification {
    /// Whether all is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty() && self.more == 0
    }

    /// Tells one more finding, or counts it.
    pub fn add(&mut self, finding: Finding) {
        match self.findings.len() < TOLD {
            true => self.findings.push(finding),
            false => self.more += 1,
        }
    }
}

/// Verifies everything. The expected head is the chain of any record that the log must have; memory
/// grows with the number of streams, not of records.
///
/// # Errors
/// When the store cannot be read.
pub async fn verify<S: Store + ?Sized>(
    store: &S,
    expected: Option<&Digest>,
) -> Result<Verification> {
    verify_with(store, expected, &mut |_| ()).await
}

/// The same, telling the position that it has come to now and then.
///
/// # Errors
/// When the store cannot be read.
pub async fn verify_with<S: Store + ?Sized>(
    store: &S,
    expected: Option<&Digest>,
    at: &mut (dyn FnMut(u64) + Send),
) -> Result<Verification> {
    let mut walk = Walk { expected: expected.cloned(), ..Walk::default() };
    let mut heads = Vec::new();
    let mut asked = None;
    let mut limit = PAGE;
    loop {
        let page = match store.read_all(walk.seen.position, limit).await {
            Ok(page) => page,
            // One by one, to come as far as can be read.
            Err(Error::Corrupt { .. }) if limit > 1 => {
                limit = 1;
                continue;
            }
            Err(Error::Corrupt { what }) => return broken(store, walk, what).await,
            Err(error) => return Err(error),
        };
        for record in &page {
            if record.position <= walk.seen.position {
                let what = "positions do not increase there".to_owned();
                return broken(store, walk, what).await;
            }
            walk.record(record);
        }
        at(walk.seen.position);
        // The heads belong to these records only when nothing was written between the two.
        if page.is_empty() {
            if asked == Some(walk.seen.position) {
                break;
            }
            heads = match store.heads("", usize::MAX).await {
                Ok(heads) => heads,
                Err(Error::Corrupt { what }) => return broken(store, walk, what).await,
                Err(error) => return Err(error),
            };
            asked = Some(walk.seen.position);
        }
    }
    Ok(walk.end(heads))
}

/// What was seen of a log that cannot be read to its end. What its heads say is not compared: nobody
/// knows what stands in the rest.
async fn broken<S: Store + ?Sized>(store: &S, mut walk: Walk, why: String) -> Result<Verification> {
    let position = walk.seen.position;
    let streams = walk.streams.len() as u64;
    walk.streams.clear();
    walk.expected = None;
    let whole_log = StreamId(String::new());
    walk.found(position, &whole_log, 0, What::Unreadable { why });
    // A file that is damaged may not let itself be looked at either; what was found stands anyway.
    for why in store.inspect().await.unwrap_or_default() {
        walk.found(position, &whole_log, 0, What::Unreadable { why });
    }
    let mut seen = walk.end(Vec::new());
    seen.streams = streams;
    Ok(seen)
}

/// Verifies records that were taken out of a log, one after the other, without the log itself.
pub struct Verifier {
    walk: Walk,
    whole: bool,
}

impl Verifier {
    /// For all records of a log from the first one on; the expected head is the chain of any of them.
    #[must_use]
    pub fn of_log(expected: Option<&Digest>) -> Self {
        let walk = Walk { expected: expected.cloned(), ..Walk::default() };
        Self { walk, whole: true }
    }

    /// For all records of some streams: what else the log had is neither here nor missed.
    #[must_use]
    pub fn of_streams() -> Self {
        Self { walk: Walk::default(), whole: false }
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &Record) {
        match self.whole {
            true => self.walk.record(record),
            false => {
                self.walk.in_stream(record);
                self.walk.count(record);
            }
        }
    }

    /// What was seen. Where streams ended is not known here.
    #[must_use]
    pub fn end(mut self) -> Verification {
        let streams = self.walk.streams.len() as u64;
        self.walk.streams.clear();
        let mut seen = self.walk.end(Vec::new());
        seen.streams = streams;
        seen
    }
}

/// What was seen so far.
#[derive(Default)]
struct Walk {
    streams: HashMap<StreamId, Last>,
    seen: Verification,
    chain: Hash,
    /// Whether the chain of the record before is known to be right.
    unlinked: Option<usize>,
    expected: Option<Digest>,
}

/// The last record of a stream so far.
struct Last {
    version: u64,
    hash: Digest,
    position: u64,
    /// When the first was recorded; nothing when that one is missing.
    first_at: Option<Timestamp>,
    at: Timestamp,
    kind: String,
}

impl Walk {
    fn record(&mut self, record: &Record) {
        let next = self.seen.position.saturating_add(1);
        let gap = record.position > next;
        if gap {
            let what = What::Missing { through: record.position - 1 };
            let stream = StreamId(String::new());
            self.found(next, &stream, 0, what);
            self.unlinked = None;
        }
        self.link(record, gap);
        self.in_stream(record);
        self.count(record);
    }

    fn count(&mut self, record: &Record) {
        self.seen.records += 1;
        self.seen.position = record.position;
        if self.expected.as_ref() == Some(&record.chain) {
            self.expected = None;
        }
        self.seen.chain = Some(record.chain.clone());
    }

    /// One finding for a row of records that do not follow: after the first of them nobody can say
    /// what the chain was, until a record fits to the one before it again.
    fn link(&mut self, record: &Record, gap: bool) {
        let own = bytes(&record.hash).unwrap_or(BEGINNING);
        let chain = bytes(&record.chain);
        let fits = chain == Some(link(&self.chain, record.position, &own));
        self.chain = chain.unwrap_or(BEGINNING);
        match self.unlinked {
            _ if fits || gap => self.unlinked = None,
            Some(index) => {
                if let Some(finding) = self.seen.findings.get_mut(index) {
                    finding.what = What::Unlinked { through: record.position };
                }
            }
            None => {
                self.unlinked = Some(self.seen.findings.len());
                let what = What::Unlinked { through: record.position };
                self.found(record.position, &record.stream, record.version, what);
            }
        }
    }

    fn in_stream(&mut self, record: &Record) {
        let last = self.streams.get(&record.stream);
        let expected = last.map_or(1, |last| last.version.saturating_add(1));
        let before = last.and_then(|last| bytes(&last.hash)).unwrap_or(BEGINNING);
        let begins = (record.version == 1).then_some(record.at);
        let first_at = last.map_or(begins, |last| last.first_at);
        let again = last.is_some() && record.version < expected;
        if again || record.version == 0 {
            self.found_at(record, What::OutOfOrder { expected });
            // What stands in the wrong place says nothing about the next one.
            return;
        }
        if record.version > expected {
            let what = What::Skipped { through: record.version - 1 };
            self.found(record.position, &record.stream, expected, what);
        } else if bytes(&record.hash) != Some(hash_of(&before, record)) {
            self.found_at(record, What::Changed);
        }
        let last = Last {
            first_at,
            version: record.version,
            hash: record.hash.clone(),
            position: record.position,
            at: record.at,
            kind: record.kind.clone(),
        };
        match self.streams.get_mut(&record.stream) {
            Some(there) => *there = last,
            None => drop(self.streams.insert(record.stream.clone(), last)),
        }
    }

    fn end(mut self, heads: Vec<Head>) -> Verification {
        self.seen.streams = self.streams.len() as u64;
        for head in heads {
            let Some(last) = self.streams.remove(&head.stream) else {
                let what = What::CutOff { expected: head.version };
                self.found(self.seen.position, &head.stream, 0, what);
                continue;
            };
            let same = head.hash == last.hash
                && head.last_kind == last.kind
                && head.last_at == last.at
                && last.first_at.is_none_or(|first| first == head.first_at);
            let what = match head.version.cmp(&last.version) {
                std::cmp::Ordering::Greater => What::CutOff { expected: head.version },
                std::cmp::Ordering::Less => What::Uncounted,
                std::cmp::Ordering::Equal if same => continue,
                std::cmp::Ordering::Equal => What::WrongHead,
            };
            self.found(last.position, &head.stream, last.version, what);
        }
        let mut headless: Vec<_> = std::mem::take(&mut self.streams).into_iter().collect();
        headless.sort_by_key(|(_, last)| last.position);
        for (stream, last) in headless {
            self.found(last.position, &stream, last.version, What::Uncounted);
        }
        if let Some(expected) = self.expected.take() {
            let what = What::OtherHead { expected };
            self.found(self.seen.position, &StreamId(String::new()), 0, what);
        }
        self.seen.findings.sort_by_key(|finding| finding.position);
        self.seen
    }

    fn found_at(&mut self, record: &Record, what: What) {
        self.found(record.position, &record.stream, record.version, what);
    }

    fn found(&mut self, position: u64, stream: &StreamId, version: u64, what: What) {
        self.seen.add(Finding { position, stream: stream.clone(), version, what });
    }
}
