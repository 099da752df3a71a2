//! `aur agents init`: an `agents.yaml` to start from.

use serde_json::json;

use super::known::{KNOWN, Known};
use super::survey::on_path;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use crate::wiring::agents::{self, AGENTS_FILE};
use crate::wiring::place::{self, Given, Place};
use crate::wiring::{atomic, own_folder};

/// Where to write it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// For everything that you do, in your home folder, in place of this project.
    #[arg(long)]
    user: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur agents init
  aur agents init --user

A file that is there is never replaced. Known agents that are on this machine are entries; the
others are there as comments.";

const HEAD: &str =
    "# Agents, and how they are reached. `aur agents doctor` tries whether they work.
# In a command, {prompt} {title} {task} {attempt} {role} {cwd} {run} are filled in; {{ and }} are
# braces. Keys never stand here: `pass_environment` and `api_key_env` name variables.
# The budget can only reserve what is known beforehand: `max_cost_usd` is set aside for each attempt,
# ends one that reports more, and is what is counted where an agent does not tell.
";

const MODEL: &str = "
# The model that is asked when all attempts of an agent failed, and by `aur goals`:
# model:
#   provider: anthropic        # or openai (and everything like it), gemini, ollama
#   name: MODEL
#   api_key_env: ANTHROPIC_API_KEY
#   max_output_tokens: 4096
";

/// Writes the file.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let folder = if args.user {
        place::home()
            .ok_or_else(|| Failure::usage("cannot find your home folder").hint("set HOME"))?
    } else {
        Place::look(Given::default())
            .root()
            .ok_or_else(|| Failure::failed("cannot find the current folder"))?
    };
    let path = folder.join(AGENTS_FILE);
    let shown = path.display();
    if path.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{shown} is there already"))
            .hint("change it by hand; `aur agents list` shows entries to paste")
            .into());
    }
    let environment = agents::own_environment();
    let search = environment.get("PATH").map(String::as_str).unwrap_or_default();
    let found: Vec<&Known> =
        KNOWN.iter().filter(|known| on_path(known.program, search).is_some()).collect();
    own_folder::make(&path)?;
    atomic::write(&path, text(&found).as_bytes())?;
    if !args.user {
        own_folder::ignore_state(&path)?;
    }
    let names: Vec<&str> = found.iter().map(|known| known.program).collect();
    if args.json {
        print_json(&json!({"path": path, "agents": names}))?;
    } else {
        let with = if names.is_empty() {
            "none of the known agents is on this machine".to_owned()
        } else {
            format!("with {}", names.join(", "))
        };
        print(&format!("wrote {shown} ({with})\nsee what it says with `aur agents list`\n"))?;
    }
    Ok(Exit::Ok)
}

fn text(found: &[&Known]) -> String {
    let mut out = HEAD.to_owned();
    let is_found = |known: &&Known| found.iter().any(|other| other.program == known.program);
    match found.first() {
        Some(first) => {
            out.push_str(&format!(
                "\n# Who does tasks that name nobody, and plays roles.\ndefault: {}\n",
                first.program
            ));
            out.push_str("\nagents:\n");
        }
        None => out.push_str("\nagents: []\n"),
    }
    for known in found {
        out.push_str(known.entry);
    }
    for known in KNOWN.iter().filter(|known| !is_found(known)) {
        out.push_str(&format!("# {}, which is not on this machine:\n", known.title));
        for line in known.entry.lines() {
            out.push_str(&format!("# {line}\n"));
        }
    }
    out.push_str(MODEL);
    out
}
