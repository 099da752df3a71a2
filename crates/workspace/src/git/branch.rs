//! A branch of the user's from a checkpoint.

use aurora_model::CheckpointId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;

impl GitWorkspace {
    pub(crate) fn branch_from(&self, id: &CheckpointId, name: &str) -> Result<String> {
        let _ = (id, name);
        Err(Error::Corrupt { what: "branches are not there yet".to_owned() })
    }
}
