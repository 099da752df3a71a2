//! What an attempt changed: judged before it is taken over, and taken over whole or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use aurora_gate::{Policy, judge};
use aurora_model::context::Plan;
use aurora_model::{
    About, Action, Answer, Autonomy, Change, ChangeKind, Choice, Constraint, Context, Operation,
    Reason, Severity, SkipReason, Span, TaskId, ToolCall, Touched, Violation,
};
use aurora_workspace::desk::{DeskChanges, Notice};
use aurora_workspace::{Error as WorkspaceError, Outcome, PathOutcome};

use super::{Inner, blocking, task_of};
use crate::error::{Error, Result};
use crate::machine::{Asked, AttemptState, Command, LEFT_OUT, State};

/// So many of the changed paths are put to a person; the desk has them all.
const SHOWN_PATHS: usize = 20;
/// What is noticed of git's own data and of the run's worktree.
const GIT_DATA: &str = "workspace.git_data";
/// So many of the things that cannot be taken over are named.
const NAMED_LEFT_OUT: usize = 5;

impl Inner {
    /// Judges what an attempt left at its desk.
    pub(super) async fn check(
        self: Arc<Self>,
        task: TaskId,
        attempt: u32,
        desk: u32,
        state: &Arc<State>,
    ) -> Result<Command> {
        let state = Arc::clone(state);
        let (expected_files, expected_lines) = state.expected(&task);
        let allowed = allowed_before(&state);
        let Some(base) = attempt_of(&state, &task, attempt)?.base.clone() else {
            return Ok(nothing_changed(task, attempt));
        };
        blocking(move || {
            let looked = self.site.desk(desk).and_then(|desk| {
                let found = desk.changes(&base)?;
                Ok((desk.path().display().to_string(), found))
            });
            let (place, found) = match looked {
                Ok(looked) => looked,
                // An agent that removes or spoils its own desk has left nothing; the others go on.
                Err(Error::Workspace(error)) => {
                    let error = format!("what it left at its desk cannot be read: {error}");
                    return Ok(Command::NotAdopted { task, attempt, error, conflicts: Vec::new() });
                }
                Err(error) => return Err(error),
            };
            let mut context = self.settings.context.clone();
            let plan = context.plan.take().unwrap_or_default();
            context.plan = Some(Plan { expected_files, expected_lines, ..plan });
            let mut reasons = judge_changes(&found, &self.settings.policy, &context);
            reasons.extend(unsettled(&self.site.noticed(false), &allowed));
            reasons.extend(self.locked(&task, &state).filter(|_| found.files() > 0));
            reasons.sort_by_key(|reason| std::cmp::Reverse(reason.answer));
            let files = found.files();
            let lines = found.lines_added.saturating_add(found.lines_removed);
            let paths: Vec<String> = found.changes.iter().take(SHOWN_PATHS).map(shown).collect();
            let place = Some(place);
            let about = About::Changes {
                task: task.clone(),
                reasons: reasons.clone(),
                files,
                lines,
                paths: paths.clone(),
                place: place.clone(),
            };
            Ok(Command::ChangesJudged {
                task,
                attempt,
                decision: reasons.first().map_or(Answer::Allow, |reason| reason.answer),
                reasons,
                files,
                lines,
                paths,
                place,
                result: Some(found.result),
                needs_person: self.needs_person(&about, &state),
            })
        })
        .await
    }

    /// An agent that may do nothing by itself is asked about whatever it changed.
    fn locked(&self, task: &TaskId, state: &State) -> Option<Reason> {
        let (agent, autonomy) = self.registrar.as_ref()?.autonomy_of(state.task(task)?)?;
        let message = format!("{agent} is locked: nothing that it changes is taken over unseen");
        let is_locked = autonomy == Autonomy::Locked;
        is_locked.then(|| own_reason(Answer::Ask, "approvals.autonomy", message))
    }

    /// Takes over what an attempt changed, and makes a checkpoint of it.
    pub(super) async fn adopt(
        self: Arc<Self>,
        task: TaskId,
        attempt: u32,
        desk: u32,
        state: &State,
    ) -> Result<Command> {
        let of = attempt_of(state, &task, attempt)?;
        let (Some(base), Some(result)) = (of.base.clone(), of.result.clone()) else {
            let (checkpoint, changed, noticed) = (None, Vec::new(), Vec::new());
            return Ok(Command::Adopted { task, attempt, checkpoint, changed, noticed });
        };
        let title = task_of(state, &task)?.planned.task.title.clone();
        let message = format!("{task}: {title}");
        let shown = state.brief.as_ref().is_some_and(|brief| brief.settings.checkpoints);
        blocking(move || {
            let adopted = match self.site.desk(desk)?.adopt(&base, &result, &message) {
                Ok(adopted) => adopted,
                // What somebody else has in their hands, or what must not be taken over, is for a
                // person to settle; the task can be tried again.
                Err(
                    error @ (WorkspaceError::Refused { .. }
                    | WorkspaceError::Busy { .. }
                    | WorkspaceError::NotFound { .. }),
                ) => {
                    let (error, conflicts) = (error.to_string(), Vec::new());
                    return Ok(Command::NotAdopted { task, attempt, error, conflicts });
                }
                Err(error) => return Err(error.into()),
            };
            if !adopted.conflicts.is_empty() {
                let conflicts: Vec<String> = adopted.conflicts.iter().map(told).collect();
                let error =
                    format!("conflicts with what other tasks did: {}", conflicts.join("; "));
                return Ok(Command::NotAdopted { task, attempt, error, conflicts });
            }
            let checkpoint = adopted.checkpoint.map(|one| one.checkpoint_id).filter(|_| shown);
            let changed = adopted.changed.into_iter().map(touched).collect();
            let noticed = self.site.noticed(false).into_iter().map(|one| one.what).collect();
            Ok(Command::Adopted { task, attempt, checkpoint, changed, noticed })
        })
        .await
    }
}

/// Why what was changed may not be taken over just so; the worst comes first.
fn judge_changes(found: &DeskChanges, policy: &Policy, context: &Context) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = found.violations.iter().filter_map(reason_of).collect();
    if !found.changes.is_empty() {
        let action = Action::Patch { patch: found.patch.clone() };
        reasons.extend(judge(&action, policy, context).reasons);
    }
    if !found.patch_is_whole {
        reasons.extend(by_path(found, policy, context));
        let message = "the changes are too large to be judged whole".to_owned();
        reasons.push(own_reason(Answer::Ask, "safety.max_lines_changed", message));
    }
    reasons.extend(left_out(found));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.answer));
    reasons
}

/// What the policy says about every changed path, where the patch is too large to be judged whole: a
/// large file must not hide what comes after it.
fn by_path(found: &DeskChanges, policy: &Policy, context: &Context) -> Vec<Reason> {
    let gone = |change: &&Change| change.kind == ChangeKind::Deleted;
    let mut actions: Vec<Action> = found.changes.iter().map(written).collect();
    let gone: Vec<String> =
        found.changes.iter().filter(gone).map(|change| change.path.to_string()).collect();
    if !gone.is_empty() {
        let rm = ["rm".to_owned(), "--".to_owned()];
        actions.push(Action::Exec { argv: rm.into_iter().chain(gone).collect() });
    }
    let mut reasons: Vec<Reason> = Vec::new();
    let mut known = BTreeSet::new();
    for reason in actions.iter().flat_map(|action| judge(action, policy, context).reasons) {
        if known.insert(reason.message.clone()) {
            reasons.push(reason);
        }
    }
    reasons
}

/// A changed path as something that is written.
fn written(change: &Change) -> Action {
    let args = serde_json::json!({ "file_path": change.path.to_string(), "content": "" });
    Action::Tool(ToolCall { name: "Write".to_owned(), args })
}

/// What a person must look at before anything is taken over, unless they did and allowed it: nobody
/// can tell whose hand it was, so that no task is denied for it.
fn unsettled(noticed: &[Notice], allowed: &[String]) -> Vec<Reason> {
    let open = |one: &&Notice| one.critical && !allowed.contains(&one.what);
    let open = noticed.iter().filter(open);
    open.map(|one| own_reason(Answer::Ask, GIT_DATA, one.what.clone())).collect()
}

/// What was noticed and allowed before in this run.
fn allowed_before(state: &State) -> Vec<String> {
    let allowed = |asked: &&Asked| matches!(asked.answer, Some((Choice::Allow, _)));
    let reasons =
        state.questions.iter().filter(allowed).flat_map(|asked| match &asked.question.about {
            About::Changes { reasons, .. } => reasons.as_slice(),
            _ => &[],
        });
    let own = reasons.filter(|reason| reason.rule == GIT_DATA);
    own.map(|reason| reason.message.clone()).collect()
}

/// Whether it is about what all worktrees of the repository share, which is noticed for the whole run.
fn is_shared(violation: &Violation) -> bool {
    let file = violation.file.as_ref().map(aurora_model::RepoPath::as_bytes).unwrap_or_default();
    violation.constraint == Constraint::GitData
        && file.starts_with(b".git/")
        && !file.starts_with(b".git/worktree/")
}

/// What is said of an attempt that had no desk.
fn nothing_changed(task: TaskId, attempt: u32) -> Command {
    Command::ChangesJudged {
        task,
        attempt,
        decision: Answer::Allow,
        reasons: Vec::new(),
        files: 0,
        lines: 0,
        paths: Vec::new(),
        place: None,
        result: None,
        needs_person: false,
    }
}

fn attempt_of<'a>(state: &'a State, task: &TaskId, number: u32) -> Result<&'a AttemptState> {
    let attempt = task_of(state, task)?.attempts.iter().find(|one| one.number == number);
    attempt.ok_or_else(|| Error::Lost { what: format!("{task} has no attempt {number}") })
}

fn touched(change: Change) -> Touched {
    Touched { path: change.path, kind: change.kind }
}

fn told(one: &PathOutcome) -> String {
    match &one.outcome {
        Outcome::Kept { because } => format!("{} ({because})", one.path),
        Outcome::Conflict { .. } => format!("{} (both changed the same lines)", one.path),
        other => format!("{} ({other:?})", one.path),
    }
}

/// A changed path in one line.
fn shown(change: &Change) -> String {
    let sign = match change.kind {
        ChangeKind::Added => '+',
        ChangeKind::Deleted => '-',
        ChangeKind::Modified | ChangeKind::ModeChanged | ChangeKind::TypeChanged => '~',
    };
    format!("{sign} {}", change.path)
}

/// What an attempt made and nobody can take over is never lost without a word.
fn left_out(found: &DeskChanges) -> Option<Reason> {
    let more = found.left_out.len().saturating_sub(NAMED_LEFT_OUT);
    let named = found.left_out.iter().take(NAMED_LEFT_OUT);
    let mut named: Vec<String> =
        named.map(|one| format!("{} ({})", one.path, why_left(one.reason))).collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let message = format!("cannot be taken over and stays behind: {}", named.join(", "));
    (!named.is_empty()).then(|| own_reason(Answer::Ask, LEFT_OUT, message))
}

fn why_left(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Ignored => "ignored",
        SkipReason::TooLarge => "too large",
        SkipReason::Unreadable => "unreadable",
        SkipReason::SpecialFile => "a pipe, socket or device",
        SkipReason::Unsettled => "kept changing",
        SkipReason::GitData => "the data of another repository",
    }
}

/// What leads out of the desk or into git's own data must not be taken over.
fn reason_of(violation: &Violation) -> Option<Reason> {
    if is_shared(violation) {
        return None;
    }
    let answer = match violation.severity {
        Severity::Info | Severity::Warning => return None,
        Severity::Error => Answer::Ask,
        Severity::Critical => Answer::Deny,
    };
    let file = violation.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
    Some(own_reason(answer, "workspace.escape", format!("{file}{}", violation.message)))
}

fn own_reason(answer: Answer, rule: &str, message: String) -> Reason {
    Reason {
        answer,
        operation: Operation::Scope,
        rule: rule.to_owned(),
        message,
        span: Span::default(),
        instead: None,
        origin: "built-in".to_owned(),
    }
}

#[cfg(test)]
mod tests;
