//! Using a yes: whoever asked takes it up once, just before the call is made, and says what came of it.

use aurora_engine::Error;
use aurora_engine::face::{Command, Refused, Standing, digest_of};
use aurora_model::{Answer, ApprovalState, QuestionId};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::body::{self, MAX_REASON, NewReservation, NewResult, sound_args};
use super::{again, asker, named, shape};
use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::problem::Problem;

/// What can come of a call.
pub const OUTCOMES: [&str; 3] = ["executed", "failed", "unknown"];
const ONLY_ASKER: &str = "only who asked can use the answer";

/// `POST /approvals/{id}/reserve`.
pub async fn reserve(call: Call) -> Outcome {
    let sent: NewReservation = call.body()?;
    let seen = body::digest(&sent.digest)?;
    sound_args(&sent.args)?;
    let (id, standing) = named(&call).await?;
    let executor = asker(&call, &standing, ONLY_ASKER)?.to_owned();
    let standing = settled(&call, &id, standing).await?;
    if standing.state != ApprovalState::Approved {
        return Err(not_now(Refused::closed(&standing)));
    }
    let mut reasons = Value::Null;
    let command = if seen != standing.request.digest {
        Command::Reserve { executor, digest: seen }
    } else {
        // The yes was for what it was then; it is looked at again what it would be now.
        let judged = call.server.ports.judge.judge(again(&standing, sent.args)).await?;
        reasons = json!(judged.reasons);
        match judged.verdict {
            Answer::Deny => {
                let reason = "the policy forbids it by now".to_owned();
                Command::Changed { found: None, reason }
            }
            _ => Command::Reserve { executor, digest: digest_of(&judged.subject) },
        }
    };
    let standing = told(&call, &id, &command).await?;
    if standing.state != ApprovalState::Reserved {
        let why = standing.reason.clone().unwrap_or_default();
        let problem = Problem::new(StatusCode::PRECONDITION_FAILED, "stale", why)
            .with("state", standing.state.name())
            .with("current_digest", standing.request.digest.as_str());
        return Err(problem.with("reasons", reasons));
    }
    Ok(Reply::ok(shape::everything(&call, &standing).await?))
}

/// `POST /approvals/{id}/result`.
pub async fn result(call: Call) -> Outcome {
    let sent: NewResult = call.body()?;
    let (id, standing) = named(&call).await?;
    let executor = asker(&call, &standing, ONLY_ASKER)?.to_owned();
    let command = command(sent, executor)?;
    let standing = settled(&call, &id, standing).await?;
    if standing.state == ApprovalState::Approved {
        let told = "it was not reserved: nobody may have begun it";
        return Err(Problem::new(StatusCode::CONFLICT, "not-reserved", told)
            .with("state", standing.state.name()));
    }
    let standing = told(&call, &id, &command).await?;
    Ok(Reply::ok(shape::decided(&standing)))
}

/// What a result says to a request.
fn command(sent: NewResult, executor: String) -> Result<Command, Problem> {
    let too_long = |text: &Option<String>| {
        text.as_deref().is_some_and(|text| text.chars().count() > MAX_REASON)
    };
    if too_long(&sent.summary) || too_long(&sent.error) {
        let told = format!("`summary` and `error` may have {MAX_REASON} characters");
        return Err(Problem::malformed(told));
    }
    let error = sent.error.filter(|error| !error.trim().is_empty());
    match (sent.outcome.as_str(), sent.summary, error) {
        ("executed", summary, None) => {
            let summary = summary.unwrap_or_default();
            Ok(Command::Executed { executor, result: None, summary })
        }
        ("failed", None, Some(error)) => Ok(Command::Failed { executor, result: None, error }),
        ("unknown", None, Some(reason)) => Ok(Command::Lost { reason }),
        _ => {
            let told = "say `executed` with or without a `summary`, or `failed` or `unknown` with an `error`";
            Err(Problem::malformed(told))
        }
    }
}

/// How a request stands after what the clock has to say; one that still waits cannot be used.
async fn settled(call: &Call, id: &QuestionId, standing: Standing) -> Result<Standing, Problem> {
    if standing.state != ApprovalState::Pending {
        return Ok(standing);
    }
    let standing = call.server.queue.tell(id, &Command::Wake).await?;
    if standing.state == ApprovalState::Pending {
        let told = "nobody has decided it yet";
        let problem = Problem::new(StatusCode::CONFLICT, "not-approved", told);
        return Err(problem.with("state", standing.state.name()));
    }
    Ok(standing)
}

async fn told(call: &Call, id: &QuestionId, command: &Command) -> Result<Standing, Problem> {
    call.server.queue.tell(id, command).await.map_err(|error| match error {
        Error::Request { refused, .. } => not_now(refused),
        error => error.into(),
    })
}

/// Why a yes cannot be used: that it was used before is told apart from that there is none.
fn not_now(refused: Refused) -> Problem {
    let used = match &refused {
        Refused::Closed { state, .. } => matches!(
            state,
            ApprovalState::Reserved
                | ApprovalState::Executed
                | ApprovalState::Failed
                | ApprovalState::OutcomeUnknown
        ),
        _ => false,
    };
    let mut problem = Problem::from(refused);
    if used {
        problem.kind = "already-used";
    }
    problem
}
