//! Where the kernel has no watches that we know: no watchdog, and every checkpoint looks at everything.

use std::sync::Arc;

use aurora_model::CheckpointId;

use super::{Dirty, Mark, Options, Watched};
use crate::error::{Error, Result};
use crate::git::Place;

/// A watchdog that cannot be started.
pub enum Watchdog {}

impl Watchdog {
    /// Says that there is none.
    pub fn start(_place: &Place, _options: Options) -> Result<Self> {
        Err(Error::Unsupported {
            what: "watching needs Linux".to_owned(),
            hint: "checkpoints work without it; they look at every file".to_owned(),
        })
    }

    /// How many folders are watched.
    #[must_use]
    pub fn watches(&self) -> usize {
        match *self {}
    }

    /// Why it does not see everything.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        match *self {}
    }

    /// How many paths are in no checkpoint yet.
    #[must_use]
    pub fn uncaptured(&self) -> u64 {
        match *self {}
    }
}

impl Watched for Watchdog {
    fn since(&self, _mark: Option<&Mark>) -> Dirty {
        match *self {}
    }

    fn captured(&self, _mark: &Mark, _checkpoint: &CheckpointId) {
        match *self {}
    }
}

/// There is none.
#[must_use]
pub fn connect(_place: &Place) -> Option<Arc<dyn Watched>> {
    None
}
