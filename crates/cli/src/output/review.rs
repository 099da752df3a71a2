//! What a person sees before anything is done: the parts of a goal, the tasks of a run.

use super::changes::count;
use super::panel::{Canvas, Paint, Panel, Piece, Sign};

/// More tasks than that are counted, not shown.
const MAX_SHOWN: usize = 200;

/// One task or subgoal.
#[derive(Debug, Clone, Default)]
pub struct TaskLine {
    /// Its name.
    pub id: String,
    /// What is to be done.
    pub title: String,
    /// Who does it.
    pub agent: String,
    /// Whether nobody in the settings has that name.
    pub gap: bool,
    /// Whether its box is ticked.
    pub done: bool,
    /// The tasks that come before it.
    pub after: Vec<String>,
    /// The tasks that it is not run beside, since they touch the same files.
    pub apart_from: Vec<String>,
    /// The paths that it is expected to change.
    pub paths: Vec<String>,
    /// How many files it is expected to change.
    pub files: Option<u32>,
    /// How many lines.
    pub lines: Option<u32>,
}

/// A goal and its parts.
#[derive(Debug, Clone, Default)]
pub struct Decomposition {
    /// The goal.
    pub goal: String,
    /// Its parts.
    pub subgoals: Vec<TaskLine>,
    /// What else is worth knowing, a line each.
    pub notes: Vec<String>,
}

/// What a run is about to do.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// What all of it is for.
    pub goal: String,
    /// The tasks.
    pub tasks: Vec<TaskLine>,
    /// How many at once.
    pub max_parallel: u32,
    /// Where the work is done.
    pub place: String,
    /// How many files of the user's checkout are not committed, and so are not part of it.
    pub uncommitted: u64,
    /// What else is worth knowing, a line each.
    pub notes: Vec<String>,
}

/// The Decomposition Summary.
#[must_use]
pub fn decomposition(canvas: Canvas, shown: &Decomposition) -> String {
    let mut panel = Panel::new(canvas, "Decomposition Summary");
    panel.field("Goal", &shown.goal);
    panel.gap();
    panel.field("Subgoals", &shown.subgoals.len().to_string());
    panel.gap();
    let width = number_width(shown.subgoals.len());
    for (index, task) in shown.subgoals.iter().take(MAX_SHOWN).enumerate() {
        entry(canvas, &mut panel, (index + 1, width), task, false);
    }
    unshown(canvas, &mut panel, shown.subgoals.len());
    panel.line(0, 0, vec![canvas.text("Summary:")]);
    let gaps = shown.subgoals.iter().filter(|task| task.gap).count();
    let known = shown.subgoals.len() - gaps;
    let text = format!(" {} assigned to available agents", count(known, "subgoal"));
    good(canvas, &mut panel, &text);
    if gaps > 0 {
        let text = format!(" {} (will spawn ad-hoc or fallback)", count(gaps, "agent gap"));
        warning(canvas, &mut panel, &text);
    }
    notes(canvas, &mut panel, &shown.notes);
    panel.text()
}

/// The Execution Preview.
#[must_use]
pub fn preview(canvas: Canvas, shown: &Preview) -> String {
    let mut panel = Panel::new(canvas, "Execution Preview");
    panel.field("Goal", &shown.goal);
    let at_once = format!("{} ({} at once)", shown.tasks.len(), shown.max_parallel);
    panel.field("Tasks", &at_once);
    if !shown.place.is_empty() {
        panel.field("Work in", &shown.place);
    }
    panel.gap();
    let width = number_width(shown.tasks.len());
    for (index, task) in shown.tasks.iter().take(MAX_SHOWN).enumerate() {
        entry(canvas, &mut panel, (index + 1, width), task, true);
    }
    unshown(canvas, &mut panel, shown.tasks.len());
    panel.line(0, 0, vec![canvas.text("Summary:")]);
    let open = || shown.tasks.iter().filter(|task| !task.done);
    let gaps = open().filter(|task| task.gap).count();
    let known = open().count() - gaps;
    good(canvas, &mut panel, &format!(" {} with available agents", count(known, "task")));
    if gaps > 0 {
        let text = format!(" {} (will spawn ad-hoc or fallback)", count(gaps, "gap"));
        warning(canvas, &mut panel, &text);
    }
    let done = shown.tasks.len() - open().count();
    if done > 0 {
        let text = format!(" {} ticked already, not run again", count(done, "task"));
        good(canvas, &mut panel, &text);
    }
    if shown.uncommitted > 0 {
        let files = usize::try_from(shown.uncommitted).unwrap_or(usize::MAX);
        let are = if files == 1 { "is" } else { "are" };
        let text = format!(" {} uncommitted {are} not part of it", count(files, "file"));
        warning(canvas, &mut panel, &text);
    }
    notes(canvas, &mut panel, &shown.notes);
    panel.text()
}

fn number_width(tasks: usize) -> usize {
    tasks.to_string().len().max(2)
}

fn good(canvas: Canvas, panel: &mut Panel, text: &str) {
    panel.line(2, 4, vec![canvas.mark(Paint::Good, Sign::Good), canvas.text(text)]);
}

fn warning(canvas: Canvas, panel: &mut Panel, text: &str) {
    panel.line(2, 4, vec![canvas.mark(Paint::Notable, Sign::Warning), canvas.text(text)]);
}

fn notes(canvas: Canvas, panel: &mut Panel, notes: &[String]) {
    for note in notes {
        warning(canvas, panel, &format!(" {note}"));
    }
}

fn unshown(canvas: Canvas, panel: &mut Panel, tasks: usize) {
    if tasks > MAX_SHOWN {
        let text = format!(" and {} more", tasks - MAX_SHOWN);
        panel.line(1, 2, vec![canvas.mark(Paint::Faint, Sign::More), canvas.text(&text)]);
        panel.gap();
    }
}

/// Who does a task, as a piece for each part.
pub(super) fn agent(canvas: Canvas, name: &str, gap: bool) -> Vec<Piece> {
    if !gap {
        return vec![canvas.text(&format!("@{name}"))];
    }
    vec![
        canvas.text(&format!("{name} ")),
        canvas.mark(Paint::Notable, Sign::Warning),
        canvas.piece(Paint::Notable, " GAP"),
    ]
}

/// One task with what belongs to it.
fn entry(
    canvas: Canvas,
    panel: &mut Panel,
    (number, width): (usize, usize),
    task: &TaskLine,
    boxed: bool,
) {
    let indent = width + 2;
    let tick = match (boxed, task.done) {
        (false, _) => "",
        (true, false) => "[ ] ",
        (true, true) => "[x] ",
    };
    let lead = format!("{number:>width$}. {tick}");
    let hang = lead.len();
    let title = if task.done { Paint::Faint } else { Paint::Bold };
    // The lead keeps its spaces because it is set in, not broken.
    let spaces = lead.len() - lead.trim_start().len();
    let mut pieces = vec![canvas.text(lead.trim_start()), canvas.piece(title, &task.title)];
    if !task.id.is_empty() {
        // Others name it by its id, so it must be seen.
        pieces.push(canvas.piece(Paint::Faint, &format!(" ({})", task.id)));
    }
    panel.line(spaces, hang, pieces);
    if task.done {
        panel.gap();
        return;
    }
    let mut who = vec![canvas.text("Agent: ")];
    who.extend(agent(canvas, &task.agent, task.gap));
    panel.line(indent, indent + 2, who);
    let mut fact = |label: &str, text: String| {
        if !text.is_empty() {
            let pieces = vec![canvas.text(label), canvas.text(&text)];
            panel.line(indent, indent + 2, pieces);
        }
    };
    fact("after: ", task.after.join(", "));
    fact("not beside: ", task.apart_from.join(", "));
    fact("scope: ", scope(task));
    panel.gap();
}

/// The expected scope in words.
fn scope(task: &TaskLine) -> String {
    let mut parts = Vec::new();
    let paths: Vec<&str> = task.paths.iter().take(8).map(String::as_str).collect();
    if !paths.is_empty() {
        let more = task.paths.len() - paths.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("{}{more}", paths.join(", ")));
    }
    let many = |number: u32, what: &str| count(usize::try_from(number).unwrap_or(0), what);
    parts.extend(task.files.map(|files| format!("about {}", many(files, "file"))));
    parts.extend(task.lines.map(|lines| format!("about {}", many(lines, "line"))));
    parts.join("; ")
}

#[cfg(test)]
mod tests;
