//! What each program does with its arguments: tables of wrappers and models, one row per program.

pub mod disk;
mod files;
mod find;
mod forge;
mod framework;
mod git;
mod hook;
mod infra;
mod interpreter;
mod makefile;
mod net;
pub mod options;
mod place;
mod setup;
mod shells;
mod sql_client;
mod step;
mod subcommand;
mod text;
mod wordy;
mod wrapper;
mod writers;

pub use self::wordy::takes_words;

use super::machine::{Call, Machine, Stream};

/// A program's model: looks at the call, records effects, says what is printed.
pub type Model = fn(&mut Machine<'_>, &Call<'_>) -> Stream;

/// The tables of models, each in order of names.
const TABLES: &[&[(&str, Model)]] = &[
    shells::MODELS,
    interpreter::MODELS,
    text::MODELS,
    files::MODELS,
    disk::MODELS,
    net::MODELS,
    sql_client::MODELS,
];

/// The model of a program.
fn model_of(name: &str) -> Option<Model> {
    for table in TABLES {
        if let Ok(at) = table.binary_search_by_key(&name, |(name, _)| *name) {
            return table.get(at).map(|(_, model)| *model);
        }
    }
    if name == "git" || name.starts_with("git-") {
        return Some(git::git);
    }
    if disk::clones_partition(name) {
        return Some(disk::partclone);
    }
    disk::makes_file_system(name).then_some(disk::make_file_system as Model)
}

/// Runs a program that has a model or wraps another one; nothing when it is neither.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    hook::run(machine, call);
    makefile::run(machine, call);
    if let Some(out) = wrapper::unwrap(machine, call) {
        return Some(out);
    }
    if let Some(out) = forge::run(machine, call) {
        return Some(out);
    }
    if let Some(out) = setup::run(machine, call) {
        return Some(out);
    }
    if let Some(model) = model_of(call.name) {
        return Some(model(machine, call));
    }
    if let Some(model) = writers::model_of(call.name) {
        return Some(model(machine, call));
    }
    if let Some(out) = interpreter::run(machine, call) {
        return Some(out);
    }
    if let Some(out) = sql_client::run(machine, call) {
        return Some(out);
    }
    framework::run_code(machine, call);
    subcommand::run(infra::PROGRAMS, machine, call)
        .or_else(|| subcommand::run(framework::PROGRAMS, machine, call))
}

/// Whether a program has a model, so that its name among operands means something.
#[must_use]
pub fn is_modelled(name: &str) -> bool {
    model_of(name).is_some()
        || wrapper::is_wrapper(name)
        || sql_client::is_client(name)
        || interpreter::is_interpreter(name)
        || [infra::PROGRAMS, framework::PROGRAMS]
            .iter()
            .any(|table| table.iter().any(|program| program.names.contains(&name)))
}
