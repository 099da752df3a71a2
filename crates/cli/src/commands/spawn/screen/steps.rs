//! One line for each thing that happens.

use aurora_engine::driver::Told;
use aurora_engine::machine::State;
use aurora_model::{
    About, Answerer, AttemptEnd, Choice, Event, HowSettled, QuestionId, SkipWhy, TaskId,
};

use super::super::view::{self, first_line};
use crate::output::changes::count;
use crate::output::panel::{Canvas, Sign};
use crate::output::progress_panel::{self, Happened, Step};
use crate::wiring::gates;

/// The line that tells an event; nothing where there is nothing to tell.
pub fn line(canvas: Canvas, told: &Told, state: &State, panel: bool) -> Option<String> {
    let step = |what: Happened, task: &TaskId, facts: Vec<String>| {
        let title = state.task(task).map(|task| task.planned.task.title.clone());
        let of = view::done_of(state);
        let title = title.unwrap_or_default();
        Some(progress_panel::line(canvas, &Step { what, id: task.to_string(), title, of, facts }))
    };
    match &told.event {
        // A panel shows what is running.
        Event::AttemptStarted { .. } if panel => None,
        Event::AttemptStarted { task, route, attempt, .. } => {
            let again = (*attempt > 1).then(|| format!("attempt {attempt}"));
            let facts = [Some(view::worker(route)), again];
            step(Happened::Started, task, facts.into_iter().flatten().collect())
        }
        Event::AttemptEnded { task, end, .. } => {
            let why = match end {
                AttemptEnd::Failed { error } | AttemptEnd::OverBudget { error } => error.clone(),
                AttemptEnd::TimedOut { seconds } => format!("timeout after {seconds}s"),
                AttemptEnd::Succeeded { .. } | AttemptEnd::Interrupted {} => return None,
            };
            let again = state.task(task).is_some_and(aurora_engine::machine::TaskState::is_busy);
            again.then(|| step(Happened::Retried, task, vec![first_line(&why)])).flatten()
        }
        Event::AdoptionFailed { task, error, .. } => {
            step(Happened::Retried, task, vec![first_line(error)])
        }
        Event::TaskCompleted { task, route, checkpoint, changed, .. } => {
            let mut facts = vec![view::worker(route)];
            if route.is_fallback() {
                facts.push("fallback".to_owned());
            }
            if let Some(last) = state.task(task).and_then(|task| task.attempts.last()) {
                facts.push(progress_panel::seconds(last.millis / 1000));
            }
            facts.push(count(changed.len(), "file"));
            facts.extend(checkpoint.iter().map(ToString::to_string));
            step(Happened::Completed, task, facts)
        }
        Event::TaskFailed { task, error } => step(Happened::Failed, task, vec![first_line(error)]),
        // What was ticked before is no news.
        Event::TaskSkipped { why: SkipWhy::Done {}, .. } => None,
        Event::TaskSkipped { task, why } => {
            step(Happened::Skipped, task, vec![first_line(&view::skipped_why(why))])
        }
        Event::TaskDenied { task, reasons } => {
            let facts = reasons.iter().map(|reason| format!("{}: {}", reason.rule, reason.message));
            step(Happened::Denied, task, facts.collect())
        }
        Event::QuestionAsked { question } => {
            let (task, facts) = asked(&question.about)?;
            step(Happened::Parked, task, facts)
        }
        Event::QuestionAnswered { question, choice, answerer } => {
            answered(canvas, question, *choice, answerer)
        }
        Event::QuestionClosed { question, how, reason } => {
            let (how, why) = (how.name().replace('_', " "), canvas.safe(reason));
            Some(format!("{question} is closed: {how}: {why}"))
        }
        Event::CallSettled { task, question, how, .. } => {
            let title = state.call_of(question).map(|call| call.title.clone());
            let fact = format!("{}: {}", settled(*how), title.unwrap_or_default());
            step(Happened::Settled, task, vec![first_line(&fact)])
        }
        Event::RunInterrupted { by } => {
            Some(format!("stopping ({}) {}", canvas.safe(by), canvas.sign(Sign::More)))
        }
        Event::Noticed { what, .. } => {
            let what: Vec<_> = what.iter().map(|what| canvas.safe(what)).collect();
            Some(format!("warning: look at this before you use git here: {}", what.join("; ")))
        }
        _ => None,
    }
}

/// What came of a call.
const fn settled(how: HowSettled) -> &'static str {
    match how {
        HowSettled::Executed => "done",
        HowSettled::Failed => "done, and failed",
        HowSettled::Refused => "not done, since a person said no",
        HowSettled::TimedOut => "not done, since nobody decided in time",
        HowSettled::Stale => "not done, since it is not what it was",
        HowSettled::Unknown => "nobody can tell whether it was done",
    }
}

/// The task that must wait for an answer, and why.
fn asked(about: &About) -> Option<(&TaskId, Vec<String>)> {
    match about {
        About::Policy { task, reasons } | About::Changes { task, reasons, .. } => {
            Some((task, reasons.iter().map(|reason| reason.message.clone()).collect()))
        }
        About::Operation { task, call } => Some((task, vec![call.title.clone()])),
        About::Unknown { task, what, .. } => Some((task, vec![what.clone()])),
        About::Preview | About::Failure { .. } => None,
    }
}

/// Who answered from elsewhere; that nobody was asked is said each time.
fn answered(
    canvas: Canvas,
    question: &QuestionId,
    choice: Choice,
    answerer: &Answerer,
) -> Option<String> {
    if let Some(warning) = gates::warning(choice, answerer) {
        return Some(format!("warning: {} ({question})", canvas.safe(&warning)));
    }
    if matches!(answerer.surface.as_str(), "terminal" | "flag") {
        return None;
    }
    let (by, surface) = (canvas.safe(&answerer.by), canvas.safe(&answerer.surface));
    Some(format!("{question} was answered: {}, by {by} ({surface})", choice.name()))
}
