//! One verdict for people, for programs and for a line of a batch.

use aurora_gate::judge::describe;
use aurora_model::{Answer, Reason, Verdict};
use serde_json::{Value, json};

use super::escape;
use super::snippet;
use super::style::Style;
use super::wrap::hang;

const MAX_REASONS: usize = 8;
const MAX_EFFECTS: usize = 5;

/// What a person is shown of an action.
#[derive(Debug)]
pub struct Shown {
    /// The text that spans point into; empty where there is none.
    pub text: String,
    /// The action in one line, for where there is no text.
    pub call: String,
    /// What is said when nothing in it asks or denies.
    pub harmless: &'static str,
}

/// The verdict as a person reads it.
#[must_use]
pub fn human(verdict: &Verdict, shown: &Shown, style: Style) -> String {
    let text = shown.text.as_str();
    let mut out = String::new();
    if verdict.reasons.is_empty() {
        without_reasons(&mut out, verdict, shown, style);
    }
    for (index, reason) in verdict.reasons.iter().take(MAX_REASONS).enumerate() {
        if index > 0 {
            out.push_str("\nalso ");
        }
        if text.is_empty() && index == 0 {
            push_reason(&mut out, reason, &call_line(shown, style), style);
        } else if text.is_empty() {
            push_reason(&mut out, reason, "", style);
        } else {
            push_reason(&mut out, reason, &snippet_of(reason, text, style), style);
        }
    }
    let unseen = verdict.reasons.len().saturating_sub(MAX_REASONS);
    if unseen > 0 {
        out.push_str(&format!("\n… and {unseen} more (all of them with --json)\n"));
    }
    out
}

fn without_reasons(out: &mut String, verdict: &Verdict, shown: &Shown, style: Style) {
    let headline = match verdict.decision {
        Answer::Allow => shown.harmless,
        Answer::Ask | Answer::Deny => verdict.operation.name(),
    };
    out.push_str(&format!("{}  {headline}\n", style.answer(verdict.decision)));
    let text = shown.text.trim_end();
    let first = text.lines().next().unwrap_or_default();
    let more = text.lines().count().saturating_sub(1);
    if !text.is_empty() {
        let first = clipped(&escape::line(first), style.width.saturating_sub(2));
        out.push_str(&format!("\n  {first}\n"));
    } else if !shown.call.is_empty() {
        out.push_str(&format!("\n{}", call_line(shown, style)));
    }
    if more > 0 {
        let lines = if more == 1 { "line" } else { "lines" };
        out.push_str(&format!("  {}\n", style.faint(&format!("… {more} more {lines}"))));
    }
    for effect in verdict.effects.iter().take(MAX_EFFECTS) {
        let effect = format!("effect: {}", escape::line(&describe(effect)));
        out.push_str(&hang("  ", &effect, style.width));
    }
    let unseen = verdict.effects.len().saturating_sub(MAX_EFFECTS);
    if unseen > 0 {
        out.push_str(&format!("  … and {unseen} more effects\n"));
    }
}

/// The action where no text can be underlined.
fn call_line(shown: &Shown, style: Style) -> String {
    if shown.call.is_empty() {
        return String::new();
    }
    let call = clipped(&escape::line(&shown.call), style.width.saturating_sub(2));
    format!("  {call}\n")
}

/// One reason below what was judged.
fn push_reason(out: &mut String, reason: &Reason, judged: &str, style: Style) {
    let operation = reason.operation.name();
    out.push_str(&format!("{}  {operation}\n\n{judged}", style.answer(reason.answer)));
    let rule = format!(
        "rule: {} = {} ({})",
        escape::line(&reason.rule),
        reason.answer.name(),
        escape::line(&reason.origin)
    );
    out.push_str(&hang("  ", &escape::line(&reason.message), style.width));
    out.push_str(&hang("  ", &rule, style.width));
    if let Some(instead) = &reason.instead {
        let instead = format!("instead: {}", escape::line(instead));
        out.push_str(&hang("  ", &instead, style.width));
    }
}

fn snippet_of(reason: &Reason, text: &str, style: Style) -> String {
    let mut out = String::new();
    let (rows, unseen) = snippet::rows(text, reason.span, style.width.saturating_sub(2));
    for row in rows {
        let before = " ".repeat(row.gutter.len() + row.indent);
        let carets = style.carets(reason.answer, &"^".repeat(row.carets));
        out.push_str(&format!("  {}{}\n", style.faint(&row.gutter), row.text.trim_end()));
        out.push_str(&format!("  {before}{carets}\n"));
    }
    if unseen > 0 {
        out.push_str(&format!("  … and {unseen} more lines\n"));
    }
    out
}

/// The start of a text that is too long for a line.
#[must_use]
pub fn clipped(text: &str, width: usize) -> String {
    let total: usize = text.chars().map(escape::width).sum();
    if total <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += escape::width(*c);
        used <= width
    });
    kept.chain(['…']).collect()
}

/// The verdict as a program reads it: everything, and the text that its spans point into.
#[must_use]
pub fn json(verdict: &Verdict, text: &str) -> Value {
    json!({
        "decision": verdict.decision,
        "operation": verdict.operation,
        "rule": rule(verdict),
        "reasons": verdict.reasons,
        "effects": verdict.effects,
        "wanted": verdict.wanted,
        "text": text,
    })
}

/// The verdict as one line of a batch.
#[must_use]
pub fn batch_line(id: &Value, verdict: &Verdict) -> Value {
    let reasons: Vec<&str> = verdict.reasons.iter().map(|reason| reason.message.as_str()).collect();
    json!({
        "id": id,
        "decision": verdict.decision,
        "operation": verdict.operation,
        "rule": rule(verdict),
        "reasons": reasons,
        "effects": verdict.effects,
    })
}

/// The answer to a line of a batch that could not be judged: a denial that says why.
#[must_use]
pub fn batch_error(id: &Value, error: &str) -> Value {
    json!({
        "id": id,
        "error": error,
        "decision": "deny",
        "operation": "none",
        "rule": "",
        "reasons": [error],
        "effects": [],
    })
}

/// The rule's id; empty when no rule spoke, so that the field is always a string.
fn rule(verdict: &Verdict) -> &str {
    verdict.rule.as_deref().unwrap_or_default()
}

/// The verdict in a few lines that an agent can act on.
#[must_use]
pub fn for_agent(verdict: &Verdict) -> String {
    let mut out = String::from("Aurora: ");
    out.push_str(match verdict.decision {
        Answer::Allow => "allowed by the policy.",
        Answer::Ask => "a person must decide.",
        Answer::Deny => "denied by the policy.",
    });
    for reason in verdict.reasons.iter().take(MAX_REASONS) {
        out.push_str(&format!(
            "\n- {} (rule {} = {}, {})",
            escape::line(&reason.message),
            escape::line(&reason.rule),
            reason.answer.name(),
            escape::line(&reason.origin)
        ));
        if let Some(instead) = &reason.instead {
            out.push_str(&format!("\n  Instead: {}", escape::line(instead)));
        }
    }
    if verdict.reasons.is_empty() && verdict.decision != Answer::Allow {
        out.push_str(&format!("\n- operation {}", verdict.operation.name()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_clipped_to_the_width() {
        assert_eq!(clipped("git status", 10), "git status");
        assert_eq!(clipped("git status -s", 10), "git statu…");
        assert_eq!(clipped("漢字漢字", 5), "漢字…");
        assert_eq!(clipped("", 5), "");
    }
}
