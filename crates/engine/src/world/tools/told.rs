//! What a model is told about its calls: what came of them, or why nothing did.

use aurora_model::Reason;
use serde_json::{Value, json};

/// What came of a call that was made, or why it was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::world) struct Made {
    /// What the model is told.
    pub content: String,
    /// In one line, for people.
    pub summary: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl Made {
    /// A text as it is.
    pub fn text(content: String, summary: impl Into<String>) -> Self {
        Self { content, summary: summary.into(), is_error: false }
    }

    /// Something with parts.
    pub fn told(content: &Value, summary: impl Into<String>) -> Self {
        Self::text(content.to_string(), summary)
    }

    /// It failed.
    pub fn failed(error: &str, message: &str) -> Self {
        let content = json!({"error": error, "message": message}).to_string();
        Self { content, summary: message.to_owned(), is_error: true }
    }

    /// The same, said to be a failure.
    pub fn into_failure(self) -> Self {
        Self { is_error: true, ..self }
    }
}

/// A call that the policy denies.
pub(in crate::world) fn denied_by_policy(reason: Option<&Reason>) -> Value {
    json!({
        "error": "denied",
        "by": "policy",
        "rule": reason.map(|one| one.rule.as_str()),
        "reason": reason.map_or("the policy forbids it", |one| one.message.as_str()),
        "instead": reason.and_then(|one| one.instead.as_deref()),
    })
}

/// A call that was not made because of how its request ended.
pub(in crate::world) fn refused(error: &str, by: &str, reason: &str) -> Value {
    let hint = match error {
        "changes_requested" => "do it as the reason says, or another way",
        "stale" => "look at how it is now, and call again if you still want it",
        _ => "you may try another way; do not make the same call again",
    };
    json!({"error": error, "by": by, "reason": reason, "hint": hint})
}
