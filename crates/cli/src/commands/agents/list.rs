//! `aur agents list`: what is configured, and which known agents are on this machine.

use serde_json::json;

use super::survey::{self, Facts, Survey};
use crate::exit::Exit;
use crate::output::escape;
use crate::output::style::Style;
use crate::output::{print, print_json};

/// How to tell it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur agents list
  aur agents list --json

Known agents that are on this machine and not configured are shown with the entry to paste below
`agents:`. `aur agents doctor` tries whether they work.";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let survey = survey::survey()?;
    if args.json {
        print_json(&in_json(&survey))?;
    } else {
        print(&in_words(&survey, Style::of_stdout()))?;
    }
    Ok(Exit::Ok)
}

/// Everything that was found.
pub fn in_json(survey: &Survey) -> serde_json::Value {
    let found: Vec<_> = survey
        .found
        .iter()
        .map(|(known, path)| {
            json!({"program": known.program, "title": known.title, "path": path, "entry": known.entry})
        })
        .collect();
    json!({
        "files": survey.loaded.files,
        "agents": survey.agents,
        "model": survey.model,
        "found": found,
    })
}

fn in_words(survey: &Survey, style: Style) -> String {
    let mut out = String::new();
    if survey.agents.is_empty() {
        out.push_str("no agents are configured\n");
    }
    for facts in &survey.agents {
        agent(&mut out, facts, style);
    }
    if let Some(model) = &survey.model {
        let key = match &model.api_key_env {
            Some(name) if model.problems.is_empty() => format!(", key in {name}"),
            _ => String::new(),
        };
        let name = style.bold(&escape::line(&model.name));
        out.push_str(&format!("model {name}  {}{key}\n", model.provider));
        problems(&mut out, &model.problems, style);
    }
    if !survey.found.is_empty() {
        out.push_str("\non this machine, and not configured; paste below `agents:`\n");
    }
    for (known, path) in &survey.found {
        let place = escape::line(&path.to_string_lossy());
        out.push_str(&format!("# {}, {place}\n{}", known.title, known.entry));
    }
    if survey.agents.is_empty() {
        out.push_str("\n`aur agents init` writes a file to start from\n");
    }
    out
}

fn agent(out: &mut String, facts: &Facts, style: Style) {
    let default = if facts.default { "  (default)" } else { "" };
    let name = style.bold(&facts.id);
    out.push_str(&format!(
        "{name}{default}  {}, {}\n",
        facts.provider,
        escape::line(&facts.origin)
    ));
    if let Some(path) = &facts.path {
        out.push_str(&format!("  at      {}\n", escape::line(&path.to_string_lossy())));
    }
    if let Some(output) = facts.output {
        out.push_str(&format!("  read as {output}\n"));
    }
    out.push_str(&format!("  can     {}\n", survey::abilities(&facts.supports)));
    out.push_str(&format!("  held    {}\n", survey::holding(facts.supports.holding)));
    let level = facts.autonomy.level.name();
    match &facts.autonomy.lowered {
        None => out.push_str(&format!("  level   {level}\n")),
        Some(why) => {
            let configured = facts.autonomy.configured.name();
            out.push_str(&format!("  level   {level}, lowered from {configured}: {why}\n"));
        }
    }
    let named = facts
        .variables
        .iter()
        .map(|(name, is_set)| if *is_set { name.clone() } else { format!("{name} (not set)") });
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        out.push_str(&format!("  gets    {}\n", named.join(", ")));
    }
    problems(out, &facts.problems, style);
}

/// What is wrong, below what it is wrong with.
pub fn problems(out: &mut String, problems: &[String], style: Style) {
    for problem in problems {
        out.push_str(&format!("  {} {}\n", style.bad("problem"), escape::line(problem)));
    }
}
