//! How a run is going: a panel that is redrawn in place, or one line for each thing that happens.

use std::fmt::Write as _;

use super::panel::{Canvas, Paint, Panel, Sign};
use super::review::agent;

const BAR_COLUMNS: usize = 20;

/// A run on its way.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What all of it is for.
    pub parent: String,
    /// How many tasks are completed.
    pub completed: usize,
    /// How many there are.
    pub total: usize,
    /// How many failed, and wait for a decision.
    pub failed: usize,
    /// How many were left out.
    pub skipped: usize,
    /// How many wait for a person's yes.
    pub parked: usize,
    /// What is running.
    pub running: Vec<Running>,
    /// What it cost so far, in words; empty where nothing is known.
    pub cost: String,
    /// What is going on besides: stopping, waiting for a decision.
    pub note: String,
}

/// A task that is running.
#[derive(Debug, Clone, Default)]
pub struct Running {
    /// The task.
    pub title: String,
    /// Who does it.
    pub agent: String,
    /// Whether nobody in the settings has that name.
    pub gap: bool,
    /// Whether the model does it in place of an agent.
    pub fallback: bool,
    /// Which attempt, and how many there may be.
    pub attempt: (u32, u32),
    /// Since when.
    pub seconds: u64,
    /// The last line that it wrote.
    pub last: String,
}

/// The Executing panel, in at most so many lines where that is possible.
#[must_use]
pub fn panel(canvas: Canvas, shown: &Progress, max_lines: usize) -> Vec<String> {
    let forms: [fn(Canvas, &mut Panel, &Running); 3] = [long, short, one_line];
    // One task is shown as fully as possible, more of them only as long as they fit.
    let skip = usize::from(shown.running.len() > 1);
    let mut lines = Vec::new();
    for form in forms.into_iter().skip(skip) {
        lines = drawn(canvas, shown, form);
        if lines.len() <= max_lines {
            break;
        }
    }
    lines
}

fn drawn(canvas: Canvas, shown: &Progress, form: fn(Canvas, &mut Panel, &Running)) -> Vec<String> {
    let mut panel = Panel::new(canvas, "Executing");
    panel.field("Parent", &shown.parent);
    panel.gap();
    panel.field("Progress", &bar(canvas, shown.completed, shown.total));
    let mut others = Vec::new();
    for (number, word, paint) in [
        (shown.failed, "failed", Paint::Bad),
        (shown.skipped, "skipped", Paint::Notable),
        (shown.parked, "waiting for you", Paint::Notable),
    ] {
        if number > 0 {
            let between = if others.is_empty() { "" } else { ", " };
            others.push(canvas.text(between));
            others.push(canvas.piece(paint, &format!("{number} {word}")));
        }
    }
    if !others.is_empty() {
        panel.line(10, 10, others);
    }
    if !shown.cost.is_empty() {
        panel.field("Cost", &shown.cost);
    }
    for running in &shown.running {
        form(canvas, &mut panel, running);
    }
    if !shown.note.is_empty() {
        panel.gap();
        panel.line(0, 0, vec![canvas.piece(Paint::Notable, &shown.note)]);
    }
    panel.lines()
}

/// `[████████░░░░░░░░░░░░] 2/6`.
fn bar(canvas: Canvas, done: usize, total: usize) -> String {
    let full = (done * BAR_COLUMNS).checked_div(total).unwrap_or(0).min(BAR_COLUMNS);
    let mut out = String::from("[");
    out.push_str(&canvas.sign(Sign::Full).repeat(full));
    out.push_str(&canvas.sign(Sign::Empty).repeat(BAR_COLUMNS - full));
    // Writing to a string cannot fail.
    let _ = write!(out, "] {done}/{total}");
    out
}

fn status(running: &Running) -> String {
    let way = if running.fallback { ", fallback: model" } else { "" };
    let attempt = match running.attempt {
        (now, of) if now > 1 && !running.fallback => format!(", attempt {now}/{of}"),
        _ => String::new(),
    };
    format!("Running ({}{attempt}{way})", seconds(running.seconds))
}

/// A span of time in the words of the panels.
#[must_use]
pub fn seconds(seconds: u64) -> String {
    match seconds {
        0..600 => format!("{seconds}s"),
        600..36_000 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn last(canvas: Canvas, panel: &mut Panel, running: &Running, indent: usize) {
    let text = canvas.output(&running.last);
    if !text.is_empty() {
        let text = canvas.cut(&text, panel.columns().saturating_sub(indent));
        panel.line(indent, indent, vec![canvas.piece(Paint::Faint, &text)]);
    }
}

/// The form for one task.
fn long(canvas: Canvas, panel: &mut Panel, running: &Running) {
    panel.gap();
    panel.field("Current", &running.title);
    let mut who = vec![canvas.text("Agent: ")];
    who.extend(agent(canvas, &running.agent, running.gap));
    panel.line(0, 7, who);
    panel.field("Status", &status(running));
    last(canvas, panel, running, 2);
}

/// The form for several.
fn short(canvas: Canvas, panel: &mut Panel, running: &Running) {
    panel.gap();
    let title = canvas.cut(&running.title, panel.columns().saturating_sub(2));
    let mark = canvas.mark(Paint::Good, Sign::Running);
    panel.line(0, 2, vec![mark, canvas.text(" "), canvas.piece(Paint::Bold, &title)]);
    let mut who = agent(canvas, &running.agent, running.gap);
    who.extend([canvas.text(" "), canvas.mark(Paint::Faint, Sign::Dot), canvas.text(" ")]);
    who.push(canvas.text(&status(running)));
    panel.line(2, 4, who);
    last(canvas, panel, running, 2);
}

/// The form for more than fit.
fn one_line(canvas: Canvas, panel: &mut Panel, running: &Running) {
    let text = format!("{} @{} {}", seconds(running.seconds), running.agent, running.title);
    let text = canvas.cut(&text, panel.columns().saturating_sub(2));
    let mark = canvas.mark(Paint::Good, Sign::Running);
    panel.line(0, 2, vec![mark, canvas.text(" "), canvas.text(&text)]);
}

/// One thing that happened, for whoever has no panel.
#[derive(Debug, Clone)]
pub struct Step {
    /// What.
    pub what: Happened,
    /// The task's name.
    pub id: String,
    /// The task.
    pub title: String,
    /// How many tasks are completed, of how many.
    pub of: (usize, usize),
    /// What there is to say about it: agent, seconds, checkpoint, error.
    pub facts: Vec<String>,
}

/// What can happen to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// An attempt began.
    Started,
    /// It is done.
    Completed,
    /// An attempt failed, and another follows.
    Retried,
    /// All ways failed.
    Failed,
    /// It was left out.
    Skipped,
    /// The policy forbids it.
    Denied,
    /// A person must decide.
    Parked,
    /// A call has its result.
    Settled,
}

/// The line that tells a step; on a terminal that is narrower, more than one.
#[must_use]
pub fn line(canvas: Canvas, step: &Step) -> String {
    let (paint, word) = match step.what {
        Happened::Started => (Paint::Plain, "started"),
        Happened::Completed => (Paint::Good, "completed"),
        Happened::Retried => (Paint::Notable, "failed, trying again"),
        Happened::Failed => (Paint::Bad, "failed"),
        Happened::Skipped => (Paint::Notable, "skipped"),
        Happened::Denied => (Paint::Bad, "denied"),
        Happened::Parked => (Paint::Notable, "waiting for you"),
        Happened::Settled => (Paint::Faint, "call settled"),
    };
    let (done, total) = step.of;
    let facts = step.facts.join(", ");
    let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
    let count = format!("[{done}/{total}] ");
    let pieces = [
        canvas.text(&format!("{count}{} ", step.id)),
        canvas.piece(paint, word),
        canvas.text(&format!(": {}", step.title)),
        canvas.text(&facts),
    ];
    canvas.broken(count.len(), &pieces)
}

#[cfg(test)]
mod tests;
