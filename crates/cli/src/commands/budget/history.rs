//! `aur budget history`: what earlier months cost, and every call of one.

use aurora_engine::budget::{self, Call, CallState, Month};
use aurora_model::{Known, Usd};
use serde_json::json;

use super::number;
use crate::exit::Exit;
use crate::output;
use crate::output::changes::count;
use crate::output::{escape, moment};
use crate::wiring::store::Log;

/// Which month, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Every call of this month, in UTC.
    #[arg(long, value_name = "YYYY-MM")]
    pub month: Option<String>,
    /// So many of the latest calls.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur budget history
  aur budget history --month 2026-11
  aur budget history --month 2026-11 --limit 1000 --json";

/// Tells it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let place = super::place()?;
    let wanted = super::month(args.month.as_deref())?;
    let Some(log) = Log::open_existing()? else {
        match args.json {
            true => output::print_json(&json!({"months": [], "calls": []}))?,
            false => output::print("nothing was spent yet\n")?,
        }
        return Ok(Exit::Ok);
    };
    match wanted {
        Some(month) => calls(args, &log, &month),
        None => months(args, &log, &place),
    }
}

fn months(args: &Args, log: &Log, place: &crate::wiring::place::Place) -> anyhow::Result<Exit> {
    let (_, limits) = super::limits(place)?;
    let ledger = super::ledger_of(log, limits);
    let mut months = log.ask(budget::months(&log.store))?;
    months.sort_unstable_by(|a, b| b.cmp(a));
    let (mut told, mut text) = (Vec::new(), String::new());
    for month in months {
        let total = log.ask(ledger.ledger(&month))?.total;
        told.push(json!({
            "month": month.to_string(),
            "spent_usd": number(total.spent),
            "estimated_usd": number(total.estimated),
            "reserved_usd": number(total.reserved),
            "calls": total.calls,
            "open_calls": total.open,
        }));
        let calls = count(usize::try_from(total.calls).unwrap_or(usize::MAX), "call");
        text.push_str(&format!("{month}  {:>9}  {calls}", total.spent.to_string()));
        if total.estimated > Usd::ZERO {
            text.push_str(&format!(", {} of it estimated", total.estimated));
        }
        if total.open > 0 {
            text.push_str(&format!(", {} reserved", total.reserved));
        }
        text.push('\n');
    }
    match args.json {
        true => output::print_json(&json!({"months": told}))?,
        false if text.is_empty() => output::print("nothing was spent yet\n")?,
        false => output::print(&text)?,
    }
    Ok(Exit::Ok)
}

fn calls(args: &Args, log: &Log, month: &Month) -> anyhow::Result<Exit> {
    let mut calls = log.ask(budget::calls(&log.store, month))?;
    let earlier = calls.len().saturating_sub(args.limit);
    calls.drain(..earlier);
    if args.json {
        let told = json!({"month": month.to_string(), "earlier": earlier, "calls": calls});
        output::print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    if earlier > 0 {
        let earlier = count(earlier, "call");
        text.push_str(&format!("{earlier} before these; --limit shows more\n"));
    }
    calls.iter().for_each(|call| text.push_str(&line(call)));
    if calls.is_empty() {
        text.push_str(&format!("no call was made in {month}\n"));
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn line(call: &Call) -> String {
    let estimate = call.reservation.estimate.usd;
    let (amount, state) = match &call.state {
        CallState::Open => (estimate, "reserved".to_owned()),
        CallState::Released { why } => (Usd::ZERO, format!("not made: {why}")),
        CallState::Settled { cost } => {
            let known = if cost.known == Known::Reported { "reported" } else { "estimated" };
            let tokens = cost
                .tokens
                .map(|tokens| format!(", tokens: {} in, {} out", tokens.input, tokens.output));
            let model = cost.model.as_ref().map(|model| format!(", {model}"));
            let rest = [tokens, model].into_iter().flatten().collect::<String>();
            (cost.usd, format!("{known}{rest}"))
        }
    };
    let (id, agent) = (escape::line(&call.reservation.id), escape::line(&call.reservation.agent));
    let state = escape::line(&state);
    format!("{}  {:>9}  {id}  {agent}  {state}\n", moment::utc(call.at), amount.to_string())
}
