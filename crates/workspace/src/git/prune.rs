//! Forgetting checkpoints and giving their space back.

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::request::{Pruned, Retention};

impl GitWorkspace {
    pub(crate) fn prune_checkpoints(&self, retention: &Retention) -> Result<Pruned> {
        let _ = retention;
        Ok(Pruned::default())
    }
}
