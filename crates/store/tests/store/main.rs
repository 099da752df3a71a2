//! The log in a file, with real damage, real full disks, and processes that are really killed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that fails ends; a child tells its parent what it has done"
)]

mod damaged;
mod file;
mod format;
mod full;
mod killed;
mod property;
mod tampered;
mod yard;
