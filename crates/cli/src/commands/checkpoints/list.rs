//! `aur checkpoints list`: all of them, the newest first.

use std::io::IsTerminal as _;

use aurora_model::Checkpoint;
use aurora_workspace::Workspace as _;
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::history;
use crate::output::style::Style;
use crate::wiring::workspace::{self, Session};

/// How many, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only so many of the newest.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints list
  aur checkpoints list --limit 10
  aur checkpoints list --json | jq -r '.checkpoints[0].checkpoint_id'

The newest stands first. Times are in UTC; FILES is how many files differ from the one before.";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let all = session.ask(|workspace| workspace.checkpoints())?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let shown: Vec<&Checkpoint> = all.iter().rev().take(limit).collect();
    if args.json {
        let rows: Vec<_> = shown.iter().map(|one| history::row_json(one)).collect();
        output::print_json(&json!({"total": all.len(), "checkpoints": rows}))?;
        return Ok(Exit::Ok);
    }
    if all.is_empty() {
        output::print("no checkpoint yet; `aur checkpoint` makes one\n")?;
        return Ok(Exit::Ok);
    }
    let clip = std::io::stdout().is_terminal();
    let mut out = history::table(&shown, workspace::now(), clip, Style::of_stdout());
    if shown.len() < all.len() {
        out.push_str(&format!("… and {} older\n", all.len() - shown.len()));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
