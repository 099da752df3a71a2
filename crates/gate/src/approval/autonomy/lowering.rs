//! What lowers how much an agent may do, and how a person raises it again.

use std::collections::BTreeMap;

use aurora_model::{Autonomy, AutonomyEvent, DeciderKind};

/// So many violations in one run are no accident.
const REPEATED: u32 = 3;

/// The scope of everything in a project.
pub const PROJECT: &str = "project";

/// The scope of one agent.
#[must_use]
pub fn scope_of_agent(agent: &str) -> String {
    format!("agent:{agent}")
}

/// The scope of everybody who has a role.
#[must_use]
pub fn scope_of_role(role: &str) -> String {
    format!("role:{role}")
}

/// Something that happened because of which an agent may do less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incident {
    /// What it did was refused, so often in one run.
    Violations {
        /// How often.
        count: u32,
    },
    /// Its budget is used up.
    BudgetExhausted,
    /// It tried to leave its place.
    EscapeAttempt,
    /// The log's chain is broken.
    BrokenChain,
}

/// The level that an incident lowers to; nothing when it does not.
#[must_use]
pub const fn downgrade_for(incident: Incident) -> Option<Autonomy> {
    match incident {
        Incident::Violations { count } if count < REPEATED => None,
        Incident::Violations { .. } | Incident::BudgetExhausted => Some(Autonomy::Supervised),
        Incident::EscapeAttempt | Incident::BrokenChain => Some(Autonomy::Locked),
    }
}

/// What is lowered at present, by scope: what the events of all scopes add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lowering {
    caps: BTreeMap<String, Autonomy>,
}

impl Lowering {
    /// Takes one more event. Something can always lower; only a person raises.
    pub fn apply(&mut self, event: &AutonomyEvent) {
        match event {
            AutonomyEvent::Lowered { scope, to, .. } => {
                let cap = self.caps.entry(scope.clone()).or_insert(*to);
                *cap = (*cap).min(*to);
            }
            AutonomyEvent::Raised { scope, to, by, .. } if by.kind == DeciderKind::Person => {
                self.caps.insert(scope.clone(), *to);
            }
            AutonomyEvent::Raised { .. } => {}
        }
        self.caps.retain(|_, cap| *cap < Autonomy::Full);
    }

    /// What a scope is lowered to.
    #[must_use]
    pub fn of_scope(&self, scope: &str) -> Option<Autonomy> {
        self.caps.get(scope).copied()
    }

    /// Every scope that is lowered.
    pub fn scopes(&self) -> impl Iterator<Item = (&str, Autonomy)> {
        self.caps.iter().map(|(scope, cap)| (scope.as_str(), *cap))
    }

    /// What an agent may do by itself after all: never more than the settings say, and never more than
    /// its project, its role and it itself are lowered to.
    #[must_use]
    pub fn effective(
        &self,
        configured: Autonomy,
        agent: Option<&str>,
        role: Option<&str>,
    ) -> Autonomy {
        let agent = agent.map(scope_of_agent);
        let role = role.map(scope_of_role);
        let scopes = [Some(PROJECT.to_owned()), role, agent];
        let caps = scopes.iter().flatten().filter_map(|scope| self.of_scope(scope));
        caps.fold(configured, Autonomy::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aurora_model::{Decider, Surface};

    fn lowered(scope: &str, to: Autonomy) -> AutonomyEvent {
        let why = "it happened".to_owned();
        AutonomyEvent::Lowered { scope: scope.to_owned(), to, why, by: None }
    }

    fn raised(scope: &str, to: Autonomy, kind: DeciderKind) -> AutonomyEvent {
        let (name, surface) = ("ana".to_owned(), Surface::Command);
        let by = Decider { name, kind, roles: Vec::new(), surface };
        AutonomyEvent::Raised { scope: scope.to_owned(), to, by, why: None }
    }

    #[test]
    fn incidents_lower_as_the_design_says() {
        // APR-5
        assert_eq!(downgrade_for(Incident::Violations { count: 2 }), None);
        let check = |incident, to| assert_eq!(downgrade_for(incident), Some(to), "{incident:?}");
        check(Incident::Violations { count: 3 }, Autonomy::Supervised);
        check(Incident::BudgetExhausted, Autonomy::Supervised);
        check(Incident::EscapeAttempt, Autonomy::Locked);
        check(Incident::BrokenChain, Autonomy::Locked);
    }

    #[test]
    fn only_a_person_raises_and_never_above_the_settings() {
        // APR-5
        let mut lowering = Lowering::default();
        let level = |lowering: &Lowering, configured| {
            lowering.effective(configured, Some("claude"), Some("backend"))
        };
        assert_eq!(level(&lowering, Autonomy::Full), Autonomy::Full);
        lowering.apply(&lowered("agent:claude", Autonomy::Locked));
        lowering.apply(&lowered("agent:claude", Autonomy::Semi));
        assert_eq!(level(&lowering, Autonomy::Full), Autonomy::Locked, "later is not milder");
        assert_eq!(lowering.effective(Autonomy::Full, Some("codex"), None), Autonomy::Full);
        for kind in [DeciderKind::Agent, DeciderKind::Rule] {
            lowering.apply(&raised("agent:claude", Autonomy::Full, kind));
            assert_eq!(level(&lowering, Autonomy::Full), Autonomy::Locked, "{kind:?}");
        }
        lowering.apply(&raised("agent:claude", Autonomy::Full, DeciderKind::Person));
        assert_eq!(level(&lowering, Autonomy::Full), Autonomy::Full);
        assert_eq!(level(&lowering, Autonomy::Supervised), Autonomy::Supervised);
        assert_eq!(lowering.scopes().count(), 0);
    }

    #[test]
    fn the_tightest_of_project_role_and_agent_counts() {
        // APR-5
        let mut lowering = Lowering::default();
        lowering.apply(&lowered(PROJECT, Autonomy::Semi));
        lowering.apply(&lowered("role:backend", Autonomy::Supervised));
        let effective = |role| lowering.effective(Autonomy::Full, Some("claude"), role);
        assert_eq!(effective(None), Autonomy::Semi);
        assert_eq!(effective(Some("backend")), Autonomy::Supervised);
        assert_eq!(lowering.effective(Autonomy::Locked, None, None), Autonomy::Locked);
    }
}
