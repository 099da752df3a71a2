//! What a checkpoint is: a snapshot's tree, its place in the chain, and what was left out of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::time::Timestamp;
use crate::violation::{Severity, ValidationStatus, Violation};

/// The name of a checkpoint, such as `ckpt-001-a3f2b9c4`: its number in the chain, and the first
/// digits of its own hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointId(pub String);

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hash of a tree, in hexadecimal digits: the same content always has the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryMode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A submodule that is not checked out: only its commit is known.
    Submodule,
}

/// How a path differs between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// Its content is another.
    Modified,
    /// Only whether it may be executed is different.
    ModeChanged,
    /// A file became a link, or the other way round.
    TypeChanged,
    /// It is no longer there.
    Deleted,
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub kind: ChangeKind,
    /// What stood there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<EntryMode>,
    /// What stands there after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryMode>,
}

impl Change {
    /// The change between two states of a path, of which each is a mode and a content's name.
    #[must_use]
    pub fn between<T: PartialEq>(
        path: RepoPath,
        before: Option<(EntryMode, T)>,
        after: Option<(EntryMode, T)>,
    ) -> Option<Self> {
        use EntryMode::{Executable, File};
        let kind = match (&before, &after) {
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some((was, _)), Some((is, _)))
                if was != is && !matches!((was, is), (File | Executable, File | Executable)) =>
            {
                ChangeKind::TypeChanged
            }
            (Some((_, was)), Some((_, is))) if was != is => ChangeKind::Modified,
            (Some((was, _)), Some((is, _))) if was != is => ChangeKind::ModeChanged,
            _ => return None,
        };
        let (before, after) = (before.map(|state| state.0), after.map(|state| state.0));
        Some(Self { path, kind, before, after })
    }
}

/// Why something that is in the worktree is not in a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The repository's rules ignore it.
    Ignored,
    /// It is larger than the limit for one file.
    TooLarge,
    /// It could not be read.
    Unreadable,
    /// It is a pipe, a socket or a device.
    SpecialFile,
    /// It kept changing while it was read.
    Unsettled,
    /// It is the data of a git repository (`.git`).
    GitData,
}

/// Something that is in the worktree and not in a checkpoint. A folder stands for all below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The path.
    pub path: RepoPath,
    /// Why.
    pub reason: SkipReason,
    /// Whether it is a folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folder: bool,
    /// Its size, where that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A repository inside the worktree: its files are in the checkpoint, its git data is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nested {
    /// Where it is.
    pub path: RepoPath,
    /// The commit that it had checked out.
    pub head: Option<String>,
    /// Whether the outer repository knows it as a submodule.
    pub submodule: bool,
}

/// Where HEAD stood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The commit; nothing in a repository without one.
    pub commit: Option<String>,
    /// The branch; nothing when HEAD is detached.
    pub branch: Option<String>,
}

/// Why a checkpoint was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Somebody asked for it.
    Asked,
    /// The watchdog's threshold or interval was reached.
    Watched,
    /// Before a rollback or a promotion, so that it can be undone.
    Safety,
    /// The state that a rollback or its undoing left behind.
    Restored,
    /// The state that a promotion left behind.
    Promoted,
    /// Because of a shadow: what it began from, or what it held.
    Shadow,
    /// Because of a desk: what an attempt begins with, or what one left.
    Desk,
    /// The state that the adoption of a desk's work left behind.
    Adopted,
}

/// One checkpoint: everything that is stored about it. Lists of changed files are not stored, because
/// they follow from the trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its name.
    pub checkpoint_id: CheckpointId,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The one before it in its feature's chain.
    pub previous_checkpoint_id: Option<CheckpointId>,
    /// The feature whose worktree it is of.
    pub feature: String,
    /// Why it was made.
    pub kind: CheckpointKind,
    /// What somebody said about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What the worktree held.
    pub tree: TreeId,
    /// What the previous one held; of the first, what HEAD held.
    pub previous_tree: TreeId,
    /// What HEAD held when the chain began.
    pub base_tree: TreeId,
    /// What was staged and differs from the worktree, at its own paths; nothing when nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged_tree: Option<TreeId>,
    /// Where HEAD stood.
    pub head: Head,
    /// How many files differ from the previous one.
    pub files_changed_since_last: u64,
    /// What was left out.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Folders without anything in them, which a tree cannot hold.
    #[serde(default)]
    pub empty_folders: Vec<RepoPath>,
    /// The permission bits of files that have others than a fresh checkout gives; a tree only knows
    /// whether a file may be executed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub permissions: BTreeMap<RepoPath, u32>,
    /// Repositories inside.
    #[serde(default)]
    pub nested: Vec<Nested>,
    /// What was found to reach out of the worktree or into git's own data.
    #[serde(default)]
    pub violations: Vec<Violation>,
    /// Whether it was judged, and how.
    pub validation_status: ValidationStatus,
    /// The worst of its violations.
    pub severity: Severity,
}
