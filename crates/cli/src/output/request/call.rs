//! The exact call: its arguments, and texts that belong to it, readable and harmless.

use aurora_model::GateKind;
use serde_json::Value;

use super::Item;
use super::{Fields, Length};
use crate::output::escape;
use crate::output::style::Style;

/// More lines of one text than that are counted, not shown.
const LINES: usize = 60;
/// A longer line is cut.
const CHARS: usize = 400;

/// The tool and its arguments.
pub fn push(fields: &mut Fields, item: &Item, length: Length, style: Style) {
    let subject = &item.request.subject;
    let empty =
        subject.args.is_null() || subject.args.as_object().is_some_and(serde_json::Map::is_empty);
    // What a run asks about itself is told by what would happen.
    if item.request.gate != GateKind::Operation && empty {
        return;
    }
    fields.field("call", &subject.tool);
    match &subject.args {
        Value::Object(args) => {
            for (name, value) in args {
                argument(fields, name, value, length, style);
            }
        }
        Value::Null => {}
        other => push_lines(fields, &pretty(other), length, |line| escape::line(line)),
    }
}

fn argument(fields: &mut Fields, name: &str, value: &Value, length: Length, style: Style) {
    let name = escape::line(name);
    match value {
        Value::String(text) if text.contains('\n') => {
            fields.raw(&format!("{name}:"));
            // What is taken away and what is put there are told apart as in a diff.
            let paint: &dyn Fn(&str) -> String = match name.as_str() {
                "old_string" | "old_text" | "old" => &|line| style.bad(&format!("-{line}")),
                "new_string" | "new_text" | "new" | "content" | "text" | "file_text" => {
                    &|line| style.good(&format!("+{line}"))
                }
                "patch" | "diff" => &|line| painted(line, style),
                _ => &|line| format!("| {line}"),
            };
            push_lines(fields, text, length, |line| paint(&escape::line(line)));
        }
        Value::String(text) => fields.more(&format!("{name}: {text}")),
        Value::Object(_) | Value::Array(_) => {
            fields.raw(&format!("{name}:"));
            push_lines(fields, &pretty(value), length, |line| format!("  {}", escape::line(line)));
        }
        other => fields.more(&format!("{name}: {other}")),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// A diff or another text that was kept to be looked at.
pub fn push_text(fields: &mut Fields, text: &str, length: Length, style: Style) {
    let is_diff = text.starts_with("diff --git ") || text.starts_with("--- ");
    push_lines(fields, text, length, |line| {
        let line = escape::line(line);
        if is_diff { painted(&line, style) } else { format!("| {line}") }
    });
}

/// Words of somebody for whom nobody vouches, marked as such in every line.
pub fn push_quoted(fields: &mut Fields, text: &str, length: Length) {
    push_lines(fields, text, length, |line| format!("> {}", escape::line(line)));
}

fn painted(line: &str, style: Style) -> String {
    match line.chars().next() {
        Some('+') => style.good(line),
        Some('-') => style.bad(line),
        Some('@') => style.place(line),
        _ => line.to_owned(),
    }
}

fn push_lines(fields: &mut Fields, text: &str, length: Length, shown: impl Fn(&str) -> String) {
    let most = if length == Length::Full { usize::MAX } else { LINES };
    for line in text.lines().take(most) {
        let whole = length == Length::Full || line.chars().nth(CHARS).is_none();
        let cut: String = if whole { line.to_owned() } else { line.chars().take(CHARS).collect() };
        let mark =
            if whole { String::new() } else { rest(line.chars().count() - CHARS, "character") };
        fields.raw(&format!("{}{mark}", shown(&cut)));
    }
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        fields.raw(&rest(more, "line"));
    }
}

/// Says aloud that something is not shown: nobody should say yes to what they think is all.
fn rest(count: usize, what: &str) -> String {
    format!(
        "[{} NOT shown; --full shows all]",
        crate::output::changes::count(count, &format!("more {what}"))
    )
}
