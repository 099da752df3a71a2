//! What is stored for ever stays readable for ever.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reads the files beside it, and stops at the first thing that is wrong"
)]

#[macro_use]
mod stored;

mod approvals;
mod golden;
