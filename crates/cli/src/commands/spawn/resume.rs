//! Goes on with a run that was stopped or has died.

use std::sync::Arc;

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase};
use aurora_model::{RunId, RunKind};

use super::screen::{Screen, Yes};
use super::{Args, settle, told};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::gates;
use crate::wiring::run::{Site, failure};

/// Resumes a run and drives it as far as it goes.
pub fn run(id: &str, args: &Args) -> anyhow::Result<Exit> {
    let run = RunId::parse(id).ok_or_else(|| {
        Failure::usage(format!("`{id}` is no name of a run"))
            .hint("`aur spawn --list-checkpoints` shows what can be resumed")
    })?;
    let site = Site::open(args.policy.as_deref())?;
    let runtime = Site::runtime()?;
    let (told_before, state) =
        runtime.block_on(driver::load(&site.store, &run)).map_err(failure)?;
    let brief = state.brief.as_deref().cloned();
    let mut brief =
        brief.ok_or_else(|| Failure::failed(format!("the log of {run} has no beginning")))?;
    let ungated = !args.yes && gates::are_off();
    brief.settings.yes |= args.yes || ungated;
    if brief.kind == RunKind::Goals {
        let failure = Failure::usage(format!("{run} takes a goal apart, and does no tasks"));
        return Err(failure.hint(format!("aur goals --resume {run}")).into());
    }
    let site = site.for_resumed(&brief)?;
    let feature = brief.place.feature.clone();
    let screen = Screen::new(&site, &brief, args.json, args.verbose);
    if matches!(state.phase, Phase::Finished(_)) {
        // Whoever resumes after a crash cannot know how far it came.
        settle::run(&site, &run, &told_before, &state, &screen);
        if state.kept_desks.is_empty() {
            site.clear_desks(&run, &feature)?;
        }
        output::note(&format!("{run} is finished, so that nothing is left to resume"));
        return told::how_it_ended(&site.finished(state), &screen, args.json);
    }
    let driven = runtime.block_on(site.store.claim(&driver::stream_of(&run)));
    drop(driven.map_err(|error| failure(error.into()))?);
    screen.resumed(&told_before, &state);
    let mut front = screen.front(args.wait);
    if args.yes || ungated {
        front.asker = Arc::new(Yes { ungated });
    }
    let driven = runtime.block_on(site.drive(&run, &feature, Command::Resume, front));
    screen.close();
    told::how_it_ended(&driven?, &screen, args.json)
}
