//! Questions that are in no queue, because an earlier version asked them: shown and answered as then.

use aurora_engine::driver;
use aurora_engine::machine::{Command, Phase, Refused};
use aurora_model::{Answerer, Choice, Reason};
use serde_json::json;

use super::last_words;
use super::question::Found;
use super::source::Queue;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::output::{escape, moment};
use crate::wiring::person;
use crate::wiring::workspace::now;

/// Answers it.
pub fn answer(
    queue: &Queue,
    found: &Found,
    choice: Choice,
    reason: Option<&str>,
    json: bool,
) -> anyhow::Result<Exit> {
    let id = &found.asked.question.id;
    let log = queue.log().ok_or_else(|| Failure::failed("the log is gone"))?;
    let by = person::login();
    let reason = reason.map(ToOwned::to_owned);
    let answerer = Answerer { by: by.clone(), surface: "command".to_owned(), reason };
    let command = Command::Answer { question: id.clone(), choice, answerer };
    let state = log
        .ask(driver::answer(&log.store, &found.run, &command, now()))
        .map_err(|error| refused(id.as_str(), error))?;
    let over = matches!(state.phase, Phase::Finished(_));
    let driven = log.ask(log.store.is_claimed(&driver::stream_of(&found.run))).unwrap_or(false);
    let what = if state.is_plan_only() { "goals" } else { "spawn" };
    let resume = (!over && !driven).then(|| format!("aur {what} --resume {}", found.run));
    if json {
        output::print_json(&json!({
            "id": id, "run": found.run, "choice": choice, "by": by, "driven": driven,
            "resume": resume,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut out = format!("answered: {}, by {}\n", choice.name(), escape::line(&by));
    if let Some(resume) = resume {
        out.push_str(&format!("nobody drives the run now; `{resume}` goes on with it\n"));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}

fn refused(id: &str, error: aurora_engine::Error) -> anyhow::Error {
    let aurora_engine::Error::Refused(refused) = &error else { return error.into() };
    match refused {
        Refused::NoSuchChoice { .. } | Refused::Unknown { .. } => {
            Failure::usage(refused.to_string()).into()
        }
        Refused::Stale { what } => {
            Failure::denied(format!("{id} needs no answer any more: {what}")).into()
        }
        _ => Failure::denied(refused.to_string()).into(),
    }
}

/// Shows it.
pub fn show(queue: &Queue, found: &Found, json: bool) -> anyhow::Result<Exit> {
    let transcript = found.transcript.as_ref();
    let said = queue.log().map(|log| last_words::of(log, transcript)).unwrap_or_default();
    if json {
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
    out.push_str(&what_changed(found));
    for line in &said {
        out.push_str(&format!("  said     {}\n", escape::line(line)));
    }
    for reason in found.reasons() {
        out.push_str(&told(reason));
    }
    out.push_str(&how_it_stands(found));
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
fn how_it_stands(found: &Found) -> String {
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
            let id = escape::line(found.asked.question.id.as_str());
            out.push_str(&format!("aur approvals answer {id} CHOICE\n"));
        }
    }
    out
}
