//! Shadow workspaces: work that reaches the real worktree only when it is promoted.

mod changes;
mod checkpoint;
mod copy;
mod copy_git;
mod create;
mod discard;
pub mod enter;
mod git_data;
mod ignored;
mod inspect;
mod layers;
mod meta;
mod own_git;
mod probe;
mod promote;
mod quota;
mod reading;
pub(crate) mod removal;
pub mod run;
mod users;

use std::ffi::OsString;
use std::path::PathBuf;

use aurora_model::{Change, Checkpoint, CheckpointId, Head, RepoPath, Violation};
use serde::{Deserialize, Serialize};

use crate::request::{Limits, PathOutcome};

pub use changes::ShadowChange;
pub use meta::{Layer, Meta, Promotion, Shadow, Status};
pub use probe::Probed;

/// How a shadow keeps its changes away from the real worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// An overlay over the worktree's own path, seen only by what runs in the shadow.
    Overlay,
    /// A copy whose files share their blocks with the real ones until they are written.
    Reflink,
    /// A plain copy.
    Copy,
}

impl Strategy {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Overlay, Self::Reflink, Self::Copy];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Reflink => "reflink",
            Self::Copy => "copy",
        }
    }
}

/// The program that enters a shadow and becomes the command, because namespaces can only be left
/// behind by a process that is not needed any more: `aur shadow enter`.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// What comes before the arguments that this crate adds.
    pub args: Vec<OsString>,
}

/// Which namespaces an overlay is mounted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// A mount namespace where that is allowed, else a user namespace around it.
    #[default]
    Auto,
    /// A user namespace in any case.
    User,
}

/// What the shadow is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Base {
    /// A checkpoint of the real worktree, made now.
    #[default]
    Checkpoint,
    /// Nothing is recorded; what moved meanwhile is told by times. An overlay then costs the same
    /// whatever the worktree's size. A copy has a checkpoint in any case.
    None,
}

/// A shadow to make.
#[derive(Debug, Clone)]
pub struct ShadowRequest {
    /// The strategy; with nothing, the best that works here.
    pub strategy: Option<Strategy>,
    /// More changes than this many bytes are too many.
    pub max_bytes: u64,
    /// What it is compared with.
    pub base: Base,
    /// Who enters overlays; without one there are none.
    pub helper: Option<Helper>,
    /// Which namespaces to use.
    pub namespace: Namespace,
    /// The limits of the base checkpoint.
    pub limits: Limits,
}

/// How many bytes a shadow may hold unless told otherwise.
pub const DEFAULT_MAX_BYTES: u64 = 2048 << 20;

impl Default for ShadowRequest {
    fn default() -> Self {
        Self {
            strategy: None,
            max_bytes: DEFAULT_MAX_BYTES,
            base: Base::default(),
            helper: None,
            namespace: Namespace::default(),
            limits: Limits::default(),
        }
    }
}

/// What a shadow holds and how it stands.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// The shadow.
    pub meta: Meta,
    /// What differs from the worktree it was made of.
    pub changes: Vec<ShadowChange>,
    /// Folders that are new and empty.
    pub empty_folders: Vec<RepoPath>,
    /// How many bytes it holds.
    pub bytes: u64,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
    /// What happened to git's own data in it, and what stays behind when it is promoted.
    pub notes: Vec<String>,
    /// What of git's own data only the shadow has: branches, tags, stashes, commits.
    pub git_data: Vec<String>,
    /// What cannot be promoted: too large, not readable, no file.
    pub unpromotable: Vec<RepoPath>,
    /// The processes that work in it.
    pub pids: Vec<u32>,
    /// Whether something is at work in it.
    pub in_use: bool,
    /// Changed paths that the real worktree changed meanwhile.
    pub moved: Vec<RepoPath>,
    /// Where HEAD of the real worktree is now, when it is elsewhere than it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_now: Option<Head>,
}

impl Inspection {
    /// Whether nothing is lost when the shadow goes.
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.changes.is_empty()
            && self.empty_folders.is_empty()
            && self.unpromotable.is_empty()
            && self.git_data.is_empty()
    }

    /// The changes as a comparison of trees would give them.
    #[must_use]
    pub fn plain_changes(&self) -> Vec<Change> {
        self.changes.iter().map(|change| change.change.clone()).collect()
    }
}

/// What becomes of a promotion when some paths cannot go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromotionMode {
    /// All of it or nothing.
    #[default]
    Atomic,
    /// What can go goes; the rest stays in the shadow.
    Incremental,
}

/// What becomes of files that changed in the real worktree too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenMoved {
    /// They are conflicts.
    #[default]
    Refuse,
    /// Both sides are merged where they touched different lines.
    Merge,
}

/// What to promote, and how.
#[derive(Debug, Clone, Default)]
pub struct PromotionRequest {
    /// What becomes of it when some paths cannot go.
    pub mode: PromotionMode,
    /// Only these paths and what is below them; with nothing, everything.
    pub only: Vec<RepoPath>,
    /// What becomes of files that changed in the real worktree too.
    pub when_moved: WhenMoved,
    /// Whether it goes on in spite of violations of severity error or worse.
    pub accept_violations: bool,
    /// Whether files that the repository ignores go too.
    pub ignored: bool,
    /// Nothing is changed; the answer says what would be.
    pub dry_run: bool,
    /// The limits of the checkpoints.
    pub limits: Limits,
}

/// What a promotion did.
#[derive(Debug, Clone, Serialize)]
pub struct PromotionReport {
    /// The shadow.
    pub shadow: String,
    /// How.
    pub mode: PromotionMode,
    /// What was there before; nothing when nothing had to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<CheckpointId>,
    /// What is there after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted: Option<CheckpointId>,
    /// Path by path.
    pub paths: Vec<PathOutcome>,
    /// What stays behind and why.
    pub notes: Vec<String>,
    /// How many changes are left in the shadow.
    pub left: u64,
    /// What of git's own data is left in the shadow.
    pub git_data: Vec<String>,
    /// Whether the shadow is open still, because something is left in it.
    pub open: bool,
    /// What is wrong with what it changes.
    pub violations: Vec<Violation>,
    /// Whether nothing was changed because it was only asked what would be.
    pub dry_run: bool,
}

/// A checkpoint of a shadow.
#[derive(Debug, Clone)]
pub struct ShadowCheckpoint {
    /// The checkpoint, in a chain of the shadow's own.
    pub checkpoint: Checkpoint,
    /// Whether it was there already.
    pub unchanged: bool,
    /// What differs from the base.
    pub changes: Vec<Change>,
    /// What stayed out of it.
    pub skipped: Vec<RepoPath>,
}

/// What was discarded.
#[derive(Debug, Clone, Serialize)]
pub struct Discarded {
    /// The shadow.
    pub shadow: String,
    /// The paths whose changes are gone; all of them when the shadow itself is gone.
    pub paths: Vec<RepoPath>,
    /// Whether the shadow itself is gone.
    pub whole: bool,
}

/// What to tidy up.
#[derive(Debug, Clone, Copy)]
pub struct CleanupRequest {
    /// Shadows that were promoted or discarded go when they are older than this.
    pub older_than_ms: i64,
    /// Whether open shadows with changes go too.
    pub also_open: bool,
    /// Nothing goes; the answer says what would.
    pub dry_run: bool,
}

impl Default for CleanupRequest {
    fn default() -> Self {
        Self { older_than_ms: 7 * 86_400_000, also_open: false, dry_run: false }
    }
}

/// One folder that was looked at while tidying up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// The shadow.
    pub shadow: String,
    /// Whether it is gone.
    pub removed: bool,
    /// Why.
    pub because: String,
}
