//! `aur shadow discard`: gives up a shadow, or some of its changes.

use std::path::PathBuf;

use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::changes::{self, count};
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
        Ok(inspection) => {
            let mut lost = inspection.plain_changes();
            lost.retain(|one| only.is_empty() || only.iter().any(|path| one.path.is_within(path)));
            Some(lost)
        }
        // One that cannot be read any more can still be given up.
        Err(_) if only.is_empty() => None,
        Err(_) => Some(Vec::new()),
    };
    let text = match &lost {
        Some(lost) => changes::summary(lost),
        None => "what it changes cannot be read any more".to_owned(),
    };
    if args.dry_run {
        let id = &shadow.meta.id;
        if args.json {
            output::print_json(&json!({"shadow": id, "would_discard": lost, "dry_run": true}))?;
        } else {
            let list = lost
                .as_deref()
                .map(|lost| changes::list(lost, changes::MAX_PATHS, Style::of_stdout()));
            output::print(&format!("would discard of {id}: {text}\n{}", list.unwrap_or_default()))?;
        }
        return Ok(Exit::Ok);
    }
    if lost.as_ref().is_none_or(|lost| !lost.is_empty()) {
        let consent = Consent::of(args.yes, args.json);
        consent.check("discarding changes")?;
        if !consent.ask(&format!("{}: {text}. Discard?", shadow.meta.id))? {
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
