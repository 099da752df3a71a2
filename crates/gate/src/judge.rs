//! The one function that everything asks.

use aurora_model::{Action, Answer, Context, Operation, Verdict};

use crate::Policy;

/// Judges one action: pure, total, never lets through what it could not understand.
#[must_use]
pub fn judge(action: &Action, policy: &Policy, context: &Context) -> Verdict {
    let _ = (action, policy, context);
    Verdict {
        decision: Answer::Ask,
        operation: Operation::OpaqueExec,
        rule: None,
        reasons: Vec::new(),
        effects: Vec::new(),
        wanted: Vec::new(),
    }
}
