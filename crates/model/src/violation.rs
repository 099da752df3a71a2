//! What is wrong with a state of the worktree, by path.

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;

/// How bad a violation is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a look.
    #[default]
    Info,
    /// Worth a decision.
    Warning,
    /// Must not be merged.
    Error,
    /// Must not go on.
    Critical,
}

/// What a state was found to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationStatus {
    /// Nothing that must not be.
    Valid,
    /// Something that must not be.
    Invalid,
    /// Nobody looked.
    #[default]
    Skipped,
}

/// What a violation breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// A symbolic link leads out of the worktree.
    SymlinkEscape,
    /// A symbolic link leads into git's own data.
    SymlinkIntoGit,
    /// A path is absolute or climbs with `..`.
    PathEscape,
    /// Git's own data was changed: configuration, hooks, HEAD, of the repository or one inside it.
    GitData,
    /// A file shares its content with another name, perhaps one outside.
    HardLink,
    /// A file that may be executed is new, or an old one now may be.
    NewExecutable,
    /// A pipe, a socket or a device.
    SpecialFile,
    /// More disk is used than allowed.
    Quota,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Violation {
    /// The path; the root itself has none.
    pub file: Option<RepoPath>,
    /// What it breaks.
    pub constraint: Constraint,
    /// How bad that is.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
}
