//! `aur approvals config`: who may decide what here, until when, and where each of it comes from.

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::output::style::Style;
use crate::wiring::approvals::settings;
use crate::wiring::lowered;
use crate::wiring::person;
use crate::wiring::place::{Given, Place};

/// How to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals config
  aur approvals config --json

The settings are .aurora/approvals.yaml in the project over the same file in your home folder, section by
section, over the defaults. Of several timeouts or approvers the most specific one counts.";

/// Shows them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let rules = settings::rules(&Place::look(Given::default()))?;
    let you = person::here(&rules, aurora_model::Surface::Command);
    let lowered = lowered::here()?;
    let mut told = rules.show();
    if let Some(told) = told.as_object_mut() {
        told.insert("you".to_owned(), json!({"name": you.name, "roles": you.roles}));
        let all: Vec<Value> = lowered.iter().map(lowered::in_json).collect();
        told.insert("lowered".to_owned(), json!(all));
        told.insert("files".to_owned(), json!(rules.origins()));
    }
    if args.json {
        output::print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let style = Style::of_stdout();
    let roles = match you.roles.as_slice() {
        [] => "no role".to_owned(),
        roles => roles.join(", "),
    };
    let mut out = format!("you are {} ({})\n", escape::line(&you.name), escape::line(&roles));
    for section in ["people", "autonomy", "risk", "timeouts", "approvers", "notify"] {
        let Some(value) = told.get(section) else { continue };
        push_section(&mut out, section, value, style);
        if section == "autonomy" {
            lowered::push(&mut out, &lowered, style);
        }
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// Writes one section of the settings, and where it comes from.
pub fn push_section(out: &mut String, name: &str, section: &Value, style: Style) {
    let from = |value: &Value| {
        let origin = value.get("origin").and_then(Value::as_str).map(escape::line);
        origin.map(|origin| style.faint(&format!("  # {origin}"))).unwrap_or_default()
    };
    out.push_str(&format!("{}{}\n", style.bold(name), from(section)));
    match section {
        Value::Array(choices) if choices.is_empty() => out.push_str("  as built in\n"),
        Value::Array(choices) => {
            for choice in choices {
                out.push_str(&format!("  -{}\n", from(choice)));
                push_value(out, choice, 4);
            }
        }
        _ => push_value(out, section.get("value").unwrap_or(&Value::Null), 2),
    }
}

fn push_value(out: &mut String, value: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(fields) => {
            let told = |name: &str, value: &Value| name != "origin" && !is_empty(value);
            for (name, value) in fields.iter().filter(|(name, value)| told(name, value)) {
                match plain(value) {
                    Some(text) => out.push_str(&format!("{pad}{}: {text}\n", escape::line(name))),
                    None => {
                        out.push_str(&format!("{pad}{}:\n", escape::line(name)));
                        push_value(out, value, indent + 2);
                    }
                }
            }
        }
        Value::Array(all) => {
            for one in all {
                let text = plain(one).unwrap_or_else(|| escape::line(&one.to_string()));
                out.push_str(&format!("{pad}- {text}\n"));
            }
        }
        other => out.push_str(&format!("{pad}{}\n", plain(other).unwrap_or_default())),
    }
    if is_empty(value) {
        out.push_str(&format!("{pad}none\n"));
    }
}

/// A value that fits behind its name.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(escape::line(text)),
        Value::Array(all) => {
            let words: Option<Vec<&str>> = all.iter().map(Value::as_str).collect();
            words.map(|words| escape::line(&words.join(", ")))
        }
        Value::Object(_) => None,
        other => Some(other.to_string()),
    }
}
