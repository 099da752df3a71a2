//! Goes on with a run that was stopped or has died.

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase, State};
use aurora_model::RunId;

use super::screen::Screen;
use super::{Args, told};
use crate::exit::{Exit, Failure};
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
    let brief = resumable(&run, &state)?;
    let feature = brief.place.feature.clone();
    let screen = Screen::new(&site, &brief, args.json, args.verbose);
    screen.resumed(&told_before, &state);
    let front = screen.front(args.wait);
    let driven = runtime.block_on(site.drive(&run, &feature, Command::Resume, front));
    screen.close();
    told::how_it_ended(&driven?, &screen, args.json)
}

fn resumable(run: &RunId, state: &State) -> anyhow::Result<aurora_model::Brief> {
    if let Phase::Finished(_) = state.phase {
        return Err(Failure::usage(format!(
            "{run} is finished, so that nothing is left to resume"
        ))
        .hint("tasks that were left out stay unticked: `aur spawn` on the same list does them")
        .into());
    }
    let brief = state.brief.clone();
    brief.ok_or_else(|| Failure::failed(format!("the log of {run} has no beginning")).into())
}
