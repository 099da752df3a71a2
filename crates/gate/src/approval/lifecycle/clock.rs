//! What the clock has to say to a request: remind, warn, pass on, end.

use aurora_model::{
    ApprovalEvent, ApprovalState, Choice, Decider, DeciderKind, Decision, Outcome, Surface, Tier,
    Timestamp,
};

use super::Standing;
use crate::approval::options;
use crate::approval::timeout::{self, Check, Due, View};

/// When something happens to a request by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// When it expires, as things stand.
    pub expires_at: Option<Timestamp>,
    /// When the clock has something to say next.
    pub wake_at: Option<Timestamp>,
}

/// When something happens to a request by itself; never, once it is not pending.
#[must_use]
pub fn moments(standing: &Standing) -> Moments {
    if standing.state != ApprovalState::Pending {
        return Moments::default();
    }
    let check = check(standing, standing.last_at);
    let due = check.due.is_some().then_some(standing.last_at);
    let wakes = [due, check.wake_at, warn_at(standing, &check), remind_at(standing)];
    Moments { expires_at: check.expires_at, wake_at: wakes.into_iter().flatten().min() }
}

/// When the clock has something to say next.
#[must_use]
pub fn next_wake(standing: &Standing) -> Option<Timestamp> {
    moments(standing).wake_at
}

/// Whether the clock ends it by now.
pub(super) fn ends(standing: &Standing, now: Timestamp) -> bool {
    let ends = |event: &ApprovalEvent| {
        matches!(event, ApprovalEvent::TimedOut { .. } | ApprovalEvent::Decided { .. })
    };
    wake(standing, now).iter().any(ends)
}

/// What the clock says now. However late it comes, each thing is said once: who slept over three
/// steps takes one of them, and the next has its whole time.
pub(super) fn wake(standing: &Standing, now: Timestamp) -> Vec<ApprovalEvent> {
    if standing.state != ApprovalState::Pending {
        return Vec::new();
    }
    let now = now.max(standing.last_at);
    let check = check(standing, now);
    let by_policy = match &check.due {
        Some(Due::Deny { reason }) => {
            let policy = standing.request.ruling.timeout.policy.clone();
            Some(ApprovalEvent::TimedOut { policy, reason: reason.clone() })
        }
        Some(Due::Approve { reason }) => approve(standing, reason, now),
        Some(Due::Escalate { step, to, reason }) => {
            Some(ApprovalEvent::Escalated { step: *step, to: to.clone(), reason: reason.clone() })
        }
        None => None,
    };
    if let Some(event) = by_policy {
        return vec![event];
    }
    if let (Some(at), Some(expires_at)) = (warn_at(standing, &check), check.expires_at)
        && at <= now
    {
        return vec![ApprovalEvent::Warned { expires_at }];
    }
    if remind_at(standing).is_some_and(|at| at <= now) {
        return vec![ApprovalEvent::Reminded { number: standing.reminders.saturating_add(1) }];
    }
    Vec::new()
}

/// A yes without a person: for the lowest tier only, and never without a warning before it, so that
/// a machine that slept over the deadline says yes to nothing that nobody could see.
fn approve(standing: &Standing, reason: &str, now: Timestamp) -> Option<ApprovalEvent> {
    let request = &standing.request;
    if request.tier != Tier::Low || request.ruling.quorum > 1 || !standing.deciders.is_empty() {
        let policy = request.ruling.timeout.policy.clone();
        return Some(ApprovalEvent::TimedOut { policy, reason: reason.to_owned() });
    }
    match standing.warned {
        None => return Some(ApprovalEvent::Warned { expires_at: now }),
        Some((_, at)) if now.unix_ms - at.unix_ms < timeout::GRACE_MS => return None,
        Some(_) => {}
    }
    let choice = options::yes_of(request).unwrap_or(Choice::Allow);
    let by = Decider {
        name: format!("timeout policy {}", request.ruling.timeout.policy),
        kind: DeciderKind::Rule,
        roles: Vec::new(),
        surface: Surface::Timeout,
    };
    let decision = Decision {
        outcome: Outcome::Approved,
        choice,
        by,
        seen: request.digest.clone(),
        policy: request.subject.policy.clone(),
        reason: Some(reason.to_owned()),
    };
    Some(ApprovalEvent::Decided { decision })
}

fn check(standing: &Standing, now: Timestamp) -> Check {
    let view = View {
        tier: standing.request.tier,
        autonomy: standing.request.autonomy,
        actions: &standing.request.actions,
        asked_at: standing.request.asked_at,
        step: standing.step,
        step_at: standing.step_at,
        warned_at: standing.warned.map(|(_, at)| at),
    };
    let policy = timeout::of(&standing.request.ruling.timeout);
    policy.check_timeout(&view, now)
}

fn warn_at(standing: &Standing, check: &Check) -> Option<Timestamp> {
    let expires_at = check.expires_at?;
    let before = standing.request.ruling.warn_before_s?;
    if standing.warned.is_some_and(|(warned_for, _)| warned_for == expires_at) {
        return None;
    }
    let early = i64::try_from(before).unwrap_or(i64::MAX).saturating_mul(1000);
    let at = expires_at.unix_ms.saturating_sub(early).max(standing.request.asked_at.unix_ms);
    Some(Timestamp { unix_ms: at })
}

fn remind_at(standing: &Standing) -> Option<Timestamp> {
    let every = standing.request.ruling.remind_every_s?;
    let every = i64::try_from(every).unwrap_or(i64::MAX).saturating_mul(1000);
    Some(Timestamp { unix_ms: standing.told_at.unix_ms.saturating_add(every) })
}
