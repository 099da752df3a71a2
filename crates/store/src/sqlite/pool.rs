//! A few threads that read and look after files, so that nobody waits who could do something else.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use super::Settings;
use super::reader::Reader;
use super::trouble::io;
use crate::error::{Error, Result};

/// How many threads: enough that a slow disk under one does not stop the others.
const THREADS: usize = 3;
/// So much work may wait before those who bring more of it wait, too.
const WAITING: usize = 256;

type Work = Box<dyn FnOnce(&Reader) + Send>;
type Queue = Arc<Mutex<mpsc::Receiver<Work>>>;

/// The threads and their work.
pub(super) struct Pool {
    work: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
    settings: Arc<Settings>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Pool {
    /// Starts the threads.
    pub(super) fn start(settings: &Arc<Settings>) -> Result<Self> {
        let (work, queue) = mpsc::channel(WAITING);
        let queue: Queue = Arc::new(Mutex::new(queue));
        let mut pool =
            Self { work: Some(work), threads: Vec::new(), settings: Arc::clone(settings) };
        for _ in 0..THREADS {
            let (queue, settings) = (Arc::clone(&queue), Arc::clone(settings));
            let run = move || work_off(&queue, &Reader::new(settings));
            let thread = thread::Builder::new().name("aurora-log-read".to_owned()).spawn(run);
            pool.threads.push(thread.map_err(io("start a thread for", &pool.settings.path))?);
        }
        Ok(pool)
    }

    /// Has something done by one of the threads.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send + '_ {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |reader| {
            // Whoever asked may have gone; then nobody needs to know.
            let _ = answer.send(question(reader));
        });
        async move {
            if let Some(queue) = &self.work
                && queue.send(work).await.is_ok()
                && let Ok(answer) = answered.await
            {
                return answer;
            }
            Err(gone(&self.settings))
        }
    }
}

/// The thread that should have answered is not there any more.
pub(super) fn gone(settings: &Settings) -> Error {
    let message = "the thread that works on it is gone".to_owned();
    Error::Database { doing: "work", path: settings.path.clone(), message }
}

fn work_off(queue: &Queue, reader: &Reader) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(work) = next else { return };
        work(reader);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.work = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has answered nobody, and they know.
            let _ = thread.join();
        }
    }
}
