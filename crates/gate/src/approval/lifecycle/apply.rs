//! What an event changes in the standing of a request.

use aurora_model::{ApprovalEvent, ApprovalState, Outcome, Request, Timestamp, Who};

use super::Standing;

/// The standing after an event. What does not fit changes nothing but the count: a log that was written
/// by another version must never end the program that reads it, and no order of events leads from a
/// no to a deed.
#[must_use]
pub fn apply(standing: Option<Standing>, event: &ApprovalEvent, at: Timestamp) -> Option<Standing> {
    let Some(mut standing) = standing else {
        return match event {
            ApprovalEvent::Requested { request } => Some(begun(request)),
            _ => None,
        };
    };
    standing.records += 1;
    standing.last_at = standing.last_at.max(at);
    match standing.state {
        ApprovalState::Pending => pending(&mut standing, event),
        ApprovalState::Approved => approved(&mut standing, event),
        ApprovalState::Reserved => reserved(&mut standing, event),
        _ => {}
    }
    Some(standing)
}

fn pending(standing: &mut Standing, event: &ApprovalEvent) {
    let at = standing.last_at;
    match event {
        ApprovalEvent::Voted { decision } => {
            standing.votes.retain(|vote| vote.by.name != decision.by.name);
            standing.votes.push(decision.clone());
        }
        ApprovalEvent::Decided { decision } => {
            end(standing, state_of(decision.outcome), None);
            standing.decision = Some(decision.clone());
        }
        ApprovalEvent::Edited {
            subject, digest, reasons, effects, actions, tier, title, ..
        } => {
            standing.version = standing.version.saturating_add(1);
            standing.votes.clear();
            let request = &mut standing.request;
            request.subject = (**subject).clone();
            request.digest = digest.clone();
            request.reasons.clone_from(reasons);
            request.effects.clone_from(effects);
            request.actions.clone_from(actions);
            request.tier = *tier;
            request.autonomy = subject.autonomy;
            if let Some(title) = title {
                request.title.clone_from(title);
            }
        }
        ApprovalEvent::Reminded { number } => {
            standing.reminders = *number;
            standing.told_at = at;
        }
        ApprovalEvent::Warned { expires_at } => {
            standing.warned = Some((*expires_at, at));
            standing.told_at = at;
        }
        ApprovalEvent::Escalated { step, to, .. } if *step > standing.step => {
            escalated(standing, *step, to);
        }
        ApprovalEvent::TimedOut { reason, .. } => {
            end(standing, ApprovalState::TimedOut, Some(reason));
        }
        _ => given_up(standing, event),
    }
}

fn approved(standing: &mut Standing, event: &ApprovalEvent) {
    match event {
        ApprovalEvent::Reserved { executor } => {
            standing.state = ApprovalState::Reserved;
            standing.executor = Some(executor.clone());
        }
        _ => given_up(standing, event),
    }
}

fn reserved(standing: &mut Standing, event: &ApprovalEvent) {
    match event {
        ApprovalEvent::Executed { result, .. } => {
            standing.state = ApprovalState::Executed;
            standing.result.clone_from(result);
        }
        ApprovalEvent::Failed { result, error } => {
            standing.state = ApprovalState::Failed;
            standing.result.clone_from(result);
            standing.reason = Some(error.clone());
        }
        ApprovalEvent::OutcomeUnknown { reason } => {
            standing.state = ApprovalState::OutcomeUnknown;
            standing.reason = Some(reason.clone());
        }
        _ => {}
    }
}

/// What was not begun can be given up, before and after a yes.
fn given_up(standing: &mut Standing, event: &ApprovalEvent) {
    match event {
        ApprovalEvent::Cancelled { reason } => {
            end(standing, ApprovalState::Cancelled, Some(reason));
        }
        ApprovalEvent::Stale { reason, .. } => end(standing, ApprovalState::Stale, Some(reason)),
        _ => {}
    }
}

/// The right to decide goes one further; whoever had it keeps it.
fn escalated(standing: &mut Standing, step: u32, to: &[Who]) {
    let at = standing.last_at;
    standing.step = step;
    standing.step_at = at;
    standing.told_at = at;
    // Nobody named meant everybody, and that stays so.
    if !standing.deciders.is_empty() {
        for who in to {
            if !standing.deciders.contains(who) {
                standing.deciders.push(who.clone());
            }
        }
    }
}

fn end(standing: &mut Standing, state: ApprovalState, reason: Option<&String>) {
    standing.state = state;
    standing.closed_at = Some(standing.last_at);
    if let Some(reason) = reason {
        standing.reason = Some(reason.clone());
    }
}

fn begun(request: &Request) -> Standing {
    let at = request.asked_at;
    Standing {
        request: request.clone(),
        state: ApprovalState::Pending,
        version: 1,
        asked_tier: request.tier,
        votes: Vec::new(),
        decision: None,
        reason: None,
        deciders: request.ruling.deciders.clone(),
        step: 0,
        step_at: at,
        reminders: 0,
        told_at: at,
        warned: None,
        executor: None,
        result: None,
        closed_at: None,
        last_at: at,
        records: 1,
    }
}

const fn state_of(outcome: Outcome) -> ApprovalState {
    match outcome {
        Outcome::Approved => ApprovalState::Approved,
        Outcome::Denied => ApprovalState::Denied,
        Outcome::ChangesRequested => ApprovalState::ChangesRequested,
    }
}
