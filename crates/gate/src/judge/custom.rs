//! Judges by the rules that users wrote: some stop, some waive a prompt.

use aurora_model::{Answer, Autonomy, Effect, EffectKind, Operation, Reason, Span, Timestamp};

use super::{Subject, unevaluated};
use crate::Policy;
use crate::analysis::{Analysis, Simple};
use crate::policy::keys::Key;
use crate::policy::words::Match;
use crate::policy::{Rule, Unevaluated};

/// Adds what the user's own rules say.
pub(super) fn judge(
    analysis: &Analysis,
    subject: &Subject<'_>,
    policy: &Policy,
    now: Option<Timestamp>,
    reasons: &mut Vec<Reason>,
) {
    let waivers = Waivers::of(analysis, subject, policy, now);
    for rule in policy.rules().iter().filter(|rule| rule.answer > Answer::Allow) {
        let id = format!("rules.{}", rule.id);
        let found = match rule.when.find(analysis, subject.tool) {
            Ok(found) => found,
            Err(Unevaluated) => {
                let span = analysis.commands.iter().map(|simple| simple.span).reduce(Span::to);
                let span = span.unwrap_or_default();
                let origin = rule.origin.to_string();
                reasons.push(unevaluated(Operation::CustomRule, id, span, origin));
                continue;
            }
        };
        for one in found {
            let waivable = rule.answer == Answer::Ask && rule.locked.is_none();
            if waivable && waivers.cover_command(one.span) {
                continue;
            }
            let (answer, message) = if one.sure == Match::Yes {
                (rule.answer, speaks(rule, "matches"))
            } else {
                // Nobody can say that it matches, so nobody may say that it is denied.
                (Answer::Ask, speaks(rule, "holds a word that is not known, and may match"))
            };
            reasons.push(Reason {
                answer,
                operation: Operation::CustomRule,
                rule: id.clone(),
                message,
                span: one.span,
                instead: rule.instead.clone(),
                origin: rule.origin.to_string(),
            });
        }
    }
}

fn speaks(rule: &Rule, how: &str) -> String {
    match &rule.reason {
        Some(reason) => format!("{how} the rule `{}`: {reason}", rule.id),
        None => format!("{how} the rule `{}`", rule.id),
    }
}

/// The rules that waive prompts, and the action that they look at.
pub(crate) struct Waivers<'a> {
    rules: Vec<&'a Rule>,
    analysis: &'a Analysis,
    policy: &'a Policy,
}

impl<'a> Waivers<'a> {
    /// The waivers that this action may use.
    pub fn of(
        analysis: &'a Analysis,
        subject: &Subject<'_>,
        policy: &'a Policy,
        now: Option<Timestamp>,
    ) -> Self {
        let allows = policy.rules().iter().filter(|rule| rule.answer == Answer::Allow);
        let allows = allows.filter(|rule| rule.holds(now));
        let rules = allows.filter(|rule| rule.when.tool_fits(subject.tool)).collect();
        Self { rules, analysis, policy }
    }

    /// Whether some rule waives the prompt that this effect would cause.
    pub fn cover(&self, effect: &Effect) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let key = Key::of_operation(effect.kind.operation());
        if key.is_none_or(|key| self.policy.is_locked(key)) {
            return false;
        }
        // A rule about words vouches for the worktree and for the program of that name, not for
        // the same words somewhere else.
        if !stays_inside(effect) {
            return false;
        }
        let commands = innermost(self.analysis, effect.span);
        // Something outside every command that was seen is nothing that a rule can vouch for.
        if commands.is_empty() && !self.analysis.commands.is_empty() {
            return false;
        }
        self.rules.iter().any(|rule| {
            let when = &rule.when;
            let by_command =
                if when.names_command() { fits_all(rule, &commands) } else { all_known(&commands) };
            let by_effect = if when.names_effect() {
                when.effect(effect, true) == Match::Yes
            } else {
                // A tool's name alone says nothing about what a known tool does.
                when.names_command() || matches!(effect.kind, EffectKind::UnknownTool { .. })
            };
            by_command && by_effect
        })
    }

    /// Whether some rule answers for a level of autonomy about this effect, which is of that kind.
    pub fn answer_for(&self, level: Autonomy, effect: &Effect) -> bool {
        if !stays_inside(effect) {
            return false;
        }
        let commands = innermost(self.analysis, effect.span);
        let outside = commands.is_empty() && !self.analysis.commands.is_empty();
        !outside
            && self.rules.iter().filter(|rule| rule.levels.contains(&level)).any(|rule| {
                let by_command = if rule.when.names_command() {
                    fits_all(rule, &commands)
                } else {
                    all_known(&commands)
                };
                by_command && rule.when.effect(effect, true) == Match::Yes
            })
    }

    /// Whether some rule answers for a level about a program that is of a kind and has no effect that is
    /// judged: it must name the program, and nothing that only effects have.
    pub fn answer_for_program(&self, level: Autonomy, kind: &str, simple: &Simple) -> bool {
        self.rules.iter().filter(|rule| rule.levels.contains(&level)).any(|rule| {
            rule.when.means_kind(kind)
                && rule.when.names_command()
                && !rule.when.names_target()
                && fits_all(rule, &[simple])
        })
    }

    /// Whether some rule about commands alone waives the prompt of another rule at this place.
    fn cover_command(&self, span: Span) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let commands = innermost(self.analysis, span);
        self.rules.iter().any(|rule| {
            rule.when.names_command() && !rule.when.names_effect() && fits_all(rule, &commands)
        })
    }
}

/// The smallest commands that hold a place: one, or several that stand at the same bytes.
fn innermost(analysis: &Analysis, span: Span) -> Vec<&Simple> {
    let holds = |simple: &&Simple| simple.span.start <= span.start && span.end <= simple.span.end;
    let length = |simple: &Simple| simple.span.end.saturating_sub(simple.span.start);
    let around = || analysis.commands.iter().filter(holds);
    let Some(smallest) = around().map(length).min() else { return Vec::new() };
    around().filter(|simple| length(simple) == smallest).collect()
}

/// Whether everything that an effect touches is known to lie in the worktree.
fn stays_inside(effect: &Effect) -> bool {
    super::paths::touched(effect).iter().all(|(path, _)| {
        path.resolved
            .as_deref()
            .is_some_and(|path| !path.starts_with('/') && !path.starts_with(".."))
    })
}

/// Whether every word of these commands is known.
fn all_known(commands: &[&Simple]) -> bool {
    commands.iter().all(|simple| simple.argv.iter().all(Option::is_some))
}

/// Whether a rule certainly matches all of these commands, of which there is at least one.
fn fits_all(rule: &Rule, commands: &[&Simple]) -> bool {
    !commands.is_empty()
        && all_known(commands)
        && commands.iter().all(|simple| {
            let program = simple.argv.first().and_then(Option::as_deref).unwrap_or("/");
            !program.contains('/') && rule.when.command(simple) == Ok(Match::Yes)
        })
}
