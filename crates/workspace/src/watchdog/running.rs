//! A running watchdog: its thread, what it has to report, and its answers.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aurora_model::{CheckpointId, RepoPath, Timestamp};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::FileType;

use super::follow::Follower;
use super::kernel::Kernel;
use super::log::ChangeLog;
use super::serve::Server;
use super::settle::Settled;
use super::{
    Dirty, FileChange, Mark, OnChange, OnThreshold, Options, Unwatched, Watched, log, serve,
};
use crate::error::{Error, Result};
use crate::git::Place;

/// Events are taken in batches this far apart, so that a busy writer is not slowed by us.
const BATCH: Duration = Duration::from_millis(2);
/// More different paths than this are not counted.
const MOST_COUNTED: usize = 10_000;

/// A watchdog of one worktree. It ends when it is dropped.
pub struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    server: Option<Server>,
    _lock: File,
}

/// What the threads of a watchdog share.
pub(super) struct Shared {
    /// Which watchdog it is.
    pub instance: String,
    kernel: Arc<Kernel>,
    follower: Mutex<Follower>,
    report: Mutex<Report>,
    /// Becomes readable when there is something to do besides events.
    wake: OwnedFd,
    stop: AtomicBool,
    threshold: u64,
    now: fn() -> Timestamp,
}

/// What has settled and is in no checkpoint yet.
struct Report {
    log: ChangeLog,
    uncaptured: HashMap<RepoPath, u64>,
    captured: u64,
    told: bool,
    problem: Option<String>,
}

impl Watchdog {
    /// Watches a worktree from now on. There can be only one watchdog per worktree.
    pub fn start(place: &Place, mut options: Options) -> Result<Self> {
        let lock = serve::lock(place)?;
        let kernel = Arc::new(Kernel::open(&place.root)?);
        let log = ChangeLog::open(place)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::io("watch", &place.root)(error.into()))?;
        let unwatched = with_own_log(place, options.unwatched.clone());
        let follower = Follower::start(Arc::clone(&kernel), unwatched, &options);
        let (uncaptured, captured) = (HashMap::new(), 0);
        let report = Report { log, uncaptured, captured, told: false, problem: None };
        let shared = Arc::new(Shared {
            instance: instance(),
            kernel,
            follower: Mutex::new(follower),
            report: Mutex::new(report),
            wake,
            stop: AtomicBool::new(false),
            threshold: options.change_threshold.clamp(1, MOST_COUNTED as u64),
            now: options.now,
        });
        let (on_change, on_threshold) = (options.on_change.take(), options.on_threshold.take());
        let server = options.socket_dir.as_deref().map(|dir| Server::start(&shared, place, dir));
        let server = server.transpose()?;
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || of_thread.run(on_change.as_ref(), on_threshold.as_ref()))
            .map_err(Error::io("watch", &place.root))?;
        Ok(Self { shared, thread: Some(thread), server, _lock: lock })
    }

    /// How many folders are watched.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.shared.follower().watches()
    }

    /// Why it does not see everything, or could not write its log; nothing when all is well.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.shared.follower().trouble().map(ToOwned::to_owned);
        trouble.or_else(|| self.shared.report().problem.clone())
    }

    /// How many different paths changed, were quiet since, and are in no checkpoint yet.
    #[must_use]
    pub fn uncaptured(&self) -> u64 {
        self.shared.report().uncaptured.len() as u64
    }

    #[cfg(test)]
    pub(super) fn lose_events(&self) {
        self.shared.follower().lose_events();
    }

    #[cfg(test)]
    pub(super) fn reach_watch_limit(&self, limit: Option<usize>) {
        self.shared.follower().set_limit(limit);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Others stop asking before there is nobody to answer.
        drop(self.server.take());
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Watched for Watchdog {
    fn since(&self, mark: Option<&Mark>) -> Dirty {
        self.shared.since(mark)
    }

    fn captured(&self, mark: &Mark, checkpoint: &CheckpointId) {
        self.shared.captured(mark, checkpoint);
    }
}

impl Watched for Shared {
    fn since(&self, mark: Option<&Mark>) -> Dirty {
        let mut follower = self.follower();
        follower.catch_up();
        let trouble = follower.ready();
        let lost = follower.is_lost();
        let sequence = follower.dirty.hand_out();
        let now = Mark { watch: self.instance.clone(), sequence };
        let everything = |because: &str| Dirty::Everything {
            mark: (!lost).then(|| now.clone()),
            because: because.to_owned(),
        };
        match (trouble, mark) {
            (Some(because), _) => everything(&because),
            (None, None) => everything("the watchdog is asked for the first time"),
            (None, Some(mark)) if mark.watch != self.instance || mark.sequence > sequence => {
                everything("the watchdog was started after the last checkpoint")
            }
            (None, Some(mark)) => match follower.dirty.since(mark.sequence) {
                Ok(paths) => Dirty::Paths { mark: now, paths },
                Err(because) => everything(because),
            },
        }
    }

    fn captured(&self, mark: &Mark, checkpoint: &CheckpointId) {
        if mark.watch != self.instance || !self.follower().dirty.captured(mark.sequence) {
            return;
        }
        let mut report = self.report();
        report.log.captured(mark.sequence, checkpoint);
        report.uncaptured.retain(|_, sequence| *sequence > mark.sequence);
        report.captured = mark.sequence;
        report.told = false;
        drop(report);
        self.wake();
    }
}

impl Shared {
    fn follower(&self) -> MutexGuard<'_, Follower> {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn run(&self, on_change: Option<&OnChange>, on_threshold: Option<&OnThreshold>) {
        loop {
            let due = [self.follower().next_due(), self.report().log.next_due()];
            let due = due.into_iter().flatten().min();
            wait(&[self.kernel.queue.as_fd(), self.wake.as_fd()], due);
            let stopping = self.stop.load(Ordering::Acquire);
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            self.turn(stopping, on_change, on_threshold);
            if stopping {
                return;
            }
            wait(&[self.wake.as_fd()], Some(Instant::now() + BATCH));
        }
    }

    /// Takes in what happened, tells of what is quiet, writes what is captured.
    fn turn(
        &self,
        stopping: bool,
        on_change: Option<&OnChange>,
        on_threshold: Option<&OnThreshold>,
    ) {
        let mut follower = self.follower();
        follower.catch_up();
        let now = Instant::now();
        let settled = match stopping {
            true => follower.settling.take_all(),
            false => follower.settling.take_due(now),
        };
        drop(follower);
        let timestamp = (self.now)();
        let changes: Vec<(FileChange, u64)> =
            settled.into_iter().filter_map(|settled| self.change(settled, timestamp)).collect();
        if let Some(on_change) = on_change {
            changes.iter().for_each(|(change, _)| on_change(change));
        }
        let reached = self.report().take(changes, now, stopping, self.threshold);
        if let (Some(reached), Some(on_threshold)) = (reached, on_threshold) {
            on_threshold(reached);
        }
    }

    fn change(&self, settled: Settled, timestamp: Timestamp) -> Option<(FileChange, u64)> {
        let sequence = settled.sequence;
        let stat = self.kernel.stat(settled.path.as_bytes());
        let (file_path, event_type, from) = settled.outcome(stat.is_some())?;
        let folder = stat.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode));
        if folder == Some(FileType::Directory) && from.is_none() {
            return None;
        }
        let file_size = stat.and_then(|stat| u64::try_from(stat.st_size).ok());
        Some((FileChange { timestamp, event_type, file_path, from, file_size }, sequence))
    }
}

impl Report {
    /// Counts and logs changes; says how many are uncaptured when that has just become too many.
    fn take(
        &mut self,
        changes: Vec<(FileChange, u64)>,
        now: Instant,
        stopping: bool,
        threshold: u64,
    ) -> Option<u64> {
        for (change, sequence) in changes {
            if sequence > self.captured && self.uncaptured.len() < MOST_COUNTED {
                self.uncaptured.insert(change.file_path.clone(), sequence);
            }
            self.log.push(change, sequence, now);
        }
        let written = if stopping { self.log.write_all() } else { self.log.write_due(now) };
        if let Err(error) = written {
            self.problem = Some(format!("the log of file changes cannot be written: {error}"));
        }
        let count = self.uncaptured.len() as u64;
        let reached = !self.told && count >= threshold;
        self.told |= reached;
        reached.then_some(count)
    }
}

/// Waits until one of these can be read, or until a moment.
pub(super) fn wait(fds: &[BorrowedFd<'_>], until: Option<Instant>) {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    let mut fds: Vec<PollFd<'_>> =
        fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    // Whoever interrupts this only makes us look too early.
    let _ = poll(&mut fds, left.as_ref());
}

/// A name that no other watchdog has or had.
fn instance() -> String {
    format!("{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// What need not be watched: what the caller says, and the folder that our own log is in.
fn with_own_log(place: &Place, unwatched: Option<Unwatched>) -> Unwatched {
    use std::os::unix::ffi::OsStrExt as _;
    let logs = log::folder(place);
    let logs = logs.strip_prefix(&place.root).ok();
    let logs = logs.and_then(|logs| RepoPath::new(logs.as_os_str().as_bytes()));
    Arc::new(move |path| {
        logs.as_ref() == Some(path) || unwatched.as_ref().is_some_and(|unwatched| unwatched(path))
    })
}
