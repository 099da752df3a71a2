//! The chain of a feature's checkpoints: stored as commits, found by name.

use aurora_model::{Change, Checkpoint, RepoPath, TreeId};

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::request::Content;

impl GitWorkspace {
    pub(crate) fn list_checkpoints(&self) -> Result<Vec<Checkpoint>> {
        Ok(Vec::new())
    }

    pub(crate) fn find_checkpoint(&self, name: &str) -> Result<Checkpoint> {
        Err(crate::Error::NotFound { what: format!("no checkpoint `{name}`"), hint: String::new() })
    }

    pub(crate) fn changes_between(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>> {
        let _ = (from, to);
        Ok(Vec::new())
    }

    pub(crate) fn read_entry(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Content>> {
        let _ = (tree, path);
        Ok(None)
    }
}
