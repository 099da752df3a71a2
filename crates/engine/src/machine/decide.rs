//! What a command leads to, in a given state.

use std::collections::BTreeSet;

use aurora_model::{
    About, Answer, Answerer, AttemptEnd, Brief, Choice, Event, Question, QuestionId, Reason,
    SkipWhy, TaskId,
};

use super::advance::advance;
use super::apply::DONE;
use super::parking::{closed, parked, settled};
use super::tags::BUSY;
use super::{Asked, Command, Doing, Phase, Refused, State, TaskState, TaskStatus, apply};
use crate::graph::Graph;

/// What a command leads to: the events, with everything that follows from them, in order.
///
/// # Errors
/// When the command does not fit the state; nothing happens then.
pub fn decide(state: &State, command: &Command) -> Result<Vec<Event>, Refused> {
    decide_with(state, command, &|_, _| false)
}

/// The same, where somebody else says of each question that is asked whether it is for people only.
///
/// # Errors
/// When the command does not fit the state; nothing happens then.
pub fn decide_with(
    state: &State,
    command: &Command,
    for_people: &dyn Fn(&Question, &State) -> bool,
) -> Result<Vec<Event>, Refused> {
    let mut next = state.clone();
    let mut events = Vec::new();
    let mut follow = said(state, command)?;
    loop {
        for mut event in follow {
            if let Event::QuestionAsked { question } = &mut event {
                question.needs_person = question.needs_person || for_people(question, &next);
            }
            apply(&mut next, &event);
            events.push(event);
        }
        follow = advance(&next);
        if follow.is_empty() {
            return Ok(events);
        }
    }
}

/// What a command itself leads to.
fn said(state: &State, command: &Command) -> Result<Vec<Event>, Refused> {
    if is_report(command) {
        // What is finished stays as it is, whoever is still at work.
        expect_begun(state)?;
    }
    let events = match command {
        Command::Start(brief) => start(state, brief)?,
        Command::Answer { question, choice, answerer } => {
            answer(state, question, *choice, answerer)?
        }
        Command::Judged { task, decision, reasons, needs_person } => {
            judged(state, task, *decision, reasons, *needs_person)?
        }
        Command::AttemptOver { task, attempt, end, cost, millis, transcript, base, noticed } => {
            busy(state, task, *attempt, Doing::Attempting)?;
            let ended = Event::AttemptEnded {
                task: task.clone(),
                attempt: *attempt,
                end: end.clone(),
                cost: cost.clone(),
                millis: *millis,
                transcript: transcript.clone(),
                base: base.clone(),
            };
            std::iter::once(ended).chain(news(state, task, *attempt, noticed)).collect()
        }
        Command::ChangesJudged { .. } => changes_judged(state, command)?,
        Command::Adopted { .. } => adopted(state, command)?,
        Command::NotAdopted { task, attempt, error, conflicts } => {
            // What cannot even be looked at cannot be taken over either.
            busy(state, task, *attempt, Doing::Checking)
                .or_else(|_| busy(state, task, *attempt, Doing::Adopting))?;
            vec![Event::AdoptionFailed {
                task: task.clone(),
                attempt: *attempt,
                error: error.clone(),
                conflicts: conflicts.clone(),
            }]
        }
        Command::Closed { question, how, reason } => closed(state, question, *how, reason)?,
        Command::Parked { .. } => parked(state, command)?,
        Command::Settled { task, question, how, result } => {
            settled(state, task, question, *how, result)?
        }
        Command::PlanWritten { path } => plan_written(state, path)?,
        Command::Interrupt { by } => {
            expect_open(state)?;
            vec![Event::RunInterrupted { by: by.clone() }]
        }
        Command::Abandon => {
            expect_begun(state)?;
            vec![Event::RunFinished { outcome: aurora_model::RunOutcome::Aborted }]
        }
        Command::Resume => resume(state)?,
    };
    Ok(events)
}

fn adopted(state: &State, command: &Command) -> Result<Vec<Event>, Refused> {
    let Command::Adopted { task, attempt, checkpoint, changed, noticed } = command else {
        return Err(stale("nothing is taken over"));
    };
    let (task_state, summary) = adopting(state, task, *attempt)?;
    let route = task_state.attempts.iter().find(|one| one.number == *attempt);
    let route = route.map(|one| one.route.clone());
    let completed = Event::TaskCompleted {
        task: task.clone(),
        attempt: *attempt,
        route: route.ok_or_else(|| unknown_task(task))?,
        summary,
        checkpoint: checkpoint.clone(),
        changed: changed.clone(),
    };
    Ok(news(state, task, *attempt, noticed).into_iter().chain([completed]).collect())
}

/// What was noticed and not told before.
fn news(state: &State, task: &TaskId, attempt: u32, noticed: &[String]) -> Option<Event> {
    let is_new = |what: &&String| !state.noticed.contains(what);
    let what: Vec<String> = noticed.iter().filter(is_new).cloned().collect();
    let (task, attempt) = (Some(task.clone()), Some(attempt));
    (!what.is_empty()).then_some(Event::Noticed { task, attempt, what })
}

pub(super) fn stale(what: impl Into<String>) -> Refused {
    Refused::Stale { what: what.into() }
}

pub(super) fn unknown_task(task: &TaskId) -> Refused {
    Refused::Unknown { what: format!("there is no task {task} in this run") }
}

fn expect_open(state: &State) -> Result<(), Refused> {
    match state.phase {
        Phase::Open => Ok(()),
        Phase::New => Err(stale("the run has not begun")),
        Phase::Interrupted => Err(stale("the run is stopped")),
        Phase::Finished(_) => Err(stale("the run is finished")),
    }
}

fn plan_written(state: &State, path: &str) -> Result<Vec<Event>, Refused> {
    expect_open(state)?;
    if !state.is_plan_only() || state.is_previewing() {
        return Err(stale("no plan is to be written now"));
    }
    let written = Event::PlanWritten { path: path.to_owned() };
    Ok(vec![written, Event::RunFinished { outcome: aurora_model::RunOutcome::Completed }])
}

/// Whether the command tells what came of something that was performed.
fn is_report(command: &Command) -> bool {
    match command {
        Command::Judged { .. }
        | Command::AttemptOver { .. }
        | Command::ChangesJudged { .. }
        | Command::Adopted { .. }
        | Command::NotAdopted { .. }
        | Command::Parked { .. }
        | Command::Settled { .. }
        | Command::PlanWritten { .. } => true,
        Command::Start(_)
        | Command::Answer { .. }
        | Command::Closed { .. }
        | Command::Interrupt { .. }
        | Command::Abandon
        | Command::Resume => false,
    }
}

/// What was going on when a run was stopped may still be told.
fn expect_begun(state: &State) -> Result<(), Refused> {
    match state.phase {
        Phase::Open | Phase::Interrupted => Ok(()),
        Phase::New => Err(stale("the run has not begun")),
        Phase::Finished(_) => Err(stale("the run is finished")),
    }
}

fn start(state: &State, brief: &Brief) -> Result<Vec<Event>, Refused> {
    if state.phase != Phase::New {
        return Err(stale("the run has begun before"));
    }
    let unsound = |what: String| Err(Refused::Unsound { what });
    let ids: BTreeSet<&TaskId> = brief.tasks.iter().map(|one| &one.task.id).collect();
    if ids.is_empty() || ids.len() != brief.tasks.len() {
        return unsound("a run needs tasks, each with a name of its own".to_owned());
    }
    for one in &brief.tasks {
        if let Some(on) = one.task.depends_on.iter().find(|on| !ids.contains(on)) {
            return unsound(format!("{} depends on {on}, which is not there", one.task.id));
        }
    }
    let circles = Graph::of(brief.tasks.iter().map(|one| &one.task)).cycles();
    if let Some(id) = circles.first().and_then(|circle| circle.first()) {
        return unsound(format!("{id} depends on itself, by way of others"));
    }
    let mut events = vec![Event::RunStarted { brief: brief.clone() }];
    for one in brief.tasks.iter().filter(|one| one.task.done) {
        events.push(Event::TaskSkipped { task: one.task.id.clone(), why: DONE });
    }
    // `--yes` answers this one, too, so that the log says who let the run begin.
    if brief.tasks.iter().any(|one| !one.task.done) {
        let mut next = State::default();
        events.iter().for_each(|event| apply(&mut next, event));
        let options = [Choice::Proceed, Choice::Fallback, Choice::Abort];
        events.push(ask(&next, About::Preview, &options, false));
    }
    Ok(events)
}

/// The event of asking, with the next free name. Nobody is offered a model that is not there.
pub(super) fn ask(state: &State, about: About, options: &[Choice], needs_person: bool) -> Event {
    let settings = state.brief.as_ref().map(|brief| &brief.settings);
    let model = settings.is_some_and(|settings| settings.model);
    let there = |choice: &&Choice| model || **choice != Choice::Fallback;
    let options = options.iter().filter(there).copied().collect();
    let gate = state.gate_of(&about);
    let people_only = settings.is_some_and(|settings| settings.people_only.contains(&gate));
    let needs_person = needs_person || people_only;
    let id = name_of(state, state.questions.len() + 1);
    let question = id.map(|id| Question { id, about, options, needs_person });
    question.map_or(Event::RunInterrupted { by: "a question without a name".to_owned() }, |one| {
        Event::QuestionAsked { question: one }
    })
}

/// The name of the question with this number, counted from 1.
pub(super) fn name_of(state: &State, number: usize) -> Option<QuestionId> {
    let run = state.brief.as_ref().map_or("run", |brief| brief.run.as_str());
    // INVARIANT: a letter and a number are always a name.
    QuestionId::parse(&format!("{run}.q{number}"))
        .or_else(|| QuestionId::parse(&format!("q{number}")))
}

/// The question, when it waits for an answer.
pub(super) fn open_question<'a>(state: &'a State, id: &QuestionId) -> Result<&'a Asked, Refused> {
    let Some(asked) = state.question(id) else {
        return Err(Refused::Unknown { what: format!("nobody asked {id}") });
    };
    if let Some((choice, by)) = &asked.answer {
        let (choice, by) = (choice.name(), by.by.clone());
        return Err(Refused::Answered { question: id.clone(), choice, by });
    }
    if let Some((how, reason)) = &asked.closed {
        return Err(stale(format!("{id} is closed ({}): {reason}", how.name())));
    }
    if let Phase::Finished(_) = state.phase {
        return Err(stale("the run is finished"));
    }
    Ok(asked)
}

fn answer(
    state: &State,
    id: &QuestionId,
    choice: Choice,
    answerer: &Answerer,
) -> Result<Vec<Event>, Refused> {
    let asked = open_question(state, id)?;
    if !asked.question.options.contains(&choice) {
        let options: Vec<&str> = asked.question.options.iter().map(|one| one.name()).collect();
        let (question, options) = (id.clone(), options.join(", "));
        return Err(Refused::NoSuchChoice { question, options, choice: choice.name() });
    }
    Ok(answer_events(asked, choice, answerer))
}

/// The answer and what it says about its task.
pub(super) fn answer_events(asked: &Asked, choice: Choice, answerer: &Answerer) -> Vec<Event> {
    let mut events = vec![Event::QuestionAnswered {
        question: asked.question.id.clone(),
        choice,
        answerer: answerer.clone(),
    }];
    let about = &asked.question.about;
    match (choice, about.task()) {
        // Only the call is left as it is; its task goes on.
        (Choice::Skip, _) if matches!(about, About::Operation { .. } | About::Unknown { .. }) => {}
        (Choice::Skip, Some(task)) => {
            let error = match about {
                About::Failure { error, .. } => error.clone(),
                About::Policy { reasons, .. } | About::Changes { reasons, .. } => {
                    reasons.first().map_or_else(String::new, |one| one.message.clone())
                }
                _ => String::new(),
            };
            let why = SkipWhy::Answered { error };
            events.push(Event::TaskSkipped { task: task.clone(), why });
        }
        (Choice::Abort, Some(_)) => events.push(Event::RunInterrupted { by: "abort".to_owned() }),
        (Choice::Abort, None) => {
            let outcome = aurora_model::RunOutcome::Aborted;
            events.push(Event::RunFinished { outcome });
        }
        _ => {}
    }
    events
}

fn judged(
    state: &State,
    id: &TaskId,
    decision: Answer,
    reasons: &[Reason],
    needs_person: bool,
) -> Result<Vec<Event>, Refused> {
    let task = state.task(id).ok_or_else(|| unknown_task(id))?;
    if task.status != TaskStatus::Waiting {
        return Err(stale(format!("{id} was judged before")));
    }
    let reasons = reasons.to_vec();
    let event = Event::TaskJudged { task: id.clone(), decision, reasons: reasons.clone() };
    let mut events = vec![event];
    match decision {
        Answer::Allow => {}
        Answer::Ask => {
            let about = About::Policy { task: id.clone(), reasons };
            let options = [Choice::Allow, Choice::Skip, Choice::Abort];
            events.push(ask(state, about, &options, needs_person));
        }
        Answer::Deny => events.push(Event::TaskDenied { task: id.clone(), reasons }),
    }
    Ok(events)
}

fn changes_judged(state: &State, command: &Command) -> Result<Vec<Event>, Refused> {
    let Command::ChangesJudged {
        task,
        attempt,
        decision,
        reasons,
        files,
        lines,
        paths,
        place,
        result,
        needs_person,
    } = command
    else {
        return Err(stale("that is no judgement"));
    };
    busy(state, task, *attempt, Doing::Checking)?;
    let mut events = vec![Event::ChangesJudged {
        task: task.clone(),
        attempt: *attempt,
        decision: *decision,
        reasons: reasons.clone(),
        files: *files,
        lines: *lines,
        result: result.clone(),
    }];
    let (task, reasons) = (task.clone(), reasons.clone());
    match decision {
        Answer::Allow => {}
        Answer::Ask => {
            let (files, lines) = (*files, *lines);
            let (paths, place) = (paths.clone(), place.clone());
            let about = About::Changes { task, reasons, files, lines, paths, place };
            let options = [Choice::Allow, Choice::Retry, Choice::Skip, Choice::Abort];
            events.push(ask(state, about, &options, *needs_person));
        }
        Answer::Deny => events.push(Event::TaskDenied { task, reasons }),
    }
    Ok(events)
}

/// The task, when exactly this is being done about it.
pub(super) fn busy<'a>(
    state: &'a State,
    id: &TaskId,
    number: u32,
    what: Doing,
) -> Result<&'a TaskState, Refused> {
    let task = state.task(id).ok_or_else(|| unknown_task(id))?;
    match task.status {
        TaskStatus::Busy { attempt, doing, .. } if attempt == number && doing == what => Ok(task),
        _ => Err(stale(format!("attempt {number} of {id} is over"))),
    }
}

/// The task that is being adopted, and what its agent said at the end.
fn adopting<'a>(
    state: &'a State,
    id: &TaskId,
    number: u32,
) -> Result<(&'a TaskState, String), Refused> {
    let task = busy(state, id, number, Doing::Adopting)?;
    let attempt = task.attempts.iter().find(|one| one.number == number);
    let summary = attempt.and_then(|one| one.ended.clone()?.ok()).unwrap_or_default();
    Ok((task, summary))
}

/// What was going on when the run stopped is over, and does not count.
fn resume(state: &State) -> Result<Vec<Event>, Refused> {
    expect_begun(state)?;
    let mut events = Vec::new();
    for task in state.tasks.tagged(BUSY) {
        if let TaskStatus::Busy { attempt, doing: Doing::Attempting, .. } = task.status {
            events.push(Event::AttemptEnded {
                task: task.id().clone(),
                attempt,
                end: AttemptEnd::Interrupted {},
                cost: aurora_model::Cost::default(),
                millis: 0,
                transcript: None,
                base: None,
            });
        }
    }
    events.push(Event::RunResumed {});
    Ok(events)
}
