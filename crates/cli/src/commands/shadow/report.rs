//! What a shadow holds, in words.

use aurora_model::{Severity, Violation};
use aurora_workspace::shadow::{Inspection, Meta, PromotionReport, Status};
use aurora_workspace::{Outcome, PathOutcome};

use crate::output::changes::{self, MAX_PATHS, count};
use crate::output::escape;
use crate::output::style::Style;

/// What is known about a shadow, with its name called as everywhere.
pub fn named(meta: &Meta) -> serde_json::Value {
    let mut told = serde_json::json!(meta);
    if let Some(told) = told.as_object_mut()
        && let Some(id) = told.remove("id")
    {
        told.insert("shadow".to_owned(), id);
    }
    told
}

/// One line, and what can be done next.
pub fn after_run(inspection: &Inspection) -> String {
    let id = &inspection.meta.id;
    let summary = changes::summary(&inspection.plain_changes());
    let mut out = format!("{id}: {summary}\n");
    for note in inspection.notes.iter().skip(inspection.meta.notes.len()).take(5) {
        out.push_str(&format!("  {}\n", escape::line(note)));
    }
    if inspection.in_use {
        out.push_str("  something that the command started is still at work in it\n");
    }
    if inspection.holds_nothing() {
        out.push_str(&format!("done with it? aur shadow discard {id}\n"));
        return out;
    }
    out.push_str(&format!(
        "look at it with: aur shadow inspect {id}\nthen: aur shadow promote {id}, or aur shadow \
         discard {id}\n"
    ));
    out
}

/// The word for how a shadow stands.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::Promoted => "promoted",
        Status::Discarded => "discarded",
    }
}

/// Everything about a shadow.
pub fn whole(inspection: &Inspection, ago: &str, style: Style) -> String {
    let meta = &inspection.meta;
    let mut out = format!("{} ({}, {ago})\n", style.bold(&meta.id), status(meta.status));
    let mut fact = |name: &str, text: String| {
        out.push_str(&format!("{} {}\n", style.faint(&format!("{name:<9}")), escape::line(&text)));
    };
    fact("how", meta.why.clone());
    fact(
        "base",
        match &meta.base_checkpoint {
            Some(base) => base.0.clone(),
            None => "no checkpoint; what moved meanwhile is told by times".to_owned(),
        },
    );
    fact(
        "size",
        format!(
            "{} of at most {}",
            changes::bytes(inspection.bytes),
            changes::bytes(meta.max_bytes)
        ),
    );
    if inspection.in_use {
        let pids: Vec<String> = inspection.pids.iter().take(10).map(ToString::to_string).collect();
        let by = if pids.is_empty() { "somebody".to_owned() } else { pids.join(", ") };
        fact("in use by", by);
    }
    if inspection.head_now.is_some() {
        fact("HEAD", "of the worktree is elsewhere than it was".to_owned());
    }
    for note in &inspection.notes {
        fact("note", note.clone());
    }
    for one in &meta.promotions {
        let went = count(one.paths.len(), "path");
        fact(
            "promoted",
            format!("{went} at {}, as {} (before: {})", one.at, one.promoted, one.safety),
        );
    }
    if meta.status != Status::Open {
        return out;
    }
    out.push_str(&format!("{}\n", changes::summary(&inspection.plain_changes())));
    out.push_str(&changes::list(&inspection.plain_changes(), MAX_PATHS, style));
    for path in inspection.empty_folders.iter().take(MAX_PATHS) {
        out.push_str(&format!(
            "  {} {}/  (an empty folder)\n",
            style.good("A"),
            escape::path(path)
        ));
    }
    let ignored = inspection.changes.iter().filter(|change| change.ignored).count();
    if ignored > 0 {
        let are = if ignored == 1 { "is" } else { "are" };
        out.push_str(&format!("{ignored} of these {are} ignored by the repository's rules\n"));
    }
    if !inspection.moved.is_empty() {
        out.push_str(&format!("{}\n", style.notable("changed in the worktree too:")));
        for path in inspection.moved.iter().take(MAX_PATHS) {
            out.push_str(&format!("  {}\n", escape::path(path)));
        }
        out.push_str(&changes::more(inspection.moved.len(), MAX_PATHS));
    }
    out.push_str(&violations(&inspection.violations, style));
    out
}

fn violations(found: &[Violation], style: Style) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", style.bad("violations:"));
    for one in found.iter().take(MAX_PATHS) {
        let word = match one.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Critical => "critical",
        };
        // Some are about the shadow as a whole.
        let at = one.file.as_ref().map(|path| format!("{}: ", escape::path(path)));
        let at = at.unwrap_or_default();
        out.push_str(&format!("  {word}: {at}{}\n", escape::line(&one.message)));
    }
    out.push_str(&changes::more(found.len(), MAX_PATHS));
    out
}

/// What is left in a shadow that stays open.
fn stays_open(report: &PromotionReport) -> String {
    let mut left = Vec::new();
    if report.left > 0 {
        left.push(count(usize::try_from(report.left).unwrap_or(usize::MAX), "change"));
    }
    if !report.git_data.is_empty() {
        left.push("git's own data".to_owned());
    }
    let (left, id) = (left.join(" and "), &report.shadow);
    if report.dry_run {
        return format!("{left} would stay in the shadow, which would stay open\n");
    }
    format!(
        "{left} left in the shadow, which stays open; `aur shadow discard {id}` gives that up\n"
    )
}

/// What a promotion did or would do.
pub fn promotion(report: &PromotionReport, style: Style) -> String {
    let stayed = |one: &&PathOutcome| {
        matches!(
            one.outcome,
            Outcome::Kept { .. } | Outcome::Failed { .. } | Outcome::Conflict { .. }
        )
    };
    let stays = report.paths.iter().filter(stayed).count();
    let went = report.paths.len() - stays;
    let did = if report.dry_run { "would promote" } else { "promoted" };
    let mut out = format!("{did} {} of {}\n", count(went, "path"), style.bold(&report.shadow));
    let mut paths: Vec<&PathOutcome> = report.paths.iter().collect();
    paths.sort_by_key(|one| !stayed(one));
    for one in paths.iter().take(MAX_PATHS) {
        let path = escape::path(&one.path);
        out.push_str(&match &one.outcome {
            Outcome::Created => format!("  {} {path}\n", style.good("A")),
            Outcome::Overwritten => format!("  {} {path}\n", style.notable("M")),
            Outcome::ModeChanged => format!("  {} {path}  (mode)\n", style.notable("M")),
            Outcome::Deleted => format!("  {} {path}\n", style.bad("D")),
            Outcome::Merged => format!("  {} {path}  (merged)\n", style.notable("M")),
            Outcome::Conflict { marked } => {
                format!("  {} {path}  (conflict)\n{}", style.bad("!"), hunks(marked))
            }
            Outcome::Kept { because } | Outcome::Failed { because } => {
                format!("  {} {path}  ({})\n", style.bad("!"), escape::line(because))
            }
        });
    }
    out.push_str(&changes::more(report.paths.len(), MAX_PATHS));
    for note in &report.notes {
        out.push_str(&format!("note: {}\n", escape::line(note)));
    }
    if report.dry_run {
        out.push_str(&violations(&report.violations, style));
    }
    if report.open {
        out.push_str(&stays_open(report));
    }
    if let Some(safety) = &report.safety {
        out.push_str(&format!(
            "what was there before is {safety}\nundo with: aur rollback --undo\n"
        ));
    }
    out
}

/// What both sides changed, place by place.
pub fn conflicts(paths: &[PathOutcome], style: Style) -> String {
    let mut out = String::new();
    for one in paths.iter().take(MAX_PATHS) {
        if let Outcome::Conflict { marked } = &one.outcome {
            let path = escape::path(&one.path);
            out.push_str(&format!("{} {path}  (conflict)\n{}", style.bad("!"), hunks(marked)));
        }
    }
    out
}

/// How many lines of one file's conflicts a person is shown.
const MAX_LINES: usize = 60;

/// The places of a merged file where both sides are marked.
fn hunks(marked: &str) -> String {
    let mut shown = Vec::new();
    let mut within = false;
    for line in marked.lines() {
        within |= line.starts_with("<<<<<<< ");
        if within {
            shown.push(format!("      {}\n", escape::line(line)));
        }
        within &= !line.starts_with(">>>>>>> ");
    }
    let more = changes::more(shown.len(), MAX_LINES);
    shown.truncate(MAX_LINES);
    shown.concat() + &more
}
