//! Asking over HTTP: an agent or a program asks in its own name, and never decides what it asked.

use aurora_engine::approvals::fresh_id;
use aurora_engine::face::{digest_of, options_for};
use aurora_engine::people::TokenKind;
use aurora_model::{AgentName, Answer, GateKind, Request, Requester, RunId, TaskId};
use axum::http::StatusCode;
use serde_json::json;

use super::body::{NewApproval, sound_args};
use super::shape;
use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::caller::Caller;
use crate::ports::{Asked, Judged};
use crate::problem::Problem;

/// The longest text of whoever asks, in characters.
pub const MAX_CLAIMED: usize = 10_000;
/// The longest name of a tool, in characters.
pub const MAX_TOOL: usize = 200;

/// `POST /approvals`.
pub async fn open(call: Call) -> Outcome {
    let sent: NewApproval = call.body()?;
    sound_args(&sent.args)?;
    let sound = !sent.tool.is_empty()
        && sent.tool.chars().count() <= MAX_TOOL
        && !sent.tool.chars().any(char::is_control);
    if !sound {
        return Err(Problem::malformed(format!(
            "`tool` must be one line of 1 to {MAX_TOOL} characters"
        )));
    }
    if sent.claimed.as_deref().is_some_and(|text| text.chars().count() > MAX_CLAIMED) {
        return Err(Problem::malformed(format!("`claimed` may have {MAX_CLAIMED} characters")));
    }
    let caller = call.caller()?;
    let agent = (caller.kind == TokenKind::Agent).then(|| AgentName::parse(&caller.name)).flatten();
    let asked = Asked {
        tool: sent.tool,
        schema: 1,
        args: sent.args,
        agent: agent.clone(),
        role: caller.roles.first().cloned(),
        run: named("run", sent.run.as_deref(), RunId::parse)?,
        task: named("task", sent.task.as_deref(), TaskId::parse)?,
        before: None,
    };
    let judged = call.server.ports.judge.judge(asked).await?;
    match judged.verdict {
        Answer::Deny => {
            let why = judged.reasons.first().map_or("the policy forbids it", |one| &one.message);
            let problem = Problem::forbidden("policy-forbids", why);
            Err(problem.with("reasons", json!(judged.reasons)))
        }
        // Attention is scarce: what needs nobody's yes is not asked.
        Answer::Allow => Ok(Reply::ok(json!({
            "decision": Answer::Allow, "effects": judged.effects, "tier": judged.tier,
        }))),
        Answer::Ask => {
            let request = request(&call, caller, agent, judged, sent.claimed)?;
            let standing = call.server.queue.open(&request).await?;
            let told = shape::everything(&call, &standing).await?;
            Ok(Reply::Json(StatusCode::CREATED, told))
        }
    }
}

fn named<T>(
    field: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let wrong = || Problem::malformed(format!("`{field}` can have letters, digits and `._-` only"));
    text.map(|text| parse(text).ok_or_else(wrong)).transpose()
}

fn request(
    call: &Call,
    caller: &Caller,
    agent: Option<AgentName>,
    judged: Judged,
    claimed: Option<String>,
) -> Result<Request, Problem> {
    let now = call.server.now();
    let digest = digest_of(&judged.subject);
    let id = fresh_id()?;
    let role = caller.roles.first().cloned();
    let requester = Requester { agent, role, person: Some(caller.name.clone()) };
    Ok(Request {
        id,
        gate: GateKind::Operation,
        digest,
        options: options_for(GateKind::Operation).to_vec(),
        title: judged.title,
        reasons: judged.reasons,
        effects: judged.effects,
        actions: judged.actions,
        tier: judged.tier,
        autonomy: judged.autonomy,
        on_no: "it is not done, and who asked is told why".to_owned(),
        claimed,
        detail: None,
        requester,
        ruling: judged.ruling,
        parked: None,
        asked_at: now,
        subject: judged.subject,
    })
}
