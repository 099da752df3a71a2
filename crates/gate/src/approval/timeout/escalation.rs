//! `escalation`: each step moves the right to decide one further; at the end it is over.

use aurora_model::Timestamp;
use serde_json::{Value, json};

use super::{Due, PolicyKind, TimeoutPolicy, View};

/// Never acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Escalation;

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "escalation",
    doc: "It stays in the queue until somebody decides.",
    read: |_, _| Some(Box::new(Escalation)),
    restore: |_| Some(Box::new(Escalation)),
    schema: || json!({}),
};

impl TimeoutPolicy for Escalation {
    fn settings(&self) -> Value {
        json!({})
    }

    fn apply_policy(&self, _: &View<'_>) -> Option<(Timestamp, Due)> {
        None
    }
}
