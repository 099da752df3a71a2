//! The one function that everything asks.

pub(crate) mod custom;
pub mod describe;
mod destructive;
mod paths;
mod role;
mod scope;

use aurora_model::{Action, Answer, Context, Operation, Reason, Span, Verdict};

pub use describe::describe;
pub use scope::check_scope;

use crate::Policy;
use crate::analysis::Analysis;

/// Judges one action: pure, total, never lets through what it could not understand.
#[must_use]
pub fn judge(action: &Action, policy: &Policy, context: &Context) -> Verdict {
    let analysis = crate::analysis::analyse(action, context);
    judge_effects(&analysis, &Subject::of(action), policy, context)
}

/// What rules may ask about an action besides its effects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The tool's name; actions that are no tool calls are named `shell`, `exec`, `sql`, `patch`.
    pub tool: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// What an action is.
    pub fn of(action: &'a Action) -> Self {
        let tool = match action {
            Action::Shell { .. } => "shell",
            Action::Exec { .. } => "exec",
            Action::Sql { .. } => "sql",
            Action::Patch { .. } => "patch",
            Action::Tool(call) => call.name.as_str(),
        };
        Self { tool: Some(tool) }
    }
}

/// Judges what an analysis found: the strictest reason wins.
#[must_use]
pub(crate) fn judge_effects(
    analysis: &Analysis,
    subject: &Subject<'_>,
    policy: &Policy,
    context: &Context,
) -> Verdict {
    let mut reasons = Vec::new();
    destructive::judge(analysis, subject, policy, context.now, &mut reasons);
    paths::judge(analysis, policy, context, &mut reasons);
    // Behind the paths: who names a protected path hears of that first.
    destructive::judge_roots(analysis, policy, &mut reasons);
    role::judge(subject, policy, context, &mut reasons);
    custom::judge(analysis, subject, policy, context.now, &mut reasons);
    if let Some(scope) = analysis.scope {
        scope::judge_patch(analysis, scope, policy, context, &mut reasons);
    }
    reasons.extend(analysis.refused.as_deref().map(refused));
    let mut verdict = verdict(reasons);
    verdict.effects.clone_from(&analysis.effects);
    verdict.wanted.clone_from(&analysis.wanted);
    verdict
}

/// Puts reasons into order and lets the first decide.
fn verdict(mut reasons: Vec<Reason>) -> Verdict {
    reasons.retain(|reason| reason.answer > Answer::Allow);
    reasons.sort_by(|left, right| {
        right.answer.cmp(&left.answer).then_with(|| left.span.cmp(&right.span))
    });
    reasons.dedup();
    let first = reasons.first();
    Verdict {
        decision: first.map_or(Answer::Allow, |reason| reason.answer),
        operation: first.map_or(Operation::None, |reason| reason.operation),
        rule: first.map(|reason| reason.rule.clone()),
        reasons,
        effects: Vec::new(),
        wanted: Vec::new(),
    }
}

/// A patch that git might read differently from us is denied whatever the policy says.
fn refused(why: &str) -> Reason {
    Reason {
        answer: Answer::Deny,
        operation: Operation::OpaqueExec,
        rule: "patch.readable".to_owned(),
        message: format!("the patch cannot be read with certainty: {why}"),
        span: Span::default(),
        instead: Some("make the patch anew with `git diff`, and change nothing in it".to_owned()),
        origin: "always".to_owned(),
    }
}

/// A reason of a rule that could not be evaluated: it denies.
fn unevaluated(operation: Operation, rule: String, span: Span, origin: String) -> Reason {
    Reason {
        answer: Answer::Deny,
        operation,
        message: format!("the rule `{rule}` cannot be evaluated on this action"),
        rule,
        span,
        instead: Some("ask a person to look at this rule of the policy".to_owned()),
        origin,
    }
}

#[cfg(test)]
mod tests;
