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

/// What undoing goes back to: the safety checkpoint of the latest rollback or promotion. Undoing is
/// one itself, so that the next undoing takes it back.
pub fn of_undo(session: &Session) -> anyhow::Result<Checkpoint> {
    let all = session.ask(|workspace| workspace.checkpoints())?;
    safety(all).ok_or_else(|| {
        Failure::usage("there is no rollback or promotion to undo")
            .hint("`aur checkpoints list` shows what can be gone back to")
            .into()
    })
}

fn safety(mut all: Vec<Checkpoint>) -> Option<Checkpoint> {
    let after =
        |one: &Checkpoint| matches!(one.kind, CheckpointKind::Restored | CheckpointKind::Promoted);
    let done = all.iter().rposition(after)?;
    all.truncate(done);
    all.into_iter().rev().find(|one| one.kind == CheckpointKind::Safety)
}

fn latest(all: Vec<Checkpoint>) -> Option<Checkpoint> {
    let meant =
        |one: &Checkpoint| matches!(one.kind, CheckpointKind::Asked | CheckpointKind::Watched);
    all.into_iter().rev().find(meant)
}
