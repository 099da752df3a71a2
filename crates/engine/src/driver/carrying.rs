//! Between the queue and a run's stream: what is decided there is told here, and what is no longer
//! asked here needs nobody there.

use std::collections::BTreeSet;
use std::sync::Arc;

use aurora_gate::approval::Standing;
use aurora_model::{Event, QuestionId, RunId, Timestamp};
use aurora_store::Store;

use super::{Journal, stream_of};
use crate::approvals::register::carried;
use crate::approvals::{PREFIX, Queue, Registrar, Saying};
use crate::error::{Error, Result};
use crate::machine::{Command, Phase, State, TaskState};

/// How many records are read at once.
const BATCH: usize = 1000;

/// What the run must be told of these questions, because they were decided in the queue. One that is
/// not there is put there: it is of an older version, or came up while nobody drove the run.
pub(super) async fn decided(
    registrar: &Registrar,
    state: &State,
    ids: &[QuestionId],
    now: Timestamp,
) -> Result<Vec<Command>> {
    let mut told = Vec::new();
    for asked in ids.iter().filter_map(|id| state.question(id)).filter(|asked| asked.is_open()) {
        let question = &asked.question;
        match registrar.queue.load(&question.id).await? {
            Some(standing) => told.extend(carried(&standing)),
            None => drop(registrar.queue.open(&registrar.request(question, state, now)).await?),
        }
    }
    Ok(told)
}

/// The questions that something was appended to the log about after a position, and the position up
/// to which it was read.
pub(super) async fn touched(
    store: &Arc<dyn Store>,
    run: &RunId,
    after: u64,
) -> Result<(BTreeSet<QuestionId>, u64)> {
    let own = stream_of(run);
    let (mut ids, mut position) = (BTreeSet::new(), after);
    loop {
        let records = store.read_all(position, BATCH).await?;
        for record in &records {
            position = record.position;
            if record.stream == own {
                if let Ok(Event::QuestionAsked { question }) = serde_json::from_str(&record.payload)
                {
                    ids.insert(question.id);
                }
                continue;
            }
            ids.extend(record.stream.0.strip_prefix(PREFIX).and_then(QuestionId::parse));
        }
        if records.len() < BATCH {
            return Ok((ids, position));
        }
    }
}

/// Cancels what a finished run has left in the queue. What cannot be cancelled is closed already, or
/// expires by itself, and nothing will be done because of it.
pub(super) async fn cancel_left(queue: &Queue, state: &State, now: Timestamp) {
    if !matches!(state.phase, Phase::Finished(_)) {
        return;
    }
    let open = state.open_questions().map(|question| question.id.clone());
    let calls = state.tasks.iter().flat_map(unsettled);
    let left: Vec<QuestionId> = open.chain(calls).collect();
    for id in left {
        let _ = queue.cancel(&id, "the run is over", now).await;
    }
}

/// The questions about calls of a parked attempt that have no result.
fn unsettled(task: &TaskState) -> Vec<QuestionId> {
    let calls = task.conversation.as_ref().map_or(&[][..], |one| one.calls.as_slice());
    calls.iter().filter(|call| call.settled.is_none()).map(|call| call.now.clone()).collect()
}

/// Decides a request, and tells its run where nobody drives it: whoever drives it sees it anyway.
///
/// # Errors
/// When it is refused, or the log cannot be written. That the run could not be told is no error: it
/// is told when it is resumed.
pub async fn decide(queue: &Queue, id: &QuestionId, saying: &Saying) -> Result<Standing> {
    let standing = queue.decide(id, saying).await?;
    let _ = carry_over(queue, &standing).await;
    Ok(standing)
}

/// Tells the run of a request how that was closed, where nobody drives the run; whether it was told.
///
/// # Errors
/// When the log cannot be read or written.
pub async fn carry_over(queue: &Queue, standing: &Standing) -> Result<bool> {
    let run: Option<&RunId> = standing.request.subject.run.as_ref();
    let (Some(run), Some(command)) = (run, carried(standing)) else { return Ok(false) };
    if queue.store().is_claimed(&stream_of(run)).await? {
        return Ok(false);
    }
    let mut journal = Journal::open(Arc::clone(queue.store()), run).await?;
    match journal.tell(&command, queue.now()).await {
        Ok(()) => {
            cancel_left(queue, &journal.state(), queue.now()).await;
            Ok(true)
        }
        // It was told before, or there is nothing to tell it to.
        Err(Error::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
