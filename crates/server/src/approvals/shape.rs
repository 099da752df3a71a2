//! The shapes of requests as JSON: the field names of the first design where it has one, ours beside.

use aurora_engine::face::{Standing, moments};
use aurora_model::{ApprovalEvent, ApprovalState, Decision, Outcome, Timestamp};
use serde_json::{Map, Value, json};

use super::named;
use crate::answer::{Outcome as Answered, Reply};
use crate::call::Call;
use crate::figures;
use crate::problem::Problem;

/// `GET /approvals/{id}`.
pub async fn show(call: Call) -> Answered {
    let (_, standing) = named(&call).await?;
    Ok(Reply::ok(everything(&call, &standing).await?))
}

/// Everything about a request, with what happened to it and to others like it.
///
/// # Errors
/// When the log cannot be read.
pub async fn everything(call: &Call, standing: &Standing) -> Result<Value, Problem> {
    let history = call.server.queue.history(&standing.request.id).await?;
    let precedent = figures::precedent(&call.server, standing).await?;
    Ok(whole(standing, &history, precedent))
}

/// The state in the words of the first design, which knew fewer.
pub const fn status(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Pending => "awaiting_approval",
        ApprovalState::Approved
        | ApprovalState::Reserved
        | ApprovalState::Executed
        | ApprovalState::Failed
        | ApprovalState::OutcomeUnknown => "approved",
        ApprovalState::Denied => "rejected",
        ApprovalState::ChangesRequested => "adjust_requested",
        ApprovalState::TimedOut => "timed_out",
        ApprovalState::Cancelled => "cancelled",
        ApprovalState::Stale => "stale",
    }
}

/// All words of [`status`].
pub const STATUSES: [&str; 7] = [
    "awaiting_approval",
    "approved",
    "rejected",
    "adjust_requested",
    "timed_out",
    "cancelled",
    "stale",
];

const fn approval_status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Denied => "rejected",
        Outcome::ChangesRequested => "adjust_requested",
    }
}

/// A request in a list.
pub fn summary(standing: &Standing) -> Value {
    Value::Object(fields(standing))
}

fn fields(standing: &Standing) -> Map<String, Value> {
    let request = &standing.request;
    let options: Vec<&str> = request.options.iter().map(|one| one.name()).collect();
    let deciders: Vec<String> = standing.deciders.iter().map(ToString::to_string).collect();
    let quorum = request.ruling.quorum.max(1);
    let told = json!({
        "approval_id": request.id,
        "approval_type": request.gate,
        "status": status(standing.state),
        "state": standing.state,
        "session_id": request.subject.run,
        "run": request.subject.run,
        "task": request.subject.task,
        "agent": request.requester.agent,
        "requester": requester(standing),
        "title": request.title,
        "tier": request.tier,
        "autonomy": request.autonomy,
        "actions": request.actions,
        "options": options,
        "digest": request.digest,
        "version": standing.version,
        "timestamp": request.asked_at,
        "expires_at": moments(standing).expires_at,
        "deciders": deciders,
        "quorum": quorum,
        "votes": standing.votes.len(),
        "escalated": standing.step,
    });
    match told {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn requester(standing: &Standing) -> Value {
    let asks = &standing.request.requester;
    json!({"agent": asks.agent, "role": asks.role, "person": asks.person})
}

/// Everything about a request.
fn whole(
    standing: &Standing,
    history: &[(Timestamp, ApprovalEvent)],
    precedent: figures::Precedent,
) -> Value {
    let request = &standing.request;
    let mut told = fields(standing);
    let mut put = |key: &str, value: Value| drop(told.insert(key.to_owned(), value));
    put("subject", json!(request.subject));
    put("reasons", json!(request.reasons));
    put("effects", json!(request.effects));
    put("on_no", json!(request.on_no));
    // Set apart under a name of its own, so that no face shows it as if it were ours.
    put("untrusted", json!({"claimed": request.claimed}));
    put("timeout", json!(request.ruling.timeout));
    put("detail", json!(request.detail));
    put("parked", json!(request.parked));
    put("said", json!(standing.votes.iter().map(decision).collect::<Vec<_>>()));
    put("decision", standing.decision.as_ref().map_or(Value::Null, decision));
    put("ended_because", json!(standing.reason));
    put("closed_at", json!(standing.closed_at));
    put("executor", json!(standing.executor));
    put("result", json!(standing.result));
    put("precedent", json!(precedent));
    put("history", Value::Array(history.iter().map(event).collect()));
    Value::Object(told)
}

/// A decision, as it was made.
pub fn decision(decision: &Decision) -> Value {
    json!({
        "approval_status": approval_status(decision.outcome),
        "outcome": decision.outcome,
        "choice": decision.choice,
        "by": decision.by,
        "digest": decision.seen,
        "policy": decision.policy,
        "feedback": decision.reason,
    })
}

/// What a request comes to after something was said to it.
pub fn decided(standing: &Standing) -> Value {
    let quorum = standing.request.ruling.quorum.max(1);
    let votes = u32::try_from(standing.votes.len()).unwrap_or(u32::MAX);
    let pending = standing.state == ApprovalState::Pending;
    let missing = if pending { quorum.saturating_sub(votes) } else { 0 };
    json!({
        "approval_id": standing.request.id,
        "approval_status": status(standing.state),
        "state": standing.state,
        "digest": standing.request.digest,
        "version": standing.version,
        "votes_missing": missing,
        "timestamp": standing.last_at,
        "decision": standing.decision.as_ref().map_or(Value::Null, decision),
    })
}

fn event((at, event): &(Timestamp, ApprovalEvent)) -> Value {
    // What was asked stands above already, and need not be said twice.
    let payload = match event {
        ApprovalEvent::Requested { .. } => Value::Null,
        event => json!(event),
    };
    json!({"timestamp": at, "kind": event.kind(), "event": payload})
}
