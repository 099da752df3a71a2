//! The run as a pure state machine: what is decided, what that changes, what is owed to the world.
//!
//! `decide` turns a command into events, `apply` turns an event into the next state, `owed` says
//! what must be done because of a state. None of them reads a clock, a file or a random number, so a
//! run that is replayed from its log stands where it stood.

mod advance;
mod apply;
mod command;
mod conversation;
mod decide;
mod effect;
mod owed;
mod parking;
mod roll;
mod state;
mod tags;

pub use advance::{answer_by_yes, answer_unasked};
pub use apply::apply;
pub use command::{Command, Refused};
pub use conversation::{Call, Conversation};
pub use decide::{decide, decide_with};
pub use effect::Effect;
pub use owed::owed;
pub use roll::Roll;
pub use state::{Asked, AttemptState, Doing, LEFT_OUT, Phase, State, TaskState, TaskStatus};

#[cfg(test)]
mod tests;
