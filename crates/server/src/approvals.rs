//! The queue over HTTP: what waits, everything about it, and decisions.

mod body;
mod decide;
mod list;
mod open;
mod shape;

use aurora_engine::face::Standing;
use aurora_model::QuestionId;

use crate::call::Call;
use crate::problem::Problem;

pub use body::{DECISIONS, MAX_BATCH, MAX_REASON, SEED_STATUSES, choices};
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
