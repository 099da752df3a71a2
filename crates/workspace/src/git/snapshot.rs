//! Making a checkpoint.

pub(crate) mod head;
mod projection;
mod record;
mod staged;
pub(crate) mod state;
mod survey;

use gix::hash::ObjectId;

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::private::FeatureLock;
use crate::git::scan::ScanNotes;
use crate::request::{CheckpointRequest, Created, OnUnchanged};

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
        let survey = self.survey(request, lock)?;
        let same = survey.latest.as_ref().filter(|latest| {
            state::names(&latest.stored.checkpoint.tree.0, &survey.tree)
                && request.on_unchanged == OnUnchanged::Reuse
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

#[cfg(test)]
mod tests;
