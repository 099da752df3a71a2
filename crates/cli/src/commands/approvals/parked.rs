//! `aur approvals parked`: the parked tasks of each agent, and what they wait for.

use aurora_model::{ApprovalState, GateKind};
use serde_json::{Value, json};

use super::list::Which;
use super::source::Source;
use crate::exit::Exit;
use crate::output;
use crate::output::request::{self, Item};
use crate::output::style::Style;
use crate::wiring::workspace::now;

/// A parked task goes on when none of its calls stands so any more.
const WAITING: [ApprovalState; 4] = [
    ApprovalState::Pending,
    ApprovalState::Approved,
    ApprovalState::Reserved,
    ApprovalState::OutcomeUnknown,
];

/// Whose, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Those of an agent.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Those of a run.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals parked
  aur approvals parked --agent coder --json

A task is parked while a call of its agent waits for a person; the agent takes other tasks meanwhile.
It goes on when all calls of the parked turn are settled.";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let queue = args.source.open()?;
    let which = Which {
        gate: Some(GateKind::Operation.name().to_owned()),
        agent: args.agent.clone(),
        run: args.run.clone(),
        tier: None,
    };
    let mut items = which.items(&queue, &WAITING)?;
    // What others ask over HTTP is no task of a run, and nothing of it is put away.
    items.retain(|item| item.request.parked.is_some() || item.request.subject.task.is_some());
    if args.json {
        let parked: Vec<Value> = items.iter().map(Item::json).collect();
        output::print_json(&json!({"calls": parked}))?;
        return Ok(Exit::Ok);
    }
    let out = request::parked(&items, now(), Style::of_stdout());
    output::print(if out.is_empty() { "no task is parked\n" } else { &out })?;
    Ok(Exit::Ok)
}
