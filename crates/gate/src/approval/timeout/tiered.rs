//! `tiered`: each tier has its own time and its own end.

use aurora_model::Timestamp;
use serde_json::{Value, json};

use super::{Due, PolicyKind, TimeoutPolicy, View};

/// Never acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiered;

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "tiered",
    doc: "It stays in the queue until somebody decides.",
    read: |_, _| Some(Box::new(Tiered)),
    restore: |_| Some(Box::new(Tiered)),
    schema: || json!({}),
};

impl TimeoutPolicy for Tiered {
    fn settings(&self) -> Value {
        json!({})
    }

    fn apply_policy(&self, _: &View<'_>) -> Option<(Timestamp, Due)> {
        None
    }
}
