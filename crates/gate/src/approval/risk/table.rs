//! The map from action types to tiers: the defaults, and what a settings file says over them.

use std::collections::BTreeMap;

use aurora_model::{ActionType, Tier};

use super::Classifier;

/// Stands for every action type in a settings file.
pub const ALL: &str = "all";

/// The tiers without any setting. What is not here is high.
pub static DEFAULTS: &[(&str, Tier)] = &[
    ("deploy:production", Tier::Critical),
    ("db:admin", Tier::Critical),
    ("org:fire", Tier::Critical),
    ("disk:wipe", Tier::Critical),
    ("deploy:staging", Tier::High),
    ("db:mutate", Tier::High),
    ("code:delete", Tier::High),
    ("vcs:push", Tier::High),
    ("comms:external", Tier::High),
    ("budget:exceed", Tier::High),
    ("system:write", Tier::High),
    ("system:delete", Tier::High),
    ("shell:run", Tier::High),
    ("shell:opaque", Tier::High),
    ("tool:unknown", Tier::High),
    ("code:write", Tier::Medium),
    ("code:create", Tier::Medium),
    ("code:refactor", Tier::Medium),
    ("vcs:commit", Tier::Medium),
    ("arch:decide", Tier::Medium),
    ("budget:spend", Tier::Medium),
    ("org:hire", Tier::Medium),
    ("org:promote", Tier::Medium),
    ("code:read", Tier::Low),
    ("vcs:read", Tier::Low),
    ("vcs:branch", Tier::Low),
    ("test:run", Tier::Low),
    ("test:write", Tier::Low),
    ("docs:write", Tier::Low),
    ("comms:internal", Tier::Low),
    ("db:query", Tier::Low),
    ("memory:read", Tier::Low),
    ("memory:note", Tier::Low),
];

/// The tier of an action type without any setting.
#[must_use]
pub fn default_tier(action: &ActionType) -> Tier {
    let row = DEFAULTS.iter().find(|(name, _)| *name == action.as_str());
    row.map_or(Tier::High, |(_, tier)| *tier)
}

/// Tiers by action type, category or `all`, over the defaults. Naming a type registers it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierMap(BTreeMap<String, Tier>);

impl TierMap {
    /// Says the tier of an action type, of a category's members, or of `all`.
    pub fn set(&mut self, name: &str, tier: Tier) {
        self.0.insert(name.to_owned(), tier);
    }

    /// What was said, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Tier)> {
        self.0.iter().map(|(name, tier)| (name.as_str(), *tier))
    }

    /// Every action type that is known: the defaults', and those that were named.
    pub fn known(&self) -> impl Iterator<Item = &str> {
        let named = self.0.keys().map(String::as_str).filter(|name| name.contains(':'));
        DEFAULTS.iter().map(|(name, _)| *name).chain(named)
    }
}

impl Classifier for TierMap {
    /// What was said of the type itself wins, then of its category, then of all, then the default: a
    /// category that somebody names means all of its members.
    fn tier(&self, action: &ActionType) -> Tier {
        let said = [action.as_str(), action.category(), ALL];
        let said = said.iter().find_map(|name| self.0.get(*name).copied());
        said.unwrap_or_else(|| default_tier(action))
    }
}
