//! How much an agent may do by itself: a level can make a verdict stricter, never milder.

mod lowering;

use aurora_model::{ActionType, Answer, Autonomy};

pub use lowering::{Incident, Lowering, PROJECT, downgrade_for, scope_of_agent, scope_of_role};

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
