//! What a person sees when a call needs a yes, or when nobody knows whether one was made.

use aurora_model::Reason;

use super::panel::{Canvas, Paint, Panel};
use super::request::{Length, Sort, arguments};
use super::review::agent;

/// More reasons or effects than that are counted, not shown.
const MOST: usize = 12;

/// A call that needs a yes.
#[derive(Debug, Clone, Default)]
pub struct Operation {
    /// What all of it is for.
    pub parent: String,
    /// The task.
    pub title: String,
    /// Who wants to make it.
    pub agent: String,
    /// How much they may do by themselves.
    pub autonomy: String,
    /// How dangerous it is, and what kinds of action it is.
    pub risk: String,
    /// What it is, in one line.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: serde_json::Value,
    /// What would happen.
    pub effects: Vec<String>,
    /// Why it is asked.
    pub reasons: Vec<Reason>,
    /// What happens on a no.
    pub on_no: String,
    /// Who may decide, where not everybody may alone.
    pub deciders: Option<String>,
    /// What happens when nobody decides.
    pub no_reply: Option<String>,
    /// What the agent says about it.
    pub claimed: Option<String>,
    /// What is known of a call of which nobody knows whether it was made.
    pub unknown: Option<String>,
}

/// The panel of a call.
#[must_use]
pub fn operation(canvas: Canvas, shown: &Operation) -> String {
    let heading = if shown.unknown.is_some() { "Was It Done?" } else { "Call Needs a Yes" };
    let mut panel = Panel::new(canvas, heading);
    panel.field("Parent", &shown.parent);
    panel.gap();
    panel.field("Task", &shown.title);
    let mut who = vec![canvas.text("Agent: ")];
    who.extend(agent(canvas, &shown.agent, false));
    who.push(canvas.text(&format!(" ({})", shown.autonomy)));
    panel.line(0, 7, who);
    let risky = shown.risk.starts_with("high") || shown.risk.starts_with("critical");
    let paint = if risky { Paint::Bad } else { Paint::Notable };
    panel.line(0, 6, vec![canvas.text("Risk: "), canvas.piece(paint, &shown.risk)]);
    panel.gap();
    if let Some(unknown) = &shown.unknown {
        panel.field("Known", unknown);
    }
    panel.field("Call", &format!("{} ({})", shown.call, shown.tool));
    for (sort, line) in arguments(&shown.args, Length::Usual) {
        let paint = match sort {
            Sort::Gone => Paint::Bad,
            Sort::Come => Paint::Good,
            Sort::Place => Paint::Faint,
            Sort::Plain | Sort::Quoted => Paint::Plain,
        };
        panel.line(2, 4, vec![canvas.piece(paint, &line)]);
    }
    listed(canvas, &mut panel, "Effects:", &shown.effects);
    why(canvas, &mut panel, &shown.reasons);
    panel.gap();
    let fields = [
        ("Decides", shown.deciders.as_deref()),
        ("On no", Some(shown.on_no.as_str()).filter(|text| !text.is_empty())),
        ("No reply", shown.no_reply.as_deref()),
    ];
    for (label, text) in fields {
        text.into_iter().for_each(|text| panel.field(label, text));
    }
    if let Some(claimed) = &shown.claimed {
        panel.line(
            0,
            2,
            vec![canvas.text("The agent says, unchecked; a yes is not to these words:")],
        );
        for line in claimed.lines().take(MOST) {
            panel.line(2, 4, vec![canvas.piece(Paint::Faint, &format!("> {line}"))]);
        }
    }
    panel.text()
}

fn listed(canvas: Canvas, panel: &mut Panel, label: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    panel.line(0, 0, vec![canvas.text(label)]);
    for line in lines.iter().take(MOST) {
        panel.line(2, 4, vec![canvas.text(line)]);
    }
    more(canvas, panel, lines.len());
}

fn more(canvas: Canvas, panel: &mut Panel, all: usize) {
    if let Some(more) = all.checked_sub(MOST).filter(|more| *more > 0) {
        panel.line(2, 2, vec![canvas.text(&format!("and {more} more"))]);
    }
}

fn why(canvas: Canvas, panel: &mut Panel, reasons: &[Reason]) {
    if reasons.is_empty() {
        return;
    }
    panel.gap();
    panel.line(0, 0, vec![canvas.text("Reasons:")]);
    for reason in reasons.iter().take(MOST) {
        super::failure::reason(canvas, panel, reason);
    }
    more(canvas, panel, reasons.len());
}

#[cfg(test)]
mod tests;
