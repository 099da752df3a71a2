//! What each person said and how long they took: attention is scarce, and who says yes to everything
//! at once does not read it.

use std::collections::BTreeMap;

use aurora_model::{DeciderKind, Decision, Outcome};
use serde::{Deserialize, Serialize};

/// Bounds of the buckets of how long people took, in seconds.
pub const BUCKETS_S: [u64; 9] = [2, 10, 60, 300, 1800, 3600, 14_400, 86_400, 604_800];
/// So many people are counted by name.
const MAX_PEOPLE: usize = 100;
/// All others; no person is called that.
const OTHERS: &str = "(others)";

/// How long something took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Took {
    /// How many up to each bound.
    pub up_to: [u64; 9],
    /// How many.
    pub count: u64,
    /// All together, in milliseconds.
    pub sum_ms: u64,
}

impl Took {
    /// Counts one more.
    pub fn add(&mut self, took_ms: i64) {
        let took_ms = u64::try_from(took_ms).unwrap_or(0);
        for (count, bound) in self.up_to.iter_mut().zip(BUCKETS_S) {
            *count += u64::from(took_ms <= bound * 1000);
        }
        self.count += 1;
        self.sum_ms = self.sum_ms.saturating_add(took_ms);
    }
}

/// What one person said, and how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// How often, by outcome.
    pub said: BTreeMap<String, u64>,
    /// How long, from asking to what they said.
    pub took: Took,
}

/// What each person said.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct People(BTreeMap<String, Person>);

impl People {
    /// Counts what somebody said, where it is a person.
    pub fn said(&mut self, decision: &Decision, took_ms: i64) {
        if decision.by.kind != DeciderKind::Person {
            return;
        }
        let name = decision.by.name.as_str();
        let has_room = self.0.len() < MAX_PEOPLE || self.0.contains_key(name);
        let name = if has_room { name } else { OTHERS };
        let person = self.0.entry(name.to_owned()).or_default();
        *person.said.entry(word(decision.outcome).to_owned()).or_default() += 1;
        person.took.add(took_ms);
    }

    /// Each of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Person)> {
        self.0.iter().map(|(name, person)| (name.as_str(), person))
    }
}

/// The word for an outcome.
pub const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Denied => "denied",
        Outcome::ChangesRequested => "changes_requested",
    }
}
