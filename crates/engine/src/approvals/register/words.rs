//! What a request says in plain words: what it is, what would happen, and what happens on a no.

use aurora_model::{About, Assignment};

use super::{call_of, title_of};
use crate::machine::{State, TaskState};

/// So many things are named one by one.
const NAMED: usize = 20;

/// What it is, in one line.
pub(super) fn title(about: &About, state: &State) -> String {
    let title = about.task().map(|task| title_of(state, task)).filter(|title| !title.is_empty());
    let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
    let many = |number: u64, what| count(usize::try_from(number).unwrap_or(usize::MAX), what);
    let told = match about {
        About::Preview if state.is_plan_only() => {
            let subgoals = count(state.tasks.len(), "subgoal");
            format!("may this goal be written down as a plan, with {subgoals}?")
        }
        About::Preview => {
            format!("may this run begin, with {}?", count(state.tasks.len(), "task"))
        }
        About::Policy { task, .. } => format!("may {task}{title} begin?"),
        About::Changes { task, files, lines, .. } => {
            let (files, lines) = (many(*files, "file"), many(*lines, "line"));
            format!("may what {task}{title} changed be taken over: {files}, {lines}?")
        }
        About::Failure { task, error, .. } => format!("{task}{title} failed: {error}"),
        About::Operation { call, .. } => call.title.clone(),
        About::Unknown { what, .. } => format!("was it done? {what}"),
    };
    first_line(&told)
}

/// What would happen, one thing each.
pub(super) fn effects(about: &About, state: &State) -> Vec<String> {
    match about {
        About::Preview => named(state.tasks.iter().map(task_line), state.tasks.len()),
        About::Policy { task, .. } => {
            let line = state.task(task).map(task_line);
            line.into_iter().collect()
        }
        About::Changes { files, paths, .. } => {
            let all = usize::try_from(*files).unwrap_or(usize::MAX).max(paths.len());
            named(paths.iter().cloned(), all)
        }
        About::Failure { dependents, .. } if *dependents > 0 => {
            let waiting = usize::try_from(*dependents).unwrap_or(usize::MAX);
            let depend = if waiting == 1 { "depends" } else { "depend" };
            vec![format!("{} {depend} on it", count(waiting, "task"))]
        }
        About::Failure { .. } => Vec::new(),
        About::Operation { .. } | About::Unknown { .. } => {
            call_of(about, state).map(|call| call.effects.clone()).unwrap_or_default()
        }
    }
}

/// What happens on a no, in one line.
pub(super) fn on_no(about: &About) -> &'static str {
    match about {
        About::Preview => "nothing is begun, and the run is over",
        About::Policy { .. } => "the task is left out, and so is what depends on it",
        About::Changes { .. } => {
            "nothing of it is taken over; the task is left out, and so is what depends on it"
        }
        About::Failure { .. } => "the task is left out, and so is what depends on it",
        About::Operation { .. } => "it is not done; the agent is told why, and goes on without it",
        About::Unknown { .. } => {
            "it is left as it is; the agent is told that nobody knows whether it was done"
        }
    }
}

fn task_line(task: &TaskState) -> String {
    let who = match &task.planned.assignment {
        Assignment::Agent { agent } => agent.to_string(),
        Assignment::Gap { role, ad_hoc: Some(agent) } => format!("{agent} as {role}"),
        Assignment::Gap { role, ad_hoc: None } => format!("the model as {role}"),
    };
    first_line(&format!("{}: {} (by {who})", task.id(), task.planned.task.title))
}

fn named(all: impl Iterator<Item = String>, count: usize) -> Vec<String> {
    let mut lines: Vec<String> = all.take(NAMED).collect();
    let more = count.saturating_sub(lines.len());
    if more > 0 && !lines.is_empty() {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}
