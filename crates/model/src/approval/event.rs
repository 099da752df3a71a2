//! What happened to a request, as it is kept for ever. The rules of [`crate::event`] hold here too.

use serde::{Deserialize, Serialize};

use super::decider::{Decider, Who};
use super::level::Tier;
use super::subject::Subject;
use super::{ActionType, Request};
use crate::id::Digest;
use crate::question::Choice;
use crate::time::Timestamp;
use crate::verdict::Reason;

/// One thing that happened to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalEvent {
    /// It was asked.
    Requested {
        /// What.
        request: Box<Request>,
    },
    /// One of several whose yes is needed said yes.
    Voted {
        /// The yes.
        decision: Decision,
    },
    /// It was decided.
    Decided {
        /// How.
        decision: Decision,
    },
    /// Somebody changed what would be done; it was judged again, and earlier votes are void.
    Edited {
        /// Who.
        by: Decider,
        /// What would be done now.
        subject: Box<Subject>,
        /// The SHA-256 of its canonical JSON.
        digest: Digest,
        /// Why it would still be asked.
        #[serde(default)]
        reasons: Vec<Reason>,
        /// What would happen now, in words.
        #[serde(default)]
        effects: Vec<String>,
        /// What kinds of action that is now.
        #[serde(default)]
        actions: Vec<ActionType>,
        /// How dangerous it is now.
        tier: Tier,
        /// What it is now, in one line; nothing where that stayed as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Those who may decide were reminded.
    Reminded {
        /// The how-manieth time, counted from 1.
        number: u32,
    },
    /// Those who may decide were told that it will expire.
    Warned {
        /// When.
        expires_at: Timestamp,
    },
    /// Others may decide too, because nobody did.
    Escalated {
        /// Which step of the chain, counted from 1.
        step: u32,
        /// Who may decide from now on, besides those who could before.
        to: Vec<Who>,
        /// Why.
        reason: String,
    },
    /// Nobody decided in time. That is nobody's no.
    TimedOut {
        /// The policy that ended it.
        policy: String,
        /// Why.
        reason: String,
    },
    /// Nobody needs to decide any more.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// What would be done is not what was asked about any more; nothing was done.
    Stale {
        /// The digest of what it would be now, where it could be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Digest>,
        /// What differs.
        reason: String,
    },
    /// It is about to be done, by exactly one.
    Reserved {
        /// By whom.
        executor: String,
    },
    /// It was done.
    Executed {
        /// What came of it, kept beside the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Digest>,
        /// In one line.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
    },
    /// It was tried, and failed.
    Failed {
        /// What came of it, kept beside the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Digest>,
        /// What went wrong.
        error: String,
    },
    /// Whoever was doing it is gone, and nobody can tell whether it was done.
    OutcomeUnknown {
        /// What is known.
        reason: String,
    },
}

impl ApprovalEvent {
    /// The word for it, as it stands in the log.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Requested { .. } => "requested",
            Self::Voted { .. } => "voted",
            Self::Decided { .. } => "decided",
            Self::Edited { .. } => "edited",
            Self::Reminded { .. } => "reminded",
            Self::Warned { .. } => "warned",
            Self::Escalated { .. } => "escalated",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled { .. } => "cancelled",
            Self::Stale { .. } => "stale",
            Self::Reserved { .. } => "reserved",
            Self::Executed { .. } => "executed",
            Self::Failed { .. } => "failed",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
        }
    }
}

/// What somebody decided, and what they saw when they did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What it comes to.
    pub outcome: Outcome,
    /// The option that was chosen.
    pub choice: Choice,
    /// Who.
    pub by: Decider,
    /// The digest of what they saw: it must be the request's.
    pub seen: Digest,
    /// The digest of the policy in force.
    pub policy: Digest,
    /// Why, or what should be done otherwise, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a decision comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// Not like this.
    ChangesRequested,
}

/// How a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits for a person.
    Pending,
    /// A person said yes; it was not begun.
    Approved,
    /// A person said no.
    Denied,
    /// A person wants it otherwise.
    ChangesRequested,
    /// Nobody decided in time.
    TimedOut,
    /// Nobody needs to decide any more.
    Cancelled,
    /// What would be done is not what was asked about.
    Stale,
    /// It is being done.
    Reserved,
    /// It was done.
    Executed,
    /// It was tried, and failed.
    Failed,
    /// Nobody can tell whether it was done.
    OutcomeUnknown,
}

impl ApprovalState {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Pending,
        Self::Approved,
        Self::Denied,
        Self::ChangesRequested,
        Self::TimedOut,
        Self::Cancelled,
        Self::Stale,
        Self::Reserved,
        Self::Executed,
        Self::Failed,
        Self::OutcomeUnknown,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::ChangesRequested => "changes_requested",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Stale => "stale",
            Self::Reserved => "reserved",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}
