//! Runs over HTTP: which there are, how one stands, what happened in it.

use aurora_engine::driver;
use aurora_engine::face::{Head, StreamId};
use aurora_engine::machine::{Phase, State, TaskState, TaskStatus};
use aurora_model::{Event, RunId, RunOutcome};
use serde_json::{Value, json};

use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::cursor::List;
use crate::log;
use crate::problem::Problem;

/// What the names of the streams begin with.
const PREFIX: &str = "run/";
/// So many runs can be listed.
const MAX_RUNS: usize = 10_000;

/// `GET /runs`.
pub async fn list(call: Call) -> Outcome {
    let skipped = usize::try_from(List::Runs.place(call.text("after"))?).unwrap_or(usize::MAX);
    let wanted = skipped.saturating_add(call.limit()).saturating_add(1).min(MAX_RUNS);
    let heads = call.server.store().heads(PREFIX, wanted).await?;
    let end = skipped.saturating_add(call.limit());
    let mut runs = Vec::new();
    for head in heads.iter().skip(skipped).take(call.limit()) {
        runs.push(row(&call, head).await?);
    }
    let more = heads.len() > end;
    let next = more.then(|| List::Runs.at(u64::try_from(end).unwrap_or(u64::MAX)));
    Ok(Reply::ok(json!({"runs": runs, "next": next})))
}

async fn row(call: &Call, head: &Head) -> Result<Value, Problem> {
    let first = call.server.store().read(&head.stream, 0, 1).await?;
    let first = first.first().and_then(|record| serde_json::from_str(&record.payload).ok());
    let (goal, tasks) = match first {
        Some(Event::RunStarted { brief }) => (brief.goal, brief.tasks.len()),
        _ => (String::new(), 0),
    };
    let is_driven = call.server.store().is_claimed(&head.stream).await?;
    Ok(json!({
        "run": head.stream.0.strip_prefix(PREFIX).unwrap_or_default(),
        "goal": goal,
        "tasks": tasks,
        "finished": head.last_kind == "run_finished",
        "driven": is_driven,
        "events": head.version,
        "began_at": head.first_at,
        "last_at": head.last_at,
        "last_kind": head.last_kind,
    }))
}

/// The run that a path names.
fn named(call: &Call) -> Result<(RunId, StreamId), Problem> {
    let id = RunId::parse(call.text("id").unwrap_or_default());
    let id = id.ok_or_else(|| Problem::not_found("there is no such run"))?;
    let stream = driver::stream_of(&id);
    Ok((id, stream))
}

/// `GET /runs/{id}`.
pub async fn show(call: Call) -> Outcome {
    let (id, stream) = named(&call)?;
    let (told, state) = driver::load(call.server.store(), &id).await?;
    let is_driven = call.server.store().is_claimed(&stream).await?;
    let tasks: Vec<Value> = state.tasks.iter().map(task).collect();
    let open: Vec<Value> = state.open_questions().map(|one| json!(one)).collect();
    let usd = state.tasks.iter().fold(aurora_model::Usd::ZERO, |sum, one| sum.plus(one.spent()));
    Ok(Reply::ok(json!({
        "run": id,
        "goal": state.brief.as_ref().map(|brief| brief.goal.as_str()),
        "place": state.brief.as_ref().map(|brief| &brief.place),
        "phase": phase(&state),
        "outcome": outcome(&state),
        "stopped_by": state.stopped_by,
        "driven": is_driven,
        "events": state.version,
        "began_at": told.first().map(|one| one.at),
        "last_at": told.last().map(|one| one.at),
        "tasks": tasks,
        "questions": open,
        "usd": usd,
        "noticed": state.noticed,
    })))
}

fn phase(state: &State) -> &'static str {
    match state.phase {
        Phase::New => "new",
        Phase::Open => "open",
        Phase::Interrupted => "interrupted",
        Phase::Finished(_) => "finished",
    }
}

fn outcome(state: &State) -> Option<RunOutcome> {
    match state.phase {
        Phase::Finished(outcome) => Some(outcome),
        _ => None,
    }
}

fn task(task: &TaskState) -> Value {
    let (status, why) = match &task.status {
        TaskStatus::Waiting => ("waiting", Value::Null),
        TaskStatus::Cleared => ("cleared", Value::Null),
        TaskStatus::Busy { .. } => ("busy", Value::Null),
        TaskStatus::Failed { error, .. } => ("failed", json!(error)),
        TaskStatus::Completed { summary, .. } => ("completed", json!(summary)),
        TaskStatus::Skipped { why } => ("skipped", json!(why)),
        TaskStatus::Denied { because } => ("denied", json!(because)),
        // Everything else waits for a person in one way or another.
        _ => ("parked", Value::Null),
    };
    json!({
        "task": task.id(),
        "title": task.planned.task.title,
        "assignment": task.planned.assignment,
        "status": status,
        "why": why,
        "attempts": task.attempts.len(),
        "usd": task.spent(),
    })
}

/// `GET /runs/{id}/events`.
pub async fn events(call: Call) -> Outcome {
    let (_, stream) = named(&call)?;
    if call.server.store().head(&stream).await?.is_none() {
        return Err(Problem::not_found("there is no such run"));
    }
    let (records, next) = log::page(&call, List::Events, Some(&stream), None).await?;
    Ok(Reply::ok(json!({"records": records, "next": next})))
}
