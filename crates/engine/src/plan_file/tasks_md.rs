//! Writes a plan as a tasks file that reads back as the same tasks.

use std::fmt::Write as _;

use aurora_model::task::Scope;

use super::{Plan, Subgoal};
use crate::task_file::metadata::quoted;

/// One line without line ends, and without what would begin a comment.
pub(super) fn clean_line(text: &str) -> String {
    let visible = text.replace('\u{feff}', " ");
    let words: Vec<&str> = visible.split_whitespace().collect();
    without_comments(&words.join(" "))
}

fn without_comments(text: &str) -> String {
    text.replace("<!--", "<! --")
}

/// Lines without boxes, comments and blank edges; spaces instead of tabs.
pub(super) fn clean_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let lines: Vec<String> = text.split('\n').map(|line| clean_box(line.trim_end())).collect();
    let is_blank = |line: &&String| line.is_empty();
    let lead = lines.iter().take_while(is_blank).count();
    let tail = lines.iter().rev().take_while(is_blank).count();
    let kept = lines.len().saturating_sub(lead + tail);
    lines.into_iter().skip(lead).take(kept).collect::<Vec<_>>().join("\n")
}

/// A line whose box, if it has one, can no longer be taken for one.
fn clean_box(line: &str) -> String {
    let line = without_comments(line);
    let head = line.trim_start_matches([' ', '-', '*', '+', '.', ')']);
    let head = head.trim_start_matches(|c: char| c.is_ascii_digit() || " -*+.)".contains(c));
    let lead = line.len() - head.len();
    let boxed = ["[ ]", "[x]", "[X]", "[]"].into_iter().find(|sign| head.starts_with(sign));
    match boxed {
        Some(sign) if lead > 0 => {
            let rest = head.get(sign.len()..).unwrap_or_default();
            format!(
                "{}({}){rest}",
                line.get(..lead).unwrap_or_default(),
                sign.trim_matches(['[', ']'])
            )
        }
        _ => line,
    }
}

/// A scope whose paths can stand in a comment.
pub(super) fn clean_scope(scope: &Scope) -> Scope {
    let clean =
        |path: &String| path.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let paths = scope.paths.iter().map(clean).filter(|path: &String| !path.is_empty()).collect();
    Scope { paths, files: scope.files, lines: scope.lines }
}

/// The whole file.
pub(super) fn write(plan: &Plan) -> String {
    let mut out = format!("---\nplan: {}\n---\n\n# {}\n", plan.plan_id, heading(&plan.goal));
    for subgoal in &plan.subgoals {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n- [ ] {}\n  <!-- {} -->\n", subgoal.title, metadata(subgoal));
        if !subgoal.description.is_empty() {
            out.push('\n');
            for line in subgoal.description.split('\n') {
                let indent = if line.is_empty() { "" } else { "  " };
                let _ = writeln!(out, "{indent}{line}");
            }
        }
    }
    out
}

/// A goal as the text of a heading: marks at its end would be taken for the heading's own.
fn heading(goal: &str) -> &str {
    goal.trim_end_matches(['#', ' '])
}

fn metadata(subgoal: &Subgoal) -> String {
    let mut parts = vec![format!("id: {}", subgoal.id)];
    if let Some(agent) = &subgoal.agent {
        parts.push(format!("agent: {agent}"));
    }
    let list = |values: Vec<String>| values.join(", ");
    if !subgoal.depends_on.is_empty() {
        let ids = subgoal.depends_on.iter().map(ToString::to_string).collect();
        parts.push(format!("depends-on: {}", list(ids)));
    }
    let scope = &subgoal.expected_scope;
    let paths = scope.paths.iter().map(|path| quoted(path));
    let files: Vec<String> = paths.chain(scope.files.map(|files| files.to_string())).collect();
    if !files.is_empty() {
        parts.push(format!("files: {}", list(files)));
    }
    parts.extend(scope.lines.map(|lines| format!("lines: {lines}")));
    parts.join("; ")
}
