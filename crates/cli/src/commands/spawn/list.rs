//! The runs that can be resumed.

use std::sync::Arc;

use aurora_engine::driver;
use aurora_engine::machine::{Phase, State};
use aurora_model::{RunId, RunKind, Timestamp};
use aurora_store::Store;
use serde_json::json;

use crate::exit::Exit;
use crate::output::style::Style;
use crate::output::{self, escape, moment};
use crate::wiring::run::failure;
use crate::wiring::store::{self, Log};
use crate::wiring::workspace::now;

/// So many runs are looked at, the latest first.
const MAX_RUNS: usize = 10_000;

/// A run that is not finished.
pub struct Resumable {
    /// Its name.
    pub run: RunId,
    /// Where it stands.
    pub state: Arc<State>,
    /// When something happened last.
    pub last_at: Timestamp,
    /// Whether somebody drives it now.
    pub driven: bool,
}

/// Lists them.
pub fn run(json: bool) -> anyhow::Result<Exit> {
    let found = match Log::open_existing()? {
        Some(log) => log.ask(resumable(&log.store))?,
        None => Vec::new(),
    };
    if json {
        let runs: Vec<_> = found.iter().map(shown_as_json).collect();
        output::print_json(&json!({ "runs": runs }))?;
        return Ok(Exit::Ok);
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    for one in &found {
        out.push_str(&shown(one, style));
    }
    if found.is_empty() {
        out.push_str("nothing to resume\n");
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// The runs that are not finished, the latest first.
pub async fn resumable(store: &Arc<dyn Store>) -> anyhow::Result<Vec<Resumable>> {
    let heads = store.heads("run/", MAX_RUNS).await.map_err(store::failure)?;
    let mut found = Vec::new();
    for head in heads.into_iter().filter(|head| head.last_kind != "run_finished") {
        let Some(run) = head.stream.0.strip_prefix("run/").and_then(RunId::parse) else { continue };
        let (_, state) = driver::load(store, &run).await.map_err(failure)?;
        let wanted = state.brief.as_ref().is_some_and(|brief| brief.kind == RunKind::Spawn);
        if !wanted || matches!(state.phase, Phase::Finished(_)) {
            continue;
        }
        let driven = store.is_claimed(&head.stream).await.map_err(store::failure)?;
        found.push(Resumable { run, state, last_at: head.last_at, driven });
    }
    Ok(found)
}

fn shown_as_json(one: &Resumable) -> serde_json::Value {
    let done = one.state.tasks.iter().filter(|task| task.is_done()).count();
    let questions: Vec<_> = one.state.open_questions().map(|question| &question.id).collect();
    json!({
        "execution_id": one.run,
        "goal": one.state.brief.as_ref().map(|brief| &brief.goal),
        "plan_id": one.state.brief.as_ref().and_then(|brief| brief.plan.as_ref()),
        "completed": done,
        "tasks": one.state.tasks.len(),
        "interrupted": one.state.phase == Phase::Interrupted,
        "running": one.driven,
        "last_checkpoint": one.last_at,
        "questions": questions,
    })
}

fn shown(one: &Resumable, style: Style) -> String {
    let done = one.state.tasks.iter().filter(|task| task.is_done()).count();
    let how = match (one.driven, one.state.phase) {
        (true, _) => "running now",
        (false, Phase::Interrupted) => "stopped",
        (false, _) if one.state.open_questions().next().is_some() => "waits for an answer",
        (false, _) => "died",
    };
    let goal = one.state.brief.as_ref().map(|brief| brief.goal.as_str()).unwrap_or_default();
    format!(
        "{}  {done}/{} done, {how} {}\n  {}\n",
        style.bold(one.run.as_str()),
        one.state.tasks.len(),
        moment::ago(now(), one.last_at),
        escape::line(goal),
    )
}
