//! What is to be done: tasks, who does them, what they wait for, how much they should touch.

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, TaskId};
use crate::path::RepoPath;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name within the run.
    pub id: TaskId,
    /// What is to be done, in one line.
    pub title: String,
    /// The lines below the title, where there are some.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// The agent that is asked for, as it was written; nothing leaves it to the default agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The tasks that must be completed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// How much it is expected to touch.
    #[serde(default, skip_serializing_if = "Scope::is_unknown")]
    pub scope: Scope,
    /// Whether its box was ticked before the run began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

/// How much a task is expected to touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Paths or patterns that it is expected to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How many files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
    /// How many lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

impl Scope {
    /// Whether nothing is expected.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.paths.is_empty() && self.files.is_none() && self.lines.is_none()
    }
}

/// Who will do a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Assignment {
    /// An agent that the settings know.
    Agent {
        /// Which.
        agent: AgentName,
    },
    /// Nobody in the settings has this name: a gap.
    Gap {
        /// The name, which is taken for a role.
        role: AgentName,
        /// The agent that can play the role; nothing when there is none to ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ad_hoc: Option<AgentName>,
    },
}

/// What is done about gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// An agent made for the role is tried, then the model.
    #[default]
    AdHoc,
    /// The model is asked at once.
    Model,
}

/// The way by which an attempt tries to do a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Route {
    /// By the agent that was asked for.
    Agent {
        /// Which.
        agent: AgentName,
    },
    /// By an agent that plays a role nobody in the settings has.
    AdHoc {
        /// Which.
        agent: AgentName,
        /// The role.
        role: AgentName,
    },
    /// By asking the model directly, without an agent.
    Model,
}

impl Route {
    /// Whether a result by this way is marked as a fallback.
    #[must_use]
    pub fn is_fallback(&self) -> bool {
        matches!(self, Self::Model)
    }
}

/// A path that a finished task changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The path.
    pub path: RepoPath,
    /// How.
    pub kind: crate::checkpoint::ChangeKind,
}
