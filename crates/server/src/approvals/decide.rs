//! Decisions: bound to what was seen, made in a person's name, and once.

use aurora_engine::approvals::Saying;
use aurora_engine::face::{Command, Edit, Standing, digest_of};
use aurora_model::{ApprovalState, QuestionId};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::body::{
    self, MAX_BATCH, NewBatch, NewCancel, NewDecision, NewEdit, Said, sound_args, sound_reason,
};
use super::{again, asker, named, shape};
use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::problem::Problem;

/// `POST /approvals/{id}/decision`.
pub async fn decide(call: Call) -> Outcome {
    let sent: NewDecision = call.body()?;
    let (said, digest) = (sent.said()?, body::digest(&sent.digest)?);
    let (id, standing) = named(&call).await?;
    let standing = say(&call, &id, &standing, &said, digest).await?;
    Ok(Reply::ok(shape::decided(&standing)))
}

/// Says something to one request.
async fn say(
    call: &Call,
    id: &QuestionId,
    standing: &Standing,
    said: &Said,
    seen: aurora_model::Digest,
) -> Result<Standing, Problem> {
    // What was decided before is told first: it makes every other mistake beside the point.
    let choice = match said.word.choice(standing) {
        Ok(choice) => choice,
        Err(problem) if standing.state == ApprovalState::Pending => return Err(problem),
        Err(_) => return Err(aurora_engine::face::Refused::closed(standing).into()),
    };
    let policy = call.server.ports.policies.digest().await?;
    let by = call.caller()?.decider();
    let saying = Saying { choice, by, seen, policy, reason: said.reason.clone() };
    let standing = call.server.queue.decide(id, &saying).await?;
    call.server.ports.aftermath.decided(id.clone()).await;
    Ok(standing)
}

/// `POST /approvals/{id}/edit`.
pub async fn edit(call: Call) -> Outcome {
    let sent: NewEdit = call.body()?;
    let seen = body::digest(&sent.digest)?;
    sound_reason(sent.reason.as_deref())?;
    sound_args(&sent.args)?;
    let (id, standing) = named(&call).await?;
    if standing.state != ApprovalState::Pending {
        return Err(aurora_engine::face::Refused::closed(&standing).into());
    }
    let judged = call.server.ports.judge.judge(again(&standing, sent.args)).await?;
    let edit = Edit {
        by: call.caller()?.decider(),
        seen,
        policy: call.server.ports.policies.digest().await?,
        reason: sent.reason,
        digest: digest_of(&judged.subject),
        subject: judged.subject,
        verdict: judged.verdict,
        reasons: judged.reasons,
        effects: judged.effects,
        actions: judged.actions,
        tier: judged.tier,
        title: Some(judged.title),
    };
    let standing = call.server.queue.tell(&id, &Command::Edit(Box::new(edit))).await?;
    call.server.ports.aftermath.decided(id).await;
    Ok(Reply::ok(shape::decided(&standing)))
}

/// `POST /approvals/{id}/cancel`.
pub async fn cancel(call: Call) -> Outcome {
    let sent: NewCancel = call.body()?;
    sound_reason(Some(&sent.reason))?;
    if sent.reason.trim().is_empty() {
        return Err(Problem::unprocessable("needs-reason", "say why it is not needed any more"));
    }
    let (id, standing) = named(&call).await?;
    let told = "only who asked can take it back; who may decide it can deny it";
    asker(&call, &standing, told)?;
    // What was approved may be on its way already.
    if standing.state != ApprovalState::Pending {
        return Err(aurora_engine::face::Refused::closed(&standing).into());
    }
    let reason = sent.reason;
    let standing = call.server.queue.tell(&id, &Command::Cancel { reason }).await?;
    Ok(Reply::ok(shape::decided(&standing)))
}

/// `POST /approvals/batch`.
pub async fn batch(call: Call) -> Outcome {
    let sent: NewBatch = call.body()?;
    let said = sent.said()?;
    if sent.items.is_empty() || sent.items.len() > MAX_BATCH {
        let told = format!("a batch has 1 to {MAX_BATCH} items");
        return Err(Problem::malformed(told));
    }
    let mut digests = Vec::new();
    for item in &sent.items {
        digests.push(body::digest(&item.digest)?);
    }
    let mut results = Vec::new();
    for (item, seen) in sent.items.iter().zip(digests) {
        let done = one_of_batch(&call, &item.id, &said, seen).await;
        results.push(match done {
            Ok(standing) => json!({
                "approval_id": item.id,
                "status": StatusCode::OK.as_u16(),
                "decided": shape::decided(&standing),
                "problem": Value::Null,
            }),
            Err(problem) => json!({
                "approval_id": item.id,
                "status": problem.status.as_u16(),
                "decided": Value::Null,
                "problem": problem.json(&format!("/api/v1/approvals/{}", item.id)),
            }),
        });
    }
    let count = results.iter().filter(|one| !one["decided"].is_null()).count();
    Ok(Reply::ok(json!({"decided": count, "results": results})))
}

async fn one_of_batch(
    call: &Call,
    id: &str,
    said: &Said,
    seen: aurora_model::Digest,
) -> Result<Standing, Problem> {
    let unknown = || Problem::not_found("there is no such request");
    let id = QuestionId::parse(id).ok_or_else(unknown)?;
    let standing = call.server.queue.load(&id).await?.ok_or_else(unknown)?;
    say(call, &id, &standing, said, seen).await
}
