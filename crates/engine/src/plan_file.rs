//! A plan as files: `goals.json` for programs, `tasks.md` for people, both of one decomposition.
//!
//! `goals.json`, format 1; fields are only ever added:
//!
//! ```json
//! {
//!   "format": 1,
//!   "plan_id": "0004-add-caching",
//!   "goal": "Add caching",
//!   "created_at": "2026-01-14T10:30:00.000Z",
//!   "run": "goals-1768386600",
//!   "subgoals": [
//!     {
//!       "id": "sg-1",
//!       "title": "Profile indexing",
//!       "description": "What the lines below the title say",
//!       "agent": "code-developer",
//!       "gap": false,
//!       "depends_on": [],
//!       "expected_scope": {"paths": ["src/*.rs"], "files": 3, "lines": 200}
//!     }
//!   ]
//! }
//! ```

mod tasks_md;

use aurora_model::id::{AgentName, PlanId, RunId, TaskId, slug};
use aurora_model::run::Planned;
use aurora_model::task::{Assignment, Scope, Task};
use aurora_model::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Slugs in the names of plans are cut here.
const MAX_SLUG_CHARS: usize = 40;
/// The format that is written.
const FORMAT: u32 = 1;

/// A plan: a goal and what it was taken apart into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Which form this has.
    format: u32,
    /// Its name.
    pub plan_id: PlanId,
    /// What all of it is for.
    pub goal: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The run in which it was made, so that the same run writes it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Its parts, in order.
    pub subgoals: Vec<Subgoal>,
}

/// One part of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subgoal {
    /// Its name.
    pub id: TaskId,
    /// What is to be done, in one line.
    pub title: String,
    /// What else there is to say about it.
    #[serde(default)]
    pub description: String,
    /// The agent that is asked for.
    pub agent: Option<AgentName>,
    /// Whether the settings know no such agent.
    #[serde(default)]
    pub gap: bool,
    /// What must be completed before.
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    /// How much it is expected to touch.
    #[serde(default)]
    pub expected_scope: Scope,
}

impl Plan {
    /// A plan of these tasks. Titles and descriptions are cleaned of what a tasks file would read as
    /// something else: boxes, comments, line ends in a title.
    #[must_use]
    pub fn new(plan_id: PlanId, goal: &str, created_at: Timestamp, tasks: &[Planned]) -> Self {
        let subgoals = tasks.iter().map(|planned| {
            let task = &planned.task;
            let (agent, gap) = match &planned.assignment {
                Assignment::Agent { agent } => (agent, false),
                Assignment::Gap { role, .. } => (role, true),
            };
            Subgoal {
                id: task.id.clone(),
                title: tasks_md::clean_line(&task.title),
                description: tasks_md::clean_lines(&task.details),
                agent: task.agent.clone().or_else(|| Some(agent.clone())),
                gap,
                depends_on: task.depends_on.clone(),
                expected_scope: tasks_md::clean_scope(&task.scope),
            }
        });
        let subgoals = subgoals.collect();
        let goal = tasks_md::clean_line(goal);
        Self { format: FORMAT, plan_id, goal, created_at, run: None, subgoals }
    }

    /// The same, made in a run.
    #[must_use]
    pub fn of_run(self, run: RunId) -> Self {
        Self { run: Some(run), ..self }
    }

    /// The text of `goals.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A value of plain fields always has a text.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads `goals.json`.
    ///
    /// # Errors
    /// When it is no plan, or one of a later format.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if plan.format > FORMAT {
            return Err(format!("format {} is newer than {FORMAT}, the latest known", plan.format));
        }
        Ok(plan)
    }

    /// The tasks, as the tasks file has them.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        let task = |subgoal: &Subgoal| Task {
            id: subgoal.id.clone(),
            title: subgoal.title.clone(),
            details: subgoal.description.clone(),
            agent: subgoal.agent.clone(),
            depends_on: subgoal.depends_on.clone(),
            scope: subgoal.expected_scope.clone(),
            done: false,
        };
        self.subgoals.iter().map(task).collect()
    }

    /// The text of `tasks.md`, which reads back as [`Plan::tasks`].
    #[must_use]
    pub fn to_tasks_md(&self) -> String {
        tasks_md::write(self)
    }
}

/// The name of a plan: `0004-add-caching`.
#[must_use]
pub fn plan_id(number: u32, goal: &str) -> Option<PlanId> {
    let slug = slug(goal, MAX_SLUG_CHARS);
    let between = if slug.is_empty() { "" } else { "-" };
    PlanId::parse(&format!("{number:04}{between}{slug}"))
}

/// The number of the next plan beside those with these names.
#[must_use]
pub fn next_number<'n>(names: impl IntoIterator<Item = &'n str>) -> u32 {
    let number = |name: &str| {
        let digits = name.split('-').next().unwrap_or_default();
        digits.parse::<u32>().ok().filter(|_| digits.len() >= 4)
    };
    names.into_iter().filter_map(number).max().map_or(1, |last| last.saturating_add(1))
}

#[cfg(test)]
mod tests;
