//! How it ended: where the plan is, or who must answer first.

use std::path::Path;

use aurora_engine::Ended;
use aurora_engine::machine::Phase;
use aurora_model::{RunId, RunOutcome};
use serde_json::json;

use super::plan::{Plans, TASKS};
use crate::commands::spawn::screen::Screen;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::run::{Driven, Front};
use crate::wiring::{place, words};

/// Whoever sits in front of it, with whoever writes the plan.
pub fn front(screen: &Screen, plans: &Plans, stays: bool) -> Front {
    let plans = plans.clone();
    let write = move |state: &aurora_engine::machine::State| {
        let written = plans.write(state).map(|folder| folder.to_string_lossy().into_owned());
        written.map_err(|error| aurora_engine::Error::Lost { what: format!("{error:#}") })
    };
    Front { write_plan: Some(Box::new(write)), ..screen.front(stays) }
}

/// The same outcome; what went wrong says that nobody need be asked again.
pub fn or_resumable(driven: anyhow::Result<Driven>, run: &RunId) -> anyhow::Result<Driven> {
    let hint = format!("nothing is lost: `aur goals --resume {run}` goes on with the same answer");
    driven.map_err(|error| match error.downcast::<Failure>() {
        Ok(failure) => failure.hint(hint).into(),
        Err(error) => error,
    })
}

/// Says how it ended, in words or JSON, and how the program ends.
pub fn how_it_ended(
    driven: &Driven,
    run: &RunId,
    plans: &Plans,
    json: bool,
) -> anyhow::Result<Exit> {
    let exit = exit_of(driven);
    if driven.state.phase == Phase::Finished(RunOutcome::Aborted) {
        plans.forget_answer(run);
    }
    let plan = driven.state.plan.as_deref().map(Path::new);
    let tasks = plan.map(|plan| shortest(&plan.join(TASKS)));
    if json {
        let questions: Vec<_> = driven.state.open_questions().map(|one| &one.id).collect();
        let told = json!({
            "type": "ended",
            "run": run,
            "outcome": word_of(driven),
            "plan_id": plan.and_then(Path::file_name).map(|name| name.to_string_lossy()),
            "plan": plan,
            "tasks": plan.map(|plan| plan.join(TASKS)),
            "questions": questions,
            "exit_code": exit.code(),
        });
        output::print(&format!("{told}\n"))?;
        return Ok(exit);
    }
    output::print(&in_words(driven, run, tasks.as_deref()))?;
    Ok(exit)
}

fn in_words(driven: &Driven, run: &RunId, tasks: Option<&str>) -> String {
    if let Some(tasks) = tasks {
        let tasks = words::quote(tasks);
        return format!("plan written: {tasks}\nnext: aur spawn {tasks}\n");
    }
    let mut out = format!("{}\n", word_of(driven));
    if driven.ended == Ended::Finished {
        return out;
    }
    for question in driven.state.open_questions() {
        let choices: Vec<&str> = question.options.iter().map(|choice| choice.name()).collect();
        let choices = choices.join("|");
        out.push_str(&format!("answer it: aur approvals answer {} {choices}\n", question.id));
    }
    out.push_str(&format!("go on: aur goals --resume {run}\n"));
    out
}

/// A path as it is shortest for whoever stands here.
fn shortest(path: &Path) -> String {
    let here = place::cwd();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).to_string_lossy().into_owned()
}

fn word_of(driven: &Driven) -> &'static str {
    match (driven.ended, driven.state.phase) {
        (Ended::Interrupted, _) => "interrupted",
        (Ended::Waiting, _) => "waiting for an answer",
        (Ended::Finished, Phase::Finished(RunOutcome::Completed)) => "completed",
        (Ended::Finished, _) => "aborted; nothing was written",
    }
}

fn exit_of(driven: &Driven) -> Exit {
    match (driven.ended, driven.state.phase) {
        (Ended::Interrupted, _) => Exit::Interrupted,
        (Ended::Waiting, _) => Exit::WouldAsk,
        (Ended::Finished, Phase::Finished(RunOutcome::Completed)) => Exit::Ok,
        (Ended::Finished, _) => Exit::Denied,
    }
}
