//! What an event changes.

use std::sync::Arc;

use aurora_model::{
    About, Answer, AttemptEnd, Brief, Choice, Cost, Event, Gaps, Planned, QuestionId, RunOutcome,
    SkipWhy, TaskId, TreeId,
};

use super::roll::Tags;
use super::state::LEFT_OUT;
use super::tags;
use super::{Asked, AttemptState, Conversation, Doing, Phase, State, TaskState, TaskStatus};
use crate::graph::Graph;

/// Changes the state as the event says. What does not fit the state changes nothing: a log that was
/// written by another version must never end the program that reads it.
pub fn apply(state: &mut State, event: &Event) {
    state.version += 1;
    match event {
        Event::RunStarted { brief } => {
            state.graph = Arc::new(Graph::of(brief.tasks.iter().map(|one| &one.task)));
            let waiting = |planned| waiting(planned, brief, state);
            state.tasks = brief.tasks.iter().map(waiting).collect();
            state.brief = Some(Arc::new(brief.clone()));
            state.phase = Phase::Open;
        }
        Event::QuestionAsked { question } => {
            let id = question.id.clone();
            match &question.about {
                About::Preview | About::Operation { .. } => {}
                About::Unknown { task, question, .. } => {
                    converse(state, task, |one| one.ask_about(question, id));
                }
                About::Policy { task, .. } => set(state, task, TaskStatus::Gated { question: id }),
                About::Changes { task, reasons, .. } => {
                    hold(state, task, id);
                    if reasons.iter().any(|reason| reason.rule == LEFT_OUT) {
                        let desk = state.task(task).and_then(TaskState::desk);
                        state.kept_desks.extend(desk);
                    }
                }
                About::Failure { task, error, .. } => {
                    let failed = TaskStatus::Failed { error: error.clone(), question: Some(id) };
                    set(state, task, failed);
                }
            }
            let question = question.clone();
            state.questions.push(Asked { question, answer: None, closed: None });
        }
        Event::QuestionAnswered { question, choice, answerer } => {
            let Some(place) = state.place_of_question(question) else { return };
            let answer = (*choice, answerer.clone());
            state.questions.change(place, |asked| asked.answer = Some(answer));
            let about = state.questions.get(place).map(|asked| asked.question.about.clone());
            if let Some(about) = about {
                answered(state, &about, *choice);
                decided(state, &about, question);
            }
        }
        Event::QuestionClosed { question, how, reason } => {
            let Some(place) = state.place_of_question(question) else { return };
            let closed = (*how, reason.clone());
            state.questions.change(place, |asked| asked.closed = Some(closed));
            let about = state.questions.get(place).map(|asked| asked.question.about.clone());
            if let Some(about) = about {
                decided(state, &about, question);
            }
        }
        Event::Noticed { what, .. } => state.noticed.extend_from_slice(what),
        Event::PlanWritten { path } => state.plan = Some(path.clone()),
        Event::RunInterrupted { by } => {
            state.phase = Phase::Interrupted;
            state.stopped_by = Some(by.clone());
        }
        Event::RunResumed {} => state.phase = Phase::Open,
        Event::RunFinished { outcome } => state.phase = Phase::Finished(*outcome),
        _ => apply_to_task(state, event),
    }
}

fn waiting(planned: &Planned, brief: &Brief, state: &State) -> TaskState {
    let on = &planned.task.depends_on;
    let unknown = on.iter().filter(|on| state.graph.place(on).is_none()).count();
    let mut task = TaskState {
        planned: Arc::new(planned.clone()),
        status: TaskStatus::Waiting,
        attempts: Vec::new(),
        failures: 0,
        model_only: false,
        touched: None,
        conversation: None,
        missing: u32::try_from(on.len()).unwrap_or(u32::MAX),
        lost: u32::try_from(unknown).unwrap_or(u32::MAX),
        tags: Tags::default(),
    };
    task.tags = tags::of(&task, Some(brief), state.gaps);
    task
}

fn set(state: &mut State, task: &TaskId, status: TaskStatus) {
    state.change(task, |task| task.status = status);
}

/// Changes what is known of a parked conversation.
fn converse(state: &mut State, task: &TaskId, how: impl FnOnce(&mut Conversation)) {
    state.change(task, |task| {
        if let Some(conversation) = &mut task.conversation {
            how(Arc::make_mut(conversation));
        }
    });
}

/// A call about which it was asked can have its result now.
fn decided(state: &mut State, about: &About, question: &QuestionId) {
    if let About::Operation { task, .. } | About::Unknown { task, .. } = about {
        converse(state, task, |one| one.decided(question));
    }
}

fn hold(state: &mut State, task: &TaskId, question: QuestionId) {
    state.change(task, |task| {
        if let TaskStatus::Busy { attempt, desk, .. } = task.status {
            task.status = TaskStatus::Held { attempt, desk, question };
        }
    });
}

/// What an answer changes by itself; what follows from it are events of their own.
fn answered(state: &mut State, about: &About, choice: Choice) {
    if *about == About::Preview {
        match choice {
            Choice::Fallback => state.fill_gaps(Gaps::Model),
            Choice::Abort => state.phase = Phase::Finished(RunOutcome::Aborted),
            _ => {}
        }
        return;
    }
    // What was said about a call changes nothing about its task.
    let of_task = !matches!(about, About::Operation { .. } | About::Unknown { .. });
    if let Some(id) = about.task().filter(|_| of_task) {
        state.change(id, |task| answered_about(task, choice));
    }
}

fn answered_about(task: &mut TaskState, choice: Choice) {
    match (choice, &task.status) {
        (Choice::Allow, TaskStatus::Gated { .. }) => task.status = TaskStatus::Cleared,
        (Choice::Allow, TaskStatus::Held { attempt, desk, .. }) => {
            let (attempt, desk) = (*attempt, *desk);
            task.status = TaskStatus::Busy { attempt, desk, doing: Doing::Adopting };
        }
        (Choice::Retry | Choice::Fallback, _) => {
            task.failures = 0;
            task.model_only = choice == Choice::Fallback;
            task.status = TaskStatus::Cleared;
        }
        (Choice::Abort, TaskStatus::Failed { error, .. }) => {
            // It is asked again when the run is resumed.
            task.status = TaskStatus::Failed { error: error.clone(), question: None };
        }
        (Choice::Abort, TaskStatus::Gated { .. }) => task.status = TaskStatus::Waiting,
        (Choice::Abort, TaskStatus::Held { attempt, desk, .. }) => {
            let (attempt, desk) = (*attempt, *desk);
            task.status = TaskStatus::Busy { attempt, desk, doing: Doing::Checking };
        }
        _ => {}
    }
}

fn apply_to_task(state: &mut State, event: &Event) {
    match event {
        Event::TaskJudged { task, decision: Answer::Allow, .. } => {
            set(state, task, TaskStatus::Cleared);
        }
        Event::AttemptStarted { task, attempt, route, desk } => state.change(task, |task| {
            task.attempts.push(AttemptState {
                number: *attempt,
                route: route.clone(),
                ended: None,
                cost: aurora_model::Cost::default(),
                millis: 0,
                base: None,
                result: None,
            });
            let doing = Doing::Attempting;
            task.status = TaskStatus::Busy { attempt: *attempt, desk: *desk, doing };
        }),
        Event::AttemptEnded { task, attempt, end, cost, millis, base, .. } => {
            state.change(task, |task| {
                worked(task, *attempt, cost, *millis, base.as_ref());
                ended(task, *attempt, end);
            });
        }
        Event::ChangesJudged { task, attempt, decision, files, lines, result, .. } => {
            state.change(task, |task| {
                task.touched = Some((*files, *lines));
                if let Some(one) = task.attempts.iter_mut().find(|one| one.number == *attempt) {
                    one.result.clone_from(result);
                }
                if let TaskStatus::Busy { attempt, desk, .. } = task.status
                    && *decision == Answer::Allow
                {
                    task.status = TaskStatus::Busy { attempt, desk, doing: Doing::Adopting };
                }
            });
        }
        Event::AdoptionFailed { task, attempt, error, .. } => state.change(task, |task| {
            if let Some(one) = task.attempts.iter_mut().find(|one| one.number == *attempt) {
                one.ended = Some(Err(error.clone()));
            }
            task.failures = task.failures.saturating_add(1);
            task.status = TaskStatus::Cleared;
        }),
        Event::TaskCompleted { task, route, summary, checkpoint, .. } => {
            let (route, summary) = (route.clone(), summary.clone());
            let checkpoint = checkpoint.clone();
            set(state, task, TaskStatus::Completed { route, summary, checkpoint });
        }
        Event::TaskFailed { task, error } => {
            set(state, task, TaskStatus::Failed { error: error.clone(), question: None });
        }
        Event::TaskSkipped { task, why } => {
            set(state, task, TaskStatus::Skipped { why: why.clone() });
        }
        Event::TaskDenied { task, reasons } => {
            let because = reasons.first().map_or_else(String::new, |one| one.message.clone());
            set(state, task, TaskStatus::Denied { because });
        }
        _ => apply_to_parked(state, event),
    }
}

fn apply_to_parked(state: &mut State, event: &Event) {
    match event {
        Event::TaskParked { task, attempt, context, calls, cost, millis, base } => {
            state.change(task, |task| {
                let TaskStatus::Busy { attempt: now, desk, doing: Doing::Attempting } = task.status
                else {
                    return;
                };
                if now == *attempt {
                    worked(task, now, cost, *millis, base.as_ref());
                    let parked = Conversation::new(now, context.clone(), calls);
                    task.conversation = Some(Arc::new(parked));
                    task.status = TaskStatus::Parked { attempt: now, desk };
                }
            });
        }
        Event::CallSettled { task, question, how, result } => {
            converse(state, task, |one| one.settled(question, *how, result));
        }
        Event::TaskUnparked { task, attempt } => state.change(task, |task| {
            if let TaskStatus::Parked { attempt: parked, desk } = task.status
                && parked == *attempt
            {
                task.status = TaskStatus::Busy { attempt: parked, desk, doing: Doing::Attempting };
            }
        }),
        _ => {}
    }
}

/// Adds what a part of an attempt came to. An attempt that was parked has several.
fn worked(task: &mut TaskState, number: u32, cost: &Cost, millis: u64, base: Option<&TreeId>) {
    let is_first = task.conversation.as_ref().is_none_or(|one| one.attempt != number);
    if let Some(one) = task.attempts.iter_mut().find(|one| one.number == number) {
        one.cost = if is_first { cost.clone() } else { one.cost.plus(cost) };
        one.millis = if is_first { millis } else { one.millis.saturating_add(millis) };
        one.base = base.cloned().or_else(|| one.base.take());
    }
}

fn ended(task: &mut TaskState, number: u32, end: &AttemptEnd) {
    let TaskStatus::Busy { attempt, desk, doing: Doing::Attempting } = task.status else { return };
    if attempt != number {
        return;
    }
    // What was parked and went on goes on again from there: what was done for it is not done twice.
    let parked = task.conversation.as_ref().is_some_and(|one| one.attempt == number);
    if parked && *end == (AttemptEnd::Interrupted {}) {
        task.status = TaskStatus::Parked { attempt, desk };
        return;
    }
    task.conversation = None;
    let result = match end {
        AttemptEnd::Succeeded { summary } => Ok(summary.clone()),
        AttemptEnd::Failed { error } | AttemptEnd::OverBudget { error } => Err(error.clone()),
        AttemptEnd::TimedOut { seconds } => Err(format!("timeout after {seconds}s")),
        AttemptEnd::Interrupted {} => Err("interrupted".to_owned()),
    };
    task.status = match end {
        AttemptEnd::Succeeded { .. } => TaskStatus::Busy { attempt, desk, doing: Doing::Checking },
        AttemptEnd::Interrupted {} => TaskStatus::Cleared,
        // Neither another attempt nor the model would cost less.
        AttemptEnd::OverBudget { .. } => {
            task.failures = u32::MAX;
            TaskStatus::Cleared
        }
        _ => {
            task.failures = task.failures.saturating_add(1);
            TaskStatus::Cleared
        }
    };
    if let Some(one) = task.attempts.iter_mut().find(|one| one.number == number) {
        one.ended = Some(result);
    }
}

/// Why a task that was done before the run began is left out.
pub(super) const DONE: SkipWhy = SkipWhy::Done {};
