//! One stored example of everything that happens to a request, and of what lowers and raises a level.

use aurora_model::{
    ApprovalEvent, Autonomy, AutonomyEvent, DeciderKind, GateKind, Outcome, Surface, Target, Tier,
    Who,
};

use crate::stored::{examples, missing, same_again};

variants! {
    event: ApprovalEvent {
        ApprovalEvent::Requested { .. } => "requested",
        ApprovalEvent::Voted { .. } => "voted",
        ApprovalEvent::Decided { .. } => "decided",
        ApprovalEvent::Edited { .. } => "edited",
        ApprovalEvent::Reminded { .. } => "reminded",
        ApprovalEvent::Warned { .. } => "warned",
        ApprovalEvent::Escalated { .. } => "escalated",
        ApprovalEvent::TimedOut { .. } => "timed_out",
        ApprovalEvent::Cancelled { .. } => "cancelled",
        ApprovalEvent::Stale { .. } => "stale",
        ApprovalEvent::Reserved { .. } => "reserved",
        ApprovalEvent::Executed { .. } => "executed",
        ApprovalEvent::Failed { .. } => "failed",
        ApprovalEvent::OutcomeUnknown { .. } => "outcome_unknown",
    }
    gate: GateKind {
        GateKind::Review => "gate review",
        GateKind::Preview => "gate preview",
        GateKind::Proposal => "gate proposal",
        GateKind::Checkpoint => "gate checkpoint",
        GateKind::Operation => "gate operation",
        GateKind::Failure => "gate failure",
        GateKind::Escalation => "gate escalation",
    }
    tier: Tier {
        Tier::Low => "tier low",
        Tier::Medium => "tier medium",
        Tier::High => "tier high",
        Tier::Critical => "tier critical",
    }
    autonomy: Autonomy {
        Autonomy::Locked => "autonomy locked",
        Autonomy::Supervised => "autonomy supervised",
        Autonomy::Semi => "autonomy semi",
        Autonomy::Full => "autonomy full",
    }
    target: Target {
        Target::Path { content: Some(_), .. } => "target path",
        Target::Path { content: None, .. } => "target path that is not there",
        Target::Ref { .. } => "target ref",
        Target::Table { .. } => "target table",
        Target::Tree { .. } => "target tree",
    }
    who: Who {
        Who::Anyone => "who anyone",
        Who::Person(_) => "who person",
        Who::Role(_) => "who role",
    }
    outcome: Outcome {
        Outcome::Approved => "outcome approved",
        Outcome::Denied => "outcome denied",
        Outcome::ChangesRequested => "outcome changes_requested",
    }
    surface: Surface {
        Surface::Terminal => "surface terminal",
        Surface::Command => "surface command",
        Surface::Http => "surface http",
        Surface::Page => "surface page",
        Surface::Flag => "surface flag",
        Surface::Environment => "surface environment",
        Surface::Timeout => "surface timeout",
    }
    level: AutonomyEvent {
        AutonomyEvent::Lowered { .. } => "lowered",
        AutonomyEvent::Raised { .. } => "raised",
    }
}

/// Everything that an event is an example of.
fn shown(event: &ApprovalEvent) -> Vec<&'static str> {
    let mut shown = vec![event::of(event)];
    match event {
        ApprovalEvent::Requested { request } => {
            shown.extend([gate::of(&request.gate), tier::of(&request.tier)]);
            shown.push(autonomy::of(&request.autonomy));
            shown.extend(request.subject.targets.iter().map(target::of));
            shown.extend(request.ruling.deciders.iter().map(who::of));
        }
        ApprovalEvent::Voted { decision } | ApprovalEvent::Decided { decision } => {
            shown.extend([outcome::of(&decision.outcome), surface::of(&decision.by.surface)]);
            assert_eq!(decision.choice.outcome(), decision.outcome);
            assert_ne!(decision.by.kind, DeciderKind::Agent, "an agent never decides");
        }
        _ => {}
    }
    shown
}

// OBS-1, APR-2: every edge of a request's life is readable for ever.
#[test]
fn everything_that_happens_to_a_request_is_read_and_written_back_the_same() {
    for (name, text) in examples("approvals") {
        let event: ApprovalEvent = same_again(&name, &text);
        assert!(name.starts_with(event.kind()), "{name}");
        assert_eq!(event.kind(), event::of(&event));
    }
    let all = [
        event::ALL,
        gate::ALL,
        tier::ALL,
        autonomy::ALL,
        target::ALL,
        who::ALL,
        outcome::ALL,
        surface::ALL,
    ];
    let missing = missing("approvals", &all, shown);
    assert!(missing.is_empty(), "no stored example of {missing:?}");
}

// APR-5: what lowered a level and who raised it is readable for ever.
#[test]
fn what_lowers_and_raises_a_level_is_read_and_written_back_the_same() {
    for (name, text) in examples("autonomy") {
        let event: AutonomyEvent = same_again(&name, &text);
        assert_eq!((name.as_str(), level::of(&event)), (event.kind(), event.kind()));
        assert_eq!(event.scope(), "agent:claude");
    }
    let missing = missing("autonomy", &[level::ALL], |event| vec![level::of(event)]);
    assert!(missing.is_empty(), "no stored example of {missing:?}");
}

// APR-4, APR-8: what stands in a settings file or a log is what was meant, or nothing.
#[test]
fn a_word_that_means_nothing_is_refused() {
    for word in ["", "role:", "role:a b", "two words", "role:lead:x", "-x"] {
        assert_eq!(Who::parse(word), None, "{word}");
        assert!(serde_json::from_value::<Who>(word.into()).is_err(), "{word}");
    }
    for word in ["", "vcs", "vcs:", ":push", "vcs:push:force", "VCS:push", "vcs :push"] {
        assert_eq!(aurora_model::ActionType::parse(word), None, "{word}");
    }
    for who in ["ana", "role:lead", "anyone"] {
        assert_eq!(Who::parse(who).unwrap().to_string(), who);
    }
    assert_eq!(GateKind::ALL.map(|one| GateKind::from_name(one.name())), GateKind::ALL.map(Some));
    let states = aurora_model::ApprovalState::ALL;
    assert_eq!(
        states.map(|one| aurora_model::ApprovalState::from_name(one.name())),
        states.map(Some)
    );
}
