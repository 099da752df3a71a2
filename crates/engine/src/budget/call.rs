//! The calls of a month, one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_model::{Cost, Timestamp};
use aurora_store::Store;
use serde::Serialize;

use super::event::{BudgetEvent, Reservation};
use super::month::Month;
use super::{BATCH, event_of};
use crate::error::Result;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Call {
    /// What was set aside for it, by whom.
    #[serde(flatten)]
    pub reservation: Reservation,
    /// When.
    pub at: Timestamp,
    /// How it stands.
    #[serde(flatten)]
    pub state: CallState,
}

/// How a call stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CallState {
    /// It is under way, or nobody told its end.
    Open,
    /// It is over.
    Settled {
        /// What it cost.
        cost: Cost,
    },
    /// It was not made.
    Released {
        /// Why not.
        why: String,
    },
}

/// Every call of a month, in the order in which they began.
///
/// # Errors
/// When the log cannot be read.
pub async fn calls(store: &Arc<dyn Store>, month: &Month) -> Result<Vec<Call>> {
    let stream = month.stream();
    let mut calls: Vec<Call> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut after = 0;
    loop {
        let records = store.read(&stream, after, BATCH).await?;
        for record in &records {
            after = record.version;
            take(&mut calls, &mut open, event_of(record)?, record.at);
        }
        if records.len() < BATCH {
            return Ok(calls);
        }
    }
}

fn take(
    calls: &mut Vec<Call>,
    open: &mut BTreeMap<String, usize>,
    event: BudgetEvent,
    at: Timestamp,
) {
    let (id, state) = match event {
        BudgetEvent::CostReserved { reservation } => {
            open.insert(reservation.id.clone(), calls.len());
            calls.push(Call { reservation, at, state: CallState::Open });
            return;
        }
        BudgetEvent::CostSettled { id, cost } => (id, CallState::Settled { cost }),
        BudgetEvent::CostReleased { id, why } => (id, CallState::Released { why }),
        BudgetEvent::BudgetWarned { .. } => return,
    };
    if let Some(call) = open.remove(&id).and_then(|index| calls.get_mut(index)) {
        call.state = state;
    }
}
