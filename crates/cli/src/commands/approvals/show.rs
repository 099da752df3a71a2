//! `aur approvals show`: everything about one question.

use aurora_model::Reason;

use super::{Found, last_words};
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
    let said = last_words::of(&log, found.transcript.as_ref());
    if args.json {
        let mut told = found.json();
        if let (false, Some(told)) = (said.is_empty(), told.as_object_mut()) {
            told.insert("output".to_owned(), said.into());
        }
        output::print_json(&told)?;
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
    out.push_str(&what_changed(&found));
    for line in &said {
        out.push_str(&format!("  said     {}\n", escape::line(line)));
    }
    for reason in found.reasons() {
        out.push_str(&told(reason));
    }
    out.push_str(&how_it_stands(&found, &args.id));
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// The changed paths, where they are and how to look at them.
fn what_changed(found: &Found) -> String {
    let mut out = String::new();
    let (paths, more) = found.changed();
    for path in paths {
        out.push_str(&format!("  changed  {}\n", escape::line(path)));
    }
    if more > 0 {
        out.push_str(&format!("           and {more} more\n"));
    }
    if let Some(place) = found.place() {
        out.push_str(&format!("  held in  {}\n", escape::line(place)));
    }
    if let Some(look) = found.look() {
        out.push_str(&format!("  look     {}\n", escape::line(&look)));
    }
    out
}

/// A rule's word, where it was written, and what to do instead.
fn told(reason: &Reason) -> String {
    let mut out = format!("  reason   {}\n", escape::line(&reason.message));
    let (rule, origin) = (escape::line(&reason.rule), escape::line(&reason.origin));
    out.push_str(&format!("           rule {rule}, from {origin}\n"));
    if let Some(instead) = &reason.instead {
        out.push_str(&format!("           instead: {}\n", escape::line(instead)));
    }
    out
}

/// The answer, or what can be answered.
fn how_it_stands(found: &Found, id: &str) -> String {
    let mut out = String::new();
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
            out.push_str(&format!("aur approvals answer {} CHOICE\n", escape::line(id)));
        }
    }
    out
}
