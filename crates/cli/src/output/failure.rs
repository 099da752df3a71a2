//! What a person sees when something must be decided on the way: a failure, a rule, too large a change.

use aurora_model::Reason;

use super::changes::count;
use super::panel::{Canvas, Paint, Panel};
use super::review::agent;

/// More reasons than that are counted, not shown.
const MAX_REASONS: usize = 12;
/// More paths than that are counted, not shown.
pub const MAX_PATHS: usize = 20;

/// A task that failed.
#[derive(Debug, Clone, Default)]
pub struct Failed {
    /// What all of it is for.
    pub parent: String,
    /// The task.
    pub title: String,
    /// Who was asked to do it.
    pub agent: String,
    /// Whether nobody in the settings has that name.
    pub gap: bool,
    /// What went wrong.
    pub error: String,
    /// The last attempt and how many there may be.
    pub attempt: Option<(u32, u32)>,
    /// The last lines that the agent wrote.
    pub output: Vec<String>,
    /// How many tasks are completed.
    pub completed: usize,
    /// How many there are.
    pub total: usize,
    /// How many are left.
    pub remaining: usize,
    /// How many of those depend on this one.
    pub dependents: usize,
}

/// The Task Failed panel.
#[must_use]
pub fn failed(canvas: Canvas, shown: &Failed) -> String {
    let mut panel = Panel::new(canvas, "Task Failed");
    panel.field("Parent", &shown.parent);
    panel.gap();
    panel.field("Failed", &shown.title);
    who(canvas, &mut panel, &shown.agent, shown.gap);
    let attempt = shown.attempt.map(|(now, of)| format!(" (attempt {now}/{of})"));
    let error = format!("{}{}", shown.error, attempt.unwrap_or_default());
    panel.line(0, 7, vec![canvas.text("Error: "), canvas.piece(Paint::Bad, &error)]);
    for line in before_cause(canvas, shown) {
        let cut = canvas.cut(&line, panel.columns().saturating_sub(2));
        panel.line(2, 2, vec![canvas.piece(Paint::Faint, &cut)]);
    }
    panel.gap();
    panel.field("Completed", &format!("{}/{}", shown.completed, shown.total));
    let remaining = count(shown.remaining, "task");
    panel.field("Remaining", &format!("{remaining} (depend on this task: {})", shown.dependents));
    panel.text()
}

/// The last lines of the output, without what the error says already.
fn before_cause(canvas: Canvas, shown: &Failed) -> Vec<String> {
    let lines = shown.output.iter().map(|line| canvas.output(line));
    lines.filter(|line| !shown.error.contains(line.as_str())).collect()
}

fn who(canvas: Canvas, panel: &mut Panel, name: &str, gap: bool) {
    let mut pieces = vec![canvas.text("Agent: ")];
    pieces.extend(agent(canvas, name, gap));
    panel.line(0, 7, pieces);
}

/// A task that may not begin, or whose changes may not be taken over, without a yes.
#[derive(Debug, Clone, Default)]
pub struct Gated {
    /// What all of it is for.
    pub parent: String,
    /// The task.
    pub title: String,
    /// Who does it.
    pub agent: String,
    /// Whether nobody in the settings has that name.
    pub gap: bool,
    /// Why it is asked.
    pub reasons: Vec<Reason>,
    /// How many files and lines were changed; nothing before it began.
    pub changed: Option<(u64, u64)>,
    /// The first of the paths, each after `+` (new), `~` (changed) or `-` (gone).
    pub paths: Vec<String>,
    /// The folder that holds the changes.
    pub place: Option<String>,
    /// The command that shows the changes.
    pub look: Option<String>,
    /// How many tasks depend on it.
    pub dependents: usize,
}

/// The question about a task that the policy does not simply allow, before or after it ran.
#[must_use]
pub fn gated(canvas: Canvas, shown: &Gated) -> String {
    let title = if shown.changed.is_some() { "Changes Need a Yes" } else { "Task Needs a Yes" };
    let mut panel = Panel::new(canvas, title);
    panel.field("Parent", &shown.parent);
    panel.gap();
    panel.field("Task", &shown.title);
    who(canvas, &mut panel, &shown.agent, shown.gap);
    if let Some((files, lines)) = shown.changed {
        let many = |number: u64, what| count(usize::try_from(number).unwrap_or(usize::MAX), what);
        panel.field("Changed", &format!("{}, {}", many(files, "file"), many(lines, "line")));
        paths(canvas, &mut panel, shown, usize::try_from(files).unwrap_or(usize::MAX));
    }
    if let Some(place) = &shown.place {
        panel.field("Held in", place);
    }
    panel.gap();
    panel.line(0, 0, vec![canvas.text("Reasons:")]);
    for reason in shown.reasons.iter().take(MAX_REASONS) {
        self::reason(canvas, &mut panel, reason);
    }
    if let Some(more) = shown.reasons.len().checked_sub(MAX_REASONS).filter(|more| *more > 0) {
        panel.line(2, 2, vec![canvas.text(&format!("and {more} more"))]);
    }
    if shown.dependents > 0 {
        panel.gap();
        let text = format!("{} on it", count_that(shown.dependents));
        panel.line(0, 0, vec![canvas.text(&text)]);
    }
    let mut out = panel.text();
    if let Some(look) = &shown.look {
        // Outside of the frame, to be copied.
        out.push_str(&format!("\nLook at the changes: {}\n", canvas.safe(look)));
    }
    out
}

/// The changed paths, as many as a person reads.
fn paths(canvas: Canvas, panel: &mut Panel, shown: &Gated, files: usize) {
    for path in shown.paths.iter().take(MAX_PATHS) {
        let paint = match path.chars().next() {
            Some('+') => Paint::Good,
            Some('-') => Paint::Bad,
            _ => Paint::Notable,
        };
        panel.line(2, 4, vec![canvas.piece(paint, path)]);
    }
    let more = files.saturating_sub(shown.paths.len().min(MAX_PATHS));
    if more > 0 && !shown.paths.is_empty() {
        panel.line(2, 2, vec![canvas.text(&format!("and {more} more"))]);
    }
}

fn count_that(dependents: usize) -> String {
    if dependents == 1 { "1 task depends".to_owned() } else { format!("{dependents} tasks depend") }
}

/// A rule's word, where it was written, and what to do instead.
pub(super) fn reason(canvas: Canvas, panel: &mut Panel, reason: &Reason) {
    panel.line(2, 4, vec![canvas.piece(Paint::Notable, &reason.message)]);
    let rule = format!("rule {} ({})", reason.rule, reason.origin);
    panel.line(4, 6, vec![canvas.piece(Paint::Faint, &rule)]);
    if let Some(instead) = &reason.instead {
        panel.line(4, 6, vec![canvas.text(&format!("instead: {instead}"))]);
    }
}

#[cfg(test)]
mod tests;
