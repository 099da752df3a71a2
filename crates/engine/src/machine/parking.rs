//! Attempts that wait for a person: parked with their calls, and what closing or settling them leads to.

use aurora_gate::approval::options_for;
use aurora_model::{
    About, ApprovalState, Choice, Digest, Event, FrozenCall, GateKind, HowSettled, ParkedCall,
    QuestionId, RunOutcome, SkipWhy, TaskId,
};

use super::decide::{ask, busy, name_of, open_question, stale, unknown_task};
use super::{Command, Doing, Refused, State, TaskStatus, apply};

/// An attempt made calls that may not be made without a yes: each is asked about, and it waits.
pub(super) fn parked(state: &State, command: &Command) -> Result<Vec<Event>, Refused> {
    let Command::Parked { task, attempt, context, calls, cost, millis, base } = command else {
        return Err(stale("nothing is parked"));
    };
    busy(state, task, *attempt, Doing::Attempting)?;
    let first = state.questions.len() + 1;
    let named = |(at, call): (usize, &FrozenCall)| {
        let (call, question) = (call.call.clone(), name_of(state, first + at)?);
        Some(ParkedCall { call, question })
    };
    let mut events = vec![Event::TaskParked {
        task: task.clone(),
        attempt: *attempt,
        context: context.clone(),
        calls: calls.iter().enumerate().filter_map(named).collect(),
        cost: cost.clone(),
        millis: *millis,
        base: base.clone(),
    }];
    let mut next = state.clone();
    for call in calls {
        let needs_person = call.needs_person;
        let about = About::Operation { task: task.clone(), call: Box::new(call.clone()) };
        let asked = ask(&next, about, options_for(GateKind::Operation), needs_person);
        apply(&mut next, &asked);
        events.push(asked);
    }
    Ok(events)
}

/// A question was closed without an answer. That is nobody's no, and nothing is done without a yes.
pub(super) fn closed(
    state: &State,
    id: &QuestionId,
    how: ApprovalState,
    reason: &str,
) -> Result<Vec<Event>, Refused> {
    let asked = open_question(state, id)?;
    let without =
        [ApprovalState::TimedOut, ApprovalState::Cancelled, ApprovalState::Stale].contains(&how);
    if !without {
        let what = format!("{id} is not closed by being {}", how.name());
        return Err(Refused::Unsound { what });
    }
    let (question, reason) = (id.clone(), reason.to_owned());
    let closed = Event::QuestionClosed { question, how, reason: reason.clone() };
    let follows = match &asked.question.about {
        About::Preview => Some(Event::RunFinished { outcome: RunOutcome::Aborted }),
        About::Policy { task, .. } | About::Changes { task, .. } | About::Failure { task, .. } => {
            let why = SkipWhy::Unanswered { how, reason };
            Some(Event::TaskSkipped { task: task.clone(), why })
        }
        // The model is told, and goes on.
        About::Operation { .. } | About::Unknown { .. } => None,
    };
    Ok(std::iter::once(closed).chain(follows).collect())
}

/// A call has its result, or nobody can tell what became of it.
pub(super) fn settled(
    state: &State,
    id: &TaskId,
    question: &QuestionId,
    how: HowSettled,
    result: &Digest,
) -> Result<Vec<Event>, Refused> {
    let task = state.task(id).ok_or_else(|| unknown_task(id))?;
    let call = task.conversation.as_ref().and_then(|one| one.asked_by(question));
    let waits = matches!(task.status, TaskStatus::Parked { .. })
        && call.is_some_and(super::Call::is_to_settle);
    if !waits {
        return Err(stale(format!("no call of {id} waits for {question}")));
    }
    let said = said_about(state, question);
    if matches!(how, HowSettled::Executed | HowSettled::Failed) && said == Said::No {
        let what = format!("{question} was not answered with a yes, and its call was made");
        return Err(Refused::Unsound { what });
    }
    let (task, result) = (id.clone(), result.clone());
    let question = question.clone();
    let settled =
        Event::CallSettled { task: task.clone(), question: question.clone(), how, result };
    if how != HowSettled::Unknown || said != Said::MakeIt {
        return Ok(vec![settled]);
    }
    let title = state.call_of(&question).map_or("the call", |call| call.title.as_str());
    let what = format!("{title}: it was being done when it was cut off");
    let about = About::Unknown { task, question, what };
    Ok(vec![settled, ask(state, about, options_for(GateKind::Escalation), false)])
}

/// What the answer to a question says about its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It may be made, once.
    MakeIt,
    /// It was made, as far as the person knows.
    Made,
    /// It may not be made.
    No,
}

fn said_about(state: &State, question: &QuestionId) -> Said {
    let answer = state.question(question).and_then(|asked| asked.answer.as_ref());
    match answer.map(|(choice, _)| *choice) {
        Some(Choice::Allow | Choice::Retry) => Said::MakeIt,
        Some(Choice::Done) => Said::Made,
        _ => Said::No,
    }
}
