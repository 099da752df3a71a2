//! The embedded log: one SQLite file, what is large beside it, claims as locks of the kernel.

mod bell;
mod blob;
mod claim;
mod marks;
mod poll;
mod pool;
mod reader;
mod row;
mod schema;
mod trouble;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aurora_model::{Digest, Timestamp};
use tokio::sync::watch;

use self::blob::Blobs;
use self::poll::Poll;
use self::pool::{Pool, gone};
use self::writer::{Task, Writer};
use crate::admission;
use crate::error::Result;
use crate::record::{Append, Appended, Head, Marked, Outgoing, Record, StreamId};
use crate::store::{Answer, Claim, Store, Subscription};

/// Where the log is, and how patient it is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The database's file. Beside it are two more of SQLite's, the bell and the folder of claims.
    pub path: PathBuf,
    /// The folder of what is large.
    pub blobs: PathBuf,
    /// How long another process may keep the log to itself.
    pub patience: Duration,
    /// How large the database's file may become, in pages of 4 KiB; nothing leaves it to the disk.
    pub max_pages: Option<u32>,
}

impl Settings {
    /// The usual ones for a folder such as `.aurora`.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self {
            path: folder.join("aurora.db"),
            blobs: folder.join("blobs"),
            patience: Duration::from_secs(30),
            max_pages: None,
        }
    }

    fn bell(&self) -> PathBuf {
        self.path.with_extension("bell")
    }

    fn claims(&self) -> PathBuf {
        self.path.with_extension("claims")
    }
}

/// A log in a file. Several processes may have it open at once. One thread writes, a few read, and
/// nobody who asks is kept from doing something else meanwhile.
#[derive(Debug)]
pub struct SqliteStore {
    settings: Arc<Settings>,
    // The threads end when these are dropped, in this order: those that write, and then those that
    // read, so that the last connection tidies up behind a log that is quiet.
    poll: Poll,
    writer: Writer,
    pool: Pool,
    position: watch::Sender<u64>,
}

impl SqliteStore {
    /// Opens a log, and makes it where there is none.
    ///
    /// # Errors
    /// When it cannot be opened, is no log, or was written by a newer version.
    pub fn open(settings: Settings) -> Result<Self> {
        let connection = schema::open(&settings)?;
        let last = reader::last_position(&connection, &settings)?;
        let position = watch::Sender::new(last);
        let settings = Arc::new(settings);
        let writer = Writer::start(connection, Arc::clone(&settings), position.clone())?;
        let pool = Pool::start(&settings)?;
        let poll = Poll::new(Arc::clone(&settings), position.clone());
        Ok(Self { settings, poll, writer, pool, position })
    }
}

impl Store for SqliteStore {
    fn append(&self, append: Append) -> Answer<'_, Appended> {
        Box::pin(async move {
            let appended = self.append_all(vec![append]).await?;
            appended.into_iter().next().ok_or_else(|| gone(&self.settings))
        })
    }

    fn append_all(&self, appends: Vec<Append>) -> Answer<'_, Vec<Appended>> {
        Box::pin(async move {
            if appends.is_empty() {
                return Ok(Vec::new());
            }
            admission::check(&appends)?;
            self.writer.ask(|answer| Task::Append { appends, answer }).await
        })
    }

    fn marked(&self, label: &str, after: u64, limit: usize) -> Answer<'_, Vec<Marked>> {
        let label = label.to_owned();
        Box::pin(self.pool.ask(move |reader| reader.marked(&label, after, limit)))
    }

    fn count_marked(&self, label: &str) -> Answer<'_, u64> {
        let label = label.to_owned();
        Box::pin(self.pool.ask(move |reader| reader.count_marked(&label)))
    }

    fn due(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<Marked>> {
        Box::pin(self.pool.ask(move |reader| reader.due(now, limit)))
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(self.pool.ask(|reader| reader.next_wake()))
    }

    fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        let stream = stream.clone();
        Box::pin(self.pool.ask(move |reader| reader.read(&stream, after, limit)))
    }

    fn read_each(&self, streams: Vec<StreamId>, limit: usize) -> Answer<'_, Vec<Vec<Record>>> {
        Box::pin(self.pool.ask(move |reader| {
            streams.iter().map(|stream| reader.read(stream, 0, limit)).collect()
        }))
    }

    fn read_all(&self, after: u64, limit: usize) -> Answer<'_, Vec<Record>> {
        Box::pin(self.pool.ask(move |reader| reader.read_all(after, limit)))
    }

    fn head(&self, stream: &StreamId) -> Answer<'_, Option<Head>> {
        let stream = stream.clone();
        Box::pin(self.pool.ask(move |reader| reader.head(&stream)))
    }

    fn heads(&self, prefix: &str, limit: usize) -> Answer<'_, Vec<Head>> {
        let prefix = prefix.to_owned();
        Box::pin(self.pool.ask(move |reader| reader.heads(&prefix, limit)))
    }

    fn subscribe(&self) -> Subscription {
        let subscription = Subscription { position: self.position.subscribe() };
        self.poll.wake();
        subscription
    }

    fn keep_projection(&self, name: &str, position: u64, picture: &str) -> Answer<'_, ()> {
        let (name, picture) = (name.to_owned(), picture.to_owned());
        Box::pin(async move {
            admission::name("the name of a projection", &name)?;
            self.writer.ask(|answer| Task::Keep { name, position, picture, answer }).await
        })
    }

    fn projection(&self, name: &str) -> Answer<'_, Option<(u64, String)>> {
        let name = name.to_owned();
        Box::pin(self.pool.ask(move |reader| reader.projection(&name)))
    }

    fn put(&self, bytes: Vec<u8>) -> Answer<'_, Digest> {
        let blobs = Blobs::new(&self.settings.blobs);
        Box::pin(self.pool.ask(move |_| blobs.put(&bytes)))
    }

    fn get(&self, digest: &Digest) -> Answer<'_, Vec<u8>> {
        let blobs = Blobs::new(&self.settings.blobs);
        let digest = digest.clone();
        Box::pin(self.pool.ask(move |_| blobs.get(&digest)))
    }

    fn claim(&self, stream: &StreamId) -> Answer<'_, Box<dyn Claim>> {
        let (folder, stream) = (self.settings.claims(), stream.clone());
        Box::pin(async move {
            admission::stream(&stream)?;
            self.pool.ask(move |_| claim::take(&folder, &stream)).await
        })
    }

    fn is_claimed(&self, stream: &StreamId) -> Answer<'_, bool> {
        let (folder, stream) = (self.settings.claims(), stream.clone());
        Box::pin(async move {
            admission::stream(&stream)?;
            self.pool.ask(move |_| claim::is_taken(&folder, &stream)).await
        })
    }

    fn outgoing(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> Answer<'_, Vec<Outgoing>> {
        Box::pin(self.writer.ask(move |answer| Task::Outgoing { now, again_at, limit, answer }))
    }

    fn delivered(&self, id: &str) -> Answer<'_, ()> {
        let id = id.to_owned();
        Box::pin(self.writer.ask(|answer| Task::Delivered { id, answer }))
    }

    fn put_off(&self, id: &str, again_at: Timestamp) -> Answer<'_, ()> {
        let id = id.to_owned();
        Box::pin(self.writer.ask(move |answer| Task::PutOff { id, again_at, answer }))
    }

    fn next_outgoing(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(self.pool.ask(|reader| reader.next_outgoing()))
    }

    fn inspect(&self) -> Answer<'_, Vec<String>> {
        Box::pin(self.pool.ask(|reader| reader.inspect()))
    }
}
