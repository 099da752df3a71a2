//! `aur agents`: which agents are configured, whether they are here, and how far they can be held.

mod autonomy;
mod doctor;
mod init;
mod known;
mod list;
mod survey;

use crate::exit::Exit;
use crate::output;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur agents list
  aur agents init
  aur agents doctor --online
  aur agents autonomy show

Agents are named in agents.yaml: yours in ~/.aurora, the project's in .aurora. The project's
file lies over yours; an agent of the same name is replaced whole.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// List what is configured, and which known agents are on this machine.
    List(list::Args),
    /// Try whether they can work: programs, versions, variables, scenarios, containment.
    Doctor(doctor::Args),
    /// Show how much they may do by themselves, and let them do more or less.
    Autonomy(autonomy::Args),
    /// Write an agents.yaml to start from, with the agents that are on this machine.
    Init(init::Args),
}

/// What `aur agents list --json` says.
pub fn in_json() -> anyhow::Result<serde_json::Value> {
    Ok(list::in_json(&survey::survey()?))
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Doctor(args) => output::with_error(args.json, doctor::run(args)),
        Command::Autonomy(args) => autonomy::run(args),
        Command::Init(args) => output::with_error(args.json, init::run(args)),
    }
}
