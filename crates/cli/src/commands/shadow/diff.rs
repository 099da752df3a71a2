//! `aur shadow diff`: what a shadow changes, as a patch.

use std::io::Write as _;
use std::path::PathBuf;

use aurora_workspace::Error;

use crate::exit::{Exit, Failure};
use crate::output::patch::Sink;
use crate::output::style::Style;
use crate::wiring::workspace::{Session, failure};

/// Which one, and which paths of it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, the latest open one.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    /// Only these paths.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur shadow diff
  aur shadow diff 3 -- src/
  aur shadow diff | git apply --check

The patch is as `git diff --binary` writes it, from what the worktree held to what the shadow holds.";

/// Prints it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = super::find(&session, args.name.as_deref())?;
    let only = session.paths(&args.paths)?;
    let mut sink = Sink::of_stdout(Style::of_stdout());
    let result = session.workspace.shadow_diff(&shadow, &only, &mut sink);
    match sink.flush() {
        // A reader that went away is no error, and the library's own one is only its echo.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(Exit::Ok),
        Err(error) => {
            return Err(Failure::failed(format!("cannot write to stdout: {error}")).into());
        }
        Ok(()) => {}
    }
    match result {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => {}
        result => result.map_err(failure)?,
    }
    Ok(Exit::Ok)
}
