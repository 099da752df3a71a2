//! `aur shadow discard`: gives up a shadow, or some of its changes.

use std::path::PathBuf;

use aurora_model::{Change, RepoPath};
use aurora_workspace::shadow::Inspection;
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::changes::{self, count};
use crate::output::escape;
use crate::output::style::Style;
use crate::wiring::question::Consent;
use crate::wiring::workspace::Session;

/// Which one, and which paths of it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shadow; without one, the latest open one.
    #[arg(value_name = "SHADOW")]
    name: Option<String>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Show what would be lost, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    /// Only these paths, and what is below them.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur shadow discard                 asks when something would be lost
  aur shadow discard 3 --yes
  aur shadow discard -- src/         only what it changes below src/";

/// Gives it up.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let shadow = super::find(&session, args.name.as_deref())?;
    let only = session.paths(&args.paths)?;
    let inspection = session.ask(|workspace| workspace.inspect_shadow(&shadow));
    let lost = match &inspection {
        Ok(inspection) => Some(Lost::of(inspection, &only)),
        // One that cannot be read any more can still be given up.
        Err(_) if only.is_empty() => None,
        Err(_) => Some(Lost::default()),
    };
    let text = match &lost {
        Some(lost) => lost.in_words(),
        None => "what it changes cannot be read any more".to_owned(),
    };
    if args.dry_run {
        let id = &shadow.meta.id;
        if args.json {
            output::print_json(&json!({
                "shadow": id,
                "would_discard": lost.as_ref().map(|lost| &lost.changes),
                "git_data": lost.as_ref().map(|lost| &lost.git_data),
                "dry_run": true,
            }))?;
        } else {
            let list = lost
                .as_ref()
                .map(|lost| changes::list(&lost.changes, changes::MAX_PATHS, Style::of_stdout()));
            output::print(&format!(
                "would discard of {id}: {}\n{}",
                escape::line(&text),
                list.unwrap_or_default()
            ))?;
        }
        return Ok(Exit::Ok);
    }
    if lost.as_ref().is_none_or(Lost::is_something) {
        let consent = Consent::of(args.yes, args.json);
        consent.check("discarding changes")?;
        let question = format!("{}: {}. Discard?", shadow.meta.id, escape::line(&text));
        if !consent.ask(&question)? {
            output::print("nothing was discarded\n")?;
            return Ok(Exit::Failure);
        }
    }
    let done = session.ask(|workspace| workspace.discard_shadow(&shadow, &only))?;
    if args.json {
        output::print_json(&json!(done))?;
    } else if done.whole {
        output::print(&format!("discarded {}\n", done.shadow))?;
    } else {
        output::print(&format!(
            "discarded {} of {}\n",
            count(done.paths.len(), "change"),
            done.shadow
        ))?;
    }
    Ok(Exit::Ok)
}

/// What is gone for good.
#[derive(Default)]
struct Lost {
    changes: Vec<Change>,
    /// Besides these: empty folders, and what could not even be compared.
    others: usize,
    git_data: Vec<String>,
}

impl Lost {
    fn of(inspection: &Inspection, only: &[RepoPath]) -> Self {
        let meant =
            |path: &RepoPath| only.is_empty() || only.iter().any(|only| path.is_within(only));
        let mut changes = inspection.plain_changes();
        changes.retain(|one| meant(&one.path));
        let others = inspection.empty_folders.iter().chain(&inspection.unpromotable);
        let others = others.filter(|path| meant(path)).count();
        // Paths are given up without touching what git has.
        let git_data = if only.is_empty() { inspection.git_data.clone() } else { Vec::new() };
        Self { changes, others, git_data }
    }

    fn is_something(&self) -> bool {
        !self.changes.is_empty() || self.others > 0 || !self.git_data.is_empty()
    }

    fn in_words(&self) -> String {
        let mut text = changes::summary(&self.changes);
        if self.others > 0 {
            text.push_str(&format!(", {} besides", count(self.others, "path")));
        }
        if !self.git_data.is_empty() {
            text.push_str(&format!("; only it has {}", self.git_data.join(", ")));
        }
        text
    }
}
