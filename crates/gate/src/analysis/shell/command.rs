//! What each program does with its arguments: a table of models, one row per program.

pub mod catalogue;
pub mod disk;
pub mod files;
pub mod framework;
pub mod harmless;
pub mod infra;
pub mod interpreter;
pub mod net;
pub mod options;
pub mod place;
pub mod rule;
pub mod sql_client;
pub mod text;
pub mod writers;

use super::machine::{Call, Machine, Stream};

/// A program's model: looks at the call, records effects, says what is printed.
pub type Model = fn(&mut Machine<'_>, &Call<'_>) -> Stream;

/// The model of a program.
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    let _ = name;
    None
}
