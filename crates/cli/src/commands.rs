//! One file per command.

pub mod agents;
pub mod approvals;
pub mod audit;
pub mod budget;
pub mod checkpoint;
pub mod checkpoints;
pub mod completions;
pub mod demo;
pub mod goals;
pub mod hook;
pub mod keep;
pub mod man;
pub mod play;
pub mod policy;
pub mod rollback;
pub mod serve;
pub mod shadow;
pub mod spawn;
pub mod token;
pub mod watch;
pub mod worktree;
