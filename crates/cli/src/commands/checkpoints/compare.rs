//! `aur checkpoints compare`: what differs between two.

use std::path::PathBuf;

use aurora_model::TreeId;
use aurora_workspace::Workspace as _;
use serde_json::json;

use super::{Whose, diff, is_wanted, tree_now};
use crate::exit::Exit;
use crate::output;
use crate::output::changes::{self, MAX_PATHS};
use crate::output::checkpoint;
use crate::output::style::Style;
use crate::wiring::workspace::Session;

/// Which two, and how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The checkpoint to start from; `now` is the worktree as it is.
    #[arg(value_name = "FROM")]
    from: String,
    /// The checkpoint to compare with; `now` is the worktree as it is.
    #[arg(value_name = "TO")]
    to: String,
    /// Only these paths.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    whose: Whose,
    /// Count lines.
    #[arg(long, conflicts_with = "patch")]
    stat: bool,
    /// Print the patch that leads from one to the other.
    #[arg(short, long)]
    patch: bool,
    /// Answer in JSON.
    #[arg(long, conflicts_with_all = ["stat", "patch"])]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints compare 3 5
  aur checkpoints compare 3 now src/
  aur checkpoints compare 3 latest --patch
  aur checkpoints compare latest now --feature login-form

A file that was renamed is deleted and added, as in `git diff --no-renames`.";

/// Compares them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let tree = |name: &str| tree(&session, &args.whose, name);
    let (from, to) = (tree(&args.from)?, tree(&args.to)?);
    let only = session.paths(&args.paths)?;
    let style = Style::of_stdout();
    if args.patch {
        diff::patch(&session, &from, &to, &only)?;
        return Ok(Exit::Ok);
    }
    if args.stat {
        diff::stat(&session, &from, &to, &only)?;
        return Ok(Exit::Ok);
    }
    let mut found = session.ask(|workspace| workspace.changes(&from, &to))?;
    found.retain(|change| is_wanted(&change.path, &only));
    if args.json {
        output::print_json(&json!({
            "from": from,
            "to": to,
            "files_changed": checkpoint::paths(&found),
            "changes": found,
        }))?;
    } else {
        let list = changes::list(&found, MAX_PATHS, style);
        output::print(&format!("{}\n{list}", changes::summary(&found)))?;
    }
    Ok(Exit::Ok)
}

fn tree(session: &Session, whose: &Whose, name: &str) -> anyhow::Result<TreeId> {
    if name == "now" {
        let latest = session.ask(|workspace| workspace.find("latest"))?;
        return tree_now(session, &latest);
    }
    Ok(whose.find(session, name)?.tree)
}
