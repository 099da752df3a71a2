//! What can be answered at each gate.

use aurora_model::{Choice, GateKind, Outcome, Request};

/// What can be answered at a gate; the first is the plain yes, where there is one.
#[must_use]
pub const fn options_for(gate: GateKind) -> &'static [Choice] {
    match gate {
        GateKind::Review | GateKind::Preview => &[Choice::Proceed, Choice::Fallback, Choice::Abort],
        GateKind::Proposal => &[Choice::Allow, Choice::Deny, Choice::RequestChanges],
        GateKind::Checkpoint => &[Choice::Allow, Choice::Pause, Choice::RequestChanges],
        GateKind::Operation => &[Choice::Allow, Choice::Deny, Choice::RequestChanges],
        GateKind::Failure => &[Choice::Retry, Choice::Skip, Choice::Fallback, Choice::Abort],
        GateKind::Escalation => &[Choice::Done, Choice::Retry, Choice::Skip],
    }
}

/// The plain yes of a request: `approve` means it. Nothing where a yes could mean several things.
#[must_use]
pub fn yes_of(request: &Request) -> Option<Choice> {
    let plain = [Choice::Allow, Choice::Proceed];
    plain.into_iter().find(|choice| request.options.contains(choice))
}

/// The plain no of a request: `deny` means it. Nothing where a no could mean several things.
#[must_use]
pub fn no_of(request: &Request) -> Option<Choice> {
    let said = |choice: &Choice| request.options.contains(choice);
    let plain = [Choice::Deny, Choice::Pause].into_iter().find(said);
    let nos = || request.options.iter().filter(|one| one.outcome() == Outcome::Denied);
    plain.or_else(|| nos().next().copied().filter(|_| nos().count() == 1))
}
