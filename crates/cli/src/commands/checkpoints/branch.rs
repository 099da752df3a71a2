//! `aur checkpoints branch`: a branch that holds a checkpoint.

use aurora_workspace::Workspace as _;
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::output::skipped::short;
use crate::wiring::words;
use crate::wiring::workspace::Session;

/// Of which one, and its name.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    id: String,
    /// The branch to make.
    name: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur checkpoints branch 3 rescue
  aur checkpoints branch latest try/other-way --json

The branch gets one commit with everything that the checkpoint holds, on top of the commit that was
checked out then. Nothing is checked out, and a branch that is there already is left alone.";

/// Makes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (one, commit) = session.ask(|workspace| {
        let one = workspace.find(&args.id)?;
        let commit = workspace.branch(&one.checkpoint_id, &args.name)?;
        Ok((one, commit))
    })?;
    if args.json {
        output::print_json(&json!({
            "checkpoint_id": one.checkpoint_id,
            "branch": args.name,
            "commit": commit,
        }))?;
    } else {
        output::print(&format!(
            "made branch {} at {} from {}\nlook at it with: git log -p -1 {}\n",
            escape::line(&args.name),
            escape::line(short(&commit)),
            escape::line(&one.checkpoint_id.0),
            escape::line(&words::quote(&args.name)),
        ))?;
    }
    Ok(Exit::Ok)
}
