//! What every store can do: `Store`, with one contract suite for all of them.

use std::future::Future;
use std::pin::Pin;

use aurora_model::{Digest, Timestamp};

use crate::error::Result;
use crate::record::{Append, Appended, Head, Marked, Outgoing, Record, StreamId};

/// An answer that comes later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The right to drive one stream, held as long as it lives, and gone with the process that has it.
pub trait Claim: Send + Sync {}

/// A log of events in streams, and what is kept beside it.
pub trait Store: Send + Sync {
    /// Appends records to one stream. When it returns, they survive a loss of power.
    fn append(&self, append: Append) -> Answer<'_, Appended>;

    /// Appends to several streams, all of it or nothing: when one of them is not at the version that
    /// is expected, nothing is written. The answers are in the order of the appends. One stream
    /// twice is refused.
    fn append_all(&self, appends: Vec<Append>) -> Answer<'_, Vec<Appended>>;

    /// The streams that are marked so, those that began first before the others, after a place, at
    /// most so many.
    fn marked(&self, label: &str, after: u64, limit: usize) -> Answer<'_, Vec<Marked>>;

    /// How many streams are marked so.
    fn count_marked(&self, label: &str) -> Answer<'_, u64>;

    /// The streams that somebody must look at by then, the earliest first, at most so many.
    fn due(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Marked>>;

    /// When somebody must look at a stream next; nothing when nobody must.
    fn next_wake(&self) -> Answer<'_, Option<Timestamp>>;

    /// The records of a stream after a version, at most so many.
    fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Answer<'_, Vec<Record>>;

    /// The first records of several streams, at most so many of each, in the order of the streams: the
    /// same as reading one after the other, and asked at once.
    fn read_each(&self, streams: Vec<StreamId>, limit: usize) -> Answer<'_, Vec<Vec<Record>>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(streams.len());
            for stream in &streams {
                found.push(self.read(stream, 0, limit).await?);
            }
            Ok(found)
        })
    }

    /// The records of the whole log after a position, at most so many.
    fn read_all(&self, after: u64, limit: usize) -> Answer<'_, Vec<Record>>;

    /// How a stream stands; nothing when there is none.
    fn head(&self, stream: &StreamId) -> Answer<'_, Option<Head>>;

    /// The streams whose names begin so, the latest written first, at most so many.
    fn heads(&self, prefix: &str, limit: usize) -> Answer<'_, Vec<Head>>;

    /// Tells when something was appended, by this process or by another.
    fn subscribe(&self) -> Subscription;

    /// Keeps a picture that was derived from the log up to a position; losing it costs time only.
    fn keep_projection(&self, name: &str, position: u64, picture: &str) -> Answer<'_, ()>;

    /// The picture of that name and the position up to which it is true.
    fn projection(&self, name: &str) -> Answer<'_, Option<(u64, String)>>;

    /// Keeps bytes beside the log under their SHA-256; keeping them twice is the same as once.
    fn put(&self, bytes: Vec<u8>) -> Answer<'_, Digest>;

    /// The bytes with this SHA-256; what is not what it should be is an error.
    fn get(&self, digest: &Digest) -> Answer<'_, Vec<u8>>;

    /// Takes the right to drive a stream; an error when another process has it and lives.
    fn claim(&self, stream: &StreamId) -> Answer<'_, Box<dyn Claim>>;

    /// Whether somebody has the right to drive a stream. Asking takes nothing: whoever claims it at
    /// the same moment gets it.
    fn is_claimed(&self, stream: &StreamId) -> Answer<'_, bool>;

    /// Messages that are due, at most so many, the longest due first; they stay until they are said
    /// to be delivered, and are not given out again before `again_at`. A new one is due at once.
    fn outgoing(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> Answer<'_, Vec<Outgoing>>;

    /// Says that a message was delivered.
    fn delivered(&self, id: &str) -> Answer<'_, ()>;

    /// Says that a message is not to be given out again before then, whatever was said before.
    fn put_off(&self, id: &str, again_at: Timestamp) -> Answer<'_, ()>;

    /// When a message is due next; nothing when none waits. One that was never given out is due
    /// since the beginning of time.
    fn next_outgoing(&self) -> Answer<'_, Option<Timestamp>>;

    /// What the file under the log says is wrong with itself; nothing when it finds nothing, or when
    /// there is no file.
    fn inspect(&self) -> Answer<'_, Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Wakes up when something was appended.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// The last position that is known to be written.
    pub(crate) position: tokio::sync::watch::Receiver<u64>,
}

impl Subscription {
    /// The last position that is known to be written.
    #[must_use]
    pub fn position(&self) -> u64 {
        *self.position.borrow()
    }

    /// Waits until something after this position was written; false when the store is gone.
    pub async fn past(&mut self, position: u64) -> bool {
        self.position.wait_for(|now| *now > position).await.is_ok()
    }
}
