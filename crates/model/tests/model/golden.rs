//! One stored example of every event. They are never changed: what was written by an old version
//! must be read by every later one.

use aurora_model::{
    About, ApprovalState, Assignment, AttemptEnd, Choice, Event, HowSettled, Route, RunOutcome,
    SkipWhy,
};

use crate::stored::{examples, missing, same_again};

variants! {
    event: Event {
        Event::RunStarted { .. } => "run_started",
        Event::QuestionAsked { .. } => "question_asked",
        Event::QuestionAnswered { .. } => "question_answered",
        Event::TaskJudged { .. } => "task_judged",
        Event::AttemptStarted { .. } => "attempt_started",
        Event::AttemptEnded { .. } => "attempt_ended",
        Event::ChangesJudged { .. } => "changes_judged",
        Event::AdoptionFailed { .. } => "adoption_failed",
        Event::TaskCompleted { .. } => "task_completed",
        Event::TaskFailed { .. } => "task_failed",
        Event::TaskSkipped { .. } => "task_skipped",
        Event::TaskDenied { .. } => "task_denied",
        Event::PlanWritten { .. } => "plan_written",
        Event::Noticed { .. } => "noticed",
        Event::QuestionClosed { .. } => "question_closed",
        Event::TaskParked { .. } => "task_parked",
        Event::CallSettled { .. } => "call_settled",
        Event::TaskUnparked { .. } => "task_unparked",
        Event::RunInterrupted { .. } => "run_interrupted",
        Event::RunResumed { .. } => "run_resumed",
        Event::RunFinished { .. } => "run_finished",
    }
    end: AttemptEnd {
        AttemptEnd::Succeeded { .. } => "end succeeded",
        AttemptEnd::Failed { .. } => "end failed",
        AttemptEnd::TimedOut { .. } => "end timed_out",
        AttemptEnd::OverBudget { .. } => "end over_budget",
        AttemptEnd::Interrupted { .. } => "end interrupted",
    }
    skip: SkipWhy {
        SkipWhy::Answered { .. } => "skip answered",
        SkipWhy::Dependency { .. } => "skip dependency",
        SkipWhy::Done { .. } => "skip done",
        SkipWhy::Unanswered { .. } => "skip unanswered",
    }
    outcome: RunOutcome {
        RunOutcome::Completed => "outcome completed",
        RunOutcome::Partial => "outcome partial",
        RunOutcome::Aborted => "outcome aborted",
    }
    route: Route {
        Route::Agent { .. } => "route agent",
        Route::AdHoc { .. } => "route ad_hoc",
        Route::Model => "route model",
    }
    assignment: Assignment {
        Assignment::Agent { .. } => "assignment agent",
        Assignment::Gap { .. } => "assignment gap",
    }
    about: About {
        About::Preview => "about preview",
        About::Policy { .. } => "about policy",
        About::Changes { .. } => "about changes",
        About::Failure { .. } => "about failure",
        About::Operation { .. } => "about operation",
        About::Unknown { .. } => "about unknown",
    }
    choice: Choice {
        Choice::Proceed => "choice proceed",
        Choice::Fallback => "choice fallback",
        Choice::Allow => "choice allow",
        Choice::Retry => "choice retry",
        Choice::Skip => "choice skip",
        Choice::Abort => "choice abort",
        Choice::Deny => "choice deny",
        Choice::RequestChanges => "choice request_changes",
        Choice::Pause => "choice pause",
        Choice::Done => "choice done",
    }
    settled: HowSettled {
        HowSettled::Executed => "settled executed",
        HowSettled::Failed => "settled failed",
        HowSettled::Refused => "settled refused",
        HowSettled::TimedOut => "settled timed_out",
        HowSettled::Stale => "settled stale",
        HowSettled::Unknown => "settled unknown",
    }
}

/// How a question can be closed without an answer.
const CLOSED: &[&str] = &["closed timed_out", "closed cancelled", "closed stale"];

fn closed(how: ApprovalState) -> &'static str {
    let word = format!("closed {}", how.name());
    CLOSED.iter().find(|one| **one == word).unwrap()
}

/// Everything that an event is an example of.
fn shown(event: &Event) -> Vec<&'static str> {
    let mut shown = vec![event::of(event)];
    match event {
        Event::RunStarted { brief } => {
            shown.extend(brief.tasks.iter().map(|task| assignment::of(&task.assignment)));
        }
        Event::QuestionAsked { question } => {
            shown.push(about::of(&question.about));
            shown.extend(question.options.iter().map(choice::of));
        }
        Event::QuestionAnswered { choice, .. } => shown.push(choice::of(choice)),
        Event::QuestionClosed { how, .. } => shown.push(closed(*how)),
        Event::CallSettled { how, .. } => shown.push(settled::of(how)),
        Event::AttemptStarted { route, .. } => shown.push(route::of(route)),
        Event::AttemptEnded { end, .. } => shown.push(end::of(end)),
        Event::TaskSkipped { why, .. } => shown.push(skip::of(why)),
        Event::RunFinished { outcome } => shown.push(outcome::of(outcome)),
        _ => {}
    }
    shown
}

// OBS-1: events are versioned and readable for ever.
#[test]
fn every_stored_event_is_read_and_written_back_the_same() {
    for (name, text) in examples("events") {
        let event: Event = same_again(&name, &text);
        assert!(name.starts_with(event::of(&event)), "{name}");
    }
}

#[test]
fn there_is_a_stored_example_of_every_variant() {
    let all = [
        event::ALL,
        end::ALL,
        skip::ALL,
        outcome::ALL,
        route::ALL,
        assignment::ALL,
        about::ALL,
        choice::ALL,
        settled::ALL,
        CLOSED,
    ];
    let missing = missing("events", &all, shown);
    assert!(missing.is_empty(), "no stored example of {missing:?}");
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    for text in [
        r#"{"type":"task_judged","task":"sg-1","decision":"allow"}"#,
        r#"{"type":"attempt_ended","task":"sg-1","attempt":1,"end":{"how":"succeeded"},"millis":1}"#,
        r#"{"type":"task_completed","task":"sg-1","attempt":1,"route":{"by":"model"}}"#,
        r#"{"type":"adoption_failed","task":"sg-1","attempt":1,"error":"x"}"#,
        r#"{"type":"task_parked","task":"sg-1","attempt":1,"context":"00","calls":[],"millis":1}"#,
        // A field of a later version is not known here, and does not keep the rest from being read.
        r#"{"type":"run_resumed","by":"somebody of a later version"}"#,
    ] {
        serde_json::from_str::<Event>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}
