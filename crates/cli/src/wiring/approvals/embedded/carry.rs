//! How a run goes on whose request was decided.

use aurora_engine::driver;
use aurora_engine::machine::Phase;
use aurora_model::RunId;

use crate::output::request::Item;
use crate::wiring::store::Log;

/// Whether somebody has the request's run in their hands, and the command that goes on with it where
/// nobody has.
pub fn how_to_go_on(log: &Log, item: &Item) -> (Option<bool>, Option<String>) {
    let Some(run) = &item.request.subject.run else { return (None, None) };
    let driven = log.ask(log.store.is_claimed(&driver::stream_of(run))).unwrap_or(false);
    let waits = driven || item.is_open();
    (Some(driven), if waits { None } else { resume(log, run) })
}

/// The command that goes on with a run that is not over.
fn resume(log: &Log, run: &RunId) -> Option<String> {
    let (_, state) = log.ask(driver::load(&log.store, run)).ok()?;
    let over = matches!(state.phase, Phase::Finished(_));
    let what = if state.is_plan_only() { "goals" } else { "spawn" };
    (!over).then(|| format!("aur {what} --resume {run}"))
}
