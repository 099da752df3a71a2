//! What the clock has to say to a request: remind, warn, pass on, end.

use aurora_model::{
    ApprovalEvent, ApprovalState, Decider, DeciderKind, Decision, Outcome, Surface, Tier, Timestamp,
};

use super::Standing;
use crate::approval::options;
use crate::approval::timeout::{self, Check, Due, GRACE_MS, View};

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
    let plan = plan(standing, standing.last_at);
    let due = plan.due.is_some().then_some(standing.last_at);
    let wakes = [due, plan.wake_at, warn_at(standing, &plan), remind_at(standing)];
    Moments { expires_at: plan.expires_at, wake_at: wakes.into_iter().flatten().min() }
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
    let plan = plan(standing, now);
    if let Some(due) = &plan.due {
        return vec![by_policy(standing, due, now)];
    }
    if let (Some(at), Some(expires_at)) = (warn_at(standing, &plan), plan.expires_at)
        && at <= now
    {
        return vec![ApprovalEvent::Warned { expires_at }];
    }
    if remind_at(standing).is_some_and(|at| at <= now) {
        return vec![ApprovalEvent::Reminded { number: standing.reminders.saturating_add(1) }];
    }
    Vec::new()
}

fn by_policy(standing: &Standing, due: &Due, now: Timestamp) -> ApprovalEvent {
    match due {
        Due::Deny { reason } => timed_out(standing, reason.clone()),
        Due::Approve { reason } => approve(standing, reason, now),
        Due::Escalate { step, to, reason } => {
            ApprovalEvent::Escalated { step: *step, to: to.clone(), reason: reason.clone() }
        }
    }
}

fn timed_out(standing: &Standing, reason: String) -> ApprovalEvent {
    let policy = standing.request.ruling.timeout.policy.clone();
    ApprovalEvent::TimedOut { policy, reason }
}

/// A yes without a person: for the lowest tier only, and never without a warning before it, so that
/// a machine that slept over the deadline says yes to nothing that nobody could see.
fn approve(standing: &Standing, reason: &str, now: Timestamp) -> ApprovalEvent {
    let request = &standing.request;
    let (true, Some(choice)) = (may_go_ahead(standing), options::yes_of(request)) else {
        return timed_out(standing, format!("{reason}, and it may not go ahead without a person"));
    };
    if standing.warned.is_none() {
        return ApprovalEvent::Warned { expires_at: later(now, GRACE_MS) };
    }
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
    ApprovalEvent::Decided { decision }
}

/// Whether it may be done without a person at all.
fn may_go_ahead(standing: &Standing) -> bool {
    let tier = standing.request.tier.max(standing.asked_tier);
    tier == Tier::Low && standing.request.ruling.quorum <= 1 && standing.deciders.is_empty()
}

/// What the policy does, and when.
struct Plan {
    due: Option<Due>,
    wake_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    /// How long before the end people must have been warned, at least.
    warn_ms: Option<i64>,
}

/// What the policy says, once a yes without a person has waited out its grace.
fn plan(standing: &Standing, now: Timestamp) -> Plan {
    let view = View {
        // Whatever it was edited to, it stays under the rule that was chosen when it was asked.
        tier: standing.asked_tier,
        autonomy: standing.request.autonomy,
        actions: &standing.request.actions,
        asked_at: standing.request.asked_at,
        step: standing.step,
        step_at: standing.step_at,
        warned_at: standing.warned.map(|(_, at)| at),
    };
    let policy = timeout::of(&standing.request.ruling.timeout);
    let Check { due, wake_at, expires_at } = policy.check_timeout(&view, now);
    let next = policy.apply_policy(&view).map(|(_, due)| due);
    let goes_ahead = matches!(next, Some(Due::Approve { .. })) && may_go_ahead(standing);
    // A policy that says a step again would say it for ever.
    let due = due.filter(|due| match due {
        Due::Escalate { step, .. } => *step > standing.step,
        Due::Deny { .. } | Due::Approve { .. } => true,
    });
    if !goes_ahead {
        return Plan { due, wake_at, expires_at, warn_ms: None };
    }
    let earliest = standing.warned.map(|(_, at)| later(at, GRACE_MS));
    let not_before = |at: Timestamp| earliest.map_or(at, |earliest| at.max(earliest));
    let waits = earliest.is_some_and(|earliest| now < earliest);
    Plan {
        wake_at: match due {
            Some(_) if waits => earliest,
            _ => wake_at.map(not_before),
        },
        due: due.filter(|_| !waits),
        expires_at: expires_at.map(not_before),
        warn_ms: Some(GRACE_MS),
    }
}

fn warn_at(standing: &Standing, plan: &Plan) -> Option<Timestamp> {
    let expires_at = plan.expires_at?;
    // Once for each end. It moves by itself only when it is passed on.
    let warned = |(of, at): (Timestamp, Timestamp)| of == expires_at || at >= standing.step_at;
    if standing.warned.is_some_and(warned) {
        return None;
    }
    let before = standing.request.ruling.warn_before_s.map(milliseconds);
    let early = before.max(plan.warn_ms)?;
    Some(later(expires_at, early.saturating_neg()).max(standing.step_at))
}

fn milliseconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000)
}

fn later(moment: Timestamp, ms: i64) -> Timestamp {
    Timestamp { unix_ms: moment.unix_ms.saturating_add(ms) }
}

fn remind_at(standing: &Standing) -> Option<Timestamp> {
    let every = standing.request.ruling.remind_every_s.filter(|every| *every > 0)?;
    Some(later(standing.told_at, milliseconds(every)))
}
