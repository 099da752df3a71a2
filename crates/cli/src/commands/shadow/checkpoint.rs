//! `aur shadow checkpoint`: records what a shadow holds.

use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::{changes, escape};
use crate::wiring::workspace::Session;

/// Which one, and what to say about it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, the latest open one.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    /// Say something about it.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    message: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur shadow checkpoint -m 'before the big change'
  aur shadow checkpoint 3 --json

The checkpoint is in a chain of the shadow's own: `aur rollback` of the worktree does not see it.";

/// Records it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = super::find(&session, args.name.as_deref())?;
    let made = session.ask(|workspace| workspace.checkpoint_shadow(&shadow, &args.message))?;
    if args.json {
        let paths: Vec<_> = made.changes.iter().map(|change| &change.path).collect();
        output::print_json(&json!({
            "checkpoint_id": made.checkpoint.checkpoint_id,
            "tree": made.checkpoint.tree,
            "shadow": shadow.meta.id,
            "files_changed": paths,
            "unchanged": made.unchanged,
            "skipped": made.skipped,
        }))?;
        return Ok(Exit::Ok);
    }
    let id = escape::line(&made.checkpoint.checkpoint_id.0);
    let what = if made.unchanged { "unchanged" } else { "recorded" };
    let mut out =
        format!("{what} {id} of {}: {}\n", shadow.meta.id, changes::summary(&made.changes));
    for path in made.skipped.iter().take(changes::MAX_PATHS) {
        out.push_str(&format!("  left out: {}\n", escape::path(path)));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
