//! Finds the worktree around a folder and its checked-out branch, by reading git's files only.

use std::path::{Path, PathBuf};

use super::input;

const MAX_POINTER_BYTES: u64 = 64 * 1024;

/// A worktree and where git keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// The worktree's root.
    pub root: PathBuf,
    /// This worktree's own git folder.
    pub git_dir: PathBuf,
    /// The git folder that all worktrees of the repository share.
    pub common_dir: PathBuf,
}

impl Repo {
    /// The git folder that holds checkpoints and what attempts changed; git can read it.
    #[must_use]
    pub fn kept_objects(&self) -> PathBuf {
        self.common_dir.join("aurora").join("git")
    }

    /// The worktree that a folder is in.
    #[must_use]
    pub fn find(from: &Path) -> Option<Self> {
        from.ancestors().find_map(Self::at)
    }

    fn at(root: &Path) -> Option<Self> {
        let dot_git = root.join(".git");
        let kind = std::fs::metadata(&dot_git).ok()?;
        let git_dir = if kind.is_dir() {
            dot_git
        } else {
            let pointer = input::small_text(&dot_git, MAX_POINTER_BYTES)?;
            root.join(pointer.strip_prefix("gitdir:")?.trim())
        };
        // Sandboxes leave empty `.git` folders behind, which git does not take for a repository.
        if !git_dir.join("HEAD").exists() {
            return None;
        }
        let common_dir = input::small_text(&git_dir.join("commondir"), MAX_POINTER_BYTES)
            .map_or_else(|| git_dir.clone(), |path| git_dir.join(path.trim()));
        Some(Self { root: root.to_owned(), git_dir, common_dir })
    }

    /// The checked-out branch; nothing when HEAD is detached or kept elsewhere.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = input::small_text(&self.git_dir.join("HEAD"), MAX_POINTER_BYTES)?;
        let branch = head.trim().strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
        // A repository with the reftable format has this name in place of the real one.
        (branch != ".invalid").then(|| branch.to_owned())
    }
}
