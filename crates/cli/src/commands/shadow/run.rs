//! `aur shadow run`: runs a command in a shadow and says where it stands afterwards.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use aurora_workspace::shadow::Shadow;
use aurora_workspace::shadow::run::{self, Ended, RunRequest};

use super::create::{self, KindArgs};
use super::report;
use crate::exit::{Exit, Failure};
use crate::output::changes;
use crate::wiring::place;
use crate::wiring::workspace::{Session, failure};

/// What to run, and in which shadow.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, a new one is made.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    #[command(flatten)]
    kind: KindArgs,
    /// Leave variables that tell git where a repository is (GIT_DIR and such), which would lead it
    /// out of the shadow.
    #[arg(long)]
    keep_env: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "Examples:
  aur shadow run -- make test             in a new shadow
  aur shadow run latest -- git commit -am x
  aur shadow run --max-size 500M -- ./generate.sh

The command stands where you stand, and in an overlay sees the worktree's own path. Only files of the
worktree and its git folders are kept apart: this is no sandbox, and what it writes elsewhere is
written. The exit code is the command's; 126 or 127 when it could not be run.";

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (shadow, is_new) = match &args.name {
        Some(name) => (super::find(&session, Some(name))?, false),
        None => (create::make(&session, &args.kind)?, true),
    };
    if is_new {
        say(&create::made(&shadow));
    }
    let request = RunRequest {
        helper: super::helper()?,
        cwd: place::cwd().ok_or_else(|| Failure::failed("the current directory is gone"))?,
        namespace: create::namespace(args.kind.user_namespace),
        keep_env: args.keep_env,
        command: args.command.clone(),
    };
    let child = run::start(&shadow, &request).map_err(failure)?;
    if std::io::stdin().is_terminal() {
        return become_attendant(&shadow, child.id());
    }
    let ended = run::attend(&shadow, child.id()).map_err(failure)?;
    tell(&session, &shadow, ended)
}

/// Goes on as a program that a Ctrl-C at the terminal does not end: it is meant for the command. The
/// shell is the one that can set that without anything unsafe, and it keeps its children.
fn become_attendant(shadow: &Shadow, pid: u32) -> anyhow::Result<Exit> {
    let program = super::helper()?.program;
    let error = std::process::Command::new("/bin/sh")
        .args(["-c", "trap '' INT QUIT; exec \"$0\" \"$@\""])
        .arg(program)
        .args(["shadow", "attend", "--dir"])
        .arg(&shadow.dir)
        .args(["--pid", &pid.to_string()])
        .exec();
    Err(Failure::failed(format!("cannot stand by while the command runs: {error}")).into())
}

/// Which command to wait for.
#[derive(clap::Args)]
#[command(after_help = ATTEND_EXAMPLES)]
pub struct AttendArgs {
    /// The shadow's folder.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// The command's process, a child of this one.
    #[arg(long)]
    pid: u32,
}

const ATTEND_EXAMPLES: &str = "Examples:
  aur shadow attend --dir ~/.local/state/aurora/shadows/app-1a2b3c4d/shadow-001-a3f2b9c4 --pid 123";

/// Waits for it.
pub fn attend(args: &AttendArgs) -> anyhow::Result<Exit> {
    let shadow = Shadow::read(&args.dir).map_err(failure)?;
    let shadow = shadow.ok_or_else(|| Failure::usage("that folder is no shadow"))?;
    let ended = run::attend(&shadow, args.pid).map_err(failure)?;
    tell(&Session::open()?, &shadow, ended)
}

/// Says where the shadow stands, on stderr: stdout is the command's.
fn tell(session: &Session, shadow: &Shadow, ended: Ended) -> anyhow::Result<Exit> {
    let id = &shadow.meta.id;
    if let Some(bytes) = ended.over_quota {
        say(&format!(
            "ended    the command, because {id} held {} of at most {}; what it wrote is still there\n",
            changes::bytes(bytes),
            changes::bytes(shadow.meta.max_bytes)
        ));
    }
    // The command's own exit code matters more than what can be said about its shadow.
    match session.ask(|workspace| workspace.inspect_shadow(shadow)) {
        Ok(inspection) => say(&report::after_run(&inspection)),
        Err(error) => say(&format!("warning: cannot look at {id}: {error:#}\n")),
    }
    Ok(Exit::Command(ended.code))
}

fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
