//! `aur approvals request-changes`: says no to it as it is, and what should be done otherwise.

use aurora_model::Choice;

use super::approve::ambiguous;
use super::deciding::{self, Wish};
use super::source::{Asked, Source};
use crate::exit::Exit;
use crate::wiring::fence;

/// Which, and what should be done otherwise.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    id: String,
    /// What should be done otherwise; the agent is told.
    #[arg(long, alias = "reason", value_name = "TEXT")]
    feedback: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals request-changes spawn-1705234567.q1 --feedback 'push to a branch of your own'

Exit codes: 0 recorded; 3 refused: somebody was first, or you may not decide it; 2 wrong usage.";

/// Says it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("deciding")?;
    let queue = args.source.open()?;
    match queue.find(&args.id)? {
        Asked::Old(found) => {
            Err(ambiguous("way to ask for changes", &args.id, &found.asked.question.options).into())
        }
        Asked::Item(item) if !item.request.options.contains(&Choice::RequestChanges) => {
            let (id, options) = (item.id().as_str(), &item.request.options);
            Err(ambiguous("way to ask for changes", id, options).into())
        }
        Asked::Item(item) => {
            let reason = Some(args.feedback.as_str());
            let wish = Wish { choice: Choice::RequestChanges, reason, json: args.json };
            deciding::decide(&queue, &item, item.request.digest.clone(), &wish)
        }
    }
}
