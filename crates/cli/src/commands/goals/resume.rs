//! Goes on with a goal whose question was answered elsewhere, or that was stopped.

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase, answer_unasked};
use aurora_model::{About, Brief, Event, RunId, RunKind};

use super::plan::Plans;
use super::{Args, told};
use crate::commands::spawn::screen::Screen;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::gates;
use crate::wiring::run::{Site, failure};
use crate::wiring::workspace::now;

/// Resumes it.
pub fn run(id: &str, args: &Args) -> anyhow::Result<Exit> {
    let run =
        RunId::parse(id).ok_or_else(|| Failure::usage(format!("`{id}` is no name of a run")))?;
    let site = Site::open(args.policy.as_deref())?;
    let runtime = Site::runtime()?;
    let (before, state) = runtime.block_on(driver::load(&site.store, &run)).map_err(failure)?;
    let brief = brief_of(&run, state.brief.as_deref())?;
    let site = site.for_resumed(&brief)?;
    let plans = Plans::below(&site.folder());
    if let Phase::Finished(_) = state.phase {
        plans.forget_answer(&run);
        let written = before.iter().rev().find_map(|told| match &told.event {
            Event::PlanWritten { path } => Some(path),
            _ => None,
        });
        let failure = Failure::usage(format!("{run} is finished, so that nothing is left of it"));
        return Err(match written {
            Some(path) => failure.hint(format!("its plan is {path}")),
            None => failure.hint("it was aborted; `aur goals` with the same goal asks anew"),
        }
        .into());
    }
    let open = state.open_questions().find(|question| question.about == About::Preview);
    let ungated = !args.yes && gates::are_off();
    if let Some(question) = open.filter(|one| (args.yes || ungated) && !one.needs_person) {
        let (choice, answerer) = answer_unasked(question, ungated);
        if let Some(warning) = gates::warning(choice, &answerer) {
            output::warn(&warning);
        }
        let question = question.id.clone();
        let command = Command::Answer { question, choice, answerer };
        let answered = runtime.block_on(driver::answer(&site.store, &run, &command, now()));
        answered.map_err(failure)?;
    }
    let screen = Screen::new(&site, &brief, args.json, false);
    if open.is_some() {
        screen.review()?;
    }
    let front = told::front(&screen, &plans, args.wait);
    let feature = brief.place.feature.clone();
    let driven = runtime.block_on(site.drive(&run, &feature, Command::Resume, front));
    screen.close();
    let driven = told::or_resumable(driven, &run)?;
    told::how_it_ended(&driven, &run, &plans, args.json)
}

fn brief_of(run: &RunId, brief: Option<&Brief>) -> anyhow::Result<Brief> {
    let Some(brief) = brief else {
        return Err(Failure::usage(format!("there is no run {run}"))
            .hint("`aur approvals list` shows the questions that stand open")
            .into());
    };
    if brief.kind != RunKind::Goals {
        let failure = Failure::usage(format!("{run} does tasks, and takes no goal apart"));
        return Err(failure.hint(format!("aur spawn --resume {run}")).into());
    }
    Ok(brief.clone())
}
