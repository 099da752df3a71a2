//! `aur approvals init`: a settings file to start from.

use aurora_gate::approval::rules::TEMPLATE;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::approvals::settings::FILE;
use crate::wiring::place::{self, Given, Place};
use crate::wiring::{atomic, own_folder};

/// Where to write it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// For everything that you do, in your home folder; without it, for this project.
    #[arg(long)]
    user: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals init
  aur approvals init --user

The file says nothing until you take the comment signs away; what stands there are the defaults. A file
that is there already stays as it is.";

/// Writes the file.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let folder = if args.user {
        place::home().ok_or_else(|| {
            Failure::usage("cannot find your home folder").hint("set HOME, or leave out --user")
        })?
    } else {
        let root = Place::look(Given::default()).root();
        root.ok_or_else(|| Failure::failed("cannot find the current folder"))?
    };
    let path = folder.join(FILE);
    if path.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} is there already", path.display()))
            .hint("`aur approvals config` shows what it says")
            .into());
    }
    own_folder::make(&path)?;
    atomic::write(&path, TEMPLATE.as_bytes())?;
    if !args.user {
        own_folder::ignore_state(&path)?;
    }
    if args.json {
        let scope = if args.user { "user" } else { "project" };
        output::print_json(&json!({"path": path.to_string_lossy(), "scope": scope}))?;
    } else {
        let told = format!("wrote {}\nlook at it with `aur approvals config`\n", path.display());
        output::print(&told)?;
    }
    Ok(Exit::Ok)
}
