//! `aur hook install`: edits an agent's settings file, carefully.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::program::{self, Program};
use super::settings::{self, Change};
use super::strict_json;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::atomic;
use crate::wiring::input;
use crate::wiring::place::{self, Given, Place};

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
    /// Tell in JSON what was written, where the backup is, and whether anything changed.
    #[arg(long)]
    pub json: bool,
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
  aur hook install claude-code --json          what was done, for a program

What else is in the settings stays, a backup is put beside them (settings.json.aurora-backup), and a
second run changes nothing. A project's settings name plain `aur` when PATH finds this program by
that name, and its full path otherwise; your own settings always name the full path.

A call that the policy allows runs without a prompt of Claude Code's when it stays inside the
worktree and off the network; about every other one Claude Code's own permissions decide. With
--defer they decide about all of them.";

const ALLOWED: &str = "allowed calls run without a prompt if they stay in the worktree and off the \
                       network; Claude Code decides about the others";
const ALLOWED_DEFERRED: &str = "allowed calls are left to Claude Code's own permissions";

const MACHINE_PATH: &str = "that path is of this machine only: put `aur` on PATH and install again \
                            before you commit the file";

const NOTHING_CHANGED: &str = "nothing was changed; correct the settings by hand first";

const MAX_ATTEMPTS: usize = 5;

/// Edits the settings.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let AgentName::ClaudeCode = args.agent;
    let path = settings_file(args.user)?;
    let program = program::find(args.user)?;
    let command = program::command(&program, args.defer);
    if !args.user {
        check_stays_inside(&path)?;
    }
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    if !args.dry_run && !args.uninstall {
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::failed(format!("cannot make folder {}: {error}", folder.display()))
        })?;
    }
    // Two of us at once take turns; where a folder cannot be locked, the check before writing and
    // the rename still keep the file whole.
    let lock = folder.is_dir().then(|| File::open(&folder).ok()).flatten();
    if let Some(lock) = &lock {
        let _ = lock.lock();
    }
    for _ in 0..MAX_ATTEMPTS {
        if let Some(done) = attempt(args, &path, &command)? {
            let here_only = !args.user && matches!(program, Program::At(_));
            let told = Told { args, path: &path, command: &command, here_only, done };
            if args.json {
                output::print_json(&told.as_json())?;
            } else {
                output::print(&told.in_words())?;
            }
            return Ok(Exit::Ok);
        }
    }
    Err(Failure::failed(format!("{} keeps changing while it is edited", path.display()))
        .hint("close the programs that write it, and try again")
        .into())
}

/// What one run did, or would do.
struct Done {
    change: Change,
    /// The new settings, when they differ.
    text: String,
    backup: Option<PathBuf>,
    hooks_are_off: bool,
}

/// Edits once; nothing when somebody else wrote the file in between.
fn attempt(args: &Args, path: &Path, command: &str) -> anyhow::Result<Option<Done>> {
    let shown = path.display();
    let old = read(path)?;
    let mut all = parse(path, old.as_deref())?;
    let change = if args.uninstall {
        settings::uninstall(&mut all)
    } else {
        settings::install(&mut all, command)
    };
    let change = change.map_err(|problem| {
        Failure::usage(format!("cannot edit {shown}: {problem}")).hint(NOTHING_CHANGED)
    })?;
    let hooks_are_off = settings::hooks_are_off(&all) && !args.uninstall;
    if hooks_are_off {
        output::warn(&format!("`disableAllHooks` in {shown} switches this and every hook off"));
    }
    if change != Change::None {
        check_numbers(path, old.as_deref().unwrap_or_default())?;
    }
    let text = settings::to_text(&all, old.as_deref().unwrap_or_default());
    let mut done = Done { change, text, backup: None, hooks_are_off };
    if change == Change::None || args.dry_run {
        return Ok(Some(done));
    }
    if let Some(old) = &old {
        done.backup = Some(atomic::backup(path, old.as_bytes())?);
    }
    if read(path)? != old {
        return Ok(None);
    }
    atomic::write(path, done.text.as_bytes())?;
    Ok(Some(done))
}

/// What there is to tell about a run.
struct Told<'a> {
    args: &'a Args,
    path: &'a Path,
    command: &'a str,
    /// Whether settings that others share name a path that only this machine has.
    here_only: bool,
    done: Done,
}

impl Told<'_> {
    fn in_words(&self) -> String {
        let (args, shown) = (self.args, self.path.display());
        let did = match self.done.change {
            Change::None if args.uninstall => "nothing to do: no hook of Aurora's in",
            Change::None => "nothing to do: the hook is installed in",
            Change::Added => "installed the hook in",
            Change::Updated => "brought the hook up to date in",
            Change::Removed => "took the hook out of",
        };
        let changed = self.done.change != Change::None;
        if changed && args.dry_run {
            return format!("would write {shown}:\n{}", self.done.text);
        }
        let mut out = format!("{did} {shown}\n");
        if let Some(backup) = &self.done.backup {
            out.push_str(&format!("  backup: {}\n", backup.display()));
        }
        if changed && !args.uninstall {
            let allowed = if args.defer { ALLOWED_DEFERRED } else { ALLOWED };
            out.push_str(&format!("  runs: {}\n  {allowed}\n", self.command));
        }
        if changed {
            out.push_str("  sessions that are open take it up when they restart\n");
        }
        if self.here_only && !args.uninstall {
            out.push_str(&format!("  {MACHINE_PATH}\n"));
        }
        out
    }

    fn as_json(&self) -> Value {
        let installs = !self.args.uninstall;
        let differs = self.done.change != Change::None;
        let mut told = json!({
            "path": self.path.to_string_lossy(),
            "change": self.done.change.name(),
            "changed": differs && !self.args.dry_run,
            "dry_run": self.args.dry_run,
            "backup": self.done.backup.as_ref().map(|path| path.to_string_lossy()),
            "command": installs.then_some(self.command),
            "this_machine_only": installs && self.here_only,
            "hooks_are_off": self.done.hooks_are_off,
        });
        if let Some(told) = told.as_object_mut().filter(|_| differs && self.args.dry_run) {
            told.insert("text".to_owned(), self.done.text.as_str().into());
        }
        told
    }
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let target = atomic::target(path)?;
    let shown = path.display();
    let refuse = |why: String| Failure::failed(format!("cannot read {shown}: {why}"));
    let kind = std::fs::metadata(&target);
    if kind.is_ok_and(|kind| !kind.is_file()) {
        // Opening a pipe would wait for somebody to write into it.
        return Err(refuse("it is not a regular file".to_owned()).into());
    }
    let file = match File::open(&target) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(error.to_string()).into()),
    };
    let bytes = input::capped(file, input::MAX_INPUT_BYTES)
        .map_err(|error| refuse(error.to_string()))?
        .ok_or_else(|| refuse("it is too large".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("cannot read {shown}: it is not UTF-8 text")).hint(NOTHING_CHANGED)
    })?;
    Ok(Some(text))
}

fn parse(path: &Path, text: Option<&str>) -> anyhow::Result<Map<String, Value>> {
    let text = text.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let shown = path.display();
    let read = strict_json::check_keys(text).and_then(|()| serde_json::from_str(text));
    let read: Value = read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        Failure::usage(format!("{shown}:{line}:{column}: cannot read the settings: {what}"))
            .hint(NOTHING_CHANGED)
    })?;
    match read {
        Value::Object(all) => Ok(all),
        _ => Err(Failure::usage(format!(
            "{shown}:1:1: cannot read the settings: expected a JSON object"
        ))
        .hint(NOTHING_CHANGED)
        .into()),
    }
}

/// Refuses settings with a number that cannot be written back as it is.
fn check_numbers(path: &Path, text: &str) -> anyhow::Result<()> {
    let Some(found) = strict_json::rewritten_number(text) else { return Ok(()) };
    let (shown, line) = (path.display(), found.line);
    let (old, new) = (found.old, found.new);
    let message = format!("{shown}:{line}: cannot edit: the number {old} would become {new}");
    Err(Failure::usage(message)
        .hint("nothing was changed; write the number in its plain form first")
        .into())
}

/// Refuses a project's settings that a link leads out of the project: whoever wrote the project would
/// decide which of the user's files is edited.
fn check_stays_inside(path: &Path) -> anyhow::Result<()> {
    let root = path.ancestors().nth(2).and_then(|root| root.canonicalize().ok());
    let real = path.ancestors().find_map(|part| part.canonicalize().ok());
    match (root, real) {
        (Some(root), Some(real)) if !real.starts_with(&root) => {
            let (shown, real) = (path.display(), real.display());
            let message = format!("{shown} leads out of the project, to {real}");
            Err(Failure::failed(message)
                .hint("put a file in place of the link; --user edits your own settings")
                .into())
        }
        _ => Ok(()),
    }
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
