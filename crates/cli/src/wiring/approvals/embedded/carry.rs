//! Tells a run what was decided, where nobody drives it who would see it by themselves.

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase};
use aurora_model::{Answerer, RunId};

use crate::output::request::Item;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;

/// Whether somebody has the request's run in their hands, and what goes on with it where nobody has.
/// What fails here is done when the run is resumed, so that it is no reason to say anything.
pub fn over(log: &Log, item: &Item) -> (Option<bool>, Option<String>) {
    let Some(run) = &item.request.subject.run else { return (None, None) };
    let driven = log.ask(log.store.is_claimed(&driver::stream_of(run))).unwrap_or(false);
    if driven || item.is_open() {
        return (Some(driven), None);
    }
    if let Some(decision) = &item.decision {
        let answerer = Answerer {
            by: decision.by.name.clone(),
            surface: decision.by.surface.name().to_owned(),
            reason: decision.reason.clone(),
        };
        let (question, choice) = (item.id().clone(), decision.choice);
        let command = Command::Answer { question, choice, answerer };
        let _ = log.ask(driver::answer(&log.store, run, &command, now()));
    }
    (Some(false), resume(log, run))
}

/// The command that goes on with a run that is not over.
fn resume(log: &Log, run: &RunId) -> Option<String> {
    let (_, state) = log.ask(driver::load(&log.store, run)).ok()?;
    let over = matches!(state.phase, Phase::Finished(_));
    let what = if state.is_plan_only() { "goals" } else { "spawn" };
    (!over).then(|| format!("aur {what} --resume {run}"))
}
