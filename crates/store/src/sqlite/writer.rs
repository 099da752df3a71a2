//! The one thread of a process that writes. It takes whatever waits, writes all of it in one
//! transaction, waits for the disk once, and answers everybody.

mod append;

use std::future::Future;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use aurora_model::Timestamp;
use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot, watch};

use self::append::Tip;
use super::Settings;
use super::bell::Bell;
use super::pool::gone;
use super::reader::{count, to_sql};
use super::trouble::{io, is_busy, told};
use crate::error::{Error, Result};
use crate::record::{Append, Appended, Outgoing};

/// So many tasks may wait before those who bring more wait, too.
const WAITING: usize = 1024;
/// So many are written together at most.
const TOGETHER: usize = 256;

/// Something to write, and whom to answer.
pub(super) enum Task {
    /// Records for some streams.
    Append {
        /// What.
        appends: Vec<Append>,
        /// Who waits.
        answer: oneshot::Sender<Result<Vec<Appended>>>,
    },
    /// A picture to keep.
    Keep {
        /// Its name.
        name: String,
        /// How far it goes.
        position: u64,
        /// The picture.
        picture: String,
        /// Who waits.
        answer: oneshot::Sender<Result<()>>,
    },
    /// Messages to give out.
    Outgoing {
        /// What is due by then.
        now: Timestamp,
        /// When it is due again.
        again_at: Timestamp,
        /// How many at most.
        limit: usize,
        /// Who waits.
        answer: oneshot::Sender<Result<Vec<Outgoing>>>,
    },
    /// A message to give out later.
    PutOff {
        /// Its id.
        id: String,
        /// When it is due again.
        again_at: Timestamp,
        /// Who waits.
        answer: oneshot::Sender<Result<()>>,
    },
    /// A message to forget.
    Delivered {
        /// Its id.
        id: String,
        /// Who waits.
        answer: oneshot::Sender<Result<()>>,
    },
}

/// What became of a task, kept until the disk has it.
enum Done {
    Appended(Vec<Appended>),
    Nothing,
    Messages(Vec<Outgoing>),
}

/// The thread and what waits for it.
#[derive(Debug)]
pub(super) struct Writer {
    tasks: Option<mpsc::Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    settings: Arc<Settings>,
}

impl Writer {
    /// Starts the thread; it tells the last position after every commit.
    pub(super) fn start(
        connection: Connection,
        settings: Arc<Settings>,
        position: watch::Sender<u64>,
    ) -> Result<Self> {
        let (tasks, mut queue) = mpsc::channel(WAITING);
        let file = FileId::of(&settings.path).map_err(io("look at", &settings.path))?;
        let bell = Bell::at(&settings.bell());
        let bench = Bench { connection, settings: Arc::clone(&settings), position, file, bell };
        let run = move || {
            let mut batch = Vec::new();
            let mut rhythm = Rhythm::default();
            while queue.blocking_recv_many(&mut batch, TOGETHER) > 0 {
                rhythm.gather(&mut queue, &mut batch);
                let (count, start) = (batch.len(), Instant::now());
                bench.write(&mut batch);
                rhythm = Rhythm { count, took: start.elapsed() };
            }
        };
        let thread = thread::Builder::new().name("aurora-log-write".to_owned()).spawn(run);
        let thread = thread.map_err(io("start a thread for", &settings.path))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread), settings })
    }

    /// Has something written, and waits until it is durable.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(oneshot::Sender<Result<T>>) -> Task,
    ) -> impl Future<Output = Result<T>> + Send + '_ {
        let (answer, answered) = oneshot::channel();
        let task = task(answer);
        async move {
            if let Some(queue) = &self.tasks
                && queue.send(task).await.is_ok()
                && let Ok(answer) = answered.await
            {
                return answer;
            }
            Err(gone(&self.settings))
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has answered nobody, and they know.
            let _ = thread.join();
        }
    }
}

/// How the last batch went. Those who were answered together ask again together, one by one: waiting
/// for them a fraction of what a commit costs is cheaper than a commit for the first of them alone.
/// Who writes alone never waits.
#[derive(Default)]
struct Rhythm {
    count: usize,
    took: Duration,
}

impl Rhythm {
    fn gather(&self, queue: &mut mpsc::Receiver<Task>, batch: &mut Vec<Task>) {
        let patience = (self.took / 4).min(Duration::from_millis(1));
        let start = Instant::now();
        while batch.len() < self.count && start.elapsed() < patience {
            match queue.try_recv() {
                Ok(task) => batch.push(task),
                Err(_) => thread::yield_now(),
            }
        }
    }
}

/// Where the thread works.
struct Bench {
    connection: Connection,
    settings: Arc<Settings>,
    position: watch::Sender<u64>,
    file: FileId,
    bell: Bell,
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// The file at a path. It is not opened: closing it again would take away SQLite's locks.
    fn of(path: &Path) -> std::io::Result<Self> {
        let found = std::fs::symlink_metadata(path)?;
        Ok(Self { device: found.dev(), number: found.ino() })
    }
}

impl Bench {
    /// Writes a batch. Where the batch fails as a whole, each task is tried alone: one that does not
    /// fit on the disk takes no other with it. What another process keeps locked is so for all.
    fn write(&self, batch: &mut Vec<Task>) {
        if self.refused(batch) {
            return;
        }
        match self.together(batch) {
            // What went into a file that has lost its name is recorded for nobody.
            Ok(_) if self.refused(batch) => {}
            Ok(done) => answer_all(batch.drain(..).zip(done)),
            Err(error) if batch.len() == 1 || is_busy(&error) => {
                answer_all(batch.drain(..).map(|task| (task, Err(self.whole(&error)))));
            }
            Err(_) => {
                for task in batch.drain(..) {
                    let mut alone = vec![task];
                    self.write(&mut alone);
                }
            }
        }
    }

    /// Refuses everything when the file that is open is not the one at its path any more: what is
    /// written to it then is gone with this process.
    fn refused(&self, batch: &mut Vec<Task>) -> bool {
        let path = &self.settings.path;
        let why = match FileId::of(path) {
            Ok(file) if file == self.file => return false,
            Ok(_) => "another file took its place while it was open",
            Err(error) if error.kind() == ErrorKind::NotFound => "it was deleted while it was open",
            Err(_) => "it cannot be seen any more",
        };
        let refusal = || io("record anything in", path)(std::io::Error::other(why));
        answer_all(batch.drain(..).map(|task| (task, Err(refusal()))));
        true
    }

    fn whole(&self, error: &rusqlite::Error) -> Error {
        told("record something", &self.settings.path)(clone(error))
    }

    /// All tasks in one transaction. What one task is refused for is its own answer; an error here
    /// means that nothing was written.
    fn together(&self, batch: &[Task]) -> rusqlite::Result<Vec<Result<Done>>> {
        self.say("BEGIN IMMEDIATE")?;
        let written = self.each(batch).and_then(|done| self.say("COMMIT").map(|()| done));
        let (done, last) = match written {
            Ok(done) => done,
            Err(error) => {
                // SQLite may have taken everything back by itself already.
                if !self.connection.is_autocommit() {
                    let _ = self.say("ROLLBACK");
                }
                return Err(error);
            }
        };
        if let Some(last) = last {
            self.position.send_if_modified(|known| {
                let news = last > *known;
                *known = last.max(*known);
                news
            });
            self.bell.ring();
        }
        Ok(done)
    }

    fn each(&self, batch: &[Task]) -> rusqlite::Result<(Vec<Result<Done>>, Option<u64>)> {
        let mut tip = Tip::default();
        let mut done = Vec::with_capacity(batch.len());
        for task in batch {
            let one = match task {
                Task::Append { appends, .. } => self.append(appends, &mut tip)?,
                Task::Keep { name, position, picture, .. } => {
                    self.keep(name, *position, picture)?;
                    Ok(Done::Nothing)
                }
                Task::Outgoing { now, again_at, limit, .. } => {
                    Ok(Done::Messages(self.outgoing(*now, *again_at, *limit)?))
                }
                Task::PutOff { id, again_at, .. } => {
                    let query = "UPDATE outbox SET due = ?2 WHERE id = ?1";
                    self.run(query, params![id, again_at.unix_ms])?;
                    Ok(Done::Nothing)
                }
                Task::Delivered { id, .. } => {
                    self.run("DELETE FROM outbox WHERE id = ?1", [id])?;
                    Ok(Done::Nothing)
                }
            };
            done.push(one);
        }
        Ok((done, tip.written()))
    }

    fn keep(&self, name: &str, position: u64, picture: &str) -> rusqlite::Result<()> {
        let query = "INSERT INTO projections (name, position, picture) VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET position = ?2, picture = ?3";
        self.run(query, params![name, to_sql(position), picture])
    }

    fn outgoing(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> rusqlite::Result<Vec<Outgoing>> {
        let query = "SELECT id, topic, payload, tried FROM outbox WHERE due <= ?1
            ORDER BY due, number LIMIT ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        let given = params![now.unix_ms, count(limit)];
        let found = statement.query_map(given, |row| {
            let tried = u32::try_from(row.get::<_, i64>(3)?).unwrap_or(u32::MAX);
            Ok(Outgoing { id: row.get(0)?, topic: row.get(1)?, payload: row.get(2)?, tried })
        })?;
        let found: Vec<Outgoing> = found.collect::<rusqlite::Result<_>>()?;
        for message in &found {
            let later = "UPDATE outbox SET due = ?1, tried = ?3 WHERE id = ?2";
            let tried = message.tried.saturating_add(1);
            self.run(later, params![again_at.unix_ms, message.id, tried])?;
        }
        Ok(found)
    }

    fn say(&self, words: &str) -> rusqlite::Result<()> {
        self.run(words, [])
    }

    fn run(&self, query: &str, given: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.prepare_cached(query)?.execute(given).map(|_| ())
    }
}

/// An error of SQLite's once more, for the next who must hear it.
fn clone(error: &rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            rusqlite::Error::SqliteFailure(*code, message.clone())
        }
        other => rusqlite::Error::ToSqlConversionFailure(other.to_string().into()),
    }
}

/// Tells everybody what became of it. Whoever has gone does not need to know.
fn answer_all(answers: impl Iterator<Item = (Task, Result<Done>)>) {
    for (task, done) in answers {
        match (task, done) {
            (Task::Append { answer, .. }, done) => {
                let _ = answer.send(done.map(|done| match done {
                    Done::Appended(appended) => appended,
                    _ => Vec::new(),
                }));
            }
            (
                Task::Keep { answer, .. }
                | Task::PutOff { answer, .. }
                | Task::Delivered { answer, .. },
                done,
            ) => {
                let _ = answer.send(done.map(|_| ()));
            }
            (Task::Outgoing { answer, .. }, done) => {
                let _ = answer.send(done.map(|done| match done {
                    Done::Messages(messages) => messages,
                    _ => Vec::new(),
                }));
            }
        }
    }
}
