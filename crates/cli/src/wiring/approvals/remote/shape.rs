//! Requests as a server tells them.

use aurora_model::{
    ApprovalEvent, ApprovalState, Choice, Decider, Decision, Digest, Outcome, Request, Requester,
    Ruling, Subject, TimeoutRule, Timestamp, Who,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::output::request::{Detail, Item};

/// What else is told about one.
pub fn detail(told: &Value) -> Detail {
    let history = told.get("history").and_then(Value::as_array).into_iter().flatten();
    let history = history.filter_map(|one| {
        let at: Timestamp = maybe(one, "timestamp")?;
        let event: ApprovalEvent = maybe(one, "event")?;
        Some((at, event))
    });
    // What was asked is not told twice.
    let asked = item(told).ok().map(|item| {
        let at = item.request.asked_at;
        (at, ApprovalEvent::Requested { request: Box::new(item.request) })
    });
    let counts = told.get("precedent").and_then(Value::as_object).into_iter().flatten();
    let precedent = counts.filter_map(|(state, count)| {
        let state = ApprovalState::from_name(state)?;
        Some((state, count.as_u64().filter(|count| *count > 0)?))
    });
    Detail {
        history: asked.into_iter().chain(history).collect(),
        precedent: precedent.collect(),
        kept: None,
        ..Detail::default()
    }
}

/// A request; what a list does not tell is left empty.
pub fn item(told: &Value) -> anyhow::Result<Item> {
    let asked_at: Timestamp = must(told, "timestamp")?;
    let votes: Option<Vec<Value>> = maybe(told, "said");
    let deciders: Vec<Who> = maybe(told, "deciders").unwrap_or_default();
    let claimed = told.get("untrusted").and_then(|said| maybe(said, "claimed"));
    let subject: Option<Subject> = maybe(told, "subject");
    let whole = subject.is_some();
    let request = Request {
        id: must(told, "approval_id")?,
        gate: must(told, "approval_type")?,
        subject: subject.map_or_else(|| unknown(told), Ok)?,
        digest: must(told, "digest")?,
        options: must::<Vec<Choice>>(told, "options")?,
        title: must(told, "title")?,
        reasons: maybe(told, "reasons").unwrap_or_default(),
        effects: maybe(told, "effects").unwrap_or_default(),
        actions: maybe(told, "actions").unwrap_or_default(),
        tier: must(told, "tier")?,
        autonomy: must(told, "autonomy")?,
        on_no: maybe(told, "on_no").unwrap_or_default(),
        claimed,
        detail: maybe(told, "detail"),
        requester: maybe(told, "requester").unwrap_or_else(Requester::default),
        ruling: Ruling {
            timeout: maybe(told, "timeout").unwrap_or_else(waits),
            deciders: deciders.clone(),
            quorum: maybe(told, "quorum").unwrap_or(1),
            remind_every_s: None,
            warn_before_s: None,
        },
        parked: maybe(told, "parked"),
        asked_at,
    };
    Ok(Item {
        request,
        state: must(told, "state")?,
        version: must(told, "version")?,
        votes: votes.unwrap_or_default().iter().filter_map(decision).collect(),
        decision: told.get("decision").and_then(decision),
        reason: maybe(told, "ended_because"),
        deciders,
        step: maybe(told, "escalated").unwrap_or_default(),
        step_at: asked_at,
        warned_at: None,
        expires_at: maybe(told, "expires_at"),
        closed_at: maybe(told, "closed_at"),
        whole,
    })
}

/// What stands for an action that is not told: nothing of it can be authorised by this.
fn unknown(told: &Value) -> anyhow::Result<Subject> {
    Ok(Subject {
        project: String::new(),
        run: maybe(told, "run"),
        task: maybe(told, "task"),
        agent: maybe(told, "agent"),
        tool: String::new(),
        schema: 0,
        args: json!({}),
        targets: Vec::new(),
        policy: Digest::of_bytes([0; 32]),
        tier: must(told, "tier")?,
        autonomy: must(told, "autonomy")?,
    })
}

fn waits() -> TimeoutRule {
    let (policy, chosen_by) = ("wait".to_owned(), String::new());
    TimeoutRule { policy, settings: json!({}), chosen_by }
}

fn decision(told: &Value) -> Option<Decision> {
    let outcome: Outcome = maybe(told, "outcome")?;
    let by: Decider = maybe(told, "by")?;
    Some(Decision {
        outcome,
        choice: maybe(told, "choice")?,
        by,
        seen: maybe(told, "digest")?,
        policy: maybe(told, "policy")?,
        reason: maybe(told, "feedback"),
    })
}

fn maybe<T: DeserializeOwned>(told: &Value, key: &str) -> Option<T> {
    told.get(key)
        .filter(|value| !value.is_null())
        .cloned()
        .and_then(|value| serde_json::from_value(value).ok())
}

fn must<T: DeserializeOwned>(told: &Value, key: &str) -> anyhow::Result<T> {
    let why = || Failure::failed(format!("the server tells a request without a sound `{key}`"));
    Ok(maybe(told, key).ok_or_else(why)?)
}
