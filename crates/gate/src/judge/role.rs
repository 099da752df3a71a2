//! Judges whether somebody in a role may call a tool at all.

use aurora_model::{Answer, Context, Operation, Reason, Span};

use super::Subject;
use super::describe::shown;
use crate::Policy;
use crate::policy::words::word_fits;

/// Adds what the roles say; without a role, or without roles in the policy, they say nothing.
pub(super) fn judge(
    subject: &Subject<'_>,
    policy: &Policy,
    context: &Context,
    reasons: &mut Vec<Reason>,
) {
    let (Some(name), Some(tool)) = (context.role.as_deref(), subject.tool) else { return };
    let Some(first) = policy.roles().first() else { return };
    let role = policy.roles().iter().find(|role| role.name == name);
    let (answer, rule, message, origin) = match role {
        Some(role) if role.tools.iter().any(|pattern| word_fits(pattern, tool)) => return,
        Some(role) => (
            Answer::Deny,
            format!("roles.{name}"),
            format!("calls `{}`, which the role `{name}` may not", shown(tool)),
            role.origin.to_string(),
        ),
        None => (
            Answer::Ask,
            "roles".to_owned(),
            format!("calls `{}` in the role `{}`, which no policy knows", shown(tool), shown(name)),
            first.origin.to_string(),
        ),
    };
    reasons.push(Reason {
        answer,
        operation: Operation::RoleTool,
        rule,
        message,
        span: Span::default(),
        instead: Some("use a tool of this role, or hand the step to a role that may".to_owned()),
        origin,
    });
}
