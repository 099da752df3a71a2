//! `aur shadow enter`: becomes a command in a shadow. Nothing here may start a thread.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use aurora_workspace::Error;
use aurora_workspace::shadow::enter::{self, EnterSpec};

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::wiring::workspace::failure;

/// What to become, and where.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow's folder.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Where the caller stands.
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    cwd: PathBuf,
    /// Only try whether an overlay over this folder works.
    #[arg(long, value_name = "FOLDER")]
    probe: Option<PathBuf>,
    /// Use a user namespace in any case.
    #[arg(long)]
    user_namespace: bool,
    /// Leave variables that tell git where a repository is.
    #[arg(long)]
    keep_env: bool,
    /// The command.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "Examples:
  aur shadow enter --dir ~/.local/state/aurora/shadows/app-1a2b3c4d/shadow-001-a3f2b9c4 -- ls";

/// Becomes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let namespace = super::create::namespace(args.user_namespace);
    if let Some(lower) = &args.probe {
        let how = enter::try_overlay(&args.dir, lower, namespace).map_err(failure)?;
        output::print(&format!("{how}\n"))?;
        return Ok(Exit::Ok);
    }
    let spec = EnterSpec {
        dir: args.dir.clone(),
        cwd: args.cwd.clone(),
        namespace,
        keep_env: args.keep_env,
        command: args.command.clone(),
    };
    let Err(error) = enter::enter(&spec);
    match &error {
        Error::Io { doing: "run", source, .. } => {
            // As shells have it: 127 where there is no such command, 126 where it cannot be run.
            let missing = source.kind() == std::io::ErrorKind::NotFound;
            let text = format!("error: {}\n", escape::line(&error.to_string()));
            let _ = std::io::stderr().write_all(text.as_bytes());
            Ok(Exit::Command(if missing { 127 } else { 126 }))
        }
        _ => Err(failure(error).into()),
    }
}
