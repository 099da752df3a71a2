//! `aur checkpoints verify`: are they whole, and as they were made?

use aurora_workspace::Workspace as _;
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::changes::count;
use crate::output::escape;
use crate::wiring::workspace::Session;

/// How to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints verify
  aur checkpoints verify --json

Each checkpoint is named by its own content and names the one before it, so a change of any is found.
Exit codes: 0 all is well; 1 something is broken.";

/// Checks them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (all, problems) = session.ask(|workspace| {
        let problems = workspace.verify_chain()?;
        Ok((workspace.checkpoints()?, problems))
    })?;
    if args.json {
        output::print_json(&json!({"checkpoints": all.len(), "problems": problems}))?;
    } else {
        let found = count(problems.len(), "problem");
        let mut out = format!("{} looked at, {found} found\n", count(all.len(), "checkpoint"));
        for problem in &problems {
            out.push_str(&format!("  ! {}\n", escape::line(problem)));
        }
        output::print(&out)?;
    }
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Failure })
}
