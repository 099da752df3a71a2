//! How a run ended, and what can be done now.

use std::path::Path;

use aurora_engine::Ended;
use aurora_engine::machine::{Asked, LEFT_OUT, Phase, State, TaskState, TaskStatus};
use aurora_model::{About, RunOutcome, TaskId};
use serde_json::json;

use super::screen::Screen;
use super::view;
use crate::exit::Exit;
use crate::output;
use crate::output::summary::{self, Summary};
use crate::wiring::run::Driven;
use crate::wiring::{place, words};

/// Says how a run ended, in words or JSON, and how the program ends.
pub fn how_it_ended(driven: &Driven, screen: &Screen, json: bool) -> anyhow::Result<Exit> {
    let exit = exit_of(driven);
    let state = &driven.state;
    let run = state.brief.as_ref().map(|brief| brief.run.to_string()).unwrap_or_default();
    if json {
        let questions: Vec<_> = state.open_questions().map(|question| &question.id).collect();
        let answers: serde_json::Map<_, _> = screen
            .answers(state)
            .into_iter()
            .map(|(task, path)| (task.to_string(), json!(path)))
            .collect();
        let told = json!({
            "type": "ended",
            "run": run,
            "outcome": word_of(driven),
            "worktree": driven.worktree,
            "questions": questions,
            "answers": answers,
            "noticed": driven.noticed,
            "cost_usd": state.spent().to_string().trim_start_matches('$'),
            "exit_code": exit.code(),
        });
        output::print(&format!("{told}\n"))?;
        return Ok(exit);
    }
    if state.phase == Phase::Finished(RunOutcome::Aborted) && !has_begun(state) {
        output::print("aborted; nothing was begun\n")?;
        return Ok(exit);
    }
    output::print(&summary::summary(screen.canvas(), &summary_of(driven, screen, &run)))?;
    Ok(exit)
}

fn summary_of(driven: &Driven, screen: &Screen, run: &str) -> Summary {
    let state = &driven.state;
    let brief = state.brief.as_ref();
    let spent = Some(state.spent()).filter(|spent| spent.micros > 0);
    let place = driven.worktree.as_ref().map(|path| path.to_string_lossy().into_owned());
    let branch = brief.and_then(|brief| brief.place.branch.clone()).unwrap_or_default();
    let given_up = state.phase == Phase::Finished(RunOutcome::Aborted);
    let outcome = if given_up { "given up" } else { word_of(driven) };
    Summary {
        goal: brief.map(|brief| brief.goal.clone()).unwrap_or_default(),
        run: run.to_owned(),
        outcome: outcome.to_owned(),
        went_well: exit_of(driven) == Exit::Ok,
        tasks: state.tasks.iter().map(view::ended).collect(),
        cost: spent.map(|spent| spent.to_string()).unwrap_or_default(),
        seconds: driven.seconds,
        next: next_steps(driven, run, place.as_deref(), &branch),
        branch: place.as_ref().map(|_| branch.clone()).unwrap_or_default(),
        place: place.unwrap_or_default(),
        notes: notes(driven, screen),
    }
}

/// What is worth knowing; what must be looked at before anything is taken over comes first.
fn notes(driven: &Driven, screen: &Screen) -> Vec<String> {
    let mut notes = Vec::new();
    if !driven.noticed.is_empty() {
        let what = "Look at these before you use git here; nobody can tell whose hand it was:";
        notes.push(what.to_owned());
    }
    notes.extend(driven.noticed.iter().cloned());
    notes.extend(driven.state.questions.iter().filter_map(kept_note));
    let answers = screen.answers(&driven.state);
    notes.extend(answers.iter().map(|(task, path)| answer_note(task, path)));
    notes
}

/// Where that stands which could not be taken over.
fn kept_note(asked: &Asked) -> Option<String> {
    let About::Changes { task, reasons, place: Some(place), .. } = &asked.question.about else {
        return None;
    };
    let left = reasons.iter().find(|reason| reason.rule == LEFT_OUT)?;
    Some(format!("what {task} made at {place} {}", left.message))
}

fn answer_note(task: &TaskId, path: &Path) -> String {
    let here = place::cwd();
    let near = here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    format!("the model's answer to {task}: {}", near.display())
}

/// Whether anybody was at any of its tasks.
fn has_begun(state: &State) -> bool {
    state.tasks.iter().any(|task| !task.attempts.is_empty())
}

fn next_steps(
    driven: &Driven,
    run: &str,
    folder: Option<&str>,
    branch: &str,
) -> Vec<(String, String)> {
    let step = |what: &str, how: String| (what.to_owned(), how);
    let mut next = Vec::new();
    for question in driven.state.open_questions().filter(|_| driven.ended != Ended::Finished) {
        let options: Vec<&str> = question.options.iter().map(|choice| choice.name()).collect();
        next.push(step("look at the question", format!("aur approvals show {}", question.id)));
        next.push(step(
            "answer it",
            format!("aur approvals answer {} {}", question.id, options.join("|")),
        ));
    }
    if driven.ended != Ended::Finished {
        next.push(step("go on", format!("aur spawn --resume {run}")));
    }
    if let Some(folder) = folder {
        let place = words::quote(folder);
        // What is new is shown too, which touches nothing but the index of the run's own worktree.
        let look = format!("git -C {place} add -AN && git -C {place} diff HEAD");
        next.push(step("look at the work", look));
        let changed = |task: &TaskState| task.touched.is_some_and(|(files, _)| files > 0);
        let done = |task: &TaskState| matches!(task.status, TaskStatus::Completed { .. });
        let worth = driven.state.tasks.iter().any(|task| done(task) && changed(task));
        if driven.ended == Ended::Finished && worth {
            let goal = driven.state.brief.as_ref().map(|brief| brief.goal.as_str());
            let goal = goal.and_then(|goal| goal.lines().next()).unwrap_or(run);
            let commit = format!(
                "git -C {place} add -A && git -C {place} commit -m {} && git merge {branch}",
                words::quote(goal)
            );
            let what = match driven.noticed.is_empty() {
                true => "take it over",
                false => "take it over, once you have looked",
            };
            next.push(step(what, commit));
        }
    }
    next
}

fn word_of(driven: &Driven) -> &'static str {
    match (driven.ended, driven.state.phase) {
        (Ended::Interrupted, _) => "interrupted",
        (Ended::Waiting, _) => "waiting for an answer",
        (Ended::Finished, Phase::Finished(RunOutcome::Completed)) => "completed",
        (Ended::Finished, Phase::Finished(RunOutcome::Aborted)) => "aborted",
        (Ended::Finished, _) => "completed in part",
    }
}

fn exit_of(driven: &Driven) -> Exit {
    match (driven.ended, driven.state.phase) {
        (Ended::Interrupted, _) if is_abort(&driven.state) => Exit::Failure,
        (Ended::Interrupted, _) => Exit::Interrupted,
        (Ended::Waiting, _) => Exit::WouldAsk,
        (Ended::Finished, Phase::Finished(RunOutcome::Completed)) => Exit::Ok,
        (Ended::Finished, Phase::Finished(RunOutcome::Aborted)) => Exit::Denied,
        (Ended::Finished, _) => {
            let denied = |status: &TaskStatus| matches!(status, TaskStatus::Denied { .. });
            let denied = driven.state.tasks.iter().any(|task| denied(&task.status));
            if denied { Exit::Denied } else { Exit::Failure }
        }
    }
}

/// Whether a person said to stop in answer to a question, and not by a signal.
fn is_abort(state: &State) -> bool {
    state.stopped_by.as_deref() == Some("abort")
}
