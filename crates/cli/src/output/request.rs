//! A request as a person reads it who must decide it.

mod call;
mod compare;
mod item;
mod list;
mod news;

use aurora_model::{ApprovalState, Decision, Reason, Target, Timestamp, Who};

use super::style::Style;
use super::wrap::wrap;
use super::{escape, moment};

pub use call::{Sort, arguments};
pub use compare::compared;
pub use item::{Detail, Happened, Item, Next};
pub use list::{Row, all, parked};
pub use news::happened;

/// Where the text of a field begins.
const INDENT: usize = 11;
/// So many digits of a digest are enough to tell two apart.
pub const SHORT: usize = 12;

/// How much of a request is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// What is needed to decide.
    Brief,
    /// The same with its history; long texts are cut.
    Usual,
    /// Everything.
    Full,
}

/// Lines of fields, each below its label.
pub struct Fields {
    out: String,
    style: Style,
}

impl Fields {
    /// None yet.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { out: String::new(), style }
    }

    /// A field; text of others is made harmless and broken where the screen ends.
    pub fn field(&mut self, label: &str, text: &str) {
        let room = self.style.width.saturating_sub(INDENT).max(20);
        let text = wrap(&escape::line(text), room);
        let label = format!("  {label:<8} ");
        // A label that is too long for its column has a line of its own.
        let lead =
            if label.len() > INDENT { format!("{}\n{}", label.trim_end(), pad()) } else { label };
        self.out.push_str(&format!("{lead}{}\n", text.replace('\n', &format!("\n{}", pad()))));
    }

    /// A field in one line, however long.
    pub fn whole(&mut self, label: &str, text: &str) {
        self.out.push_str(&format!("  {label:<8} {}\n", escape::line(text)));
    }

    /// More text of the same field.
    pub fn more(&mut self, text: &str) {
        let room = self.style.width.saturating_sub(INDENT).max(20);
        let text = wrap(&escape::line(text), room);
        self.out.push_str(&format!("{}{}\n", pad(), text.replace('\n', &format!("\n{}", pad()))));
    }

    /// A line of the same field that is harmless already, as it is.
    pub fn raw(&mut self, line: &str) {
        self.out.push_str(&format!("{}{line}\n", pad()));
    }

    /// A label of its own, and lines below it.
    pub fn label(&mut self, label: &str) {
        self.out.push_str(&format!("  {label}\n"));
    }

    /// All of it.
    #[must_use]
    pub fn text(self) -> String {
        self.out
    }
}

fn pad() -> String {
    " ".repeat(INDENT)
}

/// A request with everything that is needed to decide it.
#[must_use]
pub fn show(item: &Item, detail: &Detail, now: Timestamp, length: Length, style: Style) -> String {
    let request = &item.request;
    let mut fields = Fields::new(style);
    fields.field("state", &state(item, now));
    fields.field("asked", &asked(item, now));
    for (label, text) in &detail.facts {
        // A command is copied as a whole, so that it is not broken.
        match label.as_str() {
            "look" => fields.whole(label, text),
            _ => fields.field(label, text),
        }
    }
    for effect in &request.effects {
        fields.field("effect", effect);
    }
    call::push(&mut fields, item, length, style);
    for target in &request.subject.targets {
        fields.field("to", &target_text(target));
    }
    if let Some(kept) = &detail.kept {
        fields.label("to look at:");
        call::push_text(&mut fields, kept, length, style);
    }
    for reason in &request.reasons {
        why(&mut fields, reason);
    }
    let risk = format!("{}: {}", request.tier.name(), kinds(item));
    fields.field("risk", risk.trim_end_matches(": "));
    if item.is_open() {
        fields.field("decides", &deciders(item));
        item.votes.iter().for_each(|vote| fields.more(&vote_text(vote)));
        if !request.on_no.is_empty() {
            fields.field("on no", &request.on_no);
        }
        fields.field("no reply", &when_nobody_decides(item, now));
    }
    if !detail.precedent.is_empty() {
        fields.field("before", &precedent(&detail.precedent));
    }
    if let Some(claimed) = &request.claimed {
        fields.label("the agent says, unchecked; a yes is not to these words:");
        call::push_quoted(&mut fields, claimed, length);
    }
    fields.field("digest", short(request.digest.as_str()));
    if length != Length::Brief {
        let past = detail.history.iter().skip(1);
        for (index, (at, event)) in past.enumerate() {
            let line = format!("{} {}", moment::utc(*at), news::words(event));
            let label = if index == 0 { "history" } else { "" };
            fields.field(label, &line);
        }
    }
    let title = wrap(&escape::line(&request.title), style.width);
    let title: Vec<String> = title.lines().map(|line| style.bold(line)).collect();
    format!("{}\n{}", title.join("\n"), fields.text())
}

/// The first digits of a digest.
#[must_use]
pub fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

fn state(item: &Item, now: Timestamp) -> String {
    let mut out = item.state.name().replace('_', " ");
    if let Some(decision) = &item.decision {
        out.push_str(&format!(": {}", decided(decision)));
    } else if let Some(reason) = &item.reason {
        out.push_str(&format!(": {reason}"));
    }
    if let Some(at) = item.closed_at {
        out.push_str(&format!(", {}", moment::ago(now, at)));
    }
    if item.is_open() && item.version > 1 {
        out.push_str(&format!(", edited, version {}", item.version));
    }
    out
}

/// Who decided what, from where and why.
#[must_use]
pub fn decided(decision: &Decision) -> String {
    let (choice, by) = (decision.choice.name(), &decision.by.name);
    let surface = decision.by.surface.name();
    let why = decision.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{choice}, by {by} ({surface}){why}")
}

fn asked(item: &Item, now: Timestamp) -> String {
    let request = &item.request;
    let mut out = moment::ago(now, request.asked_at);
    let by = request.requester.agent.as_ref().map(ToString::to_string);
    if let Some(by) = by.or_else(|| request.requester.person.clone()) {
        out.push_str(&format!(", by {by} ({})", request.autonomy.name()));
    }
    let (run, task) = (&request.subject.run, &request.subject.task);
    if let Some(run) = run {
        let task = task.as_ref().map(|task| format!(", task {task}")).unwrap_or_default();
        out.push_str(&format!(", in {run}{task}"));
    }
    format!("{out} ({} gate)", request.gate.name())
}

fn kinds(item: &Item) -> String {
    let kinds: Vec<&str> = item.request.actions.iter().map(|action| action.as_str()).collect();
    kinds.join(", ")
}

fn target_text(target: &Target) -> String {
    match target {
        Target::Path { path, content: Some(content) } => {
            format!("{path}, as it is now ({})", short(content.as_str()))
        }
        Target::Path { path, content: None } => format!("{path}, which is not there yet"),
        Target::Ref { name, commit: Some(commit) } => format!("{name} at {}", short(commit)),
        Target::Ref { name, commit: None } => format!("{name}, which is not there yet"),
        Target::Table { name } => format!("table {name}"),
        Target::Tree { path, tree } => format!("{path}, as it is now ({})", short(tree)),
    }
}

fn why(fields: &mut Fields, reason: &Reason) {
    fields.field("why", &reason.message);
    fields.more(&format!("rule {}, from {}", reason.rule, reason.origin));
    if let Some(instead) = &reason.instead {
        fields.more(&format!("instead: {instead}"));
    }
}

/// Who may decide, and how many must.
#[must_use]
pub fn deciders(item: &Item) -> String {
    let who: Vec<String> = item.deciders.iter().map(Who::to_string).collect();
    let who = if who.is_empty() { "anyone".to_owned() } else { who.join(", ") };
    match item.request.ruling.quorum {
        0 | 1 => who,
        quorum => format!("{who}; {quorum} must say yes, {} still missing", item.missing()),
    }
}

fn vote_text(vote: &Decision) -> String {
    format!("yes so far: {}", decided(vote))
}

/// What happens when nobody decides, and when.
#[must_use]
pub fn when_nobody_decides(item: &Item, now: Timestamp) -> String {
    let timeout = &item.request.ruling.timeout;
    let by = format!(" ({}, {})", timeout.policy, timeout.chosen_by);
    let what = match item.next() {
        Next::Waits => "it waits for as long as it takes".to_owned(),
        Next::Ends(at) => {
            format!(
                "in {} it times out, which is nobody's no, and is not done",
                moment::left(now, at)
            )
        }
        Next::Approves(at) => format!("in {} it is DONE without anybody", moment::left(now, at)),
        Next::Passes(at, to) => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            format!("in {} it goes to {} too", moment::left(now, at), to.join(", "))
        }
    };
    format!("{what}{by}")
}

fn precedent(counts: &[(ApprovalState, u64)]) -> String {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let each: Vec<String> = counts
        .iter()
        .map(|(state, count)| format!("{count} {}", state.name().replace('_', " ")))
        .collect();
    format!("{all} alike: {}", each.join(", "))
}
