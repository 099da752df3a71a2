//! A log in which things go wrong when they are told to: refused, lost, or the power goes off.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use aurora_engine::approvals::PREFIX;
use aurora_model::{Digest, Timestamp};
use aurora_store::{
    Answer, Append, Appended, Claim, Error, Head, Marked, MemoryStore, Outgoing, Record, Store,
    StreamId, Subscription,
};
use tokio::sync::Notify;

use crate::watch::Watched;

/// What goes wrong with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// The power goes off before it is written.
    CrashBefore,
    /// The power goes off when it is written and nobody knows yet.
    CrashAfter,
    /// The disk is full.
    Full,
    /// The disk fails.
    Broken,
    /// It is written, and the writer is told that the disk failed.
    Lost,
    /// Somebody else was first, it is said.
    Conflict,
}

pub const MISHAPS: [Mishap; 6] = [
    Mishap::CrashBefore,
    Mishap::CrashAfter,
    Mishap::Full,
    Mishap::Broken,
    Mishap::Lost,
    Mishap::Conflict,
];

/// What goes wrong in one life of a driver, and when.
#[derive(Debug, Default)]
pub struct Fate {
    /// At which append from now, counted from 0.
    pub append: Option<(u64, Mishap)>,
    /// The power goes off at this effect from now, counted from 0: when it begins, or when it ended
    /// and was not told yet.
    pub effect: Option<(u64, bool)>,
    /// The power is off.
    pub crash: Arc<Notify>,
}

pub type Fates = Arc<Mutex<Fate>>;

impl Fate {
    fn next_append(&mut self) -> Option<Mishap> {
        let (left, mishap) = self.append.take()?;
        if left == 0 {
            return Some(mishap);
        }
        self.append = Some((left - 1, mishap));
        None
    }

    /// Whether the power goes off at this effect; when it begins or when it ended.
    pub fn next_effect(&mut self) -> Option<bool> {
        let (left, at_end) = self.effect.take()?;
        if left == 0 {
            return Some(at_end);
        }
        self.effect = Some((left - 1, at_end));
        None
    }
}

/// The power goes off: nothing comes after this.
pub async fn crash(fate: &Fates) -> ! {
    let crash = Arc::clone(&fate.lock().unwrap().crash);
    crash.notify_one();
    std::future::pending().await
}

/// A log in memory with a fate.
#[derive(Clone)]
pub struct Faulty {
    pub inner: MemoryStore,
    pub watch: Watched,
    /// What goes wrong; nothing for whoever comes by another door.
    pub fate: Option<Fates>,
}

impl Faulty {
    pub fn new() -> Self {
        Self { inner: MemoryStore::new(), watch: Watched::default(), fate: Some(Fates::default()) }
    }

    /// Another door to the same log, by which nothing goes wrong.
    pub fn other_door(&self) -> Arc<dyn Store> {
        Arc::new(Self { fate: None, ..self.clone() })
    }

    async fn write(&self, appends: Vec<Append>) -> Result<Vec<Appended>, Error> {
        // Only what runs record is watched; a request that is put into the queue beside it has an
        // order of its own.
        let of_runs = appends.iter().filter(|append| !append.stream.0.starts_with(PREFIX));
        let of_runs: Vec<Vec<String>> = of_runs
            .map(|append| append.records.iter().map(|record| record.payload.clone()).collect())
            .collect();
        let appended = self.inner.append_all(appends).await?;
        for payloads in of_runs {
            self.watch.lock().unwrap().appended(&payloads);
        }
        Ok(appended)
    }

    async fn append_with(
        &self,
        appends: Vec<Append>,
        mishap: Mishap,
    ) -> Result<Vec<Appended>, Error> {
        let path = PathBuf::from("/sim/aurora.db");
        let broken = |path| Error::Io {
            doing: "write",
            path,
            source: std::io::Error::other("the disk failed"),
        };
        let fate = self.fate.as_ref().unwrap();
        match mishap {
            Mishap::CrashBefore => crash(fate).await,
            Mishap::CrashAfter => {
                let _ = self.write(appends).await;
                crash(fate).await
            }
            Mishap::Full => Err(Error::Full { path }),
            Mishap::Broken => Err(broken(path)),
            Mishap::Lost => {
                self.write(appends).await?;
                Err(broken(path))
            }
            Mishap::Conflict => {
                let stream = appends.first().map_or_else(String::new, |one| one.stream.0.clone());
                Err(Error::Conflict { stream, expected: 0, found: 1 })
            }
        }
    }
}

impl Store for Faulty {
    fn append(&self, append: Append) -> Answer<'_, Appended> {
        Box::pin(async move {
            let appended = self.append_all(vec![append]).await?;
            Ok(appended.into_iter().next().unwrap())
        })
    }

    fn append_all(&self, appends: Vec<Append>) -> Answer<'_, Vec<Appended>> {
        Box::pin(async move {
            let mishap = self.fate.as_ref().and_then(|fate| fate.lock().unwrap().next_append());
            match mishap {
                Some(mishap) => self.append_with(appends, mishap).await,
                None => self.write(appends).await,
            }
        })
    }

    fn marked(&self, label: &str, after: u64, limit: usize) -> Answer<'_, Vec<Marked>> {
        self.inner.marked(label, after, limit)
    }

    fn count_marked(&self, label: &str) -> Answer<'_, u64> {
        self.inner.count_marked(label)
    }

    fn due(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Marked>> {
        self.inner.due(now, limit)
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        self.inner.next_wake()
    }

    fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        self.inner.read(stream, after, limit)
    }

    fn read_all(&self, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        self.inner.read_all(after, limit)
    }

    fn head(&self, stream: &StreamId) -> Answer<'_, Option<Head>> {
        self.inner.head(stream)
    }

    fn heads(&self, prefix: &str, limit: usize) -> Answer<'_, Vec<Head>> {
        self.inner.heads(prefix, limit)
    }

    fn subscribe(&self) -> Subscription {
        self.inner.subscribe()
    }

    fn keep_projection(&self, name: &str, position: u64, picture: &str) -> Answer<'_, ()> {
        self.inner.keep_projection(name, position, picture)
    }

    fn projection(&self, name: &str) -> Answer<'_, Option<(u64, String)>> {
        self.inner.projection(name)
    }

    fn put(&self, bytes: Vec<u8>) -> Answer<'_, Digest> {
        self.inner.put(bytes)
    }

    fn get(&self, digest: &Digest) -> Answer<'_, Vec<u8>> {
        self.inner.get(digest)
    }

    fn claim(&self, stream: &StreamId) -> Answer<'_, Box<dyn Claim>> {
        self.inner.claim(stream)
    }

    fn is_claimed(&self, stream: &StreamId) -> Answer<'_, bool> {
        self.inner.is_claimed(stream)
    }

    fn outgoing(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> Answer<'_, Vec<Outgoing>> {
        self.inner.outgoing(now, again_at, limit)
    }

    fn delivered(&self, id: &str) -> Answer<'_, ()> {
        self.inner.delivered(id)
    }

    fn put_off(&self, id: &str, again_at: Timestamp) -> Answer<'_, ()> {
        self.inner.put_off(id, again_at)
    }

    fn next_outgoing(&self) -> Answer<'_, Option<Timestamp>> {
        self.inner.next_outgoing()
    }
}
