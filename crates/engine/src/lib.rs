//! Makes it happen: a pure machine decides what a run does next, a driver records it and does it.

pub mod graph;
pub mod machine;
pub mod plan_file;
pub mod task_file;
