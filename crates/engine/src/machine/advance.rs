//! What follows by itself from a state: what may begin, begins; what is hopeless, is left out; what
//! needs a person, is asked.

use std::collections::BTreeSet;

use aurora_model::{
    About, Answerer, Assignment, Choice, Event, Question, Route, RunOutcome, SkipWhy, TaskId,
};

use super::decide::{answer_events, ask};
use super::tags::{
    AGAIN, AT_A_DESK, BUSY, DONE, FAILURE, FOR_ANYBODY, HOPELESS, NEW, OVER, PREVIEW, STUCK,
    TO_GO_ON, UNASKED,
};
use super::{AttemptState, Phase, State, TaskState, TaskStatus};

/// The next events that follow without anybody saying anything; none when the run waits.
pub(super) fn advance(state: &State) -> Vec<Event> {
    if state.phase != Phase::Open {
        return Vec::new();
    }
    if state.is_plan_only() {
        return answer_by_flag(state);
    }
    let steps = [answer_by_flag, leave_out, fail, ask_about_failure, begin, finish];
    steps.into_iter().map(|step| step(state)).find(|events| !events.is_empty()).unwrap_or_default()
}

/// `--yes` answers in the person's place, and the log says so.
fn answer_by_flag(state: &State) -> Vec<Event> {
    let settings = state.brief.as_ref().map(|brief| &brief.settings);
    let Some(settings) = settings.filter(|settings| settings.yes) else { return Vec::new() };
    let Some(asked) = state.questions.first(FOR_ANYBODY) else { return Vec::new() };
    let (choice, answerer) = answer_unasked(&asked.question, settings.ungated);
    answer_events(asked, choice, &answerer)
}

/// What is answered in the person's place, by `--yes` or because gates are switched off in the
/// environment; the log tells the two apart.
#[must_use]
pub fn answer_unasked(question: &Question, ungated: bool) -> (Choice, Answerer) {
    let (choice, answerer) = answer_by_yes(question);
    let by_environment = || Answerer {
        by: "APPROVAL_GATES=false".to_owned(),
        surface: "environment".to_owned(),
        reason: None,
    };
    (choice, if ungated { by_environment() } else { answerer })
}

/// What `--yes` answers to a question in the person's place: whatever goes on. Nobody but a person
/// can know what became of a call, so that such a call is left as it is.
#[must_use]
pub fn answer_by_yes(question: &Question) -> (Choice, Answerer) {
    let choice = match question.about {
        About::Preview => Choice::Proceed,
        About::Policy { .. } | About::Changes { .. } | About::Operation { .. } => Choice::Allow,
        About::Failure { .. } | About::Unknown { .. } => Choice::Skip,
    };
    (choice, Answerer { by: "--yes".to_owned(), surface: "flag".to_owned(), reason: None })
}

/// Whatever depends on something that will not be done is not done either.
fn leave_out(state: &State) -> Vec<Event> {
    let lost = |on: &&TaskId| state.task(on).is_none_or(|on| on.is_over() && !on.is_done());
    let found = state.tasks.tagged(HOPELESS).find_map(|task| {
        let on = task.planned.task.depends_on.iter().find(lost)?;
        Some(Event::TaskSkipped {
            task: task.id().clone(),
            why: SkipWhy::Dependency { on: on.clone() },
        })
    });
    found.into_iter().collect()
}

/// A task that may begin and has no way left has failed.
fn fail(state: &State) -> Vec<Event> {
    let Some(task) = state.tasks.first(STUCK) else { return Vec::new() };
    vec![Event::TaskFailed { task: task.id().clone(), error: why_failed(state, task) }]
}

fn why_failed(state: &State, task: &TaskState) -> String {
    if task.model_only && !state.brief.as_ref().is_some_and(|brief| brief.settings.model) {
        return "no model is configured".to_owned();
    }
    let most = state.brief.as_ref().map_or(1, |brief| brief.settings.max_attempts.max(1));
    let failed = |one: &&AttemptState| matches!(&one.ended, Some(Err(_)));
    let Some(last) = task.attempts.iter().rev().find(failed) else {
        return match &task.planned.assignment {
            Assignment::Gap { role, .. } => {
                format!("there is no agent {role}, and no model is configured")
            }
            Assignment::Agent { .. } => "no model is configured".to_owned(),
        };
    };
    let error = last.ended.as_ref().and_then(|ended| ended.as_ref().err());
    let error = error.map_or("failed", String::as_str);
    match &last.route {
        Route::Model => format!("the model: {error}"),
        Route::Agent { .. } | Route::AdHoc { .. } if task.failures > most => error.to_owned(),
        Route::Agent { agent } | Route::AdHoc { agent, .. } => {
            format!("{agent}: {error} (attempt {}/{most})", task.failures)
        }
    }
}

/// One failure at a time is put to a person, and not before what is running has ended.
fn ask_about_failure(state: &State) -> Vec<Event> {
    let asked = state.questions.count(PREVIEW.and(FAILURE)) > 0;
    // What was begun and may begin again comes first.
    if asked || state.tasks.count(BUSY.and(AGAIN).and(TO_GO_ON)) > 0 {
        return Vec::new();
    }
    let failed = state.tasks.tagged(UNASKED).find_map(|task| match &task.status {
        TaskStatus::Failed { error, question: None } => Some((task.id(), error)),
        _ => None,
    });
    let Some((task, error)) = failed else { return Vec::new() };
    let about = About::Failure {
        task: task.clone(),
        error: error.clone(),
        dependents: state.dependents(task),
    };
    let options = [Choice::Retry, Choice::Skip, Choice::Fallback, Choice::Abort];
    vec![ask(state, about, &options, false)]
}

/// The next task that may begin, where there is room for it.
fn begin(state: &State) -> Vec<Event> {
    if state.is_previewing() || state.tasks.count(BUSY) >= state.most_at_once() {
        return Vec::new();
    }
    // What was parked was begun before everything else.
    if let Some(event) = state.tasks.first(TO_GO_ON).and_then(unparked) {
        return vec![event];
    }
    // After a failure nothing begins that was not begun before.
    let may = if state.has_failure() { AGAIN } else { NEW.and(AGAIN) };
    let at_desks: Vec<&TaskState> = state.tasks.tagged(AT_A_DESK).collect();
    let free = |task: &&TaskState| {
        task.missing == 0 && !at_desks.iter().any(|other| in_the_way(task, other))
    };
    let mut free = state.tasks.tagged(may).filter(free);
    let next = free.find_map(|task| Some((task, state.next_route(task)?)));
    let Some((task, route)) = next else { return Vec::new() };
    let taken: BTreeSet<u32> = at_desks.iter().filter_map(|task| task.desk()).collect();
    let kept = &state.kept_desks;
    let desk = (1..).find(|desk| !taken.contains(desk) && !kept.contains(desk)).unwrap_or(1);
    let attempt = u32::try_from(task.attempts.len()).unwrap_or(u32::MAX).saturating_add(1);
    vec![Event::AttemptStarted { task: task.id().clone(), attempt, route, desk }]
}

fn unparked(task: &TaskState) -> Option<Event> {
    let TaskStatus::Parked { attempt, .. } = task.status else { return None };
    Some(Event::TaskUnparked { task: task.id().clone(), attempt })
}

/// Whether a task is expected to touch the same files as one whose work is at a desk.
fn in_the_way(task: &TaskState, other: &TaskState) -> bool {
    let apart = |one: &TaskState, other: &TaskState| one.planned.apart_from.contains(other.id());
    apart(task, other) || apart(other, task)
}

/// Nothing is left to do.
fn finish(state: &State) -> Vec<Event> {
    let all = state.tasks.len();
    if state.tasks.count(OVER) != all {
        return Vec::new();
    }
    let whole = state.tasks.count(DONE) == all;
    let outcome = if whole { RunOutcome::Completed } else { RunOutcome::Partial };
    vec![Event::RunFinished { outcome }]
}
