//! A request in the queue: one exact action that waits for a person, and everything that became of it.

mod decider;
mod event;
mod level;
mod subject;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AgentName, Digest, QuestionId};
use crate::question::Choice;
use crate::time::Timestamp;
use crate::verdict::Reason;

pub use decider::{Decider, DeciderKind, Surface, Who};
pub use event::{ApprovalEvent, ApprovalState, Decision, Outcome};
pub use level::{ActionType, Autonomy, AutonomyEvent, Tier};
pub use subject::{Subject, Target};

/// Which gate asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A goal was taken apart into tasks.
    Review,
    /// Tasks are about to be run.
    Preview,
    /// A plan is proposed, before it is worked out.
    Proposal,
    /// A plan has been worked on for a while.
    Checkpoint,
    /// Something is about to be done that may not be done without a yes.
    Operation,
    /// Something failed.
    Failure,
    /// Something needs a person that no rule can settle: a tripped breaker, an unknown outcome.
    Escalation,
}

impl GateKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Review,
        Self::Preview,
        Self::Proposal,
        Self::Checkpoint,
        Self::Operation,
        Self::Failure,
        Self::Escalation,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Preview => "preview",
            Self::Proposal => "proposal",
            Self::Checkpoint => "checkpoint",
            Self::Operation => "operation",
            Self::Failure => "failure",
            Self::Escalation => "escalation",
        }
    }

    /// The gate of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One exact action that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its name, by which it is found and decided.
    pub id: QuestionId,
    /// Which gate asks.
    pub gate: GateKind,
    /// What is authorised by a yes, exactly.
    pub subject: Subject,
    /// The SHA-256 of the subject's canonical JSON: what a decision is bound to.
    pub digest: Digest,
    /// What can be answered.
    pub options: Vec<Choice>,
    /// What it is, in one line of ours.
    pub title: String,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// What would happen, in words, one thing each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What kinds of action that is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionType>,
    /// How dangerous the most dangerous of them is.
    pub tier: Tier,
    /// How much the asking agent may do by itself.
    pub autonomy: Autonomy,
    /// What happens on a no, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub on_no: String,
    /// What the agent itself says about it. Nobody vouches for it, and it authorises nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
    /// More to look at, kept beside the log: a diff, a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Digest>,
    /// Who asks.
    pub requester: Requester,
    /// Who may decide, how many must, and what happens when nobody does.
    pub ruling: Ruling,
    /// The parked conversation that goes on after the decision, kept beside the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<Digest>,
    /// When it was asked.
    pub asked_at: Timestamp,
}

/// Who asks. Whoever asks cannot be the one who decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The person or program that asks in its own name, as with a token of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

/// Who may decide, how many must, and what happens when nobody does: as chosen when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// What happens when nobody decides.
    pub timeout: TimeoutRule,
    /// Who may decide; nobody named means every person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deciders: Vec<Who>,
    /// How many different people must say yes.
    pub quorum: u32,
    /// How often those who may decide are reminded, in seconds; nothing for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_every_s: Option<u64>,
    /// How long before it expires they are warned, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_before_s: Option<u64>,
}

/// What happens when nobody decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeoutRule {
    /// The policy's name: `wait`, `deny`, `tiered`, `escalation`.
    pub policy: String,
    /// Its settings, in its own words.
    #[serde(default)]
    pub settings: Value,
    /// Which line of the settings chose it.
    pub chosen_by: String,
}
