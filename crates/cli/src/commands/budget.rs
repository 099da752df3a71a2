//! `aur budget`: what may be spent in a month, and what was.

pub mod history;
pub mod set;
pub mod show;

use std::sync::Arc;

use aurora_engine::budget::{Budget, Limits, Month, OnLimit};
use aurora_gate::Policy;
use aurora_model::Usd;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::place::{Given, Place};
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{layers, migration};

/// What to do with it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  aur budget show                    how this month stands
  aur budget set 50                  fifty dollars a month
  aur budget set 50 --warn-at 70 --on-limit warn
  aur budget history                 every month so far
  aur budget history --month 2026-11 every call of one

What a call may cost is reserved before it is made and settled after it, in one ledger for all runs of the
repository, so that runs at the same time cannot overspend together. Months are those of UTC.";

/// What can be done with it.
#[derive(clap::Subcommand)]
enum Command {
    /// Tell the limit, what was spent, what is reserved and what is left.
    Show(show::Args),
    /// Write the limit into the project's policy.
    Set(set::Args),
    /// Tell what earlier months cost, or every call of one.
    History(history::Args),
}

/// Does it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Show(args) => output::with_error(args.json, show::run(args)),
        Command::Set(args) => output::with_error(args.json, set::run(args)),
        Command::History(args) => output::with_error(args.json, history::run(args)),
    }
}

/// The place around the current directory, after an old budget was moved to where it belongs.
fn place() -> anyhow::Result<Place> {
    let place = Place::look(Given::default());
    if let Some(root) = place.root()
        && let Some(told) = migration::migrate_budget(&root)?
    {
        output::warn(&told);
    }
    Ok(place)
}

/// The limits that hold here.
fn limits(place: &Place) -> anyhow::Result<(Policy, Limits)> {
    let policy = layers::load(place, None)?;
    let budget = policy.budget();
    let limits = Limits {
        monthly: Usd::from_dollars(budget.monthly_limit_usd),
        warn_at_percent: budget.warn_at_percent,
        on_limit: if budget.rejects { OnLimit::Reject } else { OnLimit::Warn },
    };
    Ok((policy, limits))
}

/// The ledger of a log.
fn ledger_of(log: &Log, limits: Limits) -> Budget {
    Budget::new(Arc::clone(&log.store), limits, now)
}

/// Reads `--month`.
fn month(text: Option<&str>) -> anyhow::Result<Option<Month>> {
    let Some(text) = text else { return Ok(None) };
    let month = Month::parse(text).ok_or_else(|| {
        Failure::usage(format!("`{text}` is no month")).hint("write a month like 2026-11")
    })?;
    Ok(Some(month))
}

/// An amount as a number of dollars.
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody spends what a float cannot hold to the cent"
)]
fn number(amount: Usd) -> Value {
    json!(amount.micros as f64 / 1e6)
}
