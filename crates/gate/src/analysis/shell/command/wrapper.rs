//! Programs that run another command: a table says where it is, and it is judged as if it stood alone.

mod batch;
mod develop;
mod local;
mod read;
mod reader;
mod remote;
mod row;
mod session;

use self::row::Wrapper;
use super::step::perform;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Takes off a wrapper and runs what is inside; nothing when the program is no wrapper.
pub fn unwrap(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    if matches!(call.name, "sudo" | "sudo-rs") && reader::is_edit(call) {
        return Some(perform(machine, &reader::edits(call), call));
    }
    let steps =
        rows().filter(|row| row.names.contains(&call.name)).find_map(|row| row.read(call))?;
    Some(perform(machine, &steps, call))
}

/// Whether a program runs another one.
#[must_use]
pub fn is_wrapper(name: &str) -> bool {
    rows().any(|row| row.names.contains(&name))
}

fn rows() -> impl Iterator<Item = &'static Wrapper> {
    [local::ROWS, remote::ROWS, develop::ROWS, batch::ROWS, session::ROWS].into_iter().flatten()
}

#[cfg(test)]
mod tests;
