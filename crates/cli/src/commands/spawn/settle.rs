//! What a run that was killed at its very end still owed to people: the boxes of its list.

use std::path::Path;
use std::sync::Arc;

use aurora_engine::driver::{self, Told};
use aurora_engine::machine::{Phase, State};
use aurora_model::RunId;
use serde_json::Value;

use super::screen::Screen;
use crate::wiring::input;
use crate::wiring::run::{Site, failure};
use crate::wiring::store;

/// So many of the latest runs are looked at before a list is begun.
const LATEST: usize = 20;
/// A file to resume from is not larger.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Ticks what finished runs of a list did not live to tick; whether there was any such run.
pub fn runs_of(site: &Site, list: &str) -> anyhow::Result<bool> {
    let runtime = Site::runtime()?;
    let heads = runtime.block_on(site.store.heads("run/", LATEST)).map_err(store::failure)?;
    let mut found = false;
    for head in heads.into_iter().filter(|head| head.last_kind == "run_finished") {
        let Some(run) = head.stream.0.strip_prefix("run/").and_then(RunId::parse) else { continue };
        if !is_owed(&site.folder(), &run) {
            continue;
        }
        let (told, state) = runtime.block_on(driver::load(&site.store, &run)).map_err(failure)?;
        let Some(brief) = &state.brief else { continue };
        if brief.source.as_ref().is_some_and(|source| source.path == list) {
            // What is told of it was told when it ran.
            let screen = Screen::new(site, brief, true, false);
            self::run(site, &run, &told, &state, &screen);
            found = true;
        }
    }
    Ok(found)
}

/// Ticks what a finished run did not live to tick.
pub fn run(site: &Site, run: &RunId, told: &[Told], state: &Arc<State>, screen: &Screen) {
    if matches!(state.phase, Phase::Finished(_)) && is_owed(&site.folder(), run) {
        screen.resumed(told, state);
        screen.settled(state);
    }
}

/// Whether the run's file does not know yet that it is finished. A box that somebody opened again
/// since then stays open.
fn is_owed(folder: &Path, run: &RunId) -> bool {
    let path = folder.join("checkpoints").join(format!("{run}.json"));
    let text = input::small_text(&path, MAX_FILE_BYTES);
    let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    value.is_some_and(|value| value.get("finished") == Some(&Value::Bool(false)))
}
