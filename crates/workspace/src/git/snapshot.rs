//! Making a checkpoint.

pub(crate) mod head;
mod projection;
mod record;
mod staged;
pub(crate) mod state;
mod survey;

use aurora_model::{Checkpoint, Skipped};
use gix::hash::ObjectId;

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::private::FeatureLock;
use crate::git::scan::ScanNotes;
use crate::request::{CheckpointRequest, Created, OnUnchanged};
use crate::watchdog::DirtyPath;
use survey::Survey;

impl GitWorkspace {
    pub(crate) fn create_checkpoint(&self, request: &CheckpointRequest) -> Result<Created> {
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        self.capture(request, &lock)
    }

    /// The same for a caller that holds the lock. What a crash left half-done is not finished first.
    pub(crate) fn capture(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
    ) -> Result<Created> {
        self.capture_if(request, lock, |_| Ok(()))
    }

    /// The same, unless the caller says no to the tree that would be recorded.
    pub(crate) fn capture_if(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
        agree: impl FnOnce(&ObjectId) -> Result<()>,
    ) -> Result<Created> {
        let survey = self.survey(request, lock)?;
        agree(&survey.tree)?;
        self.finish_capture(request, survey)
    }

    /// The same for a caller that knows that only these paths changed since the latest checkpoint,
    /// which it has just made.
    pub(crate) fn capture_only(
        &self,
        request: &CheckpointRequest,
        paths: Vec<DirtyPath>,
        lock: &FeatureLock,
    ) -> Result<Created> {
        self.finish_capture(request, self.survey_of(request, Some(paths), lock)?)
    }

    fn finish_capture(&self, request: &CheckpointRequest, survey: Survey) -> Result<Created> {
        let same = survey.latest.as_ref().filter(|latest| {
            request.on_unchanged == OnUnchanged::Reuse
                && state::names(&latest.stored.checkpoint.tree.0, &survey.tree)
                && tells_the_same(&latest.stored.checkpoint, &survey.looked.notes)
        });
        if let Some(latest) = same {
            let checkpoint = latest.stored.checkpoint.clone();
            survey.remember_unchanged(&self.place)?;
            let scanned = survey.looked.notes.scanned;
            return Ok(Created { checkpoint, unchanged: true, changes: Vec::new(), scanned });
        }
        self.record(request, survey)
    }

    /// The tree of what the worktree holds now, and what was found besides; no checkpoint is made.
    /// The tree can be read afterwards, and goes with the next pruning.
    pub(crate) fn current_tree(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
    ) -> Result<(ObjectId, ScanNotes)> {
        let survey = self.survey(request, lock)?;
        survey.pack.finish()?;
        Ok((survey.tree, survey.looked.notes))
    }
}

/// Whether a checkpoint says what was found besides files: a folder without content that it does not
/// name would not come back, and what it does not name as left out would go with a rollback.
/// Permissions are no part of the tree, so a file that only few may read by now would come back
/// readable for all.
fn tells_the_same(checkpoint: &Checkpoint, notes: &ScanNotes) -> bool {
    // What we write for people after each checkpoint must not make the next one another.
    let theirs = |skipped: &&Skipped| skipped.path.parts().next() != Some(b".aurora");
    let (before, now) = (checkpoint.skipped.iter(), notes.skipped.iter());
    before.filter(theirs).eq(now.filter(theirs))
        && checkpoint.empty_folders == notes.empty_folders
        && checkpoint.nested == notes.nested
        && checkpoint.permissions == notes.permissions
}

#[cfg(test)]
mod tests;
