//! Planning a rollback, doing it, and undoing it.

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::request::{RollbackPlan, RollbackReport, RollbackRequest};

impl GitWorkspace {
    pub(crate) fn rollback_plan(&self, request: &RollbackRequest) -> Result<RollbackPlan> {
        let _ = request;
        Err(Error::Corrupt { what: "rollback is not there yet".to_owned() })
    }

    pub(crate) fn roll_back(&self, request: &RollbackRequest) -> Result<RollbackReport> {
        let _ = request;
        Err(Error::Corrupt { what: "rollback is not there yet".to_owned() })
    }

    pub(crate) fn undo_latest(&self, request: &RollbackRequest) -> Result<RollbackReport> {
        let _ = request;
        Err(Error::Corrupt { what: "rollback is not there yet".to_owned() })
    }

    pub(crate) fn record_due(
        &self,
        due: &crate::git::restore::Due,
        lock: &crate::git::private::FeatureLock,
    ) -> Result<()> {
        let _ = (due, lock);
        Ok(())
    }
}
