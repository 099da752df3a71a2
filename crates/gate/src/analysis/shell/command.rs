//! What each program does with its arguments: a table of models, one row per program.

pub mod disk;
pub mod options;

use super::machine::{Call, Machine, Stream};

/// A program's model: looks at the call, records effects, says what is printed.
pub type Model = fn(&mut Machine<'_>, &Call<'_>) -> Stream;

/// Runs a program that has a model or wraps another one; nothing when it is neither.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let _ = machine;
    let _ = call;
    None
}

/// Whether a program is well known and runs nothing of its operands.
#[must_use]
pub fn is_known_harmless(name: &str) -> bool {
    let _ = name;
    false
}

/// Whether a program has a model, so that its name among operands means something.
#[must_use]
pub fn is_modelled(name: &str) -> bool {
    let _ = name;
    false
}
