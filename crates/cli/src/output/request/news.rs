//! What happened to a request, in one line.

use aurora_model::{ApprovalEvent, Timestamp};

use super::Happened;
use super::decided;
use crate::output::{escape, moment};

/// One line about something that happened.
#[must_use]
pub fn happened(news: &Happened, now: Timestamp) -> String {
    let at = clock(news.at);
    let id = escape::line(news.id.as_str());
    let mut line = format!("{at}  {id}  {}", escape::line(&words(&news.event)));
    if let (ApprovalEvent::Requested { .. }, Some(item)) = (&news.event, &news.item)
        && let Some(expires_at) = item.expires_at
    {
        line.push_str(&format!(" (expires in {})", moment::left(now, expires_at)));
    }
    line
}

/// The time of day: `16:28:05`.
fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    let clock = text.split_once('T').map_or("", |(_, clock)| clock);
    clock.get(..8).unwrap_or(clock).to_owned()
}

/// What happened, in a few words.
#[must_use]
pub fn words(event: &ApprovalEvent) -> String {
    match event {
        ApprovalEvent::Requested { request } => {
            format!("asked [{}]: {}", request.tier.name(), request.title)
        }
        ApprovalEvent::Voted { decision } => {
            format!("one yes: {}; more are needed", decided(decision))
        }
        ApprovalEvent::Decided { decision } => decided(decision),
        ApprovalEvent::Edited { by, digest, .. } => format!(
            "edited by {} ({}), now {}",
            by.name,
            by.surface.name(),
            super::short(digest.as_str())
        ),
        ApprovalEvent::Reminded { number: 1 } => "reminded once".to_owned(),
        ApprovalEvent::Reminded { number } => format!("reminded {number} times"),
        ApprovalEvent::Warned { expires_at } => {
            format!("warned: it expires at {}", moment::utc(*expires_at))
        }
        ApprovalEvent::Escalated { step, to, reason } => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            format!("escalated to {} (step {step}): {reason}", to.join(", "))
        }
        ApprovalEvent::TimedOut { policy, reason } => {
            format!("timed out, by policy {policy}: {reason}")
        }
        ApprovalEvent::Cancelled { reason } => format!("cancelled: {reason}"),
        ApprovalEvent::Stale { reason, .. } => format!("stale, and not done: {reason}"),
        ApprovalEvent::Reserved { executor } => format!("being done, by {executor}"),
        ApprovalEvent::Executed { summary, .. } if summary.is_empty() => "done".to_owned(),
        ApprovalEvent::Executed { summary, .. } => format!("done: {summary}"),
        ApprovalEvent::Failed { error, .. } => format!("tried, and failed: {error}"),
        ApprovalEvent::OutcomeUnknown { reason } => {
            format!("nobody can tell whether it was done: {reason}")
        }
    }
}
