//! `aur approvals list`: what waits for a person.

use aurora_engine::approvals::Filter;
use aurora_model::{AgentName, ApprovalState, GateKind, RunId, Tier};
use serde_json::json;

use super::question::{self, Found};
use super::source::{Queue, Source};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::request::{self, Item, Row};
use crate::output::style::Style;
use crate::wiring::approvals::MOST;
use crate::wiring::workspace::now;

/// Which, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Those that stand so, such as `denied` or `timed_out`; without it, those that wait.
    #[arg(long, value_name = "STATE", conflicts_with = "all")]
    state: Option<String>,
    /// However they stand.
    #[arg(long)]
    all: bool,
    /// Show at most so many.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

/// Which requests.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Which {
    /// Those that are exactly so dangerous: low, medium, high or critical.
    #[arg(long, value_name = "TIER")]
    pub tier: Option<String>,
    /// Those of a gate, such as `operation` or `preview`.
    #[arg(long, value_name = "GATE")]
    pub gate: Option<String>,
    /// Those of a run.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Those of an agent.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
}

const EXAMPLES: &str = "Examples:
  aur approvals list
  aur approvals list --tier high --agent coder
  aur approvals list --state timed_out
  aur approvals list --run spawn-1705234567 --all --json

The most dangerous come first, of those the oldest; several of the same shape stand together. What
--json writes can be handed to `aur approvals batch --set`.";

impl Which {
    /// As a filter, for those that stand so.
    pub fn filter(&self, state: Option<ApprovalState>) -> anyhow::Result<Filter> {
        let tier = self.tier.as_deref().map(|name| {
            let names: Vec<&str> = Tier::ALL.iter().map(|tier| tier.name()).collect();
            Tier::from_name(name).ok_or_else(|| wrong("tier", name, &names))
        });
        let gate = self.gate.as_deref().map(|name| {
            let names: Vec<&str> = GateKind::ALL.iter().map(|gate| gate.name()).collect();
            GateKind::from_name(name).ok_or_else(|| wrong("gate", name, &names))
        });
        Ok(Filter {
            state,
            tier: tier.transpose()?,
            gate: gate.transpose()?,
            run: self.run.clone(),
            agent: self.agent.clone(),
        })
    }

    /// Whether nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.tier.is_none() && self.gate.is_none() && self.run.is_none() && self.agent.is_none()
    }

    /// Those of the queue that stand so.
    pub fn items(&self, queue: &Queue, states: &[ApprovalState]) -> anyhow::Result<Vec<Item>> {
        let mut items = Vec::new();
        let Some(requests) = queue.requests() else { return Ok(items) };
        for state in states {
            let found = requests.list(&self.filter(Some(*state))?, MOST)?;
            // The filter takes what is at least so dangerous; a person who names a tier means it.
            items.extend(found.into_iter().filter(|item| self.takes_item(item)));
        }
        Ok(items)
    }

    /// Whether a request is one of these, however it stands.
    #[must_use]
    pub fn takes_item(&self, item: &Item) -> bool {
        let request = &item.request;
        let named = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        named(&self.tier, Some(request.tier.name()))
            && named(&self.gate, Some(request.gate.name()))
            && named(&self.run, request.subject.run.as_ref().map(RunId::as_str))
            && named(&self.agent, request.requester.agent.as_ref().map(AgentName::as_str))
    }

    /// Whether a question of which less is known is one of these.
    fn takes(&self, found: &Found) -> bool {
        let run = self.run.as_deref().is_none_or(|run| found.run.as_str() == run);
        run && self.tier.is_none() && self.gate.is_none() && self.agent.is_none()
    }
}

fn wrong(what: &str, name: &str, names: &[&str]) -> Failure {
    Failure::usage(format!("there is no {what} `{name}`, but {}", names.join(", ")))
}

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let states = match (&args.state, args.all) {
        (_, true) => ApprovalState::ALL.to_vec(),
        (None, false) => vec![ApprovalState::Pending],
        (Some(name), false) => {
            let names: Vec<&str> = ApprovalState::ALL.iter().map(|state| state.name()).collect();
            vec![ApprovalState::from_name(name).ok_or_else(|| wrong("state", name, &names))?]
        }
    };
    // What cannot be a filter is said before anything is looked at.
    args.which.filter(None)?;
    let queue = args.source.open()?;
    let items = args.which.items(&queue, &states)?;
    let old = match queue.log() {
        Some(log) if states.contains(&ApprovalState::Pending) => question::without_request(log)?,
        _ => Vec::new(),
    };
    let old: Vec<Found> = old.into_iter().filter(|found| args.which.takes(found)).collect();
    if args.json {
        let questions = items.iter().map(Item::json).chain(old.iter().map(Found::json));
        let questions: Vec<_> = questions.collect();
        output::print_json(&json!({"questions": questions}))?;
        return Ok(Exit::Ok);
    }
    let rows: Vec<Row> = items.iter().map(Row::from).chain(old.iter().map(row)).collect();
    let none = match (&args.state, args.all) {
        (None, false) => "no question waits for an answer\n",
        _ => "there is none\n",
    };
    let out = request::all(rows, args.limit, now(), Style::of_stdout());
    output::print(if out.is_empty() { none } else { &out })?;
    Ok(Exit::Ok)
}

fn row(found: &Found) -> Row {
    let more = found.reasons().len().saturating_sub(1);
    Row {
        id: found.asked.question.id.to_string(),
        tier: None,
        state: None,
        at: found.at,
        expires_at: None,
        title: found.sentence(),
        reason: found.reasons().first().map(|reason| (reason.message.clone(), more)),
        deciders: None,
        options: found.options(),
        shape: None,
        kind: String::new(),
    }
}
