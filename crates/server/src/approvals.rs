//! The queue over HTTP: what waits, everything about it, and decisions.

mod body;
mod consume;
mod decide;
mod list;
mod open;
mod shape;

use aurora_engine::face::Standing;
use aurora_model::QuestionId;
use serde_json::Value;

use crate::call::Call;
use crate::ports::Asked;
use crate::problem::Problem;

pub use body::{DECISIONS, MAX_BATCH, MAX_REASON, SEED_STATUSES, choices};
pub use consume::{OUTCOMES, reserve, result};
pub use decide::{batch, cancel, decide, edit};
pub use list::{list, parked};
pub use open::{MAX_CLAIMED, MAX_TOOL, open};
pub use shape::{STATUSES, show};

/// The request that a path names.
async fn named(call: &Call) -> Result<(QuestionId, Standing), Problem> {
    let text = call.text("id").unwrap_or_default();
    let unknown = || Problem::not_found("there is no such request");
    let id = QuestionId::parse(text).ok_or_else(unknown)?;
    let standing = call.server.queue.load(&id).await?.ok_or_else(unknown)?;
    Ok((id, standing))
}

/// Whether the caller is who asked for this, and who that is.
fn asker<'a>(call: &'a Call, standing: &Standing, told: &str) -> Result<&'a str, Problem> {
    let name = call.caller()?.name.as_str();
    match standing.request.requester.person.as_deref() == Some(name) {
        true => Ok(name),
        false => Err(Problem::forbidden("not-the-requester", told)),
    }
}

/// What a request is about, to be judged again with these arguments.
fn again(standing: &Standing, args: Value) -> Asked {
    let request = &standing.request;
    Asked {
        tool: request.subject.tool.clone(),
        schema: request.subject.schema,
        args,
        agent: request.requester.agent.clone(),
        role: request.requester.role.clone(),
        run: request.subject.run.clone(),
        task: request.subject.task.clone(),
        before: Some(Box::new(request.subject.clone())),
    }
}
