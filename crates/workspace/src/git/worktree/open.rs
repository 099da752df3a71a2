//! Opening the worktree of a feature for a run, whether it is there, not yet, or no longer.

use std::time::{Duration, Instant};

use super::record::{self, Record, Stage};
use super::{FeatureWorktree, NewWorktree, admin_of, check_slug, fill, taken};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::process::Git;
use crate::request::{MovedHead, RollbackRequest};
use crate::workspace::Workspace as _;

/// How long somebody who makes or removes the same worktree is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

impl GitWorkspace {
    /// The worktree of that name, opened. It is made when there is none; what a crash left half-made is
    /// made anew; one whose folder is gone comes back from its branch and its latest checkpoint.
    /// Where the caller's own checkout stands, and whether it has changes, does not matter.
    pub fn open_or_create_worktree(&self, new: &NewWorktree) -> Result<(FeatureWorktree, Self)> {
        check_slug(&new.slug)?;
        let branch = format!("{}{}", new.prefix, new.slug);
        let give_up = Instant::now() + PATIENCE;
        loop {
            let tried = match Record::open(&self.place, &new.slug) {
                Ok(Some(record)) => self.open_recorded(record, &branch),
                Ok(None) => match self.create_worktree(new) {
                    // Somebody may have made it between our two looks.
                    Err(Error::Refused { .. }) if record::is_there(&self.place, &new.slug) => {
                        Ok(None)
                    }
                    made => made.map(Some),
                },
                Err(error) => Err(error),
            };
            match tried {
                Ok(Some(worktree)) => {
                    let mut settings = self.settings.clone();
                    settings.from.clone_from(&worktree.path);
                    return Ok((worktree, Self::open(settings)?));
                }
                Ok(None) => {}
                Err(Error::Busy { .. }) if Instant::now() < give_up => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The worktree of a record; nothing when what was left of it is gone now.
    fn open_recorded(&self, mut record: Record, branch: &str) -> Result<Option<FeatureWorktree>> {
        if record.branch() != branch {
            return Err(taken(&format!(
                "the worktree `{}` is there already, on the branch `{}`",
                record.slug(),
                record.branch()
            )));
        }
        if record.stage() != Stage::Removing {
            record.bring_back()?;
        }
        let there = record.path().symlink_metadata().is_ok();
        match record.stage() {
            Stage::Ready if there && admin_of(record.path()).is_some() => {}
            Stage::Ready if there => {
                return Err(Error::Refused {
                    what: format!("{} is no worktree any more", record.path().display()),
                    hint: "repair it with `git worktree repair`, or move it out of the way"
                        .to_owned(),
                });
            }
            Stage::Ready => self.bring_back_lost(&mut record)?,
            Stage::Making if there && !self.holds_only_ours(&record)? => {
                return Err(Error::Refused {
                    what: format!(
                        "{} was never finished, and holds files that are not from its commit",
                        record.path().display()
                    ),
                    hint: "move what you need elsewhere and remove the rest".to_owned(),
                });
            }
            Stage::Restoring => self.bring_back_lost(&mut record)?,
            Stage::Making | Stage::Removing => {
                self.finish_removal(&record)?;
                return Ok(None);
            }
        }
        self.describe(&record, Vec::new()).map(Some)
    }

    /// Makes the folder again that somebody removed.
    fn bring_back_lost(&self, record: &mut Record) -> Result<()> {
        for admin in self.admins_of(record.path()) {
            if let Some(commit) = self.stray_commits(&admin)?.first() {
                return Err(Error::Refused {
                    what: format!(
                        "{} is gone, and no branch or tag has its commit {commit}",
                        record.path().display()
                    ),
                    hint: format!("`git branch NAME {commit}` keeps it; then try again"),
                });
            }
        }
        record.set_stage(Stage::Restoring)?;
        let path = record.path().to_owned();
        super::remove::remove_folder(&path)?;
        for admin in self.admins_of(&path) {
            super::remove::remove_folder(&admin)?;
        }
        let parent = self.worktrees_dir();
        std::fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        let list = self.store.lock_list()?;
        let add = Git::new(&self.place.program, &self.place.common_dir, "make a worktree again")
            .args(["worktree", "add", "--quiet", "--no-checkout"]);
        let commit = match self.ref_of(record.branch())? {
            Some(commit) => {
                add.arg(&path).arg(record.branch()).run()?;
                commit
            }
            None => {
                let commit = record.commit().ok_or_else(|| Error::Corrupt {
                    what: format!("nobody knows where `{}` began", record.slug()),
                })?;
                add.args(["-b", record.branch()]).arg(&path).arg(commit.to_string()).run()?;
                commit
            }
        };
        drop(list);
        fill::fill(self, &commit, &path)?;
        let mut settings = self.settings.clone();
        settings.from = path;
        let there = Self::open(settings)?;
        if let Ok(latest) = there.find("latest") {
            let mut request = RollbackRequest::to(latest.checkpoint_id);
            request.moved_head = MovedHead::Accept;
            there.rollback(&request)?;
        }
        record.set_stage(Stage::Ready)
    }
}
