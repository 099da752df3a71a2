//! `aur approvals answer`: chooses one of the options by name, whether or not somebody drives the run.

use aurora_model::{Choice, Outcome};

use super::deciding::{self, Seen, Wish};
use super::old;
use super::source::{Asked, Source};
use crate::exit::{Exit, Failure};
use crate::wiring::fence;

/// Which question, and the answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    id: String,
    /// One of its options, such as `retry`.
    #[arg(value_name = "CHOICE")]
    choice: String,
    /// Why; it is recorded with the answer.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    seen: Seen,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals answer spawn-1705234567.q1 retry
  aur approvals answer spawn-1705234567.q2 allow --reason 'looked at the diff'

Whoever names a choice has looked at it. Only where it was edited since it was asked, a yes needs the
digest of what you saw, or shows it and asks.

Exit codes: 0 recorded; 3 refused: somebody was first, or you may not decide it; 2 no such question or
choice.";

/// Answers it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("answering")?;
    let queue = args.source.open()?;
    let reason = args.reason.as_deref();
    match queue.find(&args.id)? {
        Asked::Old(found) => {
            let choice = choice(&args.id, &args.choice, &found.asked.question.options)?;
            old::answer(&queue, &found, choice, reason, args.json)
        }
        Asked::Item(item) => {
            let choice = choice(item.id().as_str(), &args.choice, &item.request.options)?;
            let wish = Wish { choice, reason, json: args.json };
            // An id that was never edited names exactly one action; after an edit it named two.
            let pinned = item.version == 1 && args.seen.digest.is_none();
            if pinned || !item.is_open() || choice.outcome() != Outcome::Approved {
                return deciding::decide(&queue, &item, item.request.digest.clone(), &wish);
            }
            match args.seen.digest(&queue, &item, args.json)? {
                Some(seen) => deciding::decide(&queue, &item, seen, &wish),
                None => deciding::nothing(),
            }
        }
    }
}

/// The choice of that name, when it is offered.
fn choice(id: &str, name: &str, options: &[Choice]) -> anyhow::Result<Choice> {
    let chosen = Choice::from_name(&name.replace('-', "_")).filter(|one| options.contains(one));
    let names: Vec<&str> = options.iter().map(|choice| choice.name()).collect();
    Ok(chosen.ok_or_else(|| {
        Failure::usage(format!("{id} can be answered with {}, not with `{name}`", names.join(", ")))
    })?)
}
