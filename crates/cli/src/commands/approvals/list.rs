//! `aur approvals list`: the questions that wait for an answer.

use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::output::style::Style;
use crate::output::{escape, moment};
use crate::wiring::store::Log;
use crate::wiring::workspace::now;

/// How to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals list
  aur approvals list --json";

/// Lists them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let found = match Log::open_existing()? {
        Some(log) => super::open(&log)?,
        None => Vec::new(),
    };
    if args.json {
        let questions: Vec<_> = found.iter().map(super::Found::json).collect();
        output::print_json(&json!({"questions": questions}))?;
        return Ok(Exit::Ok);
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    for one in &found {
        let when = one.at.map(|at| moment::ago(now(), at)).unwrap_or_default();
        let id = style.bold(&escape::line(one.asked.question.id.as_str()));
        out.push_str(&format!("{id}  {}\n", style.faint(&when)));
        out.push_str(&format!("  {}\n", escape::line(&one.sentence())));
        if let Some(reason) = one.reasons().first() {
            let more = one.reasons().len() - 1;
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            out.push_str(&format!("  {}{more}\n", escape::line(&reason.message)));
        }
        out.push_str(&format!("  {}\n", one.options().join(" | ")));
    }
    if found.is_empty() {
        out.push_str("no question waits for an answer\n");
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
