//! Deciding one request: what was seen is what is decided, and whoever was first is named.

use aurora_model::{Choice, Digest};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::json;

use super::show;
use super::source::Queue;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::escape;
use crate::output::request::{self, Item, Length};
use crate::output::style::Style;
use crate::wiring::approvals::{Refusal, Said, Saying, Taken};
use crate::wiring::question::{self, Consent};
use crate::wiring::workspace::now;

/// Fewer digits of a digest name nothing.
const MIN_DIGITS: usize = 8;

/// What a person says about having seen it.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Seen {
    /// The digest of what you saw, as `show` tells it; its first digits are enough.
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// Take what is shown now as seen, and do not ask.
    #[arg(long, conflicts_with = "digest")]
    pub yes: bool,
}

/// What is decided, and how it is told.
pub struct Wish<'a> {
    /// The option.
    pub choice: Choice,
    /// Why.
    pub reason: Option<&'a str>,
    /// Whether a program reads the answer.
    pub json: bool,
}

impl Seen {
    /// The digest of what the person saw; nothing when they looked and said no. Without one it is
    /// shown now, and they are asked.
    pub fn digest(&self, queue: &Queue, item: &Item, json: bool) -> anyhow::Result<Option<Digest>> {
        let current = &item.request.digest;
        if let Some(given) = &self.digest {
            return named(item, given).map(Some);
        }
        if json && self.yes {
            return Ok(Some(current.clone()));
        }
        if json || !(self.yes || question::is_possible()) {
            return Err(Failure::usage(format!(
                "saying yes to {} needs the digest of what you saw, and nobody is there to show it to",
                item.id()
            ))
            .hint(format!("`aur approvals show {}` tells it for --digest", item.id()))
            .hint("--yes takes what is there now as seen")
            .into());
        }
        let detail = show::detail(queue, item)?;
        let shown = request::show(item, &detail, now(), Length::Brief, Style::of_stdout());
        output::print(&shown)?;
        if self.yes {
            return Ok(Some(current.clone()));
        }
        // What was typed before it could be seen was meant for something else.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        let yes = Consent::Open.ask("Say yes to exactly this?")?;
        Ok(yes.then(|| current.clone()))
    }
}

/// The digest that begins so, when it is the request's.
fn named(item: &Item, given: &str) -> anyhow::Result<Digest> {
    let given = given.to_ascii_lowercase();
    if given.len() < MIN_DIGITS || !given.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::usage(format!("`{given}` is no digest"))
            .hint(format!("at least {MIN_DIGITS} of its digits, as `show` tells them"))
            .into());
    }
    let current = &item.request.digest;
    if current.as_str().starts_with(&given) {
        return Ok(current.clone());
    }
    let refusal = Refusal {
        word: "outdated".to_owned(),
        message: format!("{}: what you saw is not what would be done", item.id()),
        state: None,
        usage: false,
    };
    // Whoever was first is the better answer where it was decided meanwhile.
    match item.is_open() {
        true => Err(refusal.failure().into()),
        false => Ok(current.clone()),
    }
}

/// Decides it and tells what came of it.
pub fn decide(queue: &Queue, item: &Item, seen: Digest, wish: &Wish<'_>) -> anyhow::Result<Exit> {
    let saying = Saying { choice: wish.choice, seen, reason: wish.reason.map(ToOwned::to_owned) };
    let requests = queue.of(item.id().as_str())?;
    let refusal = match requests.decide(item, &saying)? {
        Said::Taken(taken) => return tell(&taken, wish.choice, wish.json),
        Said::Refused(refusal) => refusal,
    };
    // Somebody who was first and said the same leaves nothing to complain about.
    let now = if refusal.word == "closed" { requests.find(item.id().as_str())? } else { None };
    let decision = now.as_ref().and_then(|item| item.decision.as_ref());
    match decision.filter(|decision| decision.choice == wish.choice) {
        None => refused(&refusal),
        Some(decision) if wish.json => {
            output::print_json(&json!({
                "id": item.id(), "choice": wish.choice, "by": decision.by.name,
                "state": refusal.state, "before": true,
            }))?;
            Ok(Exit::Ok)
        }
        Some(_) => {
            output::print(&format!("{}\n", escape::line(&refusal.message)))?;
            Ok(Exit::Ok)
        }
    }
}

/// Nothing was decided, because the person did not want to.
pub fn nothing() -> anyhow::Result<Exit> {
    output::print("nothing was decided\n")?;
    Ok(Exit::Failure)
}

/// Tells that it was not taken, and who was first.
pub fn refused(refusal: &Refusal) -> anyhow::Result<Exit> {
    Err(refusal.failure().into())
}

/// Tells that it is recorded.
pub fn tell(taken: &Taken, choice: Choice, json: bool) -> anyhow::Result<Exit> {
    let item = &taken.item;
    let last = item.decision.as_ref().or(item.votes.last());
    let by = last.map(|decision| decision.by.name.clone()).unwrap_or_default();
    let missing = if item.is_open() { item.missing() } else { 0 };
    if json {
        output::print_json(&json!({
            "id": item.id(), "run": item.request.subject.run, "choice": choice, "by": by,
            "state": item.state, "digest": item.request.digest, "missing": missing,
            "driven": taken.driven, "resume": taken.resume,
        }))?;
        return Ok(Exit::Ok);
    }
    let (choice, by) = (choice.name(), escape::line(&by));
    let mut out = match missing {
        0 => format!("answered: {choice}, by {by}\n"),
        1 => format!("recorded: {choice}, by {by}; one more must say yes\n"),
        more => format!("recorded: {choice}, by {by}; {more} more must say yes\n"),
    };
    if let Some(resume) = &taken.resume {
        out.push_str(&format!("nobody drives the run now; `{resume}` goes on with it\n"));
    }
    output::print(&out)?;
    Ok(Exit::Ok)
}
