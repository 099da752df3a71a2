//! Makes it happen: a pure machine decides what a run does next, a driver records it and does it.

pub mod approvals;
pub mod budget;
pub mod driver;
pub mod error;
pub mod face;
pub mod graph;
pub mod machine;
pub mod notify;
pub mod people;
pub mod plan_file;
pub mod task_file;
pub mod world;

pub use driver::{Driver, Ended, Stop, World};
pub use error::{Error, Result};
