//! `aur shadow list`: the shadows of this worktree.

use serde_json::json;

use super::report;
use crate::exit::Exit;
use crate::output;
use crate::output::moment;
use crate::output::style::Style;
use crate::wiring::workspace::{self, Session};

/// How to list them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur shadow list
  aur shadow list --json | jq -r '.shadows[] | select(.status == \"open\") | .shadow'";

/// Lists them, the newest first.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let mut shadows = session.ask(|workspace| workspace.shadows())?;
    shadows.reverse();
    if args.json {
        let metas: Vec<_> = shadows.iter().map(|shadow| report::named(&shadow.meta)).collect();
        output::print_json(&json!({"shadows": metas}))?;
        return Ok(Exit::Ok);
    }
    if shadows.is_empty() {
        output::print("no shadow; `aur shadow run -- …` makes one\n")?;
        return Ok(Exit::Ok);
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    for shadow in &shadows {
        let meta = &shadow.meta;
        out.push_str(&format!(
            "{}  {:<9}  {:<7}  {}\n",
            style.bold(&meta.id),
            report::status(meta.status),
            meta.strategy.name(),
            moment::ago(workspace::now(), meta.created)
        ));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
