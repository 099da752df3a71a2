//! How much an agent may do by itself: a level can make a verdict stricter, never milder.

mod lowering;

use aurora_model::{Action, ActionType, Answer, Autonomy, Context};

pub use lowering::{Incident, Lowering, PROJECT, downgrade_for, scope_of_agent, scope_of_role};

use super::risk::{Because, Piece, pieces};
use crate::Policy;
use crate::analysis::{self, Analysis};
use crate::judge::Subject;
use crate::judge::custom::Waivers;

/// What goes ahead under `supervised`: it changes nothing.
const READING: [&str; 6] =
    ["code:read", "vcs:read", "memory:read", "memory:note", "test:run", "db:query"];
/// The categories that go ahead under `semi`, but for a push.
const WORK: [&str; 5] = ["code", "test", "docs", "vcs", "memory"];

/// The answer after the agent's level had its say. A call of which nobody knows what kinds of action it
/// is, is asked about by every level but the freest.
#[must_use]
pub fn tighten(answer: Answer, actions: &[ActionType], level: Autonomy) -> Answer {
    let unknown = actions.is_empty() && level < Autonomy::Full;
    let asks = unknown || actions.iter().any(|action| asks_about(level, action));
    answer.max(if asks { Answer::Ask } else { Answer::Allow })
}

/// The answer after the agent's level had its say, but for what a person's own rule answers for that level:
/// a rule that allows, names the kind of action, and ends some day.
#[must_use]
pub fn tighten_call(
    answer: Answer,
    action: &Action,
    policy: &Policy,
    context: &Context,
    level: Autonomy,
) -> Answer {
    let analysis = analysis::analyse(action, context);
    let asks = !unanswered(action, &analysis, policy, context, level).is_empty();
    answer.max(if asks { Answer::Ask } else { Answer::Allow })
}

/// What a level asks about in a call and no rule of a person's own answers.
pub(crate) fn unanswered<'a>(
    action: &Action,
    analysis: &'a Analysis,
    policy: &Policy,
    context: &Context,
    level: Autonomy,
) -> Vec<Piece<'a>> {
    let waivers = Waivers::of(analysis, &Subject::of(action), policy, context.now);
    let answered = |piece: &Piece<'_>| match piece.cause {
        Because::Effect(effect) => waivers.answer_for(level, effect),
        Because::Program(simple) => waivers.answer_for_program(level, piece.kind, simple),
        Because::Tool | Because::Unknown => false,
    };
    let asks = |piece: &Piece<'_>| {
        ActionType::parse(piece.kind).is_none_or(|kind| asks_about(level, &kind))
    };
    let mut pieces = pieces(action, analysis);
    pieces.retain(|piece| asks(piece) && !answered(piece));
    pieces
}

/// Whether an agent of this level must ask before such an action. A kind that no table knows is asked
/// about by every level but the freest.
#[must_use]
pub fn asks_about(level: Autonomy, action: &ActionType) -> bool {
    let name = action.as_str();
    match level {
        Autonomy::Full => false,
        Autonomy::Semi => {
            let work = WORK.contains(&action.category()) && name != "vcs:push";
            !work && !matches!(name, "comms:internal" | "db:query")
        }
        Autonomy::Supervised => !READING.contains(&name),
        Autonomy::Locked => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ActionType {
        ActionType::parse(name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn each_level_asks_about_what_the_design_says() {
        // APR-5: rows are `action`, then whether locked, supervised, semi and full ask.
        for (name, asks) in [
            ("code:read", "yes no no no"),
            ("vcs:read", "yes no no no"),
            ("memory:read", "yes no no no"),
            ("test:run", "yes no no no"),
            ("db:query", "yes no no no"),
            ("code:write", "yes yes no no"),
            ("code:create", "yes yes no no"),
            ("code:delete", "yes yes no no"),
            ("test:write", "yes yes no no"),
            ("docs:write", "yes yes no no"),
            ("vcs:commit", "yes yes no no"),
            ("vcs:branch", "yes yes no no"),
            ("comms:internal", "yes yes no no"),
            ("vcs:push", "yes yes yes no"),
            ("comms:external", "yes yes yes no"),
            ("db:mutate", "yes yes yes no"),
            ("db:admin", "yes yes yes no"),
            ("deploy:staging", "yes yes yes no"),
            ("deploy:production", "yes yes yes no"),
            ("org:hire", "yes yes yes no"),
            ("budget:spend", "yes yes yes no"),
            ("shell:run", "yes yes yes no"),
            ("tool:unknown", "yes yes yes no"),
            ("secrets:read", "yes yes yes no"),
        ] {
            let word = |level| if asks_about(level, &named(name)) { "yes" } else { "no" };
            assert_eq!(Autonomy::ALL.map(word).join(" "), asks, "{name}");
        }
    }

    #[test]
    fn a_level_only_tightens() {
        // APR-5
        let kinds = ["code:read", "code:write", "vcs:push", "deploy:production"].map(named);
        for level in Autonomy::ALL {
            for answer in [Answer::Allow, Answer::Ask, Answer::Deny] {
                for kind in &kinds {
                    let after = tighten(answer, std::slice::from_ref(kind), level);
                    assert!(after >= answer, "{level:?} {answer:?} {kind}");
                    assert!(after == answer || after == Answer::Ask, "{level:?} {answer:?} {kind}");
                }
            }
        }
        for pair in Autonomy::ALL.windows(2) {
            for kind in &kinds {
                assert!(asks_about(pair[0], kind) || !asks_about(pair[1], kind), "{kind} {pair:?}");
            }
        }
        assert_eq!(tighten(Answer::Allow, &[], Autonomy::Semi), Answer::Ask);
        assert_eq!(tighten(Answer::Allow, &[], Autonomy::Full), Answer::Allow);
        assert_eq!(tighten(Answer::Allow, &kinds, Autonomy::Supervised), Answer::Ask);
    }
}
