//! Makes it happen: a pure machine decides what a run does next, a driver records it and does it.

pub mod machine;
