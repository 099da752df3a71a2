//! Checkpoints of a shadow, and what shadows need of the feature's chain.

use std::path::Path;

use aurora_model::{Checkpoint, RepoPath};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::private::FeatureLock;
use crate::request::CheckpointRequest;
use crate::shadow::ShadowCheckpoint;
use crate::shadow::changes::tree_id;
use crate::shadow::meta::Shadow;
use crate::shadow::reading::{Beneath, Seen};

impl GitWorkspace {
    /// A checkpoint of the real worktree, by a caller that holds the feature's lock.
    pub(crate) fn shadow_checkpoint_of_worktree(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
    ) -> Result<Checkpoint> {
        let _ = lock;
        Ok(self.create_checkpoint(request)?.checkpoint)
    }

    /// Records what a shadow holds, in a chain of its own.
    pub fn checkpoint_shadow(&self, shadow: &Shadow, message: &str) -> Result<ShadowCheckpoint> {
        let _ = (shadow, message);
        Err(Error::Corrupt { what: "checkpoints are not there yet".to_owned() })
    }

    /// The bytes of a file beneath a folder.
    pub(crate) fn shadow_bytes(&self, root: &Path, path: &RepoPath) -> Result<Vec<u8>> {
        match Beneath::open(root)?.look(path, u64::MAX)? {
            Seen::Content { bytes, .. } => Ok(bytes),
            _ => Err(Error::Busy { what: format!("{path} was changed while it was read") }),
        }
    }

    /// Both sides' lines, where they touched different ones.
    pub(crate) fn merge_shadow_texts(
        &self,
        path: &RepoPath,
        then: &[u8],
        mine: &[u8],
        now: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let _ = (path, then, mine, now);
        Ok(None)
    }

    /// Keeps the tree that a shadow began from as long as the shadow is there.
    pub(crate) fn hold_base(&self, shadow: &Shadow) -> Result<()> {
        let Some(tree) = &shadow.meta.base_tree else { return Ok(()) };
        self.store.set_ref(&base_ref(shadow), &tree_id(tree)?)
    }

    /// Lets the tree that a shadow began from go.
    pub(crate) fn let_base_go(&self, shadow: &Shadow) -> Result<()> {
        match shadow.meta.base_tree {
            Some(_) => self.store.remove_ref(&base_ref(shadow)),
            None => Ok(()),
        }
    }
}

fn base_ref(shadow: &Shadow) -> String {
    format!("refs/aurora/shadows/{}", shadow.meta.id)
}
