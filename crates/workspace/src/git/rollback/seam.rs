//! Seam.
use super::plan::State;
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::private::FeatureLock;
use crate::request::{CheckpointRequest, Created};

impl GitWorkspace {
    pub(crate) fn capture(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
    ) -> Result<Created> {
        let _ = (request, lock);
        Err(Error::Corrupt { what: "seam".to_owned() })
    }

    pub(super) fn current_state(
        &self,
        request: &CheckpointRequest,
        lock: &FeatureLock,
    ) -> Result<State> {
        let _ = (request, lock);
        Err(Error::Corrupt { what: "seam".to_owned() })
    }
}
