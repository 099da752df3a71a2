//! `aur shadow`: work that reaches the worktree only when it is promoted.

mod checkpoint;
mod cleanup;
mod create;
mod diff;
mod discard;
mod enter;
mod inspect;
mod list;
mod promote;
mod report;
mod run;

use aurora_workspace::shadow::{Helper, Shadow};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::wiring::workspace::Session;

/// What to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur shadow run -- make test       run something on a shadow; the worktree stays as it is
  aur shadow inspect                what it changed
  aur shadow promote                bring that into the worktree
  aur shadow discard --yes          or forget it

A shadow is named by its whole name (shadow-001-a3f2b9c4), by a beginning that only one has, by its
number (1), or as `latest`, the latest open one, which is also meant where no name is given.";

/// What can be done with them.
#[derive(clap::Subcommand)]
enum Command {
    /// Make one, without running anything.
    Create(create::Args),
    /// Run a command in one; without a name, in a new one.
    Run(run::Args),
    /// List those of this worktree.
    List(list::Args),
    /// Say what one changes, what is wrong with it and who works in it.
    Inspect(inspect::Args),
    /// Print what one changes, as a patch.
    Diff(diff::Args),
    /// Record what one holds, in a chain of its own.
    Checkpoint(checkpoint::Args),
    /// Bring what one changes into the worktree; `aur rollback --undo` takes it back.
    Promote(promote::Args),
    /// Give one up, or some of its changes.
    Discard(discard::Args),
    /// Remove what crashes left, and what is over.
    Cleanup(cleanup::Args),
    /// Become a command in a shadow; `run` calls it.
    #[command(hide = true)]
    Enter(enter::Args),
    /// Wait for a command in a shadow; `run` becomes it at a terminal.
    #[command(hide = true)]
    Attend(run::AttendArgs),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Create(args) => output::with_error(args.json, outside(|| create::run(args))),
        Command::Run(args) => outside(|| run::run(args)),
        Command::List(args) => output::with_error(args.json, list::run(args)),
        Command::Inspect(args) => output::with_error(args.json, inspect::run(args)),
        Command::Diff(args) => diff::run(args),
        Command::Checkpoint(args) => {
            output::with_error(args.json, outside(|| checkpoint::run(args)))
        }
        Command::Promote(args) => output::with_error(args.json, outside(|| promote::run(args))),
        Command::Discard(args) => output::with_error(args.json, outside(|| discard::run(args))),
        Command::Cleanup(args) => output::with_error(args.json, outside(|| cleanup::run(args))),
        Command::Enter(args) => enter::run(args),
        Command::Attend(args) => run::attend(args),
    }
}

/// Does something that only makes sense outside every shadow: inside, the worktree and its git folder
/// are not the real ones, but the shadows are.
fn outside(what: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    match std::env::var_os("AURORA_SHADOW").filter(|name| !name.is_empty()) {
        Some(name) => {
            let name = escape::line(&name.to_string_lossy());
            let what = format!("this runs inside {name}, and a shadow has no shadows of its own");
            let hint = "leave it first; where AURORA_SHADOW only was left set, unset it";
            Err(Failure::failed(what).hint(hint).into())
        }
        None => what(),
    }
}

/// This program, as the one that enters shadows.
fn helper() -> anyhow::Result<Helper> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program: {error}")))?;
    Ok(Helper { program, args: vec!["shadow".into(), "enter".into()] })
}

/// The shadow of a name; the latest open one without a name.
fn find(session: &Session, name: Option<&str>) -> anyhow::Result<Shadow> {
    session.ask(|workspace| workspace.find_shadow(name.unwrap_or("latest")))
}
