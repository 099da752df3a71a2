//! Judges how large a change is, and which kinds of files it touches.

use std::collections::BTreeSet;

use aurora_model::{Answer, Context, Operation, Reason, Span, Verdict};

use super::describe::{describe, shown};
use super::paths::touched;
use super::{unevaluated, verdict};
use crate::Policy;
use crate::analysis::{Analysis, ChangeScope};
use crate::policy::instead_of_key;
use crate::policy::keys::Key;

/// Judges the size of a change against the policy's limits and the plan's expectation: an anomaly
/// asks, it does not deny.
#[must_use]
pub fn check_scope(files: u64, lines: u64, policy: &Policy, context: &Context) -> Verdict {
    let mut reasons = Vec::new();
    judge_size(files, lines, policy, context, &mut reasons);
    verdict(reasons)
}

/// Adds what a patch's size and file types say.
pub(super) fn judge_patch(
    analysis: &Analysis,
    size: ChangeScope,
    policy: &Policy,
    context: &Context,
    reasons: &mut Vec<Reason>,
) {
    let mut files = BTreeSet::new();
    for effect in &analysis.effects {
        let paths = touched(effect);
        files.extend(paths.iter().map(|(path, _)| path.resolved.as_ref().unwrap_or(&path.text)));
        let key = Key::UnexpectedFileTypes;
        if paths.is_empty() || policy.list(key).is_empty() {
            continue;
        }
        let rule = "anomalies.unexpected_file_types";
        let Some(set) = policy.patterns(key) else {
            let (rule, origin) = (rule.to_owned(), policy.origin(key));
            reasons.push(unevaluated(Operation::FileType, rule, effect.span, origin));
            continue;
        };
        let hit = paths.iter().find_map(|(path, _)| Some((path, set.covering(path)?)));
        let Some((path, pattern)) = hit else { continue };
        let what = describe(effect);
        let (path, shown_pattern) = (shown(&path.text), shown(pattern));
        reasons.push(Reason {
            answer: Answer::Ask,
            operation: Operation::FileType,
            rule: rule.to_owned(),
            message: format!("{what}: `{path}` is of an unexpected type (`{shown_pattern}`)"),
            span: effect.span,
            instead: instead_of_key(key).map(str::to_owned),
            origin: policy.item_origin(key, pattern),
        });
    }
    let files = u64::try_from(files.len()).unwrap_or(u64::MAX);
    judge_size(files, size.lines, policy, context, reasons);
}

fn judge_size(
    files: u64,
    lines: u64,
    policy: &Policy,
    context: &Context,
    reasons: &mut Vec<Reason>,
) {
    let mut ask = |key: Key, rule: &str, message: String| {
        reasons.push(Reason {
            answer: Answer::Ask,
            operation: Operation::Scope,
            rule: rule.to_owned(),
            message,
            span: Span::default(),
            instead: instead_of_key(key).map(str::to_owned),
            origin: policy.origin(key),
        });
    };
    let limits = [
        (Key::MaxFilesModified, "max_files_modified", files, "files"),
        (Key::MaxLinesChanged, "max_lines_changed", lines, "lines"),
    ];
    for (key, name, changed, unit) in limits {
        let limit = policy.whole(key);
        if changed > limit {
            let message = format!("changes {changed} {unit}, more than {name} ({limit})");
            ask(key, &format!("safety.{name}"), message);
        }
    }
    let Some(plan) = &context.plan else { return };
    let factor = policy.amount(Key::ScopeMultiplier);
    let expectations =
        [(plan.expected_files, files, "files"), (plan.expected_lines, lines, "lines")];
    for (expected, changed, unit) in expectations {
        let Some(expected) = expected else { continue };
        if is_more_than(changed, factor, expected) {
            let message = format!(
                "changes {changed} {unit}, more than {factor} times the {expected} that the plan \
                 expects"
            );
            ask(Key::ScopeMultiplier, "anomalies.scope_multiplier", message);
        }
    }
}

/// Whether a number is more than a factor times another.
#[expect(clippy::cast_precision_loss, reason = "a limit need not be exact beyond 2^53 lines")]
fn is_more_than(changed: u64, factor: f64, expected: u64) -> bool {
    changed as f64 > factor * expected as f64
}
