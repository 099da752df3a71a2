//! What a rollback would do, and what it did, path by path.

use aurora_model::TreeId;
use aurora_workspace::{
    Outcome, PathOutcome, PlannedStep, RollbackPlan, RollbackReport, StepAction,
};
use serde_json::{Value, json};

use super::changes::{self, MAX_PATHS, count};
use super::escape;
use super::skipped;
use super::style::Style;

const MAX_MARKED_LINES: usize = 24;

/// The order in which a plan is told, with the words for each group.
const GROUPS: [(StepAction, &str, &str); 7] = [
    (StepAction::Conflict, "!", "in conflict, left alone"),
    (StepAction::Overwrite, "~", "to overwrite"),
    (StepAction::ChangeMode, "~", "to give their old mode"),
    (StepAction::Merge, "m", "to merge"),
    (StepAction::Create, "+", "to bring back"),
    (StepAction::Delete, "-", "to delete"),
    (StepAction::Keep, "=", "to keep"),
];

/// Whether anything would be done at all.
#[must_use]
pub fn is_empty(plan: &RollbackPlan) -> bool {
    let idle = |step: &PlannedStep| matches!(step.action, StepAction::Keep | StepAction::Conflict);
    plan.steps.iter().all(idle) && plan.empty_folders.is_empty()
}

/// The plan for a person, grouped by what happens.
#[must_use]
pub fn plan(plan: &RollbackPlan, merging: bool, style: Style) -> String {
    let mut out = String::new();
    if let Some((then, now)) = &plan.moved_head {
        let (then, now) = (skipped::head(then), skipped::head(now));
        out.push_str(&format!("HEAD was {then} then and is {now} now; it stays there\n"));
    }
    let marks = plan.steps.iter().any(|step| changes_file(step) && !step.edited_since_last);
    let mut room = MAX_PATHS;
    for (action, sign, words) in GROUPS {
        let group: Vec<&PlannedStep> =
            plan.steps.iter().filter(|step| step.action == action).collect();
        if group.is_empty() {
            continue;
        }
        out.push_str(&format!("{} {words}:\n", count(group.len(), "file")));
        for step in group.iter().take(room) {
            out.push_str(&step_line(step, sign, marks, style));
        }
        out.push_str(&changes::more(group.len(), room));
        room = room.saturating_sub(group.len());
    }
    if !plan.empty_folders.is_empty() {
        let folders = count(plan.empty_folders.len(), "empty folder");
        out.push_str(&format!("{folders} to bring back or remove:\n"));
        for folder in plan.empty_folders.iter().take(MAX_PATHS) {
            out.push_str(&format!("  / {}\n", escape::line(&folder.to_string())));
        }
        out.push_str(&changes::more(plan.empty_folders.len(), MAX_PATHS));
    }
    out.push_str(&about_edits(plan, marks, merging, style));
    out.push_str(&in_lines(&plan.notes));
    out
}

/// What becomes of edits that no checkpoint has. Where all of it is one there is nothing to mark.
fn about_edits(plan: &RollbackPlan, marks: bool, merging: bool, style: Style) -> String {
    let edited = plan.steps.iter().filter(|step| step.edited_since_last && changes_file(step));
    let text = match (edited.count(), marks) {
        (0, _) => return String::new(),
        _ if merging => return String::new(),
        (_, false) => {
            "all of it was done after the latest checkpoint; a safety checkpoint keeps it"
        }
        (_, true) => {
            "files marked * were edited after the latest checkpoint; a safety checkpoint keeps \
             that, and --merge keeps it in the file"
        }
    };
    super::wrap::hang("", text, style.width)
}

fn changes_file(step: &PlannedStep) -> bool {
    !matches!(step.action, StepAction::Keep | StepAction::Conflict)
}

fn step_line(step: &PlannedStep, sign: &str, marks: bool, style: Style) -> String {
    let sign = match step.action {
        StepAction::Create => style.good(sign),
        StepAction::Delete | StepAction::Conflict => style.bad(sign),
        StepAction::Keep => style.faint(sign),
        _ => style.notable(sign),
    };
    let star = if marks && step.edited_since_last && changes_file(step) { " *" } else { "" };
    let path = escape::path(&step.path);
    match (step.action, step.note.as_deref()) {
        (StepAction::Conflict, marked) => {
            format!("  {sign} {path}\n{}", hunks(marked.unwrap_or_default(), style))
        }
        (_, Some(note)) => format!("  {sign} {path}{star}  ({})\n", escape::line(note)),
        (_, None) => format!("  {sign} {path}{star}\n"),
    }
}

/// Whether something stays because both sides changed it.
#[must_use]
pub fn has_conflict(plan: &RollbackPlan) -> bool {
    plan.steps.iter().any(|step| step.action == StepAction::Conflict)
}

/// The plan for a program.
#[must_use]
pub fn plan_json(plan: &RollbackPlan) -> Value {
    let told = json!({
        "to": plan.to,
        "now": plan.now,
        "moved_head": plan.moved_head.as_ref().map(|(then, now)| json!({"then": then, "now": now})),
        "steps": plan.steps,
    });
    with_notes(told, &plan.notes)
}

/// The same in the form of a report, for a plan that has nothing to do.
#[must_use]
pub fn idle_json(plan: &RollbackPlan) -> Value {
    let paths: Vec<PathOutcome> = plan.steps.iter().map(stayed).collect();
    json!({"to": plan.to, "safety": null, "restored": null, "paths": paths})
}

fn stayed(step: &PlannedStep) -> PathOutcome {
    let note = step.note.clone().unwrap_or_default();
    let outcome = match step.action {
        StepAction::Conflict => Outcome::Conflict { marked: note },
        _ => Outcome::Kept { because: note },
    };
    PathOutcome { path: step.path.clone(), outcome }
}

/// What stayed, as a plan that has nothing to do, where a rollback did nothing.
#[must_use]
pub fn idle(report: &RollbackReport) -> Option<RollbackPlan> {
    if report.restored != report.safety {
        return None;
    }
    let step = |one: &PathOutcome| {
        let (action, note) = match &one.outcome {
            Outcome::Conflict { marked } => (StepAction::Conflict, marked),
            Outcome::Kept { because } => (StepAction::Keep, because),
            _ => return None,
        };
        let (path, note) = (one.path.clone(), Some(note.clone()));
        Some(PlannedStep { path, action, edited_since_last: false, note })
    };
    let steps = report.paths.iter().map(step).collect::<Option<Vec<_>>>()?;
    let (to, now) = (report.to.clone(), TreeId(String::new()));
    Some(RollbackPlan {
        to,
        now,
        moved_head: None,
        steps,
        empty_folders: Vec::new(),
        notes: Vec::new(),
    })
}

/// Whether every path ended as planned.
#[must_use]
pub fn went_well(report: &RollbackReport) -> bool {
    let bad = |one: &PathOutcome| {
        matches!(one.outcome, Outcome::Conflict { .. } | Outcome::Failed { .. })
    };
    !report.paths.iter().any(bad)
}

/// The report for a person.
#[must_use]
pub fn report(report: &RollbackReport, style: Style) -> String {
    let to = style.bold(&escape::line(&report.to.0));
    let mut out = format!("rolled back to {to}: {}\n", sums(&report.paths));
    // What did not go as planned comes first, so that it is never among what is only counted.
    let mut paths: Vec<&PathOutcome> = report.paths.iter().collect();
    paths.sort_by_key(|one| urgency(&one.outcome));
    for one in paths.iter().take(MAX_PATHS) {
        out.push_str(&outcome_line(one, style));
    }
    out.push_str(&changes::more(paths.len(), MAX_PATHS));
    for one in &report.paths {
        if let Outcome::Conflict { marked } = &one.outcome {
            let path = escape::path(&one.path);
            out.push_str(&format!("\n{}\n", style.bold(&format!("conflict in {path}"))));
            out.push_str(&hunks(marked, style));
        }
    }
    out.push_str(&in_lines(&report.notes));
    let safety = escape::line(&report.safety.0);
    out.push_str(&format!("what was there before is {safety}\nundo with: aur rollback --undo\n"));
    out
}

/// The report for a program.
#[must_use]
pub fn report_json(report: &RollbackReport) -> Value {
    let told = json!({
        "to": report.to,
        "safety": report.safety,
        "restored": report.restored,
        "paths": report.paths,
    });
    with_notes(told, &report.notes)
}

/// Adds what else is to be said, where there is something.
fn with_notes(mut told: Value, notes: &[String]) -> Value {
    if let Some(fields) = told.as_object_mut().filter(|_| !notes.is_empty()) {
        fields.insert("notes".to_owned(), json!(notes));
    }
    told
}

/// Notes for a person, one a line.
#[must_use]
pub fn in_lines(notes: &[String]) -> String {
    notes.iter().map(|note| format!("{}\n", escape::line(note))).collect()
}

fn urgency(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Failed { .. } => 0,
        Outcome::Conflict { .. } => 1,
        Outcome::Kept { .. } => 2,
        _ => 3,
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Created => "brought back",
        Outcome::Overwritten => "overwritten",
        Outcome::ModeChanged => "with its old mode",
        Outcome::Deleted => "deleted",
        Outcome::Merged => "merged",
        Outcome::Conflict { .. } => "in conflict",
        Outcome::Kept { .. } => "kept",
        Outcome::Failed { .. } => "failed",
    }
}

fn sums(paths: &[PathOutcome]) -> String {
    let mut sums: Vec<(&'static str, usize)> = Vec::new();
    for one in paths {
        let word = word(&one.outcome);
        match sums.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => sums.push((word, 1)),
        }
    }
    if sums.is_empty() {
        return "only empty folders came back".to_owned();
    }
    sums.iter().map(|(word, number)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

fn outcome_line(one: &PathOutcome, style: Style) -> String {
    let (sign, because) = match &one.outcome {
        Outcome::Created => (style.good("+"), None),
        Outcome::Overwritten | Outcome::ModeChanged => (style.notable("~"), None),
        Outcome::Merged => (style.notable("m"), None),
        Outcome::Deleted => (style.bad("-"), None),
        Outcome::Conflict { .. } => (style.bad("!"), Some("both sides changed the same lines")),
        Outcome::Kept { because } => (style.faint("="), Some(because.as_str())),
        Outcome::Failed { because } => (style.bad("!"), Some(because.as_str())),
    };
    let because = because.map(|text| format!("  ({})", escape::line(text))).unwrap_or_default();
    format!("  {sign} {}{because}\n", escape::path(&one.path))
}

/// The marked places of a file, as many lines of them as fit.
fn hunks(marked: &str, style: Style) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut unseen = 0;
    for (number, text) in marked.lines().enumerate() {
        inside |= text.starts_with("<<<<<<<");
        if !inside {
            continue;
        }
        let ends = text.starts_with(">>>>>>>");
        if out.lines().count() < MAX_MARKED_LINES {
            let mark = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
            let shown = escape::line(text).replace("\\t", "\t");
            let is_mark = mark.iter().any(|mark| text.starts_with(mark));
            let shown = if is_mark { style.notable(&shown) } else { shown };
            out.push_str(&format!("  {:>5}  {shown}\n", number + 1));
        } else {
            unseen += 1;
        }
        inside &= !ends;
    }
    if unseen > 0 {
        out.push_str(&format!("         … {} more\n", count(unseen, "line")));
    }
    out
}

#[cfg(test)]
mod tests {
    use aurora_model::{CheckpointId, RepoPath};

    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("a path")
    }

    fn step(name: &str, action: StepAction, edited_since_last: bool) -> PlannedStep {
        PlannedStep { path: path(name), action, edited_since_last, note: None }
    }

    /// WSP-4: a plan never hides what would be lost from the file.
    #[test]
    fn a_plan_is_grouped_and_marks_fresh_edits() {
        let plan_of = |steps| RollbackPlan {
            to: CheckpointId("ckpt-001-aaaaaaaa".into()),
            now: TreeId("0".into()),
            moved_head: None,
            steps,
            empty_folders: Vec::new(),
            notes: Vec::new(),
        };
        let shown = plan(
            &plan_of(vec![
                step("a", StepAction::Overwrite, true),
                step("b", StepAction::Create, false),
                step("c\u{202e}", StepAction::Delete, false),
                step("d", StepAction::Keep, true),
            ]),
            false,
            Style::plain(),
        );
        assert_eq!(
            shown,
            "1 file to overwrite:\n  ~ a *\n1 file to bring back:\n  + b\n1 file to delete:\n  \
             - c\\u{202e}\n1 file to keep:\n  = d\nfiles marked * were edited after the latest \
             checkpoint; a safety checkpoint\n  keeps that, and --merge keeps it in the file\n"
        );
        let many = (0..50).map(|n| step(&format!("f{n:02}"), StepAction::Delete, false)).collect();
        let shown = plan(&plan_of(many), false, Style::plain());
        assert!(shown.ends_with("  - f39\n  … and 10 more (all of them with --json)\n"), "{shown}");
        assert!(is_empty(&plan_of(vec![step("d", StepAction::Keep, false)])));
    }

    #[test]
    fn a_report_says_first_what_did_not_go_well() {
        let outcome = |name: &str, outcome| PathOutcome { path: path(name), outcome };
        let told = RollbackReport {
            to: CheckpointId("ckpt-001-aaaaaaaa".into()),
            safety: CheckpointId("ckpt-002-bbbbbbbb".into()),
            restored: CheckpointId("ckpt-003-cccccccc".into()),
            paths: vec![
                outcome("a", Outcome::Overwritten),
                outcome("b", Outcome::Failed { because: "disk\x1b full".into() }),
                outcome(
                    "c",
                    Outcome::Conflict {
                        marked: "x\n<<<<<<< now\n1\n=======\n2\n>>>>>>> ckpt\n".into(),
                    },
                ),
            ],
            notes: Vec::new(),
        };
        assert!(!went_well(&told));
        assert_eq!(
            report(&told, Style::plain()),
            "rolled back to ckpt-001-aaaaaaaa: 1 overwritten, 1 failed, 1 in conflict\n  \
             ! b  (disk\\x1b full)\n  ! c  (both sides changed the same lines)\n  ~ a\n\n\
             conflict in c\n      2  <<<<<<< now\n      3  1\n      4  =======\n      5  2\n      \
             6  >>>>>>> ckpt\nwhat was there before is ckpt-002-bbbbbbbb\n\
             undo with: aur rollback --undo\n"
        );
        assert_eq!(report_json(&told)["paths"][1]["outcome"], "failed");
    }
}
