//! Setting a desk's own git state back: HEAD, index, and whatever else an attempt left there.

use std::ffi::OsStr;

use gix::hash::ObjectId;

use super::Desk;
use super::note::Begun;
use crate::error::{Error, Result};
use crate::git::own;
use crate::git::process::Git;
use crate::git::snapshot::state::signature;
use crate::shadow::removal;

/// What belongs into git's folder of a worktree; all else is of a merge, a rebase, a stash or worse.
const BELONGS: &[&str] = &["HEAD", "commondir", "gitdir", "index", "locked"];
/// And this where refs are in a reftable.
const BELONGS_WITH_REFTABLE: &[&str] = &["refs", "reftable"];

impl Desk {
    /// Detaches HEAD at a commit and forgets everything that is half-done. Says whether the index had
    /// to be written, because it was not the one that we left.
    pub(super) fn reset_git(&self, commit: &ObjectId, begun: Option<&Begun>) -> Result<bool> {
        self.remove_half_done()?;
        self.point_at_each_other()?;
        self.detach_head(commit)?;
        let index = signature(&self.own.place.git_dir.join("index"));
        let digits = commit.to_string();
        let ours = begun.is_some_and(|begun| {
            begun.commit == digits && begun.index == index && !index.is_empty()
        });
        if !ours {
            // Believes nothing about the files; the real one is written when these are as they should.
            self.write_index(commit, None)?;
        }
        Ok(!ours)
    }

    fn remove_half_done(&self) -> Result<()> {
        let place = &self.own.place;
        let entries = std::fs::read_dir(&place.git_dir);
        for entry in entries.map_err(Error::io("list", &place.git_dir))? {
            let entry = entry.map_err(Error::io("list", &place.git_dir))?;
            let name = entry.file_name();
            let belongs = |names: &[&str]| names.iter().any(|one| OsStr::new(one) == name);
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let stays = belongs(BELONGS) || (place.reftable && belongs(BELONGS_WITH_REFTABLE));
            if !stays || is_link {
                removal::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn detach_head(&self, commit: &ObjectId) -> Result<()> {
        let place = &self.own.place;
        let line = format!("{commit}\n");
        if place.reftable {
            return Git::new(&place.program, &place.git_dir, "set a desk's HEAD back")
                .args(["update-ref", "--no-deref", "HEAD", line.trim_end()])
                .run()
                .map(drop);
        }
        let path = place.git_dir.join("HEAD");
        if std::fs::read(&path).ok().as_deref() == Some(line.as_bytes()) {
            return Ok(());
        }
        removal::remove(&path)?;
        own::replace(&path, line.as_bytes(), false)
    }
}
