//! `aur approvals show`: everything about one question.

use crate::exit::Exit;
use crate::output;
use crate::output::style::Style;
use crate::output::{escape, moment};

/// Which question, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The question, such as `spawn-1705234567.q1`.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals show spawn-1705234567.q1
  aur approvals show spawn-1705234567.q1 --json";

/// Shows it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let log = super::log_for(&args.id)?;
    let found = super::find(&log, &args.id)?;
    if args.json {
        output::print_json(&found.json())?;
        return Ok(Exit::Ok);
    }
    let style = Style::of_stdout();
    let mut out = format!("{}\n", style.bold(&escape::line(&found.sentence())));
    out.push_str(&format!("  run      {}", escape::line(found.run.as_str())));
    match found.goal() {
        "" => out.push('\n'),
        goal => out.push_str(&format!(": {}\n", escape::line(goal))),
    }
    if let Some(at) = found.at {
        out.push_str(&format!("  asked    {}\n", moment::utc(at)));
    }
    for task in found.previewed() {
        out.push_str(&format!("  task     {}\n", escape::line(&task)));
    }
    for reason in found.reasons() {
        out.push_str(&format!("  reason   {}\n", escape::line(&reason.message)));
        let (rule, origin) = (escape::line(&reason.rule), escape::line(&reason.origin));
        out.push_str(&format!("           rule {rule}, from {origin}\n"));
        if let Some(instead) = &reason.instead {
            out.push_str(&format!("           instead: {}\n", escape::line(instead)));
        }
    }
    match &found.asked.answer {
        Some((choice, by)) => {
            let (choice, who) = (choice.name(), escape::line(&by.by));
            let surface = escape::line(&by.surface);
            out.push_str(&format!("  answered {choice}, by {who} ({surface})\n"));
            if let Some(reason) = &by.reason {
                out.push_str(&format!("           {}\n", escape::line(reason)));
            }
        }
        None if !found.is_open() => out.push_str("  the run is over; nobody waits for an answer\n"),
        None => {
            out.push_str(&format!("  options  {}\n", found.options().join(" | ")));
            out.push_str(&format!("aur approvals answer {} CHOICE\n", escape::line(&args.id)));
        }
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
