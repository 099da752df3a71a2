//! A run: one execution of a list of tasks, and what it was told when it began.

use serde::{Deserialize, Serialize};

use crate::approval::GateKind;
use crate::id::{Digest, PlanId, RunId, TaskId};
use crate::task::{Assignment, Task};

/// Everything that a run is told when it begins. It never changes afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The run.
    pub run: RunId,
    /// What comes of it.
    #[serde(default)]
    pub kind: RunKind,
    /// What all of it is for, in one line.
    pub goal: String,
    /// The plan that it comes from, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The tasks file, as it was given, and the digest of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What is to be done, in the order of the file.
    pub tasks: Vec<Planned>,
    /// Where the work is done.
    pub place: Place,
    /// The policy that was laid over the others for this run alone; it holds when the run is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyLayer>,
    /// How.
    pub settings: RunSettings,
}

/// What comes of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Its tasks are done.
    #[default]
    Spawn,
    /// Its tasks are written down as a plan, after a person saw them.
    Goals,
}

/// A task with who will do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// Who will do it.
    pub assignment: Assignment,
    /// Tasks that are expected to touch the same files, so that it is not run beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart_from: Vec<TaskId>,
}

/// A policy that holds for one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyLayer {
    /// Where it came from, as it was given.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// A tasks file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its absolute path.
    pub path: String,
    /// The digest of its text.
    pub digest: Digest,
}

/// Where a run's work is gathered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The feature, which names the worktree and its chain of checkpoints.
    pub feature: String,
    /// The worktree.
    pub path: String,
    /// The branch that is checked out there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a run goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    /// How many tasks at once.
    pub max_parallel: u32,
    /// How many seconds one attempt may take.
    pub timeout_seconds: u64,
    /// How many attempts in all before the model is asked.
    pub max_attempts: u32,
    /// Whether a model is configured that can be asked directly.
    pub model: bool,
    /// Whether it is asked when all attempts failed.
    pub fallback: bool,
    /// Whether a checkpoint is made after every task.
    pub checkpoints: bool,
    /// Whether every question is answered by its first choice that goes on, without asking.
    pub yes: bool,
    /// The gates whose questions only people can answer, so that `yes` does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people_only: Vec<GateKind>,
    /// Whether `yes` is so because gates are switched off in the environment, and nobody said it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ungated: bool,
}
