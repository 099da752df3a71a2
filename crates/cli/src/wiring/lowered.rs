//! What is lowered at present below the levels of the settings, and why.

use aurora_engine::approvals::autonomy;
use serde_json::{Value, json};

use super::store::{self, Log};
use crate::exit::Failure;
use crate::output::style::Style;
use crate::output::{escape, moment};

pub use aurora_engine::approvals::autonomy::Lowered;

/// What the log of this place says; nothing where there is none.
pub fn here() -> anyhow::Result<Vec<Lowered>> {
    // Outside of a repository nothing is recorded, so that nothing can be lowered.
    if store::folder().is_err() {
        return Ok(Vec::new());
    }
    match Log::open_existing()? {
        Some(log) => of(&log),
        None => Ok(Vec::new()),
    }
}

/// What a log says.
pub fn of(log: &Log) -> anyhow::Result<Vec<Lowered>> {
    let lowered = log.ask(autonomy::lowered(log.store.as_ref()));
    lowered.map_err(|error| Failure::failed(error.to_string()).into())
}

/// One for programs.
#[must_use]
pub fn in_json(one: &Lowered) -> Value {
    json!({
        "scope": one.scope, "at_most": one.to, "since": one.at, "why": one.why, "by": one.by,
    })
}

/// Writes what is lowered, a paragraph each; nothing where nothing is.
pub fn push(out: &mut String, lowered: &[Lowered], style: Style) {
    if lowered.is_empty() {
        return;
    }
    out.push_str(&format!("{}\n", style.bold("lowered")));
    for one in lowered {
        let scope = escape::line(&one.scope);
        let since = moment::utc(one.at);
        out.push_str(&format!("  {scope}: {} at most, since {since}\n", one.to.name()));
        out.push_str(&format!("    {}\n", why(one)));
    }
}

/// Why it is, and by whom.
#[must_use]
pub fn why(one: &Lowered) -> String {
    let why = escape::line(one.why.as_deref().unwrap_or("no reason was given"));
    match &one.by {
        Some(by) => format!("{why} ({})", escape::line(&by.name)),
        None => why,
    }
}
