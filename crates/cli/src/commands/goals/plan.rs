//! The plan on disk: a folder that appears whole under a number of its own, and once per run.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use aurora_engine::machine::State;
use aurora_engine::plan_file::{self, Plan};
use aurora_model::{AgentName, Assignment, Brief, Choice, PlanId, Planned, RunId};
use rustix::fs::{FlockOperation, flock};

use crate::exit::Failure;
use crate::wiring::atomic;
use crate::wiring::workspace::now;

/// The plans of a repository, below its `.aurora`.
const PLANS: &str = "plans";
/// Whoever is about to take a number holds this.
const LOCK: &str = ".lock";
/// The text from which a plan was read, where it needed repairs or cannot be used.
const ANSWER: &str = "answer.txt";
/// The names of a plan's files.
pub const TASKS: &str = "tasks.md";
const GOALS: &str = "goals.json";

/// Where the plans of a repository are.
#[derive(Debug, Clone)]
pub struct Plans(PathBuf);

impl Plans {
    /// Those of the repository with this `.aurora`.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self(folder.join(PLANS))
    }

    /// Keeps the text of an answer for a person to look at, and says where.
    pub fn keep_answer(&self, run: &RunId, text: &str) -> anyhow::Result<PathBuf> {
        let folder = self.0.join(run.as_str());
        std::fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, &error))?;
        let path = folder.join(ANSWER);
        atomic::write(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Forgets an answer that was kept.
    pub fn forget_answer(&self, run: &RunId) {
        let folder = self.0.join(run.as_str());
        let _ = std::fs::remove_file(folder.join(ANSWER));
        // Only an empty folder goes: whatever else is in it is somebody's.
        let _ = std::fs::remove_dir(folder);
    }

    /// Writes the tasks of a run down, and says where. A run that has a plan keeps it.
    pub fn write(&self, state: &State) -> anyhow::Result<PathBuf> {
        let Some(brief) = &state.brief else {
            return Err(Failure::failed("a run without a beginning has no plan").into());
        };
        std::fs::create_dir_all(&self.0).map_err(|error| cannot("make", &self.0, &error))?;
        let _lock = self.lock()?;
        let names = self.names()?;
        if let Some(written) = self.of_run(&names, brief) {
            return Ok(written);
        }
        let number = plan_file::next_number(names.iter().map(String::as_str));
        let id = plan_file::plan_id(number, &brief.goal)
            .ok_or_else(|| Failure::failed("no plan can have a number as large as the next"))?;
        let tasks = marked(brief, is_fallback(state));
        let plan = Plan::new(id.clone(), &brief.goal, now(), &tasks).of_run(brief.run.clone());
        let folder = self.appear(&id, &brief.run, &plan)?;
        self.forget_answer(&brief.run);
        Ok(folder)
    }

    /// Makes the folder under another name, and gives it its own when it is whole.
    fn appear(&self, id: &PlanId, run: &RunId, plan: &Plan) -> anyhow::Result<PathBuf> {
        let half = self.0.join(format!(".{id}.new"));
        match std::fs::remove_dir_all(&half) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(cannot("remove", &half, &error));
            }
            _ => {}
        }
        std::fs::create_dir(&half).map_err(|error| cannot("make", &half, &error))?;
        atomic::write(&half.join(GOALS), plan.to_json().as_bytes())?;
        atomic::write(&half.join(TASKS), plan.to_tasks_md().as_bytes())?;
        if let Ok(answer) = std::fs::read(self.0.join(run.as_str()).join(ANSWER)) {
            atomic::write(&half.join(ANSWER), &answer)?;
        }
        let folder = self.0.join(id.as_str());
        std::fs::rename(&half, &folder).map_err(|error| cannot("make", &folder, &error))?;
        if let Ok(plans) = File::open(&self.0) {
            // Where a folder cannot be synced there is nothing more to do.
            let _ = plans.sync_all();
        }
        Ok(folder)
    }

    /// Waits for whoever takes a number now; the lock goes with the file.
    fn lock(&self) -> anyhow::Result<File> {
        let path = self.0.join(LOCK);
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| cannot("open", &path, &error))?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| cannot("lock", &path, &error.into()))?;
        Ok(file)
    }

    fn names(&self) -> anyhow::Result<Vec<String>> {
        let cannot = |error: std::io::Error| cannot("list", &self.0, &error);
        let entries = std::fs::read_dir(&self.0).map_err(cannot)?;
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.map(|entry| entry.file_name());
        let names: Vec<_> = entries.map(name).collect::<Result<_, _>>().map_err(cannot)?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    /// The plan that this run wrote before it could say so.
    fn of_run(&self, names: &[String], brief: &Brief) -> Option<PathBuf> {
        let like = |name: &&String| {
            let number = plan_file::next_number([name.as_str()]).saturating_sub(1);
            plan_file::plan_id(number, &brief.goal).is_some_and(|id| id.as_str() == name.as_str())
        };
        names.iter().filter(like).map(|name| self.0.join(name)).find(|folder| {
            let text = std::fs::read_to_string(folder.join(GOALS)).unwrap_or_default();
            Plan::from_json(&text).is_ok_and(|plan| plan.run.as_ref() == Some(&brief.run))
        })
    }
}

fn is_fallback(state: &State) -> bool {
    let answers = state.questions.iter().filter_map(|asked| asked.answer.as_ref());
    answers.into_iter().any(|(choice, _)| *choice == Choice::Fallback)
}

/// The tasks as they are written down: where gaps go to the model at once, they name it.
fn marked(brief: &Brief, fallback: bool) -> Vec<Planned> {
    let model = AgentName::parse(aurora_agents::registry::MODEL);
    let mark = |planned: &Planned| {
        let (Assignment::Gap { role, .. }, Some(model), true) =
            (&planned.assignment, &model, fallback)
        else {
            return planned.clone();
        };
        let mut task = planned.task.clone();
        let lead = if task.details.is_empty() { "" } else { "\n\n" };
        task.details = format!("{}{lead}Do it as {role} would.", task.details);
        task.agent = Some(model.clone());
        let assignment = Assignment::Agent { agent: model.clone() };
        Planned { task, assignment, apart_from: planned.apart_from.clone() }
    };
    brief.tasks.iter().map(mark).collect()
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::failed(format!("cannot {what} {}: {error}", path.display())).into()
}

#[cfg(test)]
mod tests;
