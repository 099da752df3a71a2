//! Checkpoints of a shadow, and what shadows need of the feature's chain.

use std::path::Path;

use aurora_model::RepoPath;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::shadow::ShadowCheckpoint;
use crate::shadow::changes::tree_id;
use crate::shadow::meta::Shadow;
use crate::shadow::reading::{Beneath, Seen};

impl GitWorkspace {
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
