//! `aur checkpoints show`: everything about one.

use aurora_model::Checkpoint;
use aurora_workspace::Workspace as _;

use super::Whose;
use crate::exit::Exit;
use crate::output;
use crate::output::history::Whole;
use crate::output::style::Style;
use crate::wiring::words;
use crate::wiring::workspace::{self, Session, diff_files};

/// Which one, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The checkpoint.
    #[arg(value_name = "CHECKPOINT", default_value = "latest")]
    id: String,
    #[command(flatten)]
    whose: Whose,
    /// List everything that was left out, and why.
    #[arg(long)]
    skipped: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints show
  aur checkpoints show 3 --skipped
  aur checkpoints show ckpt-003-a3f2b9c4 --json
  aur checkpoints show --feature login-form

`diff` and `in total` name files with the differences from the checkpoint before and from where the
chain began, where these are small; `aur checkpoints diff ID [--cumulative]` prints any.";

/// Tells it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let one = args.whose.find(&session, &args.id)?;
    let (since_last, total, staged) = session.ask(|workspace| {
        let since_last = workspace.changes(&one.previous_tree, &one.tree)?;
        let total = workspace.changes(&one.base_tree, &one.tree)?;
        let staged =
            one.staged_tree.as_ref().map(|tree| workspace.count_files(tree)).transpose()?;
        Ok((since_last, total, staged))
    })?;
    let diffs = diff_files(&session.workspace, &one);
    let whole = Whole {
        checkpoint: &one,
        since_last: &since_last,
        total: &total,
        diffs: &diffs,
        staged: staged.map(|number| (number, staged_command(&session, &one))),
    };
    if args.json {
        output::print_json(&whole.json())?;
    } else {
        output::print(&whole.human(workspace::now(), args.skipped, Style::of_stdout()))?;
    }
    Ok(Exit::Ok)
}

/// What lists the files that are staged and not so in the worktree.
fn staged_command(session: &Session, one: &Checkpoint) -> String {
    let store = session.workspace.place().aurora_dir.join("git");
    let option = words::quote(&format!("--git-dir={}", store.display()));
    let tree = one.staged_tree.as_ref().map(|tree| tree.0.as_str()).unwrap_or_default();
    format!("git {option} ls-tree -r {tree}")
}
