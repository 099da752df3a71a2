//! What can go wrong while a run is driven, sorted by what a caller can do about it.

/// The result of driving a run.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong on our side; a task that failed is no error, but an event.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log could not be read or written; the run stands where it stood.
    #[error(transparent)]
    Store(#[from] aurora_store::Error),
    /// The machine does not take the command.
    #[error(transparent)]
    Refused(#[from] crate::machine::Refused),
    /// A request in the queue does not take the command.
    #[error("{id}: {refused}")]
    Request {
        /// Which.
        id: String,
        /// Why not.
        refused: aurora_gate::approval::Refused,
    },
    /// The worktree, a desk or a process could not be had.
    #[error(transparent)]
    Workspace(#[from] aurora_workspace::Error),
    /// An agent could not be spoken with.
    #[error(transparent)]
    Agent(#[from] aurora_agents::Error),
    /// A record of the log cannot be read by this version.
    #[error("record {version} of {stream} cannot be read: {why}")]
    Unreadable {
        /// The stream.
        stream: String,
        /// The record.
        version: u64,
        /// Why.
        why: String,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    NoRun {
        /// Which.
        run: String,
    },
    /// Something of ours ended before it was done.
    #[error("{what}")]
    Lost {
        /// What.
        what: String,
    },
}
