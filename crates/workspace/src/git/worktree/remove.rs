//! Removing a feature's worktree once nothing in it can be lost.

use std::path::{Path, PathBuf};

use aurora_model::{CheckpointId, CheckpointKind, SkipReason};
use serde::Serialize;

use super::record::{Record, Stage};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::request::{CheckpointRequest, IgnoredFiles};
use crate::workspace::Workspace as _;

/// Which worktree to remove.
#[derive(Debug, Clone)]
pub struct RemoveWorktree {
    /// Its short name.
    pub slug: String,
    /// Also when something would be lost, or its commits are in no other branch.
    pub force: bool,
}

/// What became of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Its short name.
    pub slug: String,
    /// The checkpoint that holds what was in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The branch, when it stays because its commits are in no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_branch: Option<String>,
}

impl GitWorkspace {
    /// Removes a worktree. A checkpoint of everything is made first. Refused when a file would be lost
    /// that no checkpoint can hold, when commits are in no other branch, and while we are in it. The
    /// branch stays whenever it has commits of its own.
    pub fn remove_worktree(&self, request: &RemoveWorktree) -> Result<Removed> {
        let slug = request.slug.as_str();
        let record = Record::open(&self.place, slug)?;
        let mut record = record.ok_or_else(|| Error::NotFound {
            what: format!("there is no worktree `{slug}`"),
            hint: "only worktrees that were made here are removed".to_owned(),
        })?;
        let path = record.path().to_owned();
        if self.place.root.starts_with(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(Error::Refused {
                what: format!("{} is the worktree that we are in", path.display()),
                hint: "go to another worktree and try again".to_owned(),
            });
        }
        let own_commits = self.refuse_own_commits(&record, request.force)?;
        let checkpoint = self.keep_everything(&record, request.force)?;
        record.set_stage(Stage::Removing)?;
        self.finish_removal(&record)?;
        let kept_branch = own_commits.then(|| record.branch().to_owned());
        Ok(Removed { slug: slug.to_owned(), checkpoint, kept_branch })
    }

    fn refuse_own_commits(&self, record: &Record, force: bool) -> Result<bool> {
        let there = self.ref_of(record.branch())?.is_some();
        let own = there && self.has_own_commits(record.branch())?;
        if own && !force {
            return Err(Error::Refused {
                what: format!("`{}` has commits that no other branch has", record.branch()),
                hint: "merge it first, or insist: the branch stays then".to_owned(),
            });
        }
        Ok(own)
    }

    /// A checkpoint of the worktree, small ignored settings included.
    fn keep_everything(&self, record: &Record, force: bool) -> Result<Option<CheckpointId>> {
        if record.stage() != Stage::Ready || super::admin_of(record.path()).is_none() {
            return Ok(None);
        }
        let mut settings = self.settings.clone();
        settings.from = record.path().to_owned();
        let request = CheckpointRequest {
            kind: CheckpointKind::Safety,
            message: format!("before the worktree `{}` was removed", record.slug()),
            ignored: IgnoredFiles::SecretsLike,
            ..CheckpointRequest::default()
        };
        let made = GitWorkspace::open(settings).and_then(|there| there.checkpoint(&request));
        let created = match made {
            Ok(created) => created,
            Err(_) if force => return Ok(None),
            Err(error) => return Err(error),
        };
        let held = |reason| matches!(reason, SkipReason::Ignored | SkipReason::GitData);
        let skipped = created.checkpoint.skipped.iter().filter(|one| !held(one.reason));
        let lost: Vec<String> = skipped.map(|one| format!("`{}`", one.path)).collect();
        if let Some(first) = lost.first().filter(|_| !force) {
            return Err(Error::Refused {
                what: format!("no checkpoint can hold {first} ({} such files)", lost.len()),
                hint: "move them elsewhere, or insist".to_owned(),
            });
        }
        Ok(Some(created.checkpoint.checkpoint_id))
    }

    /// The last part: the decision is written down, so a crash in it is completed by cleaning up.
    pub(super) fn finish_removal(&self, record: &Record) -> Result<()> {
        self.take_back(record)?;
        record.forget()
    }

    /// Removes folder, git's entry for it, and the branch when it has nothing of its own.
    pub(super) fn take_back(&self, record: &Record) -> Result<()> {
        let path = record.path();
        // The record is a file that others could write; only what we would make ourselves is removed.
        if path != self.worktrees_dir().join(record.slug()) {
            return Err(Error::Refused {
                what: format!("{} is not where worktrees are made", path.display()),
                hint: "remove it with `git worktree remove`".to_owned(),
            });
        }
        let admins = self.admins_of(path);
        let gone = path.with_file_name(format!(".removing-{}", record.slug()));
        remove_folder(&gone)?;
        // Out of everybody's sight first, so that nobody finds half of it.
        match std::fs::rename(path, &gone) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("move", path)(error));
            }
            _ => {}
        }
        remove_folder(&gone)?;
        for admin in admins {
            remove_folder(&admin)?;
        }
        if let Some(at) = self.ref_of(record.branch())?
            && (record.commit() == Some(at) || !self.has_own_commits(record.branch())?)
        {
            self.remove_branch(record.branch(), &at)?;
        }
        Ok(())
    }

    /// Git's entries whose folder is that one, whether it is there or not. `git worktree prune` would
    /// also take others, such as those on a disk that is not mounted now.
    pub(super) fn admins_of(&self, path: &Path) -> Vec<PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = self.place.common_dir.join("worktrees");
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        let points_here = |admin: &PathBuf| {
            let Ok(text) = std::fs::read(admin.join("gitdir")) else { return false };
            let at = admin.join(std::ffi::OsStr::from_bytes(text.trim_ascii_end()));
            // Git writes the canonical path; of a folder that is gone, only its parent can be asked.
            let folder = at.parent().map(Path::to_owned).unwrap_or_default();
            folder == path || canonical(&folder) == canonical(path)
        };
        entries.flatten().map(|entry| entry.path()).filter(points_here).collect()
    }
}

fn canonical(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
