//! `deny`: after its time it ends as `timed_out`, and the agent may try another way.

use aurora_model::Timestamp;
use serde_json::{Value, json};

use super::{Due, PolicyKind, TimeoutPolicy, View, after, duration, own};

/// So long, when nothing is said: 240 minutes.
pub(super) const DEFAULT_SECONDS: u64 = 240 * 60;

/// Ends it after a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deny {
    /// After how many seconds.
    pub timeout_s: u64,
}

/// How it is found.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "deny",
    doc: "After `timeout` it ends as timed_out, and the agent may try another way.",
    read: |node, key, problems| {
        let mut timeout_s = DEFAULT_SECONDS;
        for pair in own(node, key, &["timeout"], problems) {
            timeout_s = duration::read(&pair.value, &format!("{key}.timeout"), problems)?;
        }
        Some(Box::new(Deny { timeout_s }))
    },
    restore: |settings| {
        let timeout_s = settings.get("timeout_s")?.as_u64()?;
        Some(Box::new(Deny { timeout_s }))
    },
    schema: || json!({ "timeout": { "$ref": "#/$defs/duration" } }),
};

impl TimeoutPolicy for Deny {
    fn settings(&self) -> Value {
        json!({ "timeout_s": self.timeout_s })
    }

    fn apply_policy(&self, view: &View<'_>) -> Option<(Timestamp, Due)> {
        let reason = format!("nobody decided within {}", duration::text(self.timeout_s));
        Some((after(view.asked_at, self.timeout_s), Due::Deny { reason }))
    }
}
