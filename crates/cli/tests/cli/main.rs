//! The program as its users meet it: each test runs it in a world of its own.

mod batch;
mod check;
mod harness;
mod hook;
mod install;
mod misc;
mod policy;
