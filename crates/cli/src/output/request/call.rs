//! The exact call: its arguments, and texts that belong to it, readable and harmless.

use aurora_model::GateKind;
use serde_json::Value;

use super::{Fields, Item, Length};
use crate::output::changes::count;
use crate::output::escape;
use crate::output::style::Style;

/// More lines of one text than that are counted, not shown.
const LINES: usize = 60;
/// A longer line is cut.
const CHARS: usize = 400;

/// What a line of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A name with its value.
    Plain,
    /// A line of a longer text.
    Quoted,
    /// Something that goes.
    Gone,
    /// Something that comes.
    Come,
    /// A place in a diff.
    Place,
}

/// The tool and its arguments.
pub fn push(fields: &mut Fields, item: &Item, length: Length, style: Style) {
    // What a run asks about itself is told by what would happen.
    if item.request.gate != GateKind::Operation && length != Length::Full {
        return;
    }
    fields.field("call", &item.request.subject.tool);
    for (sort, line) in arguments(&item.request.subject.args, length) {
        match sort {
            Sort::Plain => fields.more(&line),
            _ => fields.raw(&painted(sort, &escape::line(&line), style)),
        }
    }
}

/// A diff or another text that was kept to be looked at.
pub fn push_text(fields: &mut Fields, text: &str, length: Length, style: Style) {
    let is_diff = text.starts_with("diff --git ") || text.starts_with("--- ");
    let sort: fn(&str) -> Sort = if is_diff { of_diff } else { |_| Sort::Quoted };
    for (sort, line) in cut(text, length, sort) {
        fields.raw(&painted(sort, &escape::line(&line), style));
    }
}

/// Words of somebody for whom nobody vouches, marked as such in every line.
pub fn push_quoted(fields: &mut Fields, text: &str, length: Length) {
    for (_, line) in cut(text, length, |_| Sort::Quoted) {
        fields.raw(&escape::line(&line.replacen("| ", "> ", 1)));
    }
}

fn painted(sort: Sort, line: &str, style: Style) -> String {
    match sort {
        Sort::Gone => style.bad(line),
        Sort::Come => style.good(line),
        Sort::Place => style.place(line),
        Sort::Plain | Sort::Quoted => line.to_owned(),
    }
}

/// The arguments, line by line; still to be made harmless.
#[must_use]
pub fn arguments(args: &Value, length: Length) -> Vec<(Sort, String)> {
    match args {
        Value::Object(args) => {
            args.iter().flat_map(|(name, value)| argument(name, value, length)).collect()
        }
        Value::Null => Vec::new(),
        other => cut(&format!("{other:#}"), length, |_| Sort::Quoted),
    }
}

fn argument(name: &str, value: &Value, length: Length) -> Vec<(Sort, String)> {
    let text = match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        Value::String(text) => return whole(format!("{name}: {text}"), length),
        Value::Object(_) | Value::Array(_) => format!("{value:#}"),
        other => return whole(format!("{name}: {other}"), length),
    };
    // What is taken away and what is put there are told apart as in a diff.
    let sort: fn(&str) -> Sort = match name {
        "old_string" | "old_text" | "old" => |_| Sort::Gone,
        "new_string" | "new_text" | "new" | "content" | "text" | "file_text" => |_| Sort::Come,
        "patch" | "diff" => of_diff,
        _ => |_| Sort::Quoted,
    };
    let sort = if value.is_string() { sort } else { |_: &str| Sort::Quoted };
    let mut lines = vec![(Sort::Plain, format!("{name}:"))];
    lines.extend(cut(&text, length, sort));
    lines
}

/// One line, as much of it as is shown.
fn whole(line: String, length: Length) -> Vec<(Sort, String)> {
    vec![(Sort::Plain, shortened(&line, length))]
}

fn of_diff(line: &str) -> Sort {
    match line.chars().next() {
        Some('+') => Sort::Come,
        Some('-') => Sort::Gone,
        Some('@') => Sort::Place,
        _ => Sort::Plain,
    }
}

/// The lines of a text, each with its sign; what is not shown is counted.
fn cut(text: &str, length: Length, sort: fn(&str) -> Sort) -> Vec<(Sort, String)> {
    let most = if length == Length::Full { usize::MAX } else { LINES };
    let is_diff = sort("@") == Sort::Place;
    let line = |line: &str| {
        let sort = sort(line);
        let sign = match sort {
            Sort::Quoted => "| ",
            Sort::Gone if !is_diff => "-",
            Sort::Come if !is_diff => "+",
            _ => "",
        };
        // A line of a diff is no field, whatever it looks like.
        let sort = if sort == Sort::Plain { Sort::Quoted } else { sort };
        (sort, format!("{sign}{}", shortened(line, length)))
    };
    let mut lines: Vec<(Sort, String)> = text.lines().take(most).map(line).collect();
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        lines.push((Sort::Plain, rest(more, "line")));
    }
    lines
}

fn shortened(line: &str, length: Length) -> String {
    if length == Length::Full || line.chars().nth(CHARS).is_none() {
        return line.to_owned();
    }
    let head: String = line.chars().take(CHARS).collect();
    format!("{head}{}", rest(line.chars().count() - CHARS, "character"))
}

/// Says aloud that something is not shown: nobody should say yes to what they think is all.
fn rest(number: usize, what: &str) -> String {
    format!("[{} NOT shown; `show --full` shows all]", count(number, &format!("more {what}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// APR-1: what would be written and what would go is told apart, and nothing is left out unsaid.
    #[test]
    fn arguments_are_shown_line_by_line_and_what_is_cut_is_said() {
        let long = "x\n".repeat(LINES + 2);
        let args = json!({
            "path": "a.rs", "old_string": "one\ntwo", "new_string": "one\n2", "n": 3, "many": ["a"],
        });
        let lines: Vec<String> =
            arguments(&args, Length::Usual).into_iter().map(|(_, line)| line).collect();
        let has = |line: &str| lines.iter().any(|one| one == line);
        assert!(
            ["path: a.rs", "n: 3", "-two", "+2", "old_string:", "|   \"a\""]
                .iter()
                .all(|line| has(line)),
            "{lines:?}"
        );
        let cut = arguments(&json!({ "content": long }), Length::Usual);
        let last = &cut.last().unwrap().1;
        assert_eq!(last, "[2 more lines NOT shown; `show --full` shows all]");
        assert_eq!(arguments(&json!({ "content": long }), Length::Full).len(), LINES + 3);
        let wide = arguments(&json!({ "command": "y".repeat(CHARS + 1) }), Length::Usual);
        assert!(wide[0].1.contains("NOT shown"), "{wide:?}");
    }
}
