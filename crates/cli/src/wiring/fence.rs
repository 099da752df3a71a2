//! What an agent may not do to its own run.

use crate::exit::Failure;

/// Refuses what only a person may do, where an agent of a run does it. It is a fence and no wall: who can
/// run programs can also take the variable away.
pub fn for_people(what: &str) -> anyhow::Result<()> {
    match std::env::var_os("AURORA_RUN") {
        None => Ok(()),
        Some(run) => {
            let run = run.to_string_lossy();
            Err(Failure::denied(format!("{what} is for people, and this is an agent of {run}"))
                .hint("say in your last words what you need; whoever reads them can do it")
                .into())
        }
    }
}
