//! `aur policy explain`: what a rule means, its value and where that comes from.

use aurora_gate::Policy;
use aurora_gate::policy::{Explanation, explain, rule_ids};
use serde_json::{Value, json};

use super::PolicyArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::output::style::Style;
use crate::output::wrap::{hang, wrap};

/// Which rule.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The rule's id, as a verdict names it; without it all rules are listed.
    rule: Option<String>,
    /// Answer in JSON: the rule, or a list of all rules.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

const EXAMPLES: &str = "Examples:
  aur policy explain
  aur policy explain destructive.git_force_push
  aur policy explain --json destructive.git_force_push";

/// Explains one rule, or lists all.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let policy = args.policy.load()?;
    let Some(rule) = &args.rule else {
        if args.json {
            output::print_json(&list_json(&policy))?;
        } else {
            output::print(&list(&policy))?;
        }
        return Ok(Exit::Ok);
    };
    match explain(&policy, rule) {
        Some(found) if args.json => {
            output::print_json(&as_json(&found))?;
            Ok(Exit::Ok)
        }
        Some(found) => {
            output::print(&in_words(&found, Style::of_stdout().width))?;
            Ok(Exit::Ok)
        }
        None => Err(unknown(rule, &rule_ids(&policy)).into()),
    }
}

fn list(policy: &Policy) -> String {
    let ids = rule_ids(policy);
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or_default();
    let line = |id: &String| {
        let title = explain(policy, id).map(|found| found.title).unwrap_or_default();
        format!("{:width$}  {}", escape::line(id), escape::line(&title)).trim_end().to_owned()
            + "\n"
    };
    ids.iter().map(line).collect()
}

fn list_json(policy: &Policy) -> Value {
    let rules = rule_ids(policy).into_iter().filter_map(|id| explain(policy, &id));
    rules.map(|rule| json!({"id": rule.id, "title": rule.title})).collect()
}

fn as_json(rule: &Explanation) -> Value {
    json!({
        "id": rule.id,
        "title": rule.title,
        "meaning": rule.meaning,
        "value": rule.value,
        "origin": rule.origin,
        "locked": rule.locked,
        "matches": rule.matches,
        "not_matches": rule.not_matches,
        "instead": rule.instead,
    })
}

fn in_words(rule: &Explanation, width: usize) -> String {
    let title = format!("{}: {}", escape::line(&rule.id), escape::line(&rule.title));
    let mut out = hang("", &title, width);
    if !rule.meaning.is_empty() {
        out.push_str(&format!("\n{}\n", wrap(&escape::lines(rule.meaning.trim_end()), width)));
    }
    let value = value_in_words(&rule.value);
    let value = format!("value: {} ({})", escape::line(&value), escape::line(&rule.origin));
    out.push_str(&format!("\n{}", hang("", &value, width)));
    if let Some(locked) = &rule.locked {
        out.push_str(&hang("", &format!("locked by: {}", escape::line(locked)), width));
    }
    for (title, examples) in [("matches", &rule.matches), ("does not match", &rule.not_matches)] {
        if !examples.is_empty() {
            out.push_str(&format!("\n{title}:\n"));
            out.extend(examples.iter().map(|example| format!("  {}\n", escape::line(example))));
        }
    }
    if let Some(instead) = &rule.instead {
        let instead = format!("instead: {}", escape::line(instead));
        out.push_str(&format!("\n{}", hang("", &instead, width)));
    }
    out
}

/// A value as a person writes it in a policy.
fn value_in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(value_in_words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key} = {}", value_in_words(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

fn unknown(rule: &str, ids: &[String]) -> Failure {
    let failure = Failure::usage(format!("there is no rule {rule}"));
    let failure = match nearest(rule, ids) {
        Some((near, true)) => failure.hint(format!("did you mean {near}?")),
        Some((near, false)) => failure.hint(format!("the nearest is {near}")),
        None => failure,
    };
    failure.hint("`aur policy explain` lists all rules")
}

/// The id that comes nearest, and whether it is likely meant: it holds the word, or it (or its last
/// part) is few letters away.
fn nearest<'i>(wrong: &str, ids: &'i [String]) -> Option<(&'i str, bool)> {
    if wrong.is_empty() {
        return None;
    }
    let last = |id: &str| id.rsplit('.').next().unwrap_or_default().to_owned();
    let distance_to = |id: &String| distance(wrong, id).min(distance(wrong, &last(id)));
    let (best, near) = ids.iter().map(|id| (distance_to(id), id)).min()?;
    if best <= wrong.chars().count() / 3 + 1 {
        return Some((near, true));
    }
    let holds = ids.iter().find(|id| wrong.len() > 2 && id.contains(wrong));
    Some(holds.map_or((near, false), |id| (id, true)))
}

/// How many letters must be put in, taken out or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, d) in b.iter().enumerate() {
            let at =
                |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&row, j) + usize::from(c != *d);
            next.push(replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_the_rule_that_was_meant() {
        let ids =
            ["destructive.git_force_push", "destructive.file_delete", "safety.protected_paths"]
                .map(str::to_owned);
        let check = |wrong: &str, expected| assert_eq!(nearest(wrong, &ids), expected, "{wrong}");
        check("git_force_push", Some(("destructive.git_force_push", true)));
        check("destructive.git_forse_push", Some(("destructive.git_force_push", true)));
        check("protected_path", Some(("safety.protected_paths", true)));
        check("push", Some(("destructive.git_force_push", true)));
        check("weather", Some(("destructive.file_delete", false)));
        check("", None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
