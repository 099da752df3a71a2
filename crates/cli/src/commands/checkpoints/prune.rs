//! `aur checkpoints prune`: forgets some, and gives their space back.

use aurora_workspace::{Pruned, Retention, Workspace as _};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::changes::{MAX_PATHS, bytes, count, more};
use crate::output::escape;
use crate::wiring::quantity;
use crate::wiring::question::Consent;
use crate::wiring::workspace::Session;

/// Which ones go.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Keep so many of the newest.
    #[arg(long, value_name = "N")]
    keep_last: Option<u64>,
    /// Forget those that are older than this: 12h, 30d, 8w.
    #[arg(long, value_name = "SPAN", value_parser = quantity::span_ms)]
    older_than: Option<i64>,
    /// Forget these.
    #[arg(value_name = "CHECKPOINT")]
    ids: Vec<String>,
    /// Say what would go, and forget nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints prune --keep-last 50 --dry-run
  aur checkpoints prune --older-than 30d
  aur checkpoints prune 3 4 5 --yes

With both --keep-last and --older-than a checkpoint goes only when both say so. What is forgotten
cannot be rolled back to any more.";

/// Forgets them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.keep_last.is_none() && args.older_than.is_none() && args.ids.is_empty() {
        return Err(Failure::usage("nothing says which checkpoints go")
            .hint("--keep-last 50, --older-than 30d, or the names of checkpoints")
            .into());
    }
    let consent = Consent::of(args.yes, args.json);
    let session = Session::open()?;
    let mut retention = Retention {
        keep_last: args.keep_last,
        keep_younger_than_ms: args.older_than,
        forget: Vec::new(),
        dry_run: true,
    };
    for name in &args.ids {
        retention.forget.push(session.ask(|workspace| workspace.find(name))?.checkpoint_id);
    }
    let planned = session.ask(|workspace| workspace.prune(&retention))?;
    if args.dry_run {
        say(&planned, args, true)?;
        return Ok(Exit::Ok);
    }
    if !planned.forgotten.is_empty() {
        consent.check("pruning")?;
    }
    if !args.json && !planned.forgotten.is_empty() {
        output::print(&in_words(&planned, true))?;
        if !consent.ask("Forget them?")? {
            output::print("nothing was forgotten\n")?;
            return Ok(Exit::Failure);
        }
    }
    // What was shown is what goes, whatever was recorded since.
    let exact =
        Retention { forget: planned.forgotten.clone(), dry_run: false, ..Retention::default() };
    let done = if planned.forgotten.is_empty() {
        planned
    } else {
        session.ask(|workspace| workspace.prune(&exact))?
    };
    say(&done, args, false)?;
    Ok(Exit::Ok)
}

fn say(pruned: &Pruned, args: &Args, planned: bool) -> anyhow::Result<()> {
    if args.json {
        output::print_json(&json!({
            "dry_run": planned,
            "forgotten": pruned.forgotten,
            "kept": pruned.kept,
            "bytes_before": pruned.bytes_before,
            "bytes_after": pruned.bytes_after,
        }))
    } else {
        output::print(&in_words(pruned, planned))
    }
}

fn in_words(pruned: &Pruned, planned: bool) -> String {
    let number = pruned.forgotten.len();
    if number == 0 {
        return format!("nothing to forget; {} kept\n", pruned.kept);
    }
    if !planned {
        let (before, after) = (pruned.bytes_before, pruned.bytes_after);
        return format!(
            "forgot {}, kept {}; the store has {} (was {})\n",
            count(number, "checkpoint"),
            pruned.kept,
            bytes(after),
            bytes(before)
        );
    }
    let mut out = format!("{} would go, {} stay:\n", count(number, "checkpoint"), pruned.kept);
    for id in pruned.forgotten.iter().take(MAX_PATHS) {
        out.push_str(&format!("  - {}\n", escape::line(&id.0)));
    }
    out.push_str(&more(number, MAX_PATHS));
    out
}
