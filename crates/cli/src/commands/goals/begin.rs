//! A new goal: somebody is asked for its parts, a person looks at them, a plan is written.

use aurora_agents::decompose::Decomposed;
use aurora_engine::machine::Command;
use aurora_model::run::Place;
use aurora_model::{Brief, Known, RunId, RunKind, RunSettings, id};
use serde_json::json;

use super::asking::{self, Answered};
use super::plan::Plans;
use super::{Args, told};
use crate::commands::spawn::begin::{new_run, planned};
use crate::commands::spawn::screen::Screen;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::changes::count;
use crate::wiring::gates;
use crate::wiring::run::Site;

/// A longer goal is a document.
const MAX_GOAL_CHARS: usize = 20_000;
/// How much of a goal goes into names.
const SLUG_CHARS: usize = 48;

/// Asks for the parts of a goal and writes them down.
pub fn run(goal: &str, args: &Args) -> anyhow::Result<Exit> {
    let goal = goal.trim();
    if goal.is_empty() {
        return Err(Failure::usage("the goal is empty: say what is to be reached").into());
    }
    if goal.chars().count() > MAX_GOAL_CHARS {
        return Err(
            Failure::usage(format!("a goal has at most {MAX_GOAL_CHARS} characters")).into()
        );
    }
    let site = Site::open(args.policy.as_deref())?;
    let chosen = asking::choose(&site, args.agent.as_deref())?;
    let runtime = Site::runtime()?;
    // Nobody else takes its name while somebody is asked.
    let (run, _name) = new_run(&site, "goals")?;
    let answer = runtime.block_on(asking::ask(&site, chosen, &run, goal, args.json))?;
    let Answered::Parts(parts, seconds, who) = answer else {
        let exit_code = Exit::Interrupted.code();
        let told =
            json!({"type": "ended", "run": run, "outcome": "interrupted", "exit_code": exit_code});
        output::print(&match args.json {
            true => format!("{told}\n"),
            false => "interrupted; nothing was written\n".to_owned(),
        })?;
        return Ok(Exit::Interrupted);
    };
    tell(&parts, &run, &who, seconds, args.json)?;
    let brief = brief(&site, &parts, run.clone(), args.yes);
    let screen = Screen::new(&site, &brief, args.json, false);
    screen.review()?;
    let feature = brief.place.feature.clone();
    let plans = Plans::below(&site.folder());
    let front = told::front(&screen, &plans, args.wait);
    let driven =
        runtime.block_on(site.drive(&run, &feature, Command::Start(Box::new(brief)), front));
    screen.close();
    let driven = told::or_resumable(driven, &run)?;
    told::how_it_ended(&driven, &run, &plans, args.json)
}

/// Says what came, what was wrong with it and what it cost.
fn tell(
    parts: &Decomposed,
    run: &RunId,
    who: &str,
    seconds: u64,
    json: bool,
) -> anyhow::Result<()> {
    let subgoals = parts.decomposition.subgoals.len();
    if json {
        let told = json!({
            "type": "decomposed",
            "run": run,
            "who": who,
            "subgoals": subgoals,
            "gaps": parts.decomposition.gaps(),
            "repairs": parts.repairs,
            "cost": parts.cost,
            "seconds": seconds,
        });
        return output::print(&format!("{told}\n"));
    }
    for repair in &parts.repairs {
        output::note(&format!("the answer was repaired: {repair}"));
    }
    let cost = match parts.cost.known {
        Known::Reported => parts.cost.usd.to_string(),
        Known::Estimated => format!("about {} (estimated)", parts.cost.usd),
        Known::Unknown => "cost unknown".to_owned(),
    };
    output::note(&format!(
        "{who} answered after {seconds}s: {}, {cost}",
        count(subgoals, "subgoal")
    ));
    Ok(())
}

/// A goal in one line, without what a terminal would take for something else.
fn one_line(goal: &str) -> String {
    let words: Vec<&str> = goal.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).collect()
}

fn brief(site: &Site, parts: &Decomposed, run: RunId, yes: bool) -> Brief {
    let goal = one_line(&parts.decomposition.goal);
    let recovery = site.policy.recovery();
    let slug = Some(id::slug(&goal, SLUG_CHARS)).filter(|slug| !slug.is_empty());
    Brief {
        run,
        kind: RunKind::Goals,
        plan: None,
        source: None,
        tasks: planned(site, parts.decomposition.tasks()),
        place: Place {
            feature: slug.unwrap_or_else(|| "goal".to_owned()),
            path: String::new(),
            branch: None,
        },
        policy: site.layer.clone(),
        settings: RunSettings {
            max_parallel: 1,
            timeout_seconds: recovery.timeout_seconds,
            max_attempts: recovery.max_attempts,
            model: site.registry.model().is_some(),
            fallback: recovery.fallback_to_llm,
            checkpoints: false,
            yes: yes || gates::are_off(),
            people_only: Vec::new(),
            ungated: !yes && gates::are_off(),
        },
        goal,
    }
}
