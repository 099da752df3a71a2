//! One file per command.

pub mod agents;
pub mod checkpoint;
pub mod checkpoints;
pub mod completions;
pub mod demo;
pub mod hook;
pub mod keep;
pub mod man;
pub mod play;
pub mod policy;
pub mod rollback;
pub mod shadow;
pub mod spawn;
pub mod watch;
pub mod worktree;
