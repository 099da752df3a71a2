//! What a yes authorises, exactly: the action as it was resolved, and what it would be done to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::level::{Autonomy, Tier};
use crate::id::{AgentName, Digest, RunId, TaskId};

/// One resolved action. Its canonical JSON is what is hashed, so every field counts, and nothing that
/// an agent says about it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The project: the absolute path of the worktree's root, or a name.
    pub project: String,
    /// The run.
    #[serde(default)]
    pub run: Option<RunId>,
    /// The task.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// The agent.
    #[serde(default)]
    pub agent: Option<AgentName>,
    /// The tool, or our own word for what is done: `run.start`, `changes.adopt`.
    pub tool: String,
    /// Which shape its arguments have.
    pub schema: u16,
    /// The arguments, resolved.
    pub args: Value,
    /// What it would be done to, as it was then.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// The digest of the policy that judged it.
    pub policy: Digest,
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
}

/// Something that an action is done to, with its identity at the time of asking.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A file, with the hash of its content; nothing where there was none.
    Path {
        /// Which, below the worktree's root, or absolute.
        path: String,
        /// The SHA-256 of its bytes.
        #[serde(default)]
        content: Option<Digest>,
    },
    /// A branch or tag, with the commit that it named.
    Ref {
        /// Which.
        name: String,
        /// The commit.
        #[serde(default)]
        commit: Option<String>,
    },
    /// A table or database.
    Table {
        /// Which.
        name: String,
    },
    /// Everything in a folder, by the hash of its tree.
    Tree {
        /// Which.
        path: String,
        /// The tree.
        tree: String,
    },
}
