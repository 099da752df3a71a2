//! `aur goals`: takes a goal apart into subgoals, shows them, and writes them down as a plan.

mod asking;
mod begin;
mod facts;
mod plan;
mod resume;
mod told;
mod waiting;

use std::path::PathBuf;

use crate::exit::{Exit, Failure};
use crate::output;

/// What is to be reached, and who is asked how.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is to be reached, in your words.
    #[arg(value_name = "GOAL", required_unless_present = "resume")]
    goal: Option<String>,
    /// Write the plan without a question. The log says so.
    #[arg(short, long)]
    yes: bool,
    /// Ask this agent of agents.yaml instead of the model.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    agent: Option<String>,
    /// Go on with one whose question was answered elsewhere, or that was stopped.
    #[arg(long, value_name = "ID", conflicts_with = "goal")]
    resume: Option<String>,
    /// A policy that is laid over the others.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Without a terminal: wait until the question is answered elsewhere.
    #[arg(long)]
    wait: bool,
    /// Tell everything as it happens, one JSON object a line.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  aur goals \"Improve memory indexing\"         ask, look, then write the plan
  aur goals \"Improve memory indexing\" --yes   without a question
  aur goals \"Add a cache\" --agent claude      ask an agent instead of the model
  aur goals --resume goals-1763222400         go on after an answer from elsewhere
  aur spawn .aurora/plans/0001-add-a-cache/tasks.md

Whoever is asked sees the goal, the names of your agents and how many tracked files are in which
folders; never the content of a file. An agent is started in an empty folder.
The plan is .aurora/plans/<number>-<goal>/: tasks.md for people and `aur spawn`, goals.json for
programs.

Exit codes:
  0  the plan is written                 3  you said abort; nothing was written
  1  nobody could be asked, or the       4  somebody must answer first
     answer cannot be used             130  interrupted
  2  wrong usage or settings";

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error_line(args.json, choose(args))
}

fn choose(args: &Args) -> anyhow::Result<Exit> {
    match (&args.resume, &args.goal) {
        (Some(id), _) => resume::run(id, args),
        (None, Some(goal)) => begin::run(goal, args),
        (None, None) => Err(Failure::usage("say what is to be reached").into()),
    }
}
