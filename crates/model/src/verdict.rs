//! The gate's answer: allow, ask or deny, always with reasons.

use serde::{Deserialize, Serialize};

use crate::{Effect, Operation, Span};

/// Allow, ask or deny; ordered so that the strictest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It may happen.
    Allow,
    /// A person must decide.
    #[serde(rename = "prompt")]
    Ask,
    /// It must not happen.
    Deny,
}

impl Answer {
    /// The word used in policy files and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "prompt",
            Self::Deny => "deny",
        }
    }

    /// The answer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|answer| answer.name() == name)
    }
}

/// One rule's word on one effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What this rule says.
    pub answer: Answer,
    /// The operation that it judged.
    pub operation: Operation,
    /// The rule's id: `destructive.git_force_push`, `safety.protected_paths`, `rules.<id>` …
    pub rule: String,
    /// The effect in words, and why the rule speaks.
    pub message: String,
    /// Which bytes of the judged text cause it.
    pub span: Span,
    /// What to do instead, where there is something safer.
    pub instead: Option<String>,
    /// Where the rule's value comes from: `built-in defaults`, `.aurora/policies.yaml:12:5` …
    pub origin: String,
}

/// The gate's answer on one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest of all reasons, or allow when there is none.
    pub decision: Answer,
    /// The operation of the reason that decided.
    pub operation: Operation,
    /// The rule that decided.
    pub rule: Option<String>,
    /// Everything that asks or denies, strictest first.
    pub reasons: Vec<Reason>,
    /// Everything that the action would cause.
    pub effects: Vec<Effect>,
    /// Files whose content would let the gate see more: a caller that can read them puts them into
    /// the context and judges again.
    pub wanted: Vec<String>,
}
