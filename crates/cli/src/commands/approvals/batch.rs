//! `aur approvals batch`: decides several at once, over a set that is frozen first.

use std::path::PathBuf;

use aurora_gate::approval::options::{no_of, yes_of};
use aurora_model::{ApprovalState, Choice, Digest};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::{Value, json};

use super::list::Which;
use super::source::{Queue, Source};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::request::{self, Item};
use crate::output::style::Style;
use crate::output::wrap::hang;
use crate::output::{changes, escape};
use crate::wiring::approvals::{Said, Saying};
use crate::wiring::question::Consent;
use crate::wiring::{fence, input};

/// What to say to which.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to say to each of them.
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    #[command(flatten)]
    which: Which,
    /// Decide exactly those, with those digests, that `list --json` wrote; `-` reads stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tier", "gate", "run", "agent"])]
    set: Option<PathBuf>,
    /// Why; it is recorded with each decision.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: Option<String>,
    /// Take what is shown now as seen, and do not ask.
    #[arg(long)]
    yes: bool,
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

/// What can be said to several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Yes.
    Approve,
    /// No.
    Deny,
}

const EXAMPLES: &str = "Examples:
  aur approvals batch approve --tier low --run spawn-1705234567
  aur approvals batch deny --agent coder --reason 'wrong task' --yes
  aur approvals list --tier low --json > set.json
  aur approvals batch approve --set set.json

The set is frozen and shown before you are asked. What was edited or decided meanwhile is named and
not decided; what came meanwhile is no part of it.

Exit codes: 0 all of them decided; 3 some were not, each with the reason; 2 wrong usage; 1 you looked
and did not say yes.";

/// One of the set: what was seen of it.
struct Member {
    id: String,
    digest: Digest,
}

/// What came of one.
struct Outcome {
    id: String,
    title: String,
    /// The choice; or why not, in a word and in a sentence.
    end: Result<Choice, (String, String)>,
    missing: u32,
}

/// Decides them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error(args.json, decided(args))
}

fn decided(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("deciding")?;
    if args.set.is_none() && args.which.is_everything() {
        return Err(Failure::usage("which ones? nothing says what is in the set")
            .hint("--tier, --gate, --run or --agent choose some; --set names them")
            .into());
    }
    let queue = args.source.open()?;
    let set = match &args.set {
        Some(file) => read(&input::text(input::file_or_stdin(file)?))?,
        None => match frozen(args, &queue)? {
            Some(set) => set,
            None => return super::deciding::nothing(),
        },
    };
    let outcomes = set.iter().map(|member| decide(args, &queue, member));
    let outcomes = outcomes.collect::<anyhow::Result<Vec<Outcome>>>()?;
    tell(args, &outcomes)?;
    let all = outcomes.iter().all(|outcome| outcome.end.is_ok());
    Ok(if all { Exit::Ok } else { Exit::Denied })
}

/// Those that the filter takes, after the person saw them; nothing when they did not say yes.
fn frozen(args: &Args, queue: &Queue) -> anyhow::Result<Option<Vec<Member>>> {
    let mut items = args.which.items(queue, &[ApprovalState::Pending])?;
    items.sort_by_key(|item| (std::cmp::Reverse(item.request.tier), item.request.asked_at.unix_ms));
    let member =
        |item: &Item| Member { id: item.id().to_string(), digest: item.request.digest.clone() };
    let set: Vec<Member> = items.iter().map(member).collect();
    let consent = Consent::of(args.yes, args.json);
    if set.is_empty() {
        return Ok(Some(set));
    }
    consent.check("deciding several at once")?;
    if !args.json {
        output::print(&shown(&items, Style::of_stdout()))?;
    }
    if consent == Consent::Open {
        // What was typed before it could be seen was meant for something else.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
    let what = match args.what {
        What::Approve => "Say yes to exactly these?",
        What::Deny => "Say no to these?",
    };
    Ok(consent.ask(what)?.then_some(set))
}

/// The set with digests, in few lines each.
fn shown(items: &[Item], style: Style) -> String {
    let mut out = String::new();
    for item in items {
        let request = &item.request;
        let id = style.bold(&escape::line(item.id().as_str()));
        let digest = style.faint(request::short(request.digest.as_str()));
        out.push_str(&format!("{id}  {}  {digest}\n", request.tier.name()));
        out.push_str(&hang("  ", &escape::line(&request.title), style.width));
        for effect in request.effects.iter().take(5) {
            out.push_str(&hang("    ", &format!("effect: {}", escape::line(effect)), style.width));
        }
    }
    out
}

/// The set that `list --json` wrote.
fn read(text: &str) -> anyhow::Result<Vec<Member>> {
    let wrong = |why: &str| {
        Failure::usage(format!("cannot read the set: {why}"))
            .hint("`aur approvals list --json` writes one")
    };
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let listed = value.get("questions").and_then(Value::as_array);
    let listed = listed.ok_or_else(|| wrong("there are no `questions` in it"))?;
    let member = |one: &Value| {
        let id = one.get("id").and_then(Value::as_str).ok_or_else(|| wrong("one has no id"))?;
        let digest = one.get("digest").and_then(Value::as_str).and_then(Digest::parse);
        let digest = digest.ok_or_else(|| wrong(&format!("{id} has no digest")))?;
        Ok(Member { id: id.to_owned(), digest })
    };
    listed.iter().map(member).collect()
}

fn decide(args: &Args, queue: &Queue, member: &Member) -> anyhow::Result<Outcome> {
    let outcome = |title: &str, end: Result<Choice, (&str, String)>, missing: u32| Outcome {
        id: member.id.clone(),
        title: title.to_owned(),
        end: end.map_err(|(word, why)| (word.to_owned(), why)),
        missing,
    };
    let requests = queue.of(&member.id)?;
    let found = requests.find(&member.id)?.filter(|item| item.id().as_str() == member.id);
    let Some(item) = found else {
        return Ok(outcome("", Err(("unknown", format!("there is no {}", member.id))), 0));
    };
    let title = item.request.title.as_str();
    let (choice, word) = match args.what {
        What::Approve => (yes_of(&item.request), "yes"),
        What::Deny => (no_of(&item.request), "no"),
    };
    let Some(choice) = choice else {
        let why = format!("{} has no plain {word}; it must be answered by itself", member.id);
        return Ok(outcome(title, Err(("no_such_choice", why)), 0));
    };
    let saying = Saying { choice, seen: member.digest.clone(), reason: args.reason.clone() };
    Ok(match requests.decide(&item, &saying)? {
        Said::Taken(taken) => {
            let open = taken.item.is_open();
            outcome(title, Ok(choice), if open { taken.item.missing() } else { 0 })
        }
        Said::Refused(refusal) => outcome(title, Err((&refusal.word, refusal.message.clone())), 0),
    })
}

fn tell(args: &Args, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let done = outcomes.iter().filter(|outcome| outcome.end.is_ok()).count();
    if args.json {
        let each: Vec<Value> = outcomes
            .iter()
            .map(|outcome| match &outcome.end {
                Ok(choice) => json!({
                    "id": outcome.id, "decided": true, "choice": choice, "missing": outcome.missing,
                }),
                Err((word, why)) => json!({
                    "id": outcome.id, "decided": false, "refused": word, "why": why,
                }),
            })
            .collect();
        return output::print_json(&json!({"decided": done, "requests": each}));
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    for outcome in outcomes {
        let line = match &outcome.end {
            Ok(choice) if outcome.missing > 0 => {
                format!("{}: {}; {} more must say yes", outcome.id, choice.name(), outcome.missing)
            }
            Ok(choice) => format!("{}: {}", outcome.id, choice.name()),
            Err((_, why)) if outcome.title.is_empty() => format!("NOT decided: {why}"),
            Err((_, why)) => format!("NOT decided: {why} ({})", outcome.title),
        };
        out.push_str(&hang("", &escape::line(&line), style.width));
    }
    out.push_str(&match outcomes.len() {
        0 => "there is none to decide\n".to_owned(),
        all => format!("{done} of {} decided\n", changes::count(all, "request")),
    });
    output::print(&out)
}
