//! Judges effects by the answer that the policy gives to their operation.

use aurora_model::{
    Answer, Cause, Count, Effect, EffectKind, Operation, PathRef, Reason, Span, Timestamp,
};

use super::custom::Waivers;
use super::{Subject, describe};
use crate::Policy;
use crate::analysis::Analysis;
use crate::policy::keys::Key;
use crate::policy::operations::row_of;

/// Adds what the `destructive` section says.
pub(super) fn judge(
    analysis: &Analysis,
    subject: &Subject<'_>,
    policy: &Policy,
    now: Option<Timestamp>,
    reasons: &mut Vec<Reason>,
) {
    let waivers = Waivers::of(analysis, subject, policy, now);
    let mut files = Deletions::default();
    for effect in &analysis.effects {
        let operation = effect.kind.operation();
        if matches!(effect.kind, EffectKind::LoseRoot { .. }) {
            continue;
        }
        let Some(key) = Key::of_operation(operation) else { continue };
        let answer = policy.answer(key);
        if is_unreadable(effect) {
            // A refused patch has a reason of its own.
            if analysis.refused.is_none() {
                reasons.push(unreadable(effect, answer));
            }
            continue;
        }
        if answer == Answer::Allow || (answer == Answer::Ask && waivers.cover(effect)) {
            continue;
        }
        if answer == Answer::Ask && effect.in_script && !is_certain(effect) {
            continue;
        }
        if let EffectKind::DeleteFiles { count: Count::Known(count), recursive: false, .. } =
            effect.kind
        {
            files.add(effect, count);
        } else {
            let origin = policy.origin(key);
            reasons.push(reason(operation, answer, describe(effect), effect.span, origin));
        }
    }
    reasons.extend(files.judge(policy));
}

/// Adds what `disk_wipe` says about the loss of what everything rests on. No rule waives it.
pub(super) fn judge_roots(analysis: &Analysis, policy: &Policy, reasons: &mut Vec<Reason>) {
    let answer = policy.answer(Key::DiskWipe);
    let lost = |effect: &&Effect| matches!(effect.kind, EffectKind::LoseRoot { .. });
    for effect in analysis.effects.iter().filter(lost) {
        let (operation, origin) = (effect.kind.operation(), policy.origin(Key::DiskWipe));
        reasons.push(reason(operation, answer, describe(effect), effect.span, origin));
    }
}

fn is_unreadable(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Opaque { cause: Cause::Unreadable, .. })
}

/// What could not be read is never let through: neither by `opaque_exec: allow` nor by a waiver.
fn unreadable(effect: &Effect, answer: Answer) -> Reason {
    Reason {
        answer: answer.max(Answer::Ask),
        operation: Operation::OpaqueExec,
        rule: "shell.readable".to_owned(),
        message: describe(effect),
        span: effect.span,
        instead: Some("write it out in plain text, whole and short enough to be read".to_owned()),
        origin: "always".to_owned(),
    }
}

/// Whether an effect of a script file is sure to happen as it stands there. Scripts are full of
/// variables, loops and temporary files: asking about each of them would ask about every script.
fn is_certain(effect: &Effect) -> bool {
    let exact = |path: &PathRef| path.resolved.is_some() && !path.glob;
    match &effect.kind {
        EffectKind::Opaque { cause, .. } => *cause == Cause::Network,
        EffectKind::DeleteFiles { paths, count, recursive } => {
            paths.iter().all(exact) && (*recursive || matches!(count, Count::Known(_)))
        }
        EffectKind::PushMain { destination, .. } => {
            matches!(destination.as_str(), "main" | "master")
        }
        _ => true,
    }
}

/// Files that go away by name, summed over the whole action.
#[derive(Debug, Default)]
struct Deletions<'e> {
    total: u64,
    span: Option<Span>,
    effects: Vec<&'e Effect>,
}

impl<'e> Deletions<'e> {
    fn add(&mut self, effect: &'e Effect, count: u64) {
        self.total = self.total.saturating_add(count);
        self.span = Some(self.span.map_or(effect.span, |span| span.to(effect.span)));
        self.effects.push(effect);
    }

    fn judge(&self, policy: &Policy) -> Option<Reason> {
        let limit = policy.whole(Key::FileDeleteMaxFiles);
        if self.total <= limit {
            return None;
        }
        let what = match self.effects.as_slice() {
            [one] => describe(one),
            _ => format!("deletes {} files in all", self.total),
        };
        let origin = policy.origin(Key::FileDeleteMaxFiles);
        let message = format!("{what}, more than max_files ({limit}, {origin})");
        let answer = policy.answer(Key::FileDelete);
        let span = self.span.unwrap_or_default();
        let origin = policy.origin(Key::FileDelete);
        Some(reason(Operation::FileDelete, answer, message, span, origin))
    }
}

fn reason(
    operation: Operation,
    answer: Answer,
    message: String,
    span: Span,
    origin: String,
) -> Reason {
    let row = row_of(operation);
    Reason {
        answer,
        operation,
        rule: row.map_or_else(|| operation.name().to_owned(), |row| row.rule.to_owned()),
        message,
        span,
        instead: row.map(|row| row.instead.to_owned()),
        origin,
    }
}
