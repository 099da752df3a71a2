//! What is asked of a person: one kind of thing, whatever it is about and wherever it is answered.

use serde::{Deserialize, Serialize};

use crate::id::{QuestionId, TaskId};
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
}

impl About {
    /// The task that it is about.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Preview => None,
            Self::Policy { task, .. } | Self::Changes { task, .. } | Self::Failure { task, .. } => {
                Some(task)
            }
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
}

impl Choice {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Proceed, Self::Fallback, Self::Allow, Self::Retry, Self::Skip, Self::Abort];

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
