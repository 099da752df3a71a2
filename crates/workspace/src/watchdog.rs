//! The watchdog: which paths changed since somebody last looked.

#[cfg(target_os = "linux")]
mod connect;
#[cfg(target_os = "linux")]
mod dirty;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod folders;
#[cfg(target_os = "linux")]
mod follow;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod protocol;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod settle;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use aurora_model::{CheckpointId, RepoPath, Timestamp};
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub use connect::connect;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Watchdog, connect};
#[cfg(target_os = "linux")]
pub use running::Watchdog;

/// A point in what a watchdog has seen. Of another watchdog, it means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which watchdog.
    pub watch: String,
    /// How much it had seen.
    pub sequence: u64,
}

/// A path that may have changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DirtyPath {
    /// The path.
    pub path: RepoPath,
    /// Whether everything below it may have changed too (a folder that is new or was moved).
    pub whole: bool,
}

/// What a watchdog has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dirty {
    /// Nothing else can have changed since the mark.
    Paths {
        /// Where we are now: everything up to here is in the answer.
        mark: Mark,
        /// What may have changed.
        paths: Vec<DirtyPath>,
    },
    /// It cannot tell: everything must be looked at.
    Everything {
        /// Where we are now; nothing when there is no watchdog.
        mark: Option<Mark>,
        /// Why, in words for the user (`no watchdog is running`, `the event queue overflowed`).
        because: String,
    },
}

/// A watchdog, in this process or in another.
pub trait Watched: Send + Sync {
    /// What may have changed since a mark; all that has happened before the call is in the answer.
    fn since(&self, mark: Option<&Mark>) -> Dirty;

    /// A checkpoint has captured everything up to the mark.
    fn captured(&self, mark: &Mark, checkpoint: &CheckpointId);
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    /// It is new.
    Add,
    /// Its content or its permissions are others.
    Change,
    /// It is gone.
    Unlink,
    /// It has another name.
    Rename,
}

/// One event, once the file is quiet: the event of spec §9.5 without its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// When it was quiet.
    pub timestamp: Timestamp,
    /// What happened.
    pub event_type: ChangeType,
    /// To which path. A folder only when it was renamed or moved away as one.
    pub file_path: RepoPath,
    /// Where it was before, when it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RepoPath>,
    /// How large it is now, in bytes; nothing when it is gone.
    pub file_size: Option<u64>,
}

/// Says which folders need not be watched. It is asked again whenever a `.gitignore` changes.
pub type Unwatched = Arc<dyn Fn(&RepoPath) -> bool + Send + Sync>;

/// Is told every event.
pub type OnChange = Box<dyn Fn(&FileChange) + Send>;

/// Is told how many paths changed.
pub type OnThreshold = Box<dyn Fn(u64) + Send>;

/// How a watchdog works, and who is told what. The callbacks run on its own thread: be quick.
pub struct Options {
    /// A path is reported once nothing happened to it for so long.
    pub settle_ms: u64,
    /// So many different paths, in no checkpoint yet, call `on_threshold`.
    pub change_threshold: u64,
    /// With more changed paths than this, everything is looked at instead.
    pub max_dirty_paths: usize,
    /// Which folders need not be watched; without it all are.
    pub unwatched: Option<Unwatched>,
    /// Is told every event.
    pub on_change: Option<OnChange>,
    /// Is told how many paths changed, at most once until the next checkpoint.
    pub on_threshold: Option<OnThreshold>,
    /// Where a folder for the socket is made that other processes ask by; without it none can.
    pub socket_dir: Option<PathBuf>,
    /// The clock.
    pub now: fn() -> Timestamp,
}

impl Options {
    /// The usual, with nobody told and no socket.
    #[must_use]
    pub fn new(now: fn() -> Timestamp) -> Self {
        Self {
            settle_ms: 100,
            change_threshold: 50,
            max_dirty_paths: 100_000,
            unwatched: None,
            on_change: None,
            on_threshold: None,
            socket_dir: None,
            now,
        }
    }
}
