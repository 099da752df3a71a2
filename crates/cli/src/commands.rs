//! One file per command.

pub mod completions;
pub mod demo;
pub mod hook;
pub mod man;
pub mod policy;
