//! `.aurora/checkpoints/<run>.json`: where a run stands, for people and scripts; made of the log, and
//! never read back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aurora_engine::driver::Told;
use aurora_engine::machine::{Phase, State, TaskStatus};
use aurora_model::{Event, Timestamp};
use serde_json::{Value, json};

use crate::wiring::atomic;

/// The file of one run, kept up to date.
#[derive(Clone)]
pub struct ResumeFile {
    path: PathBuf,
    /// Whether this process wrote it before.
    written: bool,
    started_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    /// When each task was begun and ended last.
    times: BTreeMap<String, (Option<Timestamp>, Option<Timestamp>)>,
}

impl ResumeFile {
    /// The file of a run below the project's folder.
    pub fn new(folder: &Path, run: &str) -> Self {
        let path = folder.join("checkpoints").join(format!("{run}.json"));
        Self { path, written: false, started_at: None, last_at: None, times: BTreeMap::new() }
    }

    /// Takes note of when things happened.
    pub fn note(&mut self, told: &Told) {
        self.last_at = Some(told.at);
        match &told.event {
            Event::RunStarted { .. } => self.started_at = Some(told.at),
            Event::AttemptStarted { task, .. } => {
                let times = self.times.entry(task.to_string()).or_default();
                *times = (times.0.or(Some(told.at)), None);
            }
            Event::TaskCompleted { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. }
            | Event::TaskDenied { task, .. } => {
                self.times.entry(task.to_string()).or_default().1 = Some(told.at);
            }
            _ => {}
        }
    }

    /// Whether this process wrote it before, or tried to.
    pub fn is_written(&self) -> bool {
        self.written
    }

    /// Takes note that it did.
    pub fn was_written(&mut self) {
        self.written = true;
    }

    /// Writes it; a reader sees the old one or the new one.
    pub fn write(&self, state: &State) -> anyhow::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let text = format!("{:#}\n", self.content(state));
        // What agents say may hold what they should not have said.
        atomic::write_private(&self.path, text.as_bytes())
    }

    /// What it says.
    pub fn content(&self, state: &State) -> Value {
        let brief = state.brief.as_ref();
        let tasks: Vec<Value> = state.tasks.iter().map(|task| self.task(task)).collect();
        json!({
            "execution_id": brief.map(|brief| &brief.run),
            "plan_id": brief.and_then(|brief| brief.plan.as_ref()),
            "goal": brief.map(|brief| &brief.goal),
            "started_at": self.started_at,
            "tasks": tasks,
            "last_checkpoint": self.last_at,
            "interrupted": state.phase == Phase::Interrupted,
            "finished": matches!(state.phase, Phase::Finished(_)),
            "cost_usd": state.spent().to_string().trim_start_matches('$'),
        })
    }

    fn task(&self, task: &aurora_engine::machine::TaskState) -> Value {
        let (started_at, ended_at) =
            self.times.get(task.id().as_str()).copied().unwrap_or_default();
        let (status, result, checkpoint) = match &task.status {
            TaskStatus::Waiting | TaskStatus::Cleared => ("pending", None, None),
            TaskStatus::Gated { .. } | TaskStatus::Parked { .. } | TaskStatus::Held { .. } => {
                ("waiting", None, None)
            }
            TaskStatus::Busy { .. } => ("in_progress", None, None),
            TaskStatus::Failed { error, .. } => ("failed", Some(error.clone()), None),
            TaskStatus::Completed { summary, checkpoint, .. } => {
                ("completed", Some(summary.clone()), checkpoint.as_ref())
            }
            TaskStatus::Skipped { .. } => ("skipped", None, None),
            TaskStatus::Denied { because } => ("denied", Some(because.clone()), None),
        };
        let mut value =
            json!({ "id": task.id(), "title": task.planned.task.title, "status": status });
        let more = [
            ("result", result.map(Value::from)),
            ("checkpoint", checkpoint.map(|id| json!(id))),
            ("started_at", started_at.map(|at| json!(at))),
            ("ended_at", ended_at.map(|at| json!(at))),
        ];
        if let Some(object) = value.as_object_mut() {
            let there = more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            object.extend(there);
        }
        value
    }
}
