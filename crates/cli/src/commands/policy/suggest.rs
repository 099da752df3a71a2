//! `aur policy suggest`: narrow rules proposed from what people decided, for a person to add.

use aurora_engine::approvals::Filter;
use aurora_gate::approval::suggest::{Past, Proposal, Said, Wish, suggest};
use aurora_model::{Action, ApprovalState, Context, DeciderKind, GateKind, Outcome, ToolCall};
use serde_json::{Value, json};

use super::PolicyArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::output::request::Item;
use crate::wiring::approvals::settings::rules;
use crate::wiring::approvals::{Embedded, MOST, Requests as _};
use crate::wiring::layers;
use crate::wiring::workspace::now;

/// Older requests than the last so many are not looked at: each is judged again for each proposal.
const MAX_PAST: usize = 2000;
/// So many requests are named under a proposal.
const MAX_NAMED: usize = 5;

/// What to look for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Propose only what people said yes to so often.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    min: u32,
    /// For how many days a rule would hold.
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: u32,
    /// Answer in JSON: every proposal with its rule and its back-test.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    policy: PolicyArgs,
}

const EXAMPLES: &str = "Examples:
  aur policy suggest
  aur policy suggest --min 10 --days 14
  aur policy suggest --json

Each proposal is a rule to paste into .aurora/policies.yaml, and what it would have answered: rightly
where a person said yes, wrongly where nobody did. It names one kind of action, one tool, and one sort
of files or one program; it is never for what is high or critical, nor for what somebody refused, and
it ends some day. A rule that denies wins over it. Nothing is written by this command.";

/// Proposes rules.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let place = args.policy.place();
    let layers = layers::sources(&place, args.policy.policy.as_deref())?;
    let rules = rules(&place)?;
    let history = history()?;
    let wish = Wish { min: args.min as usize, now: now(), days: args.days };
    let proposals = suggest(&history, &layers, &rules, &wish)
        .map_err(|errors| Failure::usage(errors.to_string()))?;
    if args.json {
        let list: Vec<Value> = proposals.iter().map(as_json).collect();
        output::print_json(&json!({ "looked_at": history.len(), "proposals": list }))?;
    } else {
        output::print(&in_words(&proposals, history.len()))?;
    }
    Ok(Exit::Ok)
}

/// What people decided about operations, the last of them.
fn history() -> anyhow::Result<Vec<Past>> {
    let Some(queue) = Embedded::open()? else { return Ok(Vec::new()) };
    let mut items = Vec::new();
    for state in [
        ApprovalState::Approved,
        ApprovalState::Reserved,
        ApprovalState::Executed,
        ApprovalState::Failed,
        ApprovalState::OutcomeUnknown,
        ApprovalState::Stale,
        ApprovalState::Denied,
        ApprovalState::ChangesRequested,
        ApprovalState::TimedOut,
    ] {
        let gate = Some(GateKind::Operation);
        let filter = Filter { state: Some(state), gate, ..Filter::default() };
        items.extend(queue.list(&filter, MOST)?);
    }
    items.sort_by_key(|item| std::cmp::Reverse(item.request.asked_at));
    items.truncate(MAX_PAST);
    Ok(items.iter().filter_map(past).collect())
}

/// A request as a part of history; nothing when no person said anything to it as it was asked.
fn past(item: &Item) -> Option<Past> {
    let said = match (item.state, &item.decision) {
        (ApprovalState::TimedOut, _) => Said::Nothing,
        (_, Some(decision)) if decision.by.kind != DeciderKind::Person => return None,
        (_, Some(decision)) => match decision.outcome {
            // What was edited first was not approved as it was asked.
            Outcome::Approved if item.version > 1 => return None,
            Outcome::Approved => Said::Yes,
            Outcome::Denied | Outcome::ChangesRequested => Said::No,
        },
        (_, None) => return None,
    };
    let subject = &item.request.subject;
    let root = Some(subject.project.clone());
    let context = Context {
        cwd: root.clone(),
        root,
        role: item.request.requester.role.clone(),
        ..Context::default()
    };
    let call = ToolCall { name: subject.tool.clone(), args: subject.args.clone() };
    Some(Past {
        id: item.request.id.to_string(),
        action: Action::Tool(call),
        context,
        level: item.request.autonomy,
        tier: item.request.tier,
        said,
        at: item.request.asked_at,
    })
}

fn as_json(proposal: &Proposal) -> Value {
    let test = &proposal.back_test;
    let wrongly: Vec<Value> =
        test.wrongly.iter().map(|(id, said)| json!({ "id": id, "said": said.name() })).collect();
    json!({
        "id": proposal.id,
        "kind": proposal.kind,
        "tier": proposal.tier.name(),
        "expires": proposal.expires,
        "rule": proposal.yaml,
        "back_test": {
            "rightly": test.rightly,
            "wrongly": wrongly,
            "still_asked": test.still_asked,
        },
    })
}

fn in_words(proposals: &[Proposal], looked_at: usize) -> String {
    if proposals.is_empty() {
        return format!("nothing to propose: {looked_at} decided operations looked at\n");
    }
    let mut out = String::new();
    for proposal in proposals {
        let test = &proposal.back_test;
        out.push_str(&format!(
            "# {} ({}), until {}\n# would have allowed {} rightly, {} wrongly, and left {} to a person\n",
            proposal.kind,
            proposal.tier.name(),
            proposal.expires,
            test.rightly.len(),
            test.wrongly.len(),
            test.still_asked,
        ));
        for (id, said) in test.wrongly.iter().take(MAX_NAMED) {
            out.push_str(&format!(
                "# wrongly: {} (people said {})\n",
                escape::line(id),
                said.name()
            ));
        }
        for line in proposal.yaml.lines() {
            out.push_str(&escape::line(line));
            out.push('\n');
        }
        out.push('\n');
    }
    out.push_str(
        "# Paste what you want below `rules:` of .aurora/policies.yaml; nothing was written.\n",
    );
    out
}
