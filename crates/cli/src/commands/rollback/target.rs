//! Which checkpoint a rollback goes to.

use aurora_model::{Checkpoint, CheckpointKind};
use aurora_workspace::Workspace as _;

use crate::exit::Failure;
use crate::wiring::workspace::Session;

/// The one that was named; without a name, the latest that somebody asked for or the watchdog made.
/// Those that a rollback made itself are not meant: going back to them would do nothing.
pub fn find(session: &Session, name: Option<&str>) -> anyhow::Result<Checkpoint> {
    if let Some(name) = name {
        return session.ask(|workspace| workspace.find(name));
    }
    let all = session.ask(|workspace| workspace.checkpoints())?;
    latest(all).ok_or_else(|| {
        Failure::usage("there is no checkpoint to go back to")
            .hint("`aur checkpoint` makes one, before something else changes")
            .into()
    })
}

fn latest(all: Vec<Checkpoint>) -> Option<Checkpoint> {
    all.into_iter().rev().find(is_meant)
}

/// Whether a checkpoint is one to go back to when none is named.
#[must_use]
pub fn is_meant(one: &Checkpoint) -> bool {
    use CheckpointKind::{Adopted, Asked, Watched};
    matches!(one.kind, Asked | Watched | Adopted)
}
