//! What happens to a month's budget, as it is kept for ever.

use aurora_model::{Cost, RunId, TaskId, Usd};
use serde::{Deserialize, Serialize};

/// What a call may cost, and who makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// The call's name, `run/task/attempt`: the same call has the same name after a crash.
    pub id: String,
    /// The run that makes it.
    pub run: RunId,
    /// The task that it is for, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The agent, or `model` where the model is asked directly.
    pub agent: String,
    /// What it may cost, and by which model.
    pub estimate: Cost,
}

/// One thing that happened to a month's budget. Stored events are never rewritten; fields are only
/// added, with a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BudgetEvent {
    /// Money was set aside for a call that is about to be made.
    CostReserved {
        /// For what.
        #[serde(flatten)]
        reservation: Reservation,
    },
    /// A call is over.
    CostSettled {
        /// Which.
        id: String,
        /// What it cost.
        cost: Cost,
    },
    /// A call was not made.
    CostReleased {
        /// Which.
        id: String,
        /// Why not.
        why: String,
    },
    /// Somebody was warned that the limit is near. It happens once per limit,
    /// and once more when it is passed.
    BudgetWarned {
        /// At how many percent.
        percent: u64,
        /// Of which limit.
        limit: Usd,
    },
}

impl BudgetEvent {
    /// The name under which it is recorded.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::CostReserved { .. } => "cost_reserved",
            Self::CostSettled { .. } => "cost_settled",
            Self::CostReleased { .. } => "cost_released",
            Self::BudgetWarned { .. } => "budget_warned",
        }
    }
}
