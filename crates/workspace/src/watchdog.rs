//! The watchdog: which paths changed since somebody last looked.

use aurora_model::{CheckpointId, RepoPath};
use serde::{Deserialize, Serialize};

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
