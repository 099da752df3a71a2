//! The lines that rules carry to show what they mean, checked by the analysis itself.

use aurora_model::{Action, Answer, Context, ToolCall};
use serde::Serialize;

use super::operations::OPERATIONS;
use super::setting::Origin;
use super::words::Match;
use super::{Analyse, Item, Policy, Rule};
use crate::judge::{Subject, judge_effects};
use crate::settings::SettingsError;

/// What became of one example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExampleOutcome {
    /// The rule's id.
    pub rule: String,
    /// The line.
    pub example: String,
    /// Whether the rule says that it matches.
    pub should_match: bool,
    /// Whether it is so.
    pub ok: bool,
    /// What the gate says instead, or what it said.
    pub got: String,
}

/// Checks every example: those of the built-in rules under the built-in policy, and those of the
/// user's own rules.
#[must_use]
pub fn check_examples(policy: &Policy) -> Vec<ExampleOutcome> {
    check_examples_with(policy, &crate::analysis::analyse)
}

pub(super) fn check_examples_with(policy: &Policy, analyse: Analyse<'_>) -> Vec<ExampleOutcome> {
    let builtin = Policy::builtin();
    let mut outcomes = Vec::new();
    for row in &OPERATIONS {
        let both = [(row.matches, true), (row.not_matches, false)];
        for (line, should_match) in
            both.iter().flat_map(|(lines, should)| lines.iter().map(move |line| (*line, *should)))
        {
            let action = action_of(line, row.rule == "destructive.unknown_tool");
            let context = place();
            let analysis = analyse(&action, &context);
            let verdict = judge_effects(&analysis, &Subject::of(&action), &builtin, &context);
            let matched = verdict.reasons.iter().any(|reason| reason.rule == row.rule);
            let got = match verdict.rule {
                Some(rule) => format!("{} by {rule}", verdict.decision.name()),
                None => verdict.decision.name().to_owned(),
            };
            outcomes.push(ExampleOutcome {
                rule: row.rule.to_owned(),
                example: line.to_owned(),
                should_match,
                ok: matched == should_match,
                got,
            });
        }
    }
    for rule in &policy.rules {
        outcomes.extend(of_rule(rule, analyse).into_iter().map(|(outcome, _)| outcome));
    }
    outcomes
}

/// The examples of the user's rules that do not hold, as errors of the files they stand in.
pub(super) fn failures(policy: &Policy, analyse: Analyse<'_>) -> Vec<SettingsError> {
    let mut errors = Vec::new();
    for rule in &policy.rules {
        for (outcome, origin) in of_rule(rule, analyse) {
            let (false, Origin::At(file, at)) = (outcome.ok, origin) else { continue };
            let list = if outcome.should_match { "match" } else { "not_match" };
            let message = format!("the example `{}` {}", outcome.example, outcome.got);
            errors.push(SettingsError {
                file: file.to_string(),
                line: at.line,
                column: at.column,
                key: format!("rules.{}.{list}", rule.id),
                message,
                hint: Some("change the rule's `when`, or move the example".to_owned()),
            });
        }
    }
    errors
}

fn of_rule(rule: &Rule, analyse: Analyse<'_>) -> Vec<(ExampleOutcome, Origin)> {
    let both = [(&rule.matches, true), (&rule.not_matches, false)];
    let mut outcomes = Vec::new();
    for (items, should_match) in both {
        for Item { text, origin } in items {
            // A line stands for the command that the named tool would be given.
            let is_tool = rule.when.names_tool() && !rule.when.names_command();
            let action = action_of(text, is_tool);
            let analysis = analyse(&action, &place());
            let found = if is_tool {
                rule.when.find(&analysis, Subject::of(&action).tool)
            } else {
                rule.when.find_whatever_tool(&analysis)
            };
            let (matched, got) = match found {
                Err(_) => (!should_match, "cannot be evaluated"),
                Ok(found) => match found.iter().map(|one| one.sure).max() {
                    None | Some(Match::No) => (false, "is not matched"),
                    // An allow needs certainty; a rule that stops speaks on a mere possibility.
                    Some(Match::Maybe) => {
                        (rule.answer > Answer::Allow, "is matched only if an unknown word is so")
                    }
                    Some(Match::Yes) => (true, "is matched"),
                },
            };
            let outcome = ExampleOutcome {
                rule: format!("rules.{}", rule.id),
                example: text.clone(),
                should_match,
                ok: matched == should_match,
                got: got.to_owned(),
            };
            outcomes.push((outcome, origin.clone()));
        }
    }
    outcomes
}

/// A line as an action: a shell command, or `NAME {json}` for rules about tools.
fn action_of(line: &str, is_tool: bool) -> Action {
    if !is_tool {
        return Action::Shell { command: line.to_owned() };
    }
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, "{}"));
    let args = serde_json::from_str(args).unwrap_or_else(|_| serde_json::json!({}));
    Action::Tool(ToolCall { name: name.to_owned(), args })
}

/// A place that every example can be judged in.
fn place() -> Context {
    Context {
        cwd: Some("/home/dev/shop".to_owned()),
        root: Some("/home/dev/shop".to_owned()),
        home: Some("/home/dev".to_owned()),
        branch: Some("topic".to_owned()),
        ..Context::default()
    }
}
