//! A log in memory, for tests and simulations: it keeps every promise but that of outliving the
//! process.

mod marks;
mod outbox;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_model::{Digest, Timestamp};
use tokio::sync::watch;

use self::marks::Marks;
use self::outbox::Outbox;
use crate::admission;
use crate::chain::{self, BEGINNING, Hash};
use crate::error::{Error, Result};
use crate::record::{
    Append, Appended, Expected, Head, Marked, NewRecord, Outgoing, Record, StreamId,
};
use crate::store::{Answer, Claim, Store, Subscription};

/// A log in memory. A clone is another door to the same log.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    log: Arc<Mutex<Log>>,
    claims: Arc<Mutex<HashSet<StreamId>>>,
    position: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Log {
    records: Vec<Record>,
    streams: HashMap<StreamId, Stream>,
    chain: Hash,
    pictures: HashMap<String, (u64, String)>,
    blobs: HashMap<Digest, Vec<u8>>,
    marks: Marks,
    outbox: Outbox,
}

#[derive(Debug)]
struct Stream {
    head: Head,
    hash: Hash,
    /// Where its records are in `records`.
    at: Vec<usize>,
    /// Its place among all streams.
    place: u64,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self { log: Arc::default(), claims: Arc::default(), position: watch::Sender::new(0) }
    }
}

impl MemoryStore {
    /// A log without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // What a panicking holder left is whole: everything is checked before it is changed.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn check(&self, append: &Append) -> Result<()> {
        let found = self.streams.get(&append.stream).map_or(0, |stream| stream.head.version);
        if let Expected::Version(expected) = append.expected
            && expected != found
        {
            return Err(Error::Conflict { stream: append.stream.0.clone(), expected, found });
        }
        Ok(())
    }

    fn append_all(&mut self, appends: Vec<Append>) -> Result<Vec<Appended>> {
        appends.iter().try_for_each(|append| self.check(append))?;
        Ok(appends.into_iter().map(|append| self.append(append)).collect())
    }

    fn append(&mut self, append: Append) -> Appended {
        for record in append.records {
            self.push(&append.stream, append.at, record);
        }
        for message in append.outgoing {
            self.outbox.put(message);
        }
        let stream = self.streams.get(&append.stream);
        if let (Some(stream), Some(mark)) = (stream, append.mark) {
            self.marks.set(stream.place, &append.stream, mark);
        }
        let last = stream.and_then(|stream| stream.at.last());
        Appended {
            version: stream.map_or(0, |stream| stream.head.version),
            position: last.map_or(0, |index| *index as u64 + 1),
        }
    }

    fn push(&mut self, name: &StreamId, at: Timestamp, new: NewRecord) {
        let index = self.records.len();
        let position = index as u64 + 1;
        let before = self.streams.get(name).map_or(BEGINNING, |stream| stream.hash);
        let version = self.streams.get(name).map_or(0, |stream| stream.head.version) + 1;
        let NewRecord { kind, schema, payload } = new;
        let hash = chain::hash(&before, &name.0, version, at, &kind, schema, &payload);
        self.chain = chain::link(&self.chain, position, &hash);
        let digest = Digest::of_bytes(hash);
        let began = self.streams.len() as u64 + 1;
        let stream = self.streams.entry(name.clone()).or_insert_with(|| Stream {
            head: Head {
                stream: name.clone(),
                version: 0,
                first_at: at,
                last_at: at,
                last_kind: String::new(),
                hash: digest.clone(),
            },
            hash,
            at: Vec::new(),
            place: began,
        });
        stream.head.version = version;
        stream.head.last_at = at;
        stream.head.last_kind.clone_from(&kind);
        stream.head.hash = digest.clone();
        stream.hash = hash;
        stream.at.push(index);
        self.records.push(Record {
            position,
            stream: name.clone(),
            version,
            at,
            kind,
            schema,
            payload,
            hash: digest,
            chain: Digest::of_bytes(self.chain),
        });
    }

    fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Vec<Record> {
        let Some(stream) = self.streams.get(stream) else { return Vec::new() };
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let wanted = stream.at.iter().skip(after).take(limit);
        wanted.filter_map(|index| self.records.get(*index)).cloned().collect()
    }

    fn heads(&self, prefix: &str, limit: usize) -> Vec<Head> {
        let found = self.streams.values().filter(|stream| stream.head.stream.0.starts_with(prefix));
        let mut found: Vec<&Stream> = found.collect();
        found.sort_by_key(|stream| std::cmp::Reverse(stream.at.last().copied()));
        found.into_iter().take(limit).map(|stream| stream.head.clone()).collect()
    }
}

impl Store for MemoryStore {
    fn append(&self, append: Append) -> Answer<'_, Appended> {
        Box::pin(async move {
            let appended = self.append_all(vec![append]).await?;
            let nothing = Appended { version: 0, position: 0 };
            Ok(appended.into_iter().next().unwrap_or(nothing))
        })
    }

    fn append_all(&self, appends: Vec<Append>) -> Answer<'_, Vec<Appended>> {
        Box::pin(async move {
            admission::check(&appends)?;
            let mut log = self.log();
            let appended = log.append_all(appends)?;
            let last = log.records.len() as u64;
            self.position.send_if_modified(|known| std::mem::replace(known, last) != last);
            Ok(appended)
        })
    }

    fn marked(&self, label: &str, after: u64, limit: usize) -> Answer<'_, Vec<Marked>> {
        let label = label.to_owned();
        Box::pin(async move { Ok(self.log().marks.marked(&label, after, limit)) })
    }

    fn count_marked(&self, label: &str) -> Answer<'_, u64> {
        let label = label.to_owned();
        Box::pin(async move { Ok(self.log().marks.count(&label)) })
    }

    fn due(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Marked>> {
        Box::pin(async move { Ok(self.log().marks.due(now, limit)) })
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(async move { Ok(self.log().marks.next_wake()) })
    }

    fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        let stream = stream.clone();
        Box::pin(async move { Ok(self.log().read(&stream, after, limit)) })
    }

    fn read_all(&self, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        Box::pin(async move {
            let after = usize::try_from(after).unwrap_or(usize::MAX);
            Ok(self.log().records.iter().skip(after).take(limit).cloned().collect())
        })
    }

    fn head(&self, stream: &StreamId) -> Answer<'_, Option<Head>> {
        let stream = stream.clone();
        Box::pin(
            async move { Ok(self.log().streams.get(&stream).map(|stream| stream.head.clone())) },
        )
    }

    fn heads(&self, prefix: &str, limit: usize) -> Answer<'_, Vec<Head>> {
        let prefix = prefix.to_owned();
        Box::pin(async move { Ok(self.log().heads(&prefix, limit)) })
    }

    fn subscribe(&self) -> Subscription {
        Subscription { position: self.position.subscribe() }
    }

    fn keep_projection(&self, name: &str, position: u64, picture: &str) -> Answer<'_, ()> {
        let (name, picture) = (name.to_owned(), picture.to_owned());
        Box::pin(async move {
            admission::name("the name of a projection", &name)?;
            self.log().pictures.insert(name, (position, picture));
            Ok(())
        })
    }

    fn projection(&self, name: &str) -> Answer<'_, Option<(u64, String)>> {
        let name = name.to_owned();
        Box::pin(async move { Ok(self.log().pictures.get(&name).cloned()) })
    }

    fn put(&self, bytes: Vec<u8>) -> Answer<'_, Digest> {
        Box::pin(async move {
            let digest = chain::digest(&bytes);
            self.log().blobs.insert(digest.clone(), bytes);
            Ok(digest)
        })
    }

    fn get(&self, digest: &Digest) -> Answer<'_, Vec<u8>> {
        let digest = digest.clone();
        Box::pin(async move {
            let found = self.log().blobs.get(&digest).cloned();
            found.ok_or_else(|| Error::NotFound { what: digest.to_string() })
        })
    }

    fn claim(&self, stream: &StreamId) -> Answer<'_, Box<dyn Claim>> {
        let stream = stream.clone();
        Box::pin(async move {
            admission::stream(&stream)?;
            let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
            if !claims.insert(stream.clone()) {
                return Err(Error::Held { what: stream.0 });
            }
            let claim = MemoryClaim { stream, claims: Arc::clone(&self.claims) };
            Ok(Box::new(claim) as Box<dyn Claim>)
        })
    }

    fn is_claimed(&self, stream: &StreamId) -> Answer<'_, bool> {
        let stream = stream.clone();
        Box::pin(async move {
            admission::stream(&stream)?;
            let claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(claims.contains(&stream))
        })
    }

    fn outgoing(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> Answer<'_, Vec<Outgoing>> {
        Box::pin(async move { Ok(self.log().outbox.give(now, again_at, limit)) })
    }

    fn delivered(&self, id: &str) -> Answer<'_, ()> {
        let id = id.to_owned();
        Box::pin(async move {
            self.log().outbox.delivered(&id);
            Ok(())
        })
    }

    fn put_off(&self, id: &str, again_at: Timestamp) -> Answer<'_, ()> {
        let id = id.to_owned();
        Box::pin(async move {
            self.log().outbox.put_off(&id, again_at);
            Ok(())
        })
    }

    fn next_outgoing(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(async move { Ok(self.log().outbox.next()) })
    }
}

/// A claim that is given back when it is dropped.
struct MemoryClaim {
    stream: StreamId,
    claims: Arc<Mutex<HashSet<StreamId>>>,
}

impl Claim for MemoryClaim {}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.stream);
    }
}
