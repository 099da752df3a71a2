//! How long work says how far it is.

/// Somebody who is told how far long work is. Called often, from several threads: be quick.
pub trait Progress: Send + Sync {
    /// So much of a stage is done, of so much in all where that is known.
    fn at(&self, stage: &'static str, done: u64, total: Option<u64>);
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn at(&self, _stage: &'static str, _done: u64, _total: Option<u64>) {}
}
