//! What a person sees at the end of a run: what became of each task, where the work is, what to do next.

use super::changes::count;
use super::panel::{Canvas, Paint, Panel, Sign};
use super::progress_panel::seconds;
use super::review::agent;

/// A run at its end, or where it was stopped.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What all of it was for.
    pub goal: String,
    /// The run's name.
    pub run: String,
    /// How it ended, in a few words: `all tasks completed`, `interrupted by SIGINT`.
    pub outcome: String,
    /// Whether that is what was wanted.
    pub went_well: bool,
    /// The tasks.
    pub tasks: Vec<Ended>,
    /// What all of it cost, in words; empty where nothing is known.
    pub cost: String,
    /// How long it took.
    pub seconds: u64,
    /// The worktree that holds the work.
    pub place: String,
    /// The branch that is checked out there.
    pub branch: String,
    /// Commands, each with what it is good for: how to look at it, take it over, resume.
    pub next: Vec<(String, String)>,
    /// What else is worth knowing, a line each.
    pub notes: Vec<String>,
}

/// What became of a task.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// The task.
    pub title: String,
    /// What became of it.
    pub status: Status,
    /// Who did it, or was asked to.
    pub agent: String,
    /// Whether nobody in the settings has that name.
    pub gap: bool,
    /// Whether the model did it in place of an agent.
    pub fallback: bool,
    /// How long its last attempt took; nothing where it never began.
    pub seconds: Option<u64>,
    /// The checkpoint that was made.
    pub checkpoint: Option<String>,
    /// What it cost, in words; empty where nothing is known.
    pub cost: String,
    /// Why it is not completed.
    pub why: String,
}

/// What can become of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// Done in this run.
    Completed,
    /// Ticked before it began.
    Before,
    /// Left out.
    Skipped,
    /// Forbidden by the policy.
    Denied,
    /// All ways failed.
    Failed,
    /// Begun and not ended.
    Interrupted,
    /// A person must say first whether it may begin, or whether its changes are taken over.
    Asked,
    /// Not begun.
    #[default]
    Pending,
}

impl Status {
    const ALL: [Self; 8] = [
        Self::Completed,
        Self::Before,
        Self::Skipped,
        Self::Denied,
        Self::Failed,
        Self::Interrupted,
        Self::Asked,
        Self::Pending,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Before => "done before",
            Self::Skipped => "skipped",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Asked => "waiting for an answer",
            Self::Pending => "not begun",
        }
    }

    fn look(self) -> (Paint, Sign) {
        match self {
            Self::Completed | Self::Before => (Paint::Good, Sign::Good),
            Self::Skipped | Self::Interrupted | Self::Asked => (Paint::Notable, Sign::Warning),
            Self::Denied | Self::Failed => (Paint::Bad, Sign::Bad),
            Self::Pending => (Paint::Faint, Sign::Dot),
        }
    }
}

/// The final summary.
#[must_use]
pub fn summary(canvas: Canvas, shown: &Summary) -> String {
    let mut panel = Panel::new(canvas, "Summary");
    panel.field("Goal", &shown.goal);
    let paint = if shown.went_well { Paint::Good } else { Paint::Notable };
    let run = format!("Run {}: ", shown.run);
    panel.line(0, 2, vec![canvas.text(&run), canvas.piece(paint, &shown.outcome)]);
    panel.gap();
    for task in &shown.tasks {
        ended(canvas, &mut panel, task);
    }
    panel.gap();
    panel.line(0, 2, vec![canvas.text(&totals(shown))]);
    for note in &shown.notes {
        let mark = canvas.mark(Paint::Notable, Sign::Warning);
        panel.line(0, 2, vec![mark, canvas.text(&format!(" {note}"))]);
    }
    let mut out = panel.text();
    out.push_str(&where_next(canvas, shown));
    out
}

fn ended(canvas: Canvas, panel: &mut Panel, task: &Ended) {
    let (paint, sign) = task.status.look();
    let title = canvas.text(&format!(" {}", task.title));
    panel.line(1, 3, vec![canvas.mark(paint, sign), title]);
    let between = canvas.text(&format!(" {} ", canvas.sign(Sign::Dot)));
    let mut pieces = vec![canvas.piece(paint, task.status.word())];
    if !task.agent.is_empty() && task.status != Status::Before {
        pieces.push(between.clone());
        pieces.extend(agent(canvas, &task.agent, task.gap));
        pieces.extend(task.fallback.then(|| canvas.text(" (fallback: model)")));
    }
    let facts = [task.seconds.map(seconds), task.checkpoint.clone()].into_iter().flatten();
    let words = [&task.cost, &task.why].into_iter().filter(|word| !word.is_empty()).cloned();
    for fact in facts.chain(words) {
        pieces.extend([between.clone(), canvas.text(&fact)]);
    }
    panel.line(3, 5, pieces);
}

/// How many tasks came to what, the time and the cost.
fn totals(shown: &Summary) -> String {
    let mut parts = vec![count(shown.tasks.len(), "task")];
    for status in Status::ALL {
        let many = shown.tasks.iter().filter(|task| task.status == status).count();
        parts.extend((many > 0).then(|| format!("{many} {}", status.word())));
    }
    parts.push(seconds(shown.seconds));
    parts.extend((!shown.cost.is_empty()).then(|| shown.cost.clone()));
    parts.join(", ")
}

/// Where the work is, and the commands for what comes next: outside of the frame, to be copied.
fn where_next(canvas: Canvas, shown: &Summary) -> String {
    let mut out = String::new();
    if !shown.place.is_empty() {
        let branch = if shown.branch.is_empty() {
            String::new()
        } else {
            format!(" (branch {})", canvas.safe(&shown.branch))
        };
        out.push_str(&format!("\nThe work is in {}{branch}\n", canvas.safe(&shown.place)));
    }
    let next = &shown.next;
    let longest = next.iter().map(|(purpose, _)| purpose.len()).max().unwrap_or(0);
    for (purpose, command) in next {
        let command = canvas.safe(command);
        out.push_str(&format!("  {:<1$}  {command}\n", format!("{purpose}:"), longest + 1));
    }
    out
}

#[cfg(test)]
mod tests;
