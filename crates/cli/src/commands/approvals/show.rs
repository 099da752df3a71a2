//! `aur approvals show`: everything that is needed to decide one.

use aurora_model::ApprovalState;
use serde_json::{Value, json};

use super::source::{Asked, Queue, Source};
use super::{last_words, old, question};
use crate::exit::Exit;
use crate::output;
use crate::output::escape;
use crate::output::request::{self, Detail, Item, Length};
use crate::output::style::Style;
use crate::wiring::workspace::now;

/// Which, and how to answer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The request, such as `spawn-1705234567.q1`, or the beginning of it.
    #[arg(value_name = "ID")]
    pub id: String,
    /// Show long texts whole.
    #[arg(long)]
    full: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "Examples:
  aur approvals show spawn-1705234567.q1
  aur approvals show spawn-1705234567.q1 --full
  aur approvals show spawn-1705234567.q1 --json";

/// Shows it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let queue = args.source.open()?;
    let item = match queue.find(&args.id)? {
        Asked::Old(found) => return old::show(&queue, &found, args.json),
        Asked::Item(item) => item,
    };
    let detail = detail(&queue, &item)?;
    if args.json {
        output::print_json(&json(&item, &detail))?;
        return Ok(Exit::Ok);
    }
    let length = if args.full { Length::Full } else { Length::Usual };
    let mut out = request::show(&item, &detail, now(), length, Style::of_stdout());
    if item.is_open() {
        out.push_str(&how_to_decide(&item));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

/// The commands that decide it.
fn how_to_decide(item: &Item) -> String {
    let id = escape::line(item.id().as_str());
    let digest = request::short(item.request.digest.as_str());
    let options: Vec<&str> = item.request.options.iter().map(|choice| choice.name()).collect();
    match aurora_gate::approval::options::yes_of(&item.request) {
        Some(_) => format!(
            "aur approvals approve {id} --digest {digest}\naur approvals answer {id} {}\n",
            options.join("|")
        ),
        None => format!("aur approvals answer {id} {}\n", options.join("|")),
    }
}

/// What else there is to know, also from the run that asks.
pub fn detail(queue: &Queue, item: &Item) -> anyhow::Result<Detail> {
    let mut detail = queue.of(item.id().as_str())?.detail(item)?;
    let Some(log) = queue.log() else { return Ok(detail) };
    let Some(found) = question::find(log, item.id().as_str())? else { return Ok(detail) };
    detail.about = Some(found.asked.question.about.clone());
    let mut fact = |label: &str, text: String| detail.facts.push((label.to_owned(), text));
    match found.goal() {
        "" => {}
        goal => fact("run", format!("{}: {goal}", found.run)),
    }
    found.previewed().into_iter().for_each(|task| fact("task", task));
    let (paths, more) = found.changed();
    paths.iter().for_each(|path| fact("changed", path.clone()));
    if more > 0 {
        fact("", format!("and {more} more"));
    }
    if let Some(place) = found.place() {
        fact("held in", place.to_owned());
    }
    if let Some(look) = found.look() {
        fact("look", look);
    }
    let said = last_words::of(log, found.transcript.as_ref());
    said.into_iter().for_each(|line| fact("said", line));
    Ok(detail)
}

fn json(item: &Item, detail: &Detail) -> Value {
    let mut told = item.json();
    let Some(object) = told.as_object_mut() else { return told };
    let history: Vec<Value> =
        detail.history.iter().map(|(at, event)| json!({"at": at, "event": event})).collect();
    let counted = |(state, count): &(ApprovalState, u64)| (state.name().to_owned(), json!(count));
    let precedent: serde_json::Map<String, Value> = detail.precedent.iter().map(counted).collect();
    let labelled = |label: &str| -> Vec<&String> {
        detail.facts.iter().filter(|(of, _)| of == label).map(|(_, text)| text).collect()
    };
    if let Some(about) = &detail.about {
        object.insert("about".to_owned(), json!(about));
    }
    let look = labelled("look");
    if let Some(look) = look.first() {
        object.insert("look".to_owned(), json!(look));
    }
    let said = labelled("said");
    if !said.is_empty() {
        object.insert("output".to_owned(), json!(said));
    }
    object.insert("history".to_owned(), json!(history));
    object.insert("precedent".to_owned(), precedent.into());
    object.insert("detail".to_owned(), json!(detail.kept));
    told
}
