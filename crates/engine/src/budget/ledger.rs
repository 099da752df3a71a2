//! How a month's budget stands, as its events tell it.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::{Cost, Known, RunId, Usd};
use serde::{Deserialize, Serialize};

use super::event::{BudgetEvent, Reservation};

/// How a month's budget stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// How many events led here.
    pub version: u64,
    /// All of it.
    pub total: Share,
    /// What each run has of it.
    pub by_run: BTreeMap<String, Share>,
    /// What each agent has of it.
    pub by_agent: BTreeMap<String, Share>,
    /// Calls that are under way, or whose end nobody has told.
    pub open: BTreeMap<String, Reservation>,
    /// Calls that are over, by name.
    pub settled: BTreeSet<String>,
    /// At how many percent of which limit somebody was warned last.
    pub warned: Option<(u64, Usd)>,
    /// The most that one call of each agent cost. A picture that was kept before this was counted
    /// has none, and learns it from the next calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub largest: BTreeMap<String, Usd>,
}

/// What was spent and reserved by someone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// What calls cost that are over.
    pub spent: Usd,
    /// How much of that is only estimated.
    pub estimated: Usd,
    /// What is set aside for calls that are not over.
    pub reserved: Usd,
    /// How many calls are over.
    pub calls: u64,
    /// How many are not.
    pub open: u64,
}

impl Share {
    /// What was spent or is set aside.
    #[must_use]
    pub fn committed(&self) -> Usd {
        self.spent.plus(self.reserved)
    }

    fn reserve(&mut self, estimate: Usd) {
        self.reserved = self.reserved.plus(estimate);
        self.open += 1;
    }

    fn give_back(&mut self, estimate: Usd) {
        self.reserved = self.reserved.minus(estimate);
        self.open = self.open.saturating_sub(1);
    }

    fn settle(&mut self, cost: &Cost) {
        self.spent = self.spent.plus(cost.usd);
        if cost.known != Known::Reported {
            self.estimated = self.estimated.plus(cost.usd);
        }
        self.calls += 1;
    }
}

impl Ledger {
    /// The state after these events.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = &'a BudgetEvent>) -> Self {
        let mut ledger = Self::default();
        events.into_iter().for_each(|event| ledger.apply(event));
        ledger
    }

    /// Takes an event over.
    pub fn apply(&mut self, event: &BudgetEvent) {
        self.version += 1;
        match event {
            BudgetEvent::CostReserved { reservation } => {
                let estimate = reservation.estimate.usd;
                self.shares(reservation, |share| share.reserve(estimate));
                self.open.insert(reservation.id.clone(), reservation.clone());
            }
            BudgetEvent::CostSettled { id, cost } => {
                let Some(reservation) = self.open.remove(id) else { return };
                let estimate = reservation.estimate.usd;
                self.shares(&reservation, |share| {
                    share.give_back(estimate);
                    share.settle(cost);
                });
                let largest = self.largest.entry(reservation.agent).or_default();
                *largest = (*largest).max(cost.usd);
                self.settled.insert(id.clone());
            }
            BudgetEvent::CostReleased { id, .. } => {
                let Some(reservation) = self.open.remove(id) else { return };
                let estimate = reservation.estimate.usd;
                self.shares(&reservation, |share| share.give_back(estimate));
            }
            BudgetEvent::BudgetWarned { percent, limit } => self.warned = Some((*percent, *limit)),
        }
    }

    /// Whether a call is under way or over.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.open.contains_key(id) || self.settled.contains(id)
    }

    /// The calls of a run that are not over.
    #[must_use]
    pub fn open_of(&self, run: &RunId) -> Vec<String> {
        self.open.values().filter(|one| one.run == *run).map(|one| one.id.clone()).collect()
    }

    fn shares(&mut self, reservation: &Reservation, change: impl Fn(&mut Share)) {
        change(&mut self.total);
        change(self.by_run.entry(reservation.run.to_string()).or_default());
        change(self.by_agent.entry(reservation.agent.clone()).or_default());
    }
}
