//! `aur budget set`: writes the limit into the project's policy, and nothing else.

use std::io::ErrorKind;

use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::fence;
use crate::wiring::{atomic, layers, settings_file};

/// The limit, and what happens there.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How many US dollars may be spent in a month.
    #[arg(value_name = "USD", required_unless_present_any = ["warn_at", "on_limit"])]
    pub limit: Option<f64>,
    /// At how many percent of it a warning appears.
    #[arg(long, value_name = "PERCENT")]
    pub warn_at: Option<u64>,
    /// What happens at the limit.
    #[arg(long, value_name = "ACTION", value_parser = ["reject", "warn"])]
    pub on_limit: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur budget set 50
  aur budget set 12.50 --warn-at 70
  aur budget set --on-limit warn

It changes .aurora/policies.yaml of the project; every other byte of the file stays, comments too.";

/// Writes it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("changing the budget")?;
    let place = super::place()?;
    let path = match (layers::project_file(&place, layers::POLICY_FILE), place.root()) {
        (Some(path), _) => path,
        (None, Some(root)) => root.join(layers::POLICY_FILE),
        (None, None) => return Err(Failure::failed("the current directory is gone").into()),
    };
    // A file that cannot be understood is not changed.
    layers::load(&place, None)?;
    let name = path.display().to_string();
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::failed(format!("cannot read {name}: {error}")).into()),
    };
    let mut text = old.clone().unwrap_or_default();
    // New values are put at the beginning of a section, so that the last one comes first.
    for (key, value) in wanted(args)?.iter().rev() {
        text = settings_file::set(&name, &text, key, value)?;
    }
    let policy = layers::load_as_if(&place, &text).map_err(|error| {
        Failure::usage(format!("cannot set the budget: {error}")).hint("nothing was changed")
    })?;
    if old.as_ref() != Some(&text) {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::failed(format!("cannot make {}: {error}", folder.display()))
            })?;
        }
        atomic::write(&path, text.as_bytes())?;
    }
    let budget = policy.budget();
    let action = if budget.rejects { "reject" } else { "warn" };
    if args.json {
        output::print_json(&json!({
            "file": name,
            "changed": old.as_ref() != Some(&text),
            "monthly_limit_usd": budget.monthly_limit_usd,
            "warn_at_percent": budget.warn_at_percent,
            "hard_limit_action": action,
        }))?;
    } else {
        let limit = aurora_model::Usd::from_dollars(budget.monthly_limit_usd);
        let at = budget.warn_at_percent;
        output::print(&format!("{limit} a month, a warning at {at}%, then {action}: {name}\n"))?;
    }
    Ok(Exit::Ok)
}

fn wanted(args: &Args) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut wanted = Vec::new();
    if let Some(limit) = args.limit {
        if !limit.is_finite() || limit < 0.0 {
            return Err(Failure::usage(format!("{limit} is no amount of money")).into());
        }
        wanted.push(("budget.monthly_limit_usd", limit.to_string()));
    }
    wanted.extend(args.warn_at.map(|percent| ("budget.warn_at_percent", percent.to_string())));
    wanted.extend(args.on_limit.clone().map(|action| ("budget.hard_limit_action", action)));
    Ok(wanted)
}
