//! What can go wrong with the log, sorted by what a caller can do about it.

use std::path::PathBuf;

/// The result of asking the store.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody else wrote to the stream meanwhile: read on, decide again.
    #[error("{stream} is at version {found}, not at {expected}")]
    Conflict {
        /// The stream.
        stream: String,
        /// The version that the writer knew.
        expected: u64,
        /// The version that it has.
        found: u64,
    },
    /// Somebody else holds it and lives.
    #[error("{what} is held by another process")]
    Held {
        /// What.
        what: String,
    },
    /// It cannot be recorded by any store; doing it again will not help.
    #[error("{what}")]
    Refused {
        /// What, and why not.
        what: String,
    },
    /// There is no such thing.
    #[error("{what} is not in the log")]
    NotFound {
        /// What.
        what: String,
    },
    /// The disk is full: nothing was written, and what was there is whole.
    #[error("the disk is full, so that nothing was recorded in {path}")]
    Full {
        /// Where.
        path: PathBuf,
    },
    /// What is stored is not what was written.
    #[error("{what}")]
    Corrupt {
        /// What, and where.
        what: String,
    },
    /// The log was written by a newer version of this program.
    #[error("{path} was written by a newer version: format {found}, this one reads up to {known}")]
    Newer {
        /// Where.
        path: PathBuf,
        /// The format found.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The system refused.
    #[error("could not {doing} {path}: {source}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The database refused.
    #[error("could not {doing} in {path}: {message}")]
    Database {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        message: String,
    },
}
