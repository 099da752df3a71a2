//! `aur budget show`: how a month stands.

use std::collections::BTreeMap;

use aurora_engine::budget::{Ledger, Limits, Month, OnLimit, Share};
use aurora_gate::Policy;
use aurora_model::Usd;
use serde_json::{Value, json};

use super::number;
use crate::exit::Exit;
use crate::output;
use crate::output::changes::count;
use crate::output::escape;
use crate::output::style::Style;
use crate::wiring::store::Log;
use crate::wiring::workspace::now;

const BAR_COLUMNS: u128 = 30;
/// So many runs are listed; the rest is counted.
const RUNS: usize = 10;

/// Which month, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Another month than this one, in UTC.
    #[arg(long, value_name = "YYYY-MM")]
    pub month: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur budget show
  aur budget show --month 2026-10
  aur budget show --json

What providers reported and what was only estimated are told apart.";

/// Shows it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let place = super::place()?;
    let (policy, limits) = super::limits(&place)?;
    let month = super::month(args.month.as_deref())?.unwrap_or_else(|| Month::of(now()));
    let ledger = match Log::open_existing()? {
        Some(log) => log.ask(super::ledger_of(&log, limits).ledger(&month))?,
        None => Ledger::default(),
    };
    let shown = Shown { month, limits, ledger, origin: origin(&policy) };
    match args.json {
        true => output::print_json(&shown.json())?,
        false => output::print(&shown.text(Style::of_stdout()))?,
    }
    Ok(Exit::Ok)
}

/// Where the limit was written.
fn origin(policy: &Policy) -> String {
    let entry = policy.entries().into_iter().find(|entry| entry.key == "budget.monthly_limit_usd");
    entry.map(|entry| entry.origin).unwrap_or_default()
}

struct Shown {
    month: Month,
    limits: Limits,
    ledger: Ledger,
    origin: String,
}

impl Shown {
    fn percent(&self) -> u128 {
        let committed = u128::from(self.ledger.total.committed().micros);
        match u128::from(self.limits.monthly.micros) {
            0 => 100,
            limit => committed * 100 / limit,
        }
    }

    fn text(&self, style: Style) -> String {
        let total = &self.ledger.total;
        let money = Money::of(self);
        let percent = self.percent();
        let filled = usize::try_from((percent * BAR_COLUMNS / 100).min(BAR_COLUMNS)).unwrap_or(0);
        let bar = format!("{:.<30}", "#".repeat(filled));
        let bar = match percent {
            100.. => style.bad(&bar),
            percent if percent >= u128::from(self.limits.warn_at_percent) => style.notable(&bar),
            _ => style.good(&bar),
        };
        let then = match self.limits.on_limit {
            OnLimit::Reject => "further calls are rejected",
            OnLimit::Warn => "there is only a warning",
        };
        let mut out = format!("{}  [{bar}] {percent}%\n", style.bold(&self.month.to_string()));
        let limit = money.say(self.limits.monthly);
        out.push_str(&format!("  limit     {limit}  ({})\n", escape::line(&self.origin)));
        // What is shown adds up, also where it was rounded.
        let (spent, reserved) = (rounded(total.spent), rounded(total.reserved));
        let left = rounded(self.limits.monthly).minus(spent).minus(reserved);
        out.push_str(&format!("  spent     {}", money.say(spent)));
        if total.calls > 0 {
            let estimated = rounded(total.estimated);
            let (reported, estimated) = (money.say(spent.minus(estimated)), money.say(estimated));
            let calls = count(usize::try_from(total.calls).unwrap_or(usize::MAX), "call");
            out.push_str(&format!("  ({calls}; {reported} reported, {estimated} estimated)"));
        }
        out.push_str(&format!("\n  reserved  {}", money.say(reserved)));
        if total.open > 0 {
            let open = count(usize::try_from(total.open).unwrap_or(usize::MAX), "call");
            out.push_str(&format!("  ({open} under way, or never told to be over)"));
        }
        out.push_str(&format!("\n  left      {}\n", money.say(left)));
        let warn_at = self.limits.warn_at_percent;
        out.push_str(&format!("  at {warn_at}% a warning appears; at the limit {then}\n"));
        out.push_str(&table(style, money, "by agent", &self.ledger.by_agent));
        out.push_str(&table(style, money, "by run", &self.ledger.by_run));
        out
    }

    fn json(&self) -> Value {
        let total = &self.ledger.total;
        json!({
            "month": self.month.to_string(),
            "limit_usd": number(self.limits.monthly),
            "limit_origin": self.origin,
            "spent_usd": number(total.spent),
            "reported_usd": number(total.spent.minus(total.estimated)),
            "estimated_usd": number(total.estimated),
            "reserved_usd": number(total.reserved),
            "left_usd": number(self.limits.monthly.minus(total.committed())),
            "percent": u64::try_from(self.percent()).unwrap_or(u64::MAX),
            "warn_at_percent": self.limits.warn_at_percent,
            "hard_limit_action": match self.limits.on_limit {
                OnLimit::Reject => "reject",
                OnLimit::Warn => "warn",
            },
            "calls": total.calls,
            "open_calls": total.open,
            "by_agent": shares(&self.ledger.by_agent),
            "by_run": shares(&self.ledger.by_run),
        })
    }
}

/// How amounts are written: all of them with as many digits as the finest one needs.
#[derive(Clone, Copy)]
struct Money {
    fine: bool,
}

impl Money {
    fn of(shown: &Shown) -> Self {
        let ledger = &shown.ledger;
        let shares = ledger.by_agent.values().chain(ledger.by_run.values()).chain([&ledger.total]);
        let amounts = shares.flat_map(|share| [share.spent, share.estimated, share.reserved]);
        let mut amounts = amounts.chain([shown.limits.monthly]);
        Self { fine: amounts.any(|amount| !rounded(amount).micros.is_multiple_of(10_000)) }
    }

    fn say(self, amount: Usd) -> String {
        let micros = rounded(amount).micros;
        let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
        match self.fine {
            true => format!("${dollars}.{:04}", rest / 100),
            false => format!("${dollars}.{:02}", rest / 10_000),
        }
    }
}

/// An amount to the hundredth of a cent.
fn rounded(amount: Usd) -> Usd {
    Usd { micros: amount.micros.saturating_add(50) / 100 * 100 }
}

fn shares(by: &BTreeMap<String, Share>) -> Value {
    let one = |(name, share): (&String, &Share)| {
        let told = json!({
            "spent_usd": number(share.spent),
            "estimated_usd": number(share.estimated),
            "reserved_usd": number(share.reserved),
            "calls": share.calls,
            "open_calls": share.open,
        });
        (name.clone(), told)
    };
    by.iter().map(one).collect::<serde_json::Map<_, _>>().into()
}

/// The largest first.
fn table(style: Style, money: Money, heading: &str, by: &BTreeMap<String, Share>) -> String {
    if by.is_empty() {
        return String::new();
    }
    let mut rows: Vec<(&String, &Share)> = by.iter().collect();
    rows.sort_by_key(|(name, share)| (std::cmp::Reverse(share.committed()), *name));
    let more = rows.len().saturating_sub(RUNS);
    rows.truncate(RUNS);
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(20);
    let mut out = format!("{}\n", style.bold(heading));
    for (name, share) in rows {
        let (name, calls) = (escape::line(name), share.calls + share.open);
        let calls = count(usize::try_from(calls).unwrap_or(usize::MAX), "call");
        out.push_str(&format!("  {name:<width$}  {:>9}", money.say(share.spent)));
        out.push_str(&format!("  {calls}"));
        if share.open > 0 {
            out.push_str(&format!(", {} reserved", money.say(share.reserved)));
        }
        out.push('\n');
    }
    if more > 0 {
        out.push_str(&format!("  and {more} more\n"));
    }
    out
}
