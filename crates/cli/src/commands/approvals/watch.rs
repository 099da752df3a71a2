//! `aur approvals watch`: a line for everything that happens to requests, as it happens.

use std::io::IsTerminal as _;

use aurora_model::{ApprovalEvent, ApprovalState};
use serde_json::json;

use super::list::Which;
use super::source::Source;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::request::{self, Happened, Item};
use crate::output::style::Style;
use crate::output::wrap::hang;
use crate::wiring::workspace::now;

/// Which, and how to tell.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Make no sound when something is asked.
    #[arg(long)]
    quiet: bool,
    /// Tell in JSON, one object a line.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals watch
  aur approvals watch --tier critical --quiet
  aur approvals watch --json

First what waits already, then everything that happens: asked, decided, warned, escalated, timed out,
done. It ends with Ctrl+C.";

/// Watches until somebody ends it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    args.which.filter(None)?;
    let queue = args.source.open()?;
    let requests = queue.requests().ok_or_else(|| {
        Failure::usage("there is nothing to watch yet").hint("nothing recorded yet")
    })?;
    let style = Style::of_stdout();
    let mut begin = || {
        let waiting = args.which.items(&queue, &[ApprovalState::Pending])?;
        waiting.iter().try_for_each(|item| tell(args, &asked(item), style))?;
        if !args.json {
            output::print(&format!("{} wait; watching\n", waiting.len()))?;
        }
        Ok(())
    };
    requests.watch(&mut begin, &mut |news| {
        if takes(args, news) {
            tell(args, news, style)?;
            ring(args, news)?;
        }
        Ok(true)
    })?;
    Ok(Exit::Ok)
}

/// What waits already, as if it were asked now.
fn asked(item: &Item) -> Happened {
    let request = Box::new(item.request.clone());
    Happened {
        id: item.id().clone(),
        at: item.request.asked_at,
        event: ApprovalEvent::Requested { request },
        item: Some(item.clone()),
    }
}

fn takes(args: &Args, news: &Happened) -> bool {
    let Some(item) = &news.item else { return args.which.is_everything() };
    args.which.takes_item(item)
}

fn tell(args: &Args, news: &Happened, style: Style) -> anyhow::Result<()> {
    if args.json {
        let item = news.item.as_ref().map(Item::json);
        let told = json!({
            "type": news.event.kind(), "id": news.id, "at": news.at, "event": news.event,
            "request": item,
        });
        return output::print(&format!("{told}\n"));
    }
    let line = request::happened(news, now());
    output::print(&hang("", &line, style.width))
}

/// Makes a sound where a person sits, when something is asked of them.
fn ring(args: &Args, news: &Happened) -> anyhow::Result<()> {
    let asks = matches!(
        news.event,
        ApprovalEvent::Requested { .. }
            | ApprovalEvent::Warned { .. }
            | ApprovalEvent::Escalated { .. }
    );
    let silent = args.quiet || args.json || !std::io::stdout().is_terminal();
    if asks && !silent { output::print("\x07") } else { Ok(()) }
}
