//! `aur checkpoints show`: everything about one.

use aurora_workspace::Workspace as _;

use crate::exit::Exit;
use crate::output;
use crate::output::history::Whole;
use crate::output::style::Style;
use crate::wiring::workspace::{self, Session, diff_files};

/// Which one, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The checkpoint.
    #[arg(value_name = "CHECKPOINT", default_value = "latest")]
    id: String,
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
  aur checkpoints show ckpt-003-a3f2b9c4 --json";

/// Tells it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (one, since_last, total) = session.ask(|workspace| {
        let one = workspace.find(&args.id)?;
        let since_last = workspace.changes(&one.previous_tree, &one.tree)?;
        let total = workspace.changes(&one.base_tree, &one.tree)?;
        Ok((one, since_last, total))
    })?;
    let diffs = diff_files(&session.workspace, &one);
    let whole = Whole { checkpoint: &one, since_last: &since_last, total: &total, diffs: &diffs };
    if args.json {
        output::print_json(&whole.json())?;
    } else {
        output::print(&whole.human(workspace::now(), args.skipped, Style::of_stdout()))?;
    }
    Ok(Exit::Ok)
}
