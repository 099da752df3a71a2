//! Changing files of the worktree so that nothing is lost, whoever writes at the same time.

mod rescue;
mod run;
mod tidy;
mod worker;

use std::path::Path;

use aurora_model::{CheckpointId, CheckpointKind, EntryMode, RepoPath};
use gix::hash::ObjectId;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::beneath::{Fuse, Root};
use crate::git::journal::Journal;
use crate::git::objects::{Entry, Objects};
use crate::progress::Progress;
use crate::request::PathOutcome;

pub(crate) use run::Run;
pub(crate) use tidy::Standing;

/// One path to change: only when it still is what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The path.
    pub path: RepoPath,
    /// What stands there now; `None` for nothing.
    pub from: Option<Entry>,
    /// What shall stand there; `None` for nothing. Its blob must be stored already.
    pub to: Option<Entry>,
    /// The permission bits that it shall have; `None` for those that it has, or usual ones. They are
    /// no reason for a step: where only they differ, the trees are the same and the file stays.
    pub permissions: Option<u32>,
}

impl Step {
    /// Whether only the permission to execute changes.
    pub fn is_mode_only(&self) -> bool {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => from.id == to.id && is_file(from.mode) && is_file(to.mode),
            _ => false,
        }
    }

    /// Whether a submodule is on either side; such a step is never taken.
    pub fn has_submodule(&self) -> bool {
        [&self.from, &self.to].into_iter().flatten().any(|entry| entry.mode == EntryMode::Submodule)
    }
}

/// Whether it is a plain file, executable or not.
pub(crate) fn is_file(mode: EntryMode) -> bool {
    matches!(mode, EntryMode::File | EntryMode::Executable)
}

/// A set of steps that is journaled as one, so that a crash leaves all of it done or none.
#[derive(Debug, Clone)]
pub(crate) struct Transition {
    /// What it is, for messages: `rollback to ckpt-…`, `promotion of shadow …`.
    pub what: String,
    /// The path-by-path steps.
    pub steps: Vec<Step>,
    /// Folders without content that shall be there afterwards.
    pub empty_folders: Vec<RepoPath>,
}

/// The checkpoint that must be recorded when a transition is done, also after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Due {
    /// Why it is made.
    pub kind: CheckpointKind,
    /// What is said about it.
    pub message: String,
    /// The safety checkpoint that must come right before it.
    pub safety: CheckpointId,
}

/// Where the bytes come from. Each thread has its own.
pub(crate) trait Blobs: Clone + Send {
    /// A blob's bytes.
    fn bytes(&self, id: &ObjectId) -> Result<Vec<u8>>;

    /// Its size; nothing when it is not there or is no blob.
    fn size(&self, id: &ObjectId) -> Result<Option<u64>>;
}

impl Blobs for Objects {
    fn bytes(&self, id: &ObjectId) -> Result<Vec<u8>> {
        self.blob(id)
    }

    fn size(&self, id: &ObjectId) -> Result<Option<u64>> {
        let header = self.header(id)?;
        Ok(header.filter(|(kind, _)| *kind == gix::objs::Kind::Blob).map(|(_, size)| size))
    }
}

/// Where a transition happens.
pub(crate) struct Ground<'g, B> {
    /// The worktree's root.
    pub root: &'g Root,
    /// Where the journal is.
    pub feature_dir: &'g Path,
    /// Which hash blobs are named by.
    pub hash: gix::hash::Kind,
    /// Where bytes come from.
    pub blobs: B,
    /// Who is told how far it is.
    pub progress: &'g dyn Progress,
}

impl<B: Blobs> Ground<'_, B> {
    /// Verifies, journals and takes the steps. Ending the journal is left to the caller.
    pub fn perform(&self, journal: &Journal) -> Result<Vec<PathOutcome>> {
        self.verify(&journal.steps)?;
        journal.write(self.feature_dir, self.root.fuse())?;
        let run = self.run(journal);
        run.carry_out(run.numbered(&journal.steps), &journal.empty_folders, &self.blobs)
    }

    /// The run of a journal.
    pub fn run<'r>(&'r self, journal: &'r Journal) -> Run<'r> {
        Run {
            root: self.root,
            hash: self.hash,
            op: &journal.op,
            feature_dir: self.feature_dir,
            progress: self.progress,
        }
    }

    /// Says which path could not be restored before anything is touched.
    fn verify(&self, steps: &[Step]) -> Result<()> {
        for step in steps {
            let Some(to) = step.to.filter(|to| to.mode != EntryMode::Submodule) else { continue };
            if self.blobs.size(&to.id)?.is_none() {
                let what = format!("the stored content of {} is missing ({})", step.path, to.id);
                return Err(Error::Corrupt { what });
            }
        }
        Ok(())
    }
}

impl GitWorkspace {
    /// Verifies that every object is there, journals, applies step by step, syncs, records the
    /// checkpoint that is due and only then ends the journal, so that a crash in between leaves
    /// neither a change that cannot be undone nor a checkpoint too many. The caller holds the
    /// feature's lock and has made a safety checkpoint. A path that is no longer what the step expects
    /// is left alone and reported as kept.
    pub(crate) fn apply_then<T>(
        &self,
        transition: &Transition,
        due: Option<Due>,
        record: impl FnOnce(&[PathOutcome]) -> Result<T>,
    ) -> Result<(Vec<PathOutcome>, T)> {
        let root = Root::open(&self.place.root, Fuse::lit())?;
        let journal = Journal::of(transition, due, (self.settings.now)());
        let outcomes = self.ground(&root)?.perform(&journal)?;
        root.fuse().burn().map_err(Error::io("record", &self.place.root))?;
        let recorded = record(&outcomes)?;
        Journal::end(&self.place.feature_dir, root.fuse())?;
        Ok((outcomes, recorded))
    }

    /// This worktree as the ground of a transition.
    pub(crate) fn ground<'g>(&'g self, root: &'g Root) -> Result<Ground<'g, Objects>> {
        Ok(Ground {
            root,
            feature_dir: &self.place.feature_dir,
            hash: self.place.hash,
            blobs: self.store.objects()?,
            progress: &*self.settings.progress,
        })
    }
}

#[cfg(test)]
mod tests;
