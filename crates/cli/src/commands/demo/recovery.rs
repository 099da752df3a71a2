//! The second half of the demo: a checkpoint, something that goes wrong, the way back.

use std::path::Path;

use aurora_model::Checkpoint;
use aurora_workspace::{CheckpointRequest, RollbackRequest, UndoRequest, Workspace as _};

use super::refuse;
use crate::output::style::Style;
use crate::output::{checkpoint, rollback};
use crate::wiring::workspace::Session;

/// The steps, all of them done for real in the scratch folder.
pub fn show(folder: &Path, first: usize, style: Style) -> anyhow::Result<String> {
    let session = Session::open_at(folder.to_owned())?;
    let mut out = format!(
        "\n{}\n\nThe gate judges before; a checkpoint helps afterwards. What follows is done for \
         real, in the\nscratch repository.\n",
        style.bold("Aurora: the way back")
    );
    let mut tell = |number: usize, title: &str, asked: &str, answer: &str| {
        let title = style.bold(&format!("{}. {title}", first + number));
        let asked = style.faint(&format!("$ {asked}"));
        out.push_str(&format!("\n{title}\n{asked}\n\n{answer}"));
    };

    let (made, answer) = record(&session, style)?;
    let asked = "aur checkpoint -m 'before the agent'";
    tell(0, "A checkpoint holds every file, committed or not", asked, &answer);

    spoil(folder)?;
    let back = RollbackRequest::to(made.checkpoint_id);
    let plan = session.ask(|workspace| workspace.plan_rollback(&back))?;
    let asked = "aur rollback --dry-run";
    let title = "An agent breaks one file, deletes another and leaves a third";
    tell(1, title, asked, &rollback::plan(&plan, false, style));

    let report = session.ask(|workspace| workspace.rollback(&back))?;
    let asked = "aur rollback";
    tell(2, "Back to the checkpoint, byte for byte", asked, &rollback::report(&report, style));

    let report = session.ask(|workspace| workspace.undo(&UndoRequest::default()))?;
    let asked = "aur rollback --undo";
    let title = "Nothing is ever lost: a rollback can be undone";
    tell(3, title, asked, &rollback::report(&report, style));
    Ok(out)
}

fn record(session: &Session, style: Style) -> anyhow::Result<(Checkpoint, String)> {
    let request =
        CheckpointRequest { message: "before the agent".to_owned(), ..Default::default() };
    let created = session.ask(|workspace| workspace.checkpoint(&request))?;
    let answer = checkpoint::human(&created, style);
    Ok((created.checkpoint, answer))
}

/// What an agent could do that no gate would stop.
fn spoil(folder: &Path) -> anyhow::Result<()> {
    let (app, util, junk) =
        (folder.join("src/app.py"), folder.join("src/util.py"), folder.join("fix_final_v2.py"));
    std::fs::write(&app, "print('helo'\n").map_err(|error| refuse(&app, &error))?;
    std::fs::remove_file(&util).map_err(|error| refuse(&util, &error))?;
    std::fs::write(&junk, "pass\n").map_err(|error| refuse(&junk, &error))
}
