//! What a workspace can be asked, and what it answers.

use aurora_model::{
    Change, Checkpoint, CheckpointId, CheckpointKind, EntryMode, Head, RepoPath, TreeId, Violation,
};
use serde::Serialize;

/// Whether files that the repository ignores are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// None of them.
    #[default]
    Leave,
    /// Small files that look like settings or secrets (`.env`, `*.pem`, `credentials.json` …).
    SecretsLike,
}

/// Which paths are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scan {
    /// What the watchdog saw, where one is running and missed nothing; else everything.
    #[default]
    Auto,
    /// Everything.
    Full,
}

/// What happens when the tree is the one of the previous checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnUnchanged {
    /// The previous checkpoint is the answer.
    #[default]
    Reuse,
    /// A new one is recorded all the same.
    Record,
}

/// Limits before which a checkpoint is made and beyond which it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A larger file is skipped, and listed as such.
    pub max_file_bytes: u64,
    /// More files than this in one checkpoint are refused.
    pub max_files: u64,
    /// More new content than this in one checkpoint is refused.
    pub max_new_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_file_bytes: 100 << 20, max_files: 1_000_000, max_new_bytes: 4 << 30 }
    }
}

/// What to record.
#[derive(Debug, Clone)]
pub struct CheckpointRequest {
    /// Why.
    pub kind: CheckpointKind,
    /// What somebody says about it.
    pub message: String,
    /// Whether ignored files are taken.
    pub ignored: IgnoredFiles,
    /// Which paths are looked at.
    pub scan: Scan,
    /// What happens when nothing changed.
    pub on_unchanged: OnUnchanged,
    /// The limits.
    pub limits: Limits,
    /// Paths that are taken whatever the ignore rules say.
    pub also: Vec<RepoPath>,
    /// Violations that the caller found, besides those that are found here.
    pub violations: Vec<Violation>,
}

impl Default for CheckpointRequest {
    fn default() -> Self {
        Self {
            kind: CheckpointKind::Asked,
            message: String::new(),
            ignored: IgnoredFiles::default(),
            scan: Scan::default(),
            on_unchanged: OnUnchanged::default(),
            limits: Limits::default(),
            also: Vec::new(),
            violations: Vec::new(),
        }
    }
}

/// Which paths were looked at, and why not fewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scanned {
    /// Only what the watchdog named.
    Watched {
        /// How many paths that were.
        paths: u64,
    },
    /// Everything.
    Everything {
        /// Why.
        because: String,
    },
    /// Everything, beside nothing: the latest checkpoint is damaged, so that every file counts as new.
    Anew {
        /// What is damaged.
        because: String,
    },
}

/// A checkpoint that was made, or found to be there already.
#[derive(Debug, Clone)]
pub struct Created {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Whether it was there already, because nothing changed.
    pub unchanged: bool,
    /// What differs from the previous one.
    pub changes: Vec<Change>,
    /// Which paths were looked at.
    pub scanned: Scanned,
}

/// What stands at a path of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Of which kind it is.
    pub mode: EntryMode,
    /// A file's bytes, a link's target, or a submodule's commit in digits.
    pub bytes: Vec<u8>,
}

/// Which paths a rollback is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    /// All that differ.
    #[default]
    Everything,
    /// These, and what is below them.
    Paths(Vec<RepoPath>),
    /// Those that violate something (`--smart`).
    Violations(Vec<Violation>),
}

impl Scope {
    /// What must be said about it, because no path can tell.
    pub(crate) fn notes(&self) -> Vec<String> {
        let Self::Violations(found) = self else { return Vec::new() };
        match found.iter().filter(|violation| violation.file.is_none()).count() {
            0 => Vec::new(),
            1 => vec!["1 violation names no file, so nothing is done about it".to_owned()],
            more => vec![format!("{more} violations name no file, so nothing is done about them")],
        }
    }
}

/// What happens to edits that no checkpoint has yet, in files that a rollback changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Edits {
    /// The checkpoint's bytes are restored exactly; the edits are in the safety checkpoint.
    #[default]
    Replace,
    /// What the checkpoints since then did is undone and the edits stay: a three-way merge with the
    /// latest checkpoint as base. Files where both touched the same lines are left as they are.
    Merge,
}

/// What happens when HEAD or the branch is another than it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MovedHead {
    /// Nothing: it is refused.
    #[default]
    Refuse,
    /// Files are restored all the same; HEAD stays where it is.
    Accept,
}

/// Where to go back to, and how far.
#[derive(Debug, Clone)]
pub struct RollbackRequest {
    /// The checkpoint.
    pub to: CheckpointId,
    /// Which paths.
    pub scope: Scope,
    /// What happens to edits that no checkpoint has yet.
    pub edits: Edits,
    /// What happens when HEAD moved.
    pub moved_head: MovedHead,
    /// The tree that a preview was made of; when the worktree holds another one by now, the
    /// rollback is refused.
    pub seen: Option<TreeId>,
    /// The limits of the safety checkpoint.
    pub limits: Limits,
}

impl RollbackRequest {
    /// Everything, exactly, to this checkpoint.
    #[must_use]
    pub fn to(id: CheckpointId) -> Self {
        Self {
            to: id,
            scope: Scope::default(),
            edits: Edits::default(),
            moved_head: MovedHead::default(),
            seen: None,
            limits: Limits::default(),
        }
    }
}

/// How the latest rollback or promotion is undone; what that was, the workspace knows itself.
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// What happens to edits that were made since.
    pub edits: Edits,
    /// What happens when HEAD moved.
    pub moved_head: MovedHead,
    /// The tree that a preview was made of; when the worktree holds another one by now, undoing is
    /// refused.
    pub seen: Option<TreeId>,
    /// The limits of the safety checkpoint.
    pub limits: Limits,
}

impl UndoRequest {
    /// The same as a rollback to the checkpoint that turned out to be the one before.
    pub(crate) fn going_to(&self, id: &CheckpointId) -> RollbackRequest {
        RollbackRequest {
            edits: self.edits,
            moved_head: self.moved_head,
            seen: self.seen.clone(),
            limits: self.limits,
            ..RollbackRequest::to(id.clone())
        }
    }
}

/// What a rollback does to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepAction {
    /// It is not there now and comes back.
    Create,
    /// Its content, or what it is, becomes another.
    Overwrite,
    /// Only whether it may be executed changes.
    ChangeMode,
    /// It is there now and goes.
    Delete,
    /// Edits that no checkpoint has are merged in.
    Merge,
    /// It stays as it is, because both sides changed the same lines.
    Conflict,
    /// It stays as it is, for the reason given.
    Keep,
}

/// One path of a rollback's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedStep {
    /// The path.
    pub path: RepoPath,
    /// What happens to it.
    pub action: StepAction,
    /// Whether it holds edits that no checkpoint had.
    pub edited_since_last: bool,
    /// Why it stays, or the conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a rollback would do.
#[derive(Debug, Clone, Serialize)]
pub struct RollbackPlan {
    /// Where it goes back to.
    pub to: CheckpointId,
    /// The tree that the worktree holds now.
    pub now: TreeId,
    /// Where HEAD was then and is now, when these differ.
    pub moved_head: Option<(Head, Head)>,
    /// Path by path.
    pub steps: Vec<PlannedStep>,
    /// Folders without content that come back, or go with an undoing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub empty_folders: Vec<RepoPath>,
    /// What else is to be said, such as violations without a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How it ended for one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// It was created.
    Created,
    /// It was overwritten.
    Overwritten,
    /// Whether it may be executed was changed.
    ModeChanged,
    /// It was deleted; the safety checkpoint has it.
    Deleted,
    /// It was merged.
    Merged,
    /// It stayed, because both sides changed the same lines.
    Conflict {
        /// The file with both sides marked, as git does it.
        marked: String,
    },
    /// It stayed.
    Kept {
        /// Why.
        because: String,
    },
    /// It could not be done; the file is as it was.
    Failed {
        /// Why.
        because: String,
    },
}

/// One path, and how it ended for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathOutcome {
    /// The path.
    pub path: RepoPath,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What a rollback did.
#[derive(Debug, Clone, Serialize)]
pub struct RollbackReport {
    /// Where it went back to.
    pub to: CheckpointId,
    /// What was there before; `undo` goes back to it.
    pub safety: CheckpointId,
    /// What is there after; the same as `safety` where nothing was changed.
    pub restored: CheckpointId,
    /// Path by path.
    pub paths: Vec<PathOutcome>,
    /// What else is to be said, such as violations without a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Which checkpoints are kept.
#[derive(Debug, Clone, Default)]
pub struct Retention {
    /// At least so many of the latest; with nothing, all that no other rule names.
    pub keep_last: Option<u64>,
    /// All that are younger than this.
    pub keep_younger_than_ms: Option<i64>,
    /// These go, whatever else is said; the latest of all must not be among them.
    pub forget: Vec<CheckpointId>,
    /// Nothing goes; the answer says what would.
    pub dry_run: bool,
}

/// What pruning did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Pruned {
    /// The checkpoints that went.
    pub forgotten: Vec<CheckpointId>,
    /// How many are left.
    pub kept: u64,
    /// How many bytes the store had before.
    pub bytes_before: u64,
    /// How many it has now.
    pub bytes_after: u64,
}

/// Something that a crash left half-done, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Healed {
    /// What it was, such as `rollback to ckpt-003-…`; of what was not completed, a whole sentence.
    pub what: String,
    /// Whether it was completed; otherwise nothing was touched.
    pub completed: bool,
    /// Paths that were left alone, mostly because somebody changed them meanwhile.
    pub left_alone: Vec<RepoPath>,
}
