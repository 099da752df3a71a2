//! `wait`: it stays in the queue until somebody decides.

use aurora_model::Timestamp;
use serde_json::{Value, json};

use super::{Due, PolicyKind, TimeoutPolicy, View, own};

/// Never acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait;

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "wait",
    doc: "It stays in the queue until somebody decides.",
    read: |node, key, problems| {
        own(node, key, &[], problems);
        Some(Box::new(Wait))
    },
    restore: |_| Some(Box::new(Wait)),
    schema: || json!({}),
};

impl TimeoutPolicy for Wait {
    fn settings(&self) -> Value {
        json!({})
    }

    fn apply_policy(&self, _: &View<'_>) -> Option<(Timestamp, Due)> {
        None
    }
}
