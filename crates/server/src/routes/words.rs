//! The words that parameters can be, as the nouns have them.

use aurora_model::{ApprovalState, GateKind, Tier};

/// How a request can stand.
pub fn states() -> Vec<&'static str> {
    ApprovalState::ALL.into_iter().map(ApprovalState::name).collect()
}

/// How dangerous it can be.
pub fn tiers() -> Vec<&'static str> {
    Tier::ALL.into_iter().map(Tier::name).collect()
}

/// Which gate can ask.
pub fn gates() -> Vec<&'static str> {
    GateKind::ALL.into_iter().map(GateKind::name).collect()
}
