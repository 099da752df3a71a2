//! `aur policy init`: a policy file to start from.

use std::path::{Path, PathBuf};

use aurora_gate::policy::TEMPLATE;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::layers::POLICY_FILE;
use crate::wiring::place::{self, Given, Place};
use crate::wiring::{atomic, own_folder};

/// Where to write it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// For this project, at the worktree's root (this is the default).
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For everything that you do, in your home folder.
    #[arg(long)]
    user: bool,
    /// Replace a policy that is there; the old one is kept as a backup.
    #[arg(long)]
    force: bool,
    /// Tell in JSON what was written, where the backup is, and whether anything changed.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur policy init
  aur policy init --user
  aur policy init --force

The project's .aurora folder gets a .gitignore of its own: Aurora's state stays out of git, the
files that people write (policies.yaml, agents.yaml, approvals.yaml, config.yaml) are yours to commit.";

/// Writes the file.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let folder = if args.user {
        place::home().ok_or_else(|| {
            Failure::usage("cannot find your home folder").hint("set HOME, or leave out --user")
        })?
    } else {
        Place::look(Given::default())
            .root()
            .ok_or_else(|| Failure::failed("cannot find the current folder"))?
    };
    let path = folder.join(POLICY_FILE);
    let written = write_policy(&path, args.force)?;
    let gitignore = if args.user { None } else { own_folder::ignore_state(&path)? };
    if args.json {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        output::print_json(&json!({
            "path": text(&path),
            "scope": if args.user { "user" } else { "project" },
            "changed": written.changed,
            "backup": written.backup.as_ref().map(text),
            "gitignore": gitignore.as_ref().map(text),
        }))?;
    } else {
        output::print(&in_words(&path, &written, args.user))?;
    }
    Ok(Exit::Ok)
}

fn in_words(path: &Path, written: &Written, user: bool) -> String {
    let mut out = String::new();
    if let Some(backup) = &written.backup {
        out.push_str(&format!("kept the old policy as {}\n", backup.display()));
    }
    let whose = if user { "your own policy, for every project" } else { "this project's policy" };
    let wrote = if written.changed { "wrote" } else { "nothing to do:" };
    out.push_str(&format!("{wrote} {} ({whose})\n", path.display()));
    out.push_str("look at it with `aur policy show --origin`\n");
    out
}

/// What became of a policy file.
struct Written {
    changed: bool,
    backup: Option<PathBuf>,
}

fn write_policy(path: &Path, force: bool) -> anyhow::Result<Written> {
    let shown = path.display();
    let mut backup = None;
    if path.symlink_metadata().is_ok() {
        if !force {
            return Err(Failure::usage(format!("{shown} is there already"))
                .hint("--force replaces it and keeps a backup")
                .into());
        }
        let old = std::fs::read(path)
            .map_err(|error| Failure::failed(format!("cannot read {shown}: {error}")))?;
        if old == TEMPLATE.as_bytes() {
            return Ok(Written { changed: false, backup });
        }
        backup = Some(atomic::backup(path, &old)?);
    }
    own_folder::make(path)?;
    atomic::write(path, TEMPLATE.as_bytes())?;
    Ok(Written { changed: true, backup })
}
