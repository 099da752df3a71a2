//! `aur checkpoints list`: all of them, the newest first.

use std::io::IsTerminal as _;

use aurora_model::Checkpoint;
use serde_json::json;

use super::Whose;
use crate::exit::Exit;
use crate::output;
use crate::output::escape;
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
    #[command(flatten)]
    whose: Whose,
    /// Those of every feature: of each worktree, also a removed one, and of each shadow.
    #[arg(long, conflicts_with = "feature")]
    all_features: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints list
  aur checkpoints list --limit 10
  aur checkpoints list --all-features
  aur checkpoints list --json | jq -r '.checkpoints[0].checkpoint_id'

The newest stands first. Times are in UTC (a terminal of less than 100 columns has
room for how long ago only); FILES is how many files differ from the one before.";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let chains = chains(args, &session)?;
    if args.json {
        let shown = chains.iter().flat_map(|chain| newest(args, chain));
        let rows: Vec<_> = shown.map(history::row_json).collect();
        let total: usize = chains.iter().map(Vec::len).sum();
        output::print_json(&json!({"total": total, "checkpoints": rows}))?;
        return Ok(Exit::Ok);
    }
    if chains.iter().all(Vec::is_empty) {
        output::print("no checkpoint yet; `aur checkpoint` makes one\n")?;
        return Ok(Exit::Ok);
    }
    let mut out = Vec::new();
    for chain in chains.iter().filter(|chain| !chain.is_empty()) {
        let head = chain.first().filter(|_| args.all_features);
        let head = head.map(|one| format!("{}:\n", escape::line(&one.feature)));
        out.push(head.unwrap_or_default() + &table(args, chain));
    }
    output::print(&out.join("\n"))?;
    Ok(Exit::Ok)
}

/// The checkpoints of each feature that is meant, the oldest first.
fn chains(args: &Args, session: &Session) -> anyhow::Result<Vec<Vec<Checkpoint>>> {
    if !args.all_features {
        return Ok(vec![args.whose.all(session)?]);
    }
    session.ask(|workspace| {
        workspace.features()?.iter().map(|feature| workspace.checkpoints_of(feature)).collect()
    })
}

fn newest<'a>(args: &Args, chain: &'a [Checkpoint]) -> impl Iterator<Item = &'a Checkpoint> {
    chain.iter().rev().take(args.limit.unwrap_or(usize::MAX))
}

fn table(args: &Args, chain: &[Checkpoint]) -> String {
    let shown: Vec<&Checkpoint> = newest(args, chain).collect();
    let clip = std::io::stdout().is_terminal();
    let mut out = history::table(&shown, workspace::now(), clip, Style::of_stdout());
    if shown.len() < chain.len() {
        out.push_str(&format!("… and {} older\n", chain.len() - shown.len()));
    }
    out
}
