//! `aur hook install`: edits an agent's settings file, carefully.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::settings::{self, Change};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::atomic;
use crate::wiring::input;
use crate::wiring::place::{self, Given, Place};
use crate::wiring::words;

/// Which agent's settings, and what to do with them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The agent.
    agent: AgentName,
    /// In this project's settings, at the worktree's root (this is the default).
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In your own settings, for every project.
    #[arg(long)]
    user: bool,
    /// Take the hook out again.
    #[arg(long)]
    uninstall: bool,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Leave calls that the policy allows to the agent's own permissions.
    #[arg(long, conflicts_with = "uninstall")]
    defer: bool,
}

/// An agent whose settings are known.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AgentName {
    ClaudeCode,
}

const EXAMPLES: &str = "Examples:
  aur hook install claude-code                 this project
  aur hook install claude-code --user          all your projects
  aur hook install claude-code --dry-run       only look
  aur hook install claude-code --uninstall

What else is in the settings stays, a backup is put beside them (settings.json.aurora-backup), and a
second run changes nothing. A project's settings name plain `aur` when PATH finds this program by
that name, and its full path otherwise; your own settings always name the full path.

A call that the policy allows runs without a prompt of Claude Code's when it stays inside the
worktree and off the network; about every other one Claude Code's own permissions decide. With
--defer they decide about all of them.";

const ALLOWED: &str = "allowed calls run without a prompt if they stay in the worktree and off the \
                       network; Claude Code decides about the others";
const ALLOWED_DEFERRED: &str = "allowed calls are left to Claude Code's own permissions";

const MACHINE_PATH: &str = "  that path is of this machine only: put `aur` on PATH and install again \
                            before you commit the file\n";

const MAX_ATTEMPTS: usize = 5;

/// Edits the settings.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let AgentName::ClaudeCode = args.agent;
    let path = settings_file(args.user)?;
    let program = program(args.user)?;
    let command = command(&program, args.defer);
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    if !args.dry_run && !args.uninstall {
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::failed(format!("cannot make folder {}: {error}", folder.display()))
        })?;
    }
    // Two of us at once take turns; where a folder cannot be locked, the check before writing and
    // the rename still keep the file whole.
    let lock = File::open(&folder).ok();
    if let Some(lock) = &lock {
        let _ = lock.lock();
    }
    for _ in 0..MAX_ATTEMPTS {
        if let Some(mut told) = attempt(args, &path, &command)? {
            if !args.user && !args.uninstall && matches!(program, Program::At(_)) {
                told.push_str(MACHINE_PATH);
            }
            output::print(&told)?;
            return Ok(Exit::Ok);
        }
    }
    Err(Failure::failed(format!("{} keeps changing while it is edited", path.display()))
        .hint("close the programs that write it, and try again")
        .into())
}

/// Edits once; nothing when somebody else wrote the file in between.
fn attempt(args: &Args, path: &Path, command: &str) -> anyhow::Result<Option<String>> {
    let shown = path.display();
    let old = read(path)?;
    let mut all = parse(path, old.as_deref())?;
    let change = if args.uninstall {
        settings::uninstall(&mut all)
    } else {
        settings::install(&mut all, command)
    };
    let change = change.map_err(|problem| {
        Failure::usage(format!("cannot edit {shown}: {problem}"))
            .hint("nothing was changed; correct the settings by hand first")
    })?;
    if settings::hooks_are_off(&all) && !args.uninstall {
        output::warn(&format!("`disableAllHooks` in {shown} switches this and every hook off"));
    }
    let done = match change {
        Change::None if args.uninstall => "nothing to do: no hook of Aurora's in",
        Change::None => "nothing to do: the hook is installed in",
        Change::Added => "installed the hook in",
        Change::Updated => "brought the hook up to date in",
        Change::Removed => "took the hook out of",
    };
    if change == Change::None {
        return Ok(Some(format!("{done} {shown}\n")));
    }
    let text = settings::to_text(&all, old.as_deref().unwrap_or_default());
    if args.dry_run {
        return Ok(Some(format!("would write {shown}:\n{text}")));
    }
    let mut told = String::new();
    if let Some(old) = &old {
        let backup = atomic::backup(path, old.as_bytes())?;
        told = format!("  backup: {}\n", backup.display());
    }
    if read(path)? != old {
        return Ok(None);
    }
    atomic::write(path, text.as_bytes())?;
    if !args.uninstall {
        let allowed = if args.defer { ALLOWED_DEFERRED } else { ALLOWED };
        told.push_str(&format!("  runs: {command}\n  {allowed}\n"));
    }
    Ok(Some(format!(
        "{done} {shown}\n{told}  sessions that are open take it up when they restart\n"
    )))
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let target = atomic::target(path)?;
    let shown = path.display();
    let refuse = |why: String| Failure::failed(format!("cannot read {shown}: {why}"));
    let file = match File::open(&target) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(error.to_string()).into()),
    };
    let bytes = input::capped(file, input::MAX_INPUT_BYTES)
        .map_err(|error| refuse(error.to_string()))?
        .ok_or_else(|| refuse("it is too large".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("cannot read {shown}: it is not UTF-8 text"))
            .hint("nothing was changed; correct the settings by hand first")
    })?;
    Ok(Some(text))
}

fn parse(path: &Path, text: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let text = text.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(text).map_err(|error| {
        let (shown, line, column) = (path.display(), error.line(), error.column());
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        Failure::usage(format!("{shown}:{line}:{column}: cannot read the settings: {what}"))
            .hint("nothing was changed; correct the settings by hand first")
            .into()
    })
}

fn settings_file(user: bool) -> anyhow::Result<PathBuf> {
    if !user {
        let root = Place::look(Given::default()).root();
        let root = root.ok_or_else(|| Failure::failed("cannot find the current folder"))?;
        return Ok(root.join(".claude/settings.json"));
    }
    let configured = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty());
    let folder = configured
        .map(PathBuf::from)
        .or_else(|| place::home().map(|home| home.join(".claude")))
        .ok_or_else(|| {
            Failure::usage("cannot find your home folder").hint("set HOME or CLAUDE_CONFIG_DIR")
        })?;
    Ok(std::path::absolute(folder)?.join("settings.json"))
}

/// The line that the agent will run.
fn command(program: &Program, defer: bool) -> String {
    let name = match program {
        Program::OnPath => "aur",
        Program::At(path) => path,
    };
    let mut argv = vec![name, "hook", "claude-code"];
    if defer {
        argv.push("--defer");
    }
    words::join(&argv)
}

/// How settings name this very program.
enum Program {
    /// By its name: others who share the settings have it at another place.
    OnPath,
    /// By its place on this machine.
    At(String),
}

/// Settings of a project are shared, so its own name is enough there when that finds this program.
fn program(user: bool) -> anyhow::Result<Program> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program's path: {error}")))?;
    if !user && is_found_by_name(&own) {
        return Ok(Program::OnPath);
    }
    let text = own.to_str().filter(|text| Path::new(text).exists()).ok_or_else(|| {
        Failure::failed(format!("this program's path cannot be used: {}", own.display()))
            .hint("run the installed program again")
    })?;
    Ok(Program::At(text.to_owned()))
}

/// Whether `aur` on PATH is this program.
fn is_found_by_name(own: &Path) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path)
        .map(|folder| folder.join("aur"))
        .find(|candidate| is_executable(candidate));
    // A relative entry finds something else in every folder.
    let Some(first) = first.filter(|candidate| candidate.is_absolute()) else { return false };
    matches!((first.canonicalize(), own.canonicalize()), (Ok(first), Ok(own)) if first == own)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
}
