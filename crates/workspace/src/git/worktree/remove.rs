//! Removing a feature's worktree once nothing in it can be lost.

use std::path::{Path, PathBuf};

use aurora_model::{CheckpointId, CheckpointKind};
use serde::Serialize;

use super::record::{Record, Stage};
use super::unkept;
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::request::{CheckpointRequest, Created, IgnoredFiles, OnUnchanged, Scan};
use crate::workspace::Workspace as _;

/// How often a worktree that somebody writes to is looked at again before that is given up.
const LOOKS: u32 = 3;

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
    /// What went because the caller insisted: files that the checkpoint does not hold, and commits
    /// that no branch has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thrown_away: Vec<String>,
}

/// What is known to be safe of a worktree, and what is not.
#[derive(Default)]
pub(super) struct Kept {
    pub checkpoint: Option<CheckpointId>,
    pub lost: Vec<String>,
}

impl GitWorkspace {
    /// Removes a worktree. A checkpoint of everything is made first. Refused when a file would be lost
    /// that the checkpoint does not hold (ignored files and repositories inside are such), when
    /// commits are in no other branch, and while we are in it. The branch stays whenever it has
    /// commits of its own.
    pub fn remove_worktree(&self, request: &RemoveWorktree) -> Result<Removed> {
        let (slug, force) = (request.slug.as_str(), request.force);
        let record = Record::open(&self.place, slug)?;
        let mut record = record.ok_or_else(|| Error::NotFound {
            what: format!("there is no worktree `{slug}`"),
            hint: "only worktrees that were made here are removed".to_owned(),
        })?;
        let path = record.path().to_owned();
        self.refuse_elsewhere(&record)?;
        if self.place.root.starts_with(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(Error::Refused {
                what: format!("{} is the worktree that we are in", path.display()),
                hint: "go to another worktree and try again".to_owned(),
            });
        }
        if record.stage() != Stage::Removing {
            record.bring_back()?;
        }
        self.refuse_own_commits(&record, force)?;
        let mut thrown_away = self.refuse_stray_commits(&record, force)?;
        let kept = self.keep_everything(&mut record, force)?;
        thrown_away.extend(kept.lost);
        self.remove_desks_of(&self.describe(&record, Vec::new())?.feature)?;
        record.set_stage(Stage::Removing)?;
        self.finish_removal(&record)?;
        let kept_branch = self.ref_of(record.branch())?.map(|_| record.branch().to_owned());
        let checkpoint = kept.checkpoint;
        Ok(Removed { slug: slug.to_owned(), checkpoint, kept_branch, thrown_away })
    }

    fn refuse_own_commits(&self, record: &Record, force: bool) -> Result<()> {
        let there = self.ref_of(record.branch())?.is_some();
        if there && !force && self.has_own_commits(record.branch())? {
            return Err(Error::Refused {
                what: format!("`{}` has commits that no other branch has", record.branch()),
                hint: "merge it first, or insist: the branch stays then".to_owned(),
            });
        }
        Ok(())
    }

    /// Commits that were made on no branch go with the worktree's HEAD.
    fn refuse_stray_commits(&self, record: &Record, force: bool) -> Result<Vec<String>> {
        let mut stray = Vec::new();
        for admin in self.admins_of(record.path()) {
            stray.extend(self.stray_commits(&admin)?);
        }
        match stray.first() {
            Some(first) if !force => Err(Error::Refused {
                what: format!(
                    "commits were made there that no branch or tag has: {}",
                    unkept::named(&stray)
                ),
                hint: format!("`git branch NAME {first}` keeps one; `--force` lets them go"),
            }),
            _ => Ok(stray.into_iter().map(|commit| format!("commit {commit}")).collect()),
        }
    }

    /// A checkpoint of the worktree, small ignored settings included. Its folder is then moved aside
    /// and looked at once more, so that what somebody wrote meanwhile is in a checkpoint, too.
    fn keep_everything(&self, record: &mut Record, force: bool) -> Result<Kept> {
        let there = record.path().symlink_metadata().is_ok();
        if !there || record.stage() == Stage::Removing {
            return Ok(Kept::default());
        }
        if record.stage() == Stage::Making && self.holds_only_ours(record)? {
            return Ok(Kept::default());
        }
        let path = record.path().to_owned();
        if record.stage() == Stage::Making || super::admin_of(&path).is_none() {
            let all = format!("everything in {}", path.display());
            if force {
                return Ok(Kept { checkpoint: None, lost: vec![all] });
            }
            return Err(Error::Refused {
                what: format!("{} is no whole worktree, so it has no checkpoint", path.display()),
                hint: "move what you need elsewhere; `--force` throws the rest away".to_owned(),
            });
        }
        let first = self.keep_what_is(record, &path, force)?.1;
        let aside = record.move_aside()?;
        let kept = self.keep_the_rest(record, &aside, first, force);
        if kept.is_err() {
            record.bring_back()?;
        }
        kept
    }

    /// Looks until nothing changed since the look before.
    pub(super) fn keep_the_rest(
        &self,
        record: &Record,
        aside: &Path,
        first: Kept,
        force: bool,
    ) -> Result<Kept> {
        let mut kept = first;
        for _ in 0..LOOKS {
            let (unchanged, now) = self.keep_what_is(record, aside, force)?;
            if now.checkpoint.is_some() {
                kept = now;
            } else {
                kept.lost.extend(now.lost);
            }
            if unchanged {
                return Ok(kept);
            }
        }
        if force {
            return Ok(kept);
        }
        Err(Error::Refused {
            what: format!("somebody is writing to {}", record.path().display()),
            hint: "stop what runs there and try again".to_owned(),
        })
    }

    /// One look at the folder, wherever it is now: whether all was in a checkpoint already, and what
    /// is in none.
    pub(super) fn keep_what_is(
        &self,
        record: &Record,
        at: &Path,
        force: bool,
    ) -> Result<(bool, Kept)> {
        let mut settings = self.settings.clone();
        settings.from = at.to_owned();
        // An earlier checkpoint may not name everything below `.aurora/` that it left out.
        let again = record.aside().is_some();
        let request = CheckpointRequest {
            kind: CheckpointKind::Safety,
            on_unchanged: if again { OnUnchanged::Reuse } else { OnUnchanged::Record },
            message: format!("before the worktree `{}` was removed", record.slug()),
            ignored: IgnoredFiles::SecretsLike,
            scan: Scan::Full,
            ..CheckpointRequest::default()
        };
        let made = GitWorkspace::open(settings).and_then(|there| there.checkpoint(&request));
        let Created { checkpoint, unchanged, .. } = match made {
            Ok(created) => created,
            Err(error) if force => {
                let lost = vec![format!("what no earlier checkpoint has, because {error}")];
                return Ok((true, Kept { checkpoint: None, lost }));
            }
            Err(error) => return Err(error),
        };
        let mut lost = unkept::left_out(at, &checkpoint);
        // Submodules have theirs beside the worktree's, also when their folders are empty by now.
        let modules = |admin: &PathBuf| std::fs::read_dir(admin.join("modules")).is_ok();
        if self.admins_of(record.path()).iter().any(modules) {
            lost.push("the commits of its submodules".to_owned());
        }
        if !lost.is_empty() && !force {
            return Err(Error::Refused {
                what: format!(
                    "it holds what is in no checkpoint ({}): {}",
                    lost.len(),
                    unkept::named(&lost)
                ),
                hint: "move what you need elsewhere; `--force` throws these away".to_owned(),
            });
        }
        Ok((unchanged, Kept { checkpoint: Some(checkpoint.checkpoint_id), lost }))
    }

    /// The last part: the decision is written down, so a crash in it is completed by cleaning up.
    pub(super) fn finish_removal(&self, record: &Record) -> Result<()> {
        self.take_back(record)?;
        record.forget()
    }

    /// Removes folder, git's entry for it, and the branch when it has nothing of its own.
    pub(super) fn take_back(&self, record: &Record) -> Result<()> {
        self.refuse_elsewhere(record)?;
        let path = record.path();
        let admins = self.admins_of(path);
        match record.aside() {
            // What stands at its own place by now is somebody's.
            Some(aside) => remove_folder(&aside)?,
            None => {
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
            }
        }
        for admin in admins {
            remove_folder(&admin)?;
        }
        // A branch that was made a moment ago holds nothing that was not held before.
        if let Some(at) = self.ref_of(record.branch())?
            && ((record.stage() == Stage::Making && record.commit() == Some(at))
                || !self.has_own_commits(record.branch())?)
        {
            self.remove_branch(record.branch(), &at)?;
        }
        Ok(())
    }

    /// The record is a file that others could write; only what we would make ourselves is removed.
    fn refuse_elsewhere(&self, record: &Record) -> Result<()> {
        if record.path() == self.worktrees_dir().join(record.slug()) {
            return Ok(());
        }
        Err(Error::Refused {
            what: format!("{} is not where worktrees are made", record.path().display()),
            hint: "remove it with `git worktree remove`".to_owned(),
        })
    }

    /// Git's entries whose folder is that one, whether it is there or not. `git worktree prune` would
    /// also take others, such as those on a disk that is not mounted now.
    pub(crate) fn admins_of(&self, path: &Path) -> Vec<PathBuf> {
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

pub(super) fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
