//! Making a checkpoint.

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::request::{CheckpointRequest, Created};

impl GitWorkspace {
    pub(crate) fn create_checkpoint(&self, request: &CheckpointRequest) -> Result<Created> {
        let _ = request;
        Err(Error::Corrupt { what: "checkpoints are not there yet".to_owned() })
    }
}
