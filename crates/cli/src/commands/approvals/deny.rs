//! `aur approvals deny`: says no.

use aurora_gate::approval::options::no_of;
use aurora_model::{Choice, Outcome};

use super::approve::ambiguous;
use super::deciding::{self, Wish};
use super::old;
use super::source::{Asked, Source};
use crate::exit::Exit;
use crate::wiring::fence;

/// Which, and why.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    id: String,
    /// Why; it is recorded, and the agent is told.
    #[arg(long, alias = "feedback", value_name = "TEXT")]
    reason: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals deny spawn-1705234567.q1
  aur approvals deny spawn-1705234567.q1 --reason 'not on a Friday'

One no is enough, however many must say yes.

Exit codes: 0 recorded; 3 refused: somebody was first, or you may not decide it; 2 wrong usage.";

/// Says no.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("denying")?;
    let queue = args.source.open()?;
    let reason = args.reason.as_deref();
    match queue.find(&args.id)? {
        Asked::Old(found) => {
            let offered = &found.asked.question.options;
            let nos = offered.iter().filter(|one| one.outcome() == Outcome::Denied);
            let nos: Vec<Choice> = nos.copied().collect();
            let [only] = nos.as_slice() else {
                return Err(ambiguous("no", &args.id, offered).into());
            };
            old::answer(&queue, &found, *only, reason, args.json)
        }
        Asked::Item(item) => {
            let options = &item.request.options;
            let choice =
                no_of(&item.request).ok_or_else(|| ambiguous("no", item.id().as_str(), options))?;
            let wish = Wish { choice, reason, json: args.json };
            deciding::decide(&queue, &item, item.request.digest.clone(), &wish)
        }
    }
}
