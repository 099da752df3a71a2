//! What an agent is told about its task.

use aurora_model::{Brief, Route};

use crate::machine::{TaskState, TaskStatus};

/// How much of what went wrong before is told.
const MAX_ERROR_CHARS: usize = 2000;

/// Everything that an agent must know to do a task, in plain words.
#[must_use]
pub fn prompt(brief: &Brief, task: &TaskState, done: &[&TaskState], route: &Route) -> String {
    let mut text = String::new();
    if let Route::AdHoc { role, .. } = route {
        text.push_str(&format!("You are working as: {role}.\n\n"));
    }
    text.push_str(&format!("Task: {}\n", task.planned.task.title));
    if !task.planned.task.details.is_empty() {
        text.push_str(&format!("\n{}\n", task.planned.task.details.trim_end()));
    }
    if brief.goal != task.planned.task.title {
        text.push_str(&format!("\nIt is one part of a larger goal: {}\n", brief.goal));
    }
    let before: Vec<String> = done.iter().map(|one| earlier(one)).collect();
    if !before.is_empty() {
        text.push_str("\nDone before, which this task builds on:\n");
        text.push_str(&before.concat());
    }
    let scope = &task.planned.task.scope.paths;
    if !scope.is_empty() {
        text.push_str(&format!("\nFiles that it is expected to touch: {}\n", scope.join(", ")));
    }
    if *route == Route::Model {
        text.push_str(
            "\nYou cannot change files. Answer with what a developer needs to do this task: the \
             result itself where it is text, else exact instructions and code.\n",
        );
    } else {
        text.push_str(
            "\nWork in the current folder, which is a git worktree made for this task. Do this task \
             only and leave your changes in the files; do not push, and do not switch branches.\n",
        );
    }
    let failed = task.attempts.iter().rev().find_map(|one| one.ended.as_ref()?.as_ref().err());
    if let Some(error) = failed.filter(|error| *error != "interrupted") {
        let error: String = error.chars().take(MAX_ERROR_CHARS).collect();
        text.push_str(&format!("\nAn earlier attempt failed: {error}\n"));
    }
    text
}

fn earlier(task: &TaskState) -> String {
    let summary = match &task.status {
        TaskStatus::Completed { summary, .. } => summary.lines().next().unwrap_or_default(),
        _ => "",
    };
    let summary: String = summary.chars().take(300).collect();
    let title = &task.planned.task.title;
    if summary.is_empty() { format!("- {title}\n") } else { format!("- {title}: {summary}\n") }
}
