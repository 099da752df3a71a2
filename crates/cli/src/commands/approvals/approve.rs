//! `aur approvals approve`: says yes to exactly what was shown.

use aurora_gate::approval::options::yes_of;
use aurora_model::Choice;

use super::deciding::{self, Seen, Wish};
use super::old;
use super::source::{Asked, Source};
use crate::exit::{Exit, Failure};
use crate::wiring::fence;

/// Which, and what was seen.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    seen: Seen,
    /// Why; it is recorded with the decision.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals approve spawn-1705234567.q1
  aur approvals approve spawn-1705234567.q1 --digest 1f3870be274f
  aur approvals approve spawn-1705234567.q1 --yes --reason 'looked at the diff'

Without --digest the request is shown, and you are asked. A yes is bound to what you saw: when it was
edited meanwhile, it is refused.

Exit codes: 0 recorded; 3 refused: somebody was first, or you may not decide it; 2 wrong usage; 1 you
looked and did not say yes.";

/// Says yes.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("approving")?;
    let queue = args.source.open()?;
    let reason = args.reason.as_deref();
    let item = match queue.find(&args.id)? {
        Asked::Old(found) => {
            let offered = &found.asked.question.options;
            let choice =
                [Choice::Allow, Choice::Proceed].into_iter().find(|one| offered.contains(one));
            let choice = choice.ok_or_else(|| ambiguous("yes", &args.id, offered))?;
            return old::answer(&queue, &found, choice, reason, args.json);
        }
        Asked::Item(item) => item,
    };
    let choice = yes_of(&item.request);
    let choice =
        choice.ok_or_else(|| ambiguous("yes", item.id().as_str(), &item.request.options))?;
    let wish = Wish { choice, reason, json: args.json };
    if !item.is_open() {
        // Nobody is asked about what is over: they are told who was first.
        return deciding::decide(&queue, &item, item.request.digest.clone(), &wish);
    }
    match args.seen.digest(&queue, &item, args.json)? {
        Some(seen) => deciding::decide(&queue, &item, seen, &wish),
        None => deciding::nothing(),
    }
}

/// A yes or a no could mean several things, or there is none.
pub fn ambiguous(what: &str, id: &str, options: &[Choice]) -> Failure {
    let names: Vec<&str> = options.iter().map(|choice| choice.name()).collect();
    Failure::usage(format!("{id} has no plain {what}"))
        .hint(format!("`aur approvals answer {id} {}` says what is meant", names.join("|")))
}
