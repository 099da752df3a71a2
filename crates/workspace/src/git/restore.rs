//! Changing files of the worktree so that nothing is lost, whoever writes at the same time.

use aurora_model::RepoPath;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::Entry;
use crate::request::{Healed, PathOutcome};

/// One path to change: only when it still is what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The path.
    pub path: RepoPath,
    /// What stands there now; `None` for nothing.
    pub from: Option<Entry>,
    /// What shall stand there; `None` for nothing. Its blob must be stored already.
    pub to: Option<Entry>,
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

impl GitWorkspace {
    /// Verifies that every object is there, journals, applies step by step, syncs, ends the journal.
    /// The caller holds the feature's lock and has made a safety checkpoint. A path that is no longer
    /// what the step expects is left alone and reported as kept.
    pub(crate) fn apply(&self, transition: &Transition) -> Result<Vec<PathOutcome>> {
        let _ = transition;
        Err(Error::Corrupt { what: "restoring is not there yet".to_owned() })
    }

    /// Completes what a journal says, if there is one.
    pub(crate) fn heal_all(&self) -> Result<Vec<Healed>> {
        Ok(Vec::new())
    }
}
