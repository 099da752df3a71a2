//! What is asked of a person: one kind of thing, whatever it is about and wherever it is answered.

use serde::{Deserialize, Serialize};

use crate::approval::{ActionType, Autonomy, Outcome, Target, Tier};
use crate::id::{AgentName, Digest, QuestionId, TaskId};
use crate::verdict::Reason;

/// Something that a person must decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its name within its run.
    pub id: QuestionId,
    /// What it is about.
    pub about: About,
    /// What can be answered; the first is what Enter chooses where Enter may choose.
    pub options: Vec<Choice>,
    /// Whether only a person can answer, so that not even `--yes` does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
}

/// What a question is about, with what a person needs to decide it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum About {
    /// The tasks that are about to be run, as they were shown.
    Preview,
    /// A task that may not begin without a yes.
    Policy {
        /// Which.
        task: TaskId,
        /// Why it is asked.
        reasons: Vec<Reason>,
    },
    /// What a task has changed, which may not be taken over without a yes.
    Changes {
        /// Which.
        task: TaskId,
        /// Why it is asked.
        reasons: Vec<Reason>,
        /// How many files it changed.
        files: u64,
        /// How many lines.
        lines: u64,
        /// The first of the paths, each after `+` (new), `~` (changed) or `-` (gone).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// The folder in which it can be looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
    /// A task that failed.
    Failure {
        /// Which.
        task: TaskId,
        /// What went wrong.
        error: String,
        /// How many of the tasks that are left depend on it.
        dependents: u64,
    },
    /// A call of a tool that may not be made without a yes; the conversation that made it is parked.
    Operation {
        /// The task in which it was made.
        task: TaskId,
        /// The call, as it will be made after a yes.
        call: Box<FrozenCall>,
    },
    /// A call that was being made when we died: nobody can tell whether it was.
    Unknown {
        /// The task in which it was made.
        task: TaskId,
        /// The question that allowed it.
        question: QuestionId,
        /// What is known.
        what: String,
    },
}

/// A call of a tool, resolved and kept as it was, until somebody decides about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenCall {
    /// The name that the model gave to the call; its result must carry it.
    pub call: String,
    /// The agent.
    pub agent: AgentName,
    /// The tool.
    pub tool: String,
    /// Which shape its arguments have.
    pub schema: u16,
    /// The arguments, resolved.
    pub args: serde_json::Value,
    /// What it would be done to, as it was then.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// The digest of the policy that judged it.
    pub policy: Digest,
    /// What it is, in one line of ours.
    pub title: String,
    /// Why it is asked.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// What would happen, in words.
    #[serde(default)]
    pub effects: Vec<String>,
    /// What kinds of action that is.
    #[serde(default)]
    pub actions: Vec<ActionType>,
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// What the agent says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
    /// Whether only a person can answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
}

impl About {
    /// The task that it is about.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Preview => None,
            Self::Policy { task, .. }
            | Self::Changes { task, .. }
            | Self::Failure { task, .. }
            | Self::Operation { task, .. }
            | Self::Unknown { task, .. } => Some(task),
        }
    }
}

/// What can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Go on; gaps are filled by agents made for the role, then by the model.
    Proceed,
    /// Go on with the model, without an agent.
    Fallback,
    /// Do it all the same.
    Allow,
    /// Try again with the same agent.
    Retry,
    /// Leave it out, and what depends on it.
    Skip,
    /// Stop here; what is done stays.
    Abort,
    /// Do not do it.
    Deny,
    /// Do it otherwise, as the reason says.
    RequestChanges,
    /// Work no further, and make the best of what is there.
    Pause,
    /// It was done, as far as the person knows.
    Done,
}

impl Choice {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Proceed,
        Self::Fallback,
        Self::Allow,
        Self::Retry,
        Self::Skip,
        Self::Abort,
        Self::Deny,
        Self::RequestChanges,
        Self::Pause,
        Self::Done,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Fallback => "fallback",
            Self::Allow => "allow",
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Abort => "abort",
            Self::Deny => "deny",
            Self::RequestChanges => "request_changes",
            Self::Pause => "pause",
            Self::Done => "done",
        }
    }

    /// What choosing it comes to.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Proceed | Self::Fallback | Self::Allow | Self::Retry | Self::Done => {
                Outcome::Approved
            }
            Self::Skip | Self::Abort | Self::Deny | Self::Pause => Outcome::Denied,
            Self::RequestChanges => Outcome::ChangesRequested,
        }
    }

    /// The choice of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

/// Who answered, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answerer {
    /// The person's name, or what answered in their place (`--yes`).
    pub by: String,
    /// The surface: `terminal`, `command`, `flag`.
    pub surface: String,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
