//! When an entry holds, and which of several that hold is the most specific.

use aurora_model::{ActionType, Autonomy, GateKind, Tier};

use super::Asked;
use crate::approval::risk::Classifier;

/// An entry of a list: when it holds, what it says, where it stands.
#[derive(Debug, Clone)]
pub(super) struct Choice<T> {
    pub when: When,
    pub what: T,
    pub origin: String,
}

/// When an entry holds: everything that is given must, and of a list one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct When {
    pub actions: Vec<Kinds>,
    pub tiers: Vec<Tier>,
    pub gates: Vec<GateKind>,
    pub levels: Vec<Autonomy>,
}

/// Kinds of action, as a settings file names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kinds {
    All,
    Category(String),
    One(ActionType),
}

impl Kinds {
    /// The name as it is written.
    pub fn text(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Category(category) => category,
            Self::One(action) => action.as_str(),
        }
    }

    /// How specific it is for one action; nothing when it does not mean it.
    fn rank(&self, action: &ActionType) -> Option<u8> {
        match self {
            Self::All => Some(0),
            Self::Category(category) => (category == action.category()).then_some(1),
            Self::One(one) => (one == action).then_some(2),
        }
    }
}

/// How specific an entry is, compared from the first to the last: action type before category, then
/// tier, then gate, then level; of several actions of a request the most dangerous counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    kind: u8,
    tier: bool,
    gate: bool,
    level: bool,
    danger: Option<Tier>,
}

impl When {
    fn rank(&self, asked: &Asked<'_>, classifier: &dyn Classifier) -> Option<Rank> {
        let named = |given: bool, holds: bool| (!given || holds).then_some(given);
        let tier = named(!self.tiers.is_empty(), self.tiers.contains(&asked.tier))?;
        let gate = named(!self.gates.is_empty(), self.gates.contains(&asked.gate))?;
        let level = named(!self.levels.is_empty(), self.levels.contains(&asked.autonomy))?;
        let everything = self.actions.is_empty() || self.actions.contains(&Kinds::All);
        let ranks = self.actions.iter().flat_map(|kinds| {
            let danger = |action| Some((kinds.rank(action)?, Some(classifier.tier(action))));
            asked.actions.iter().filter_map(danger)
        });
        let best = ranks.filter(|(kind, _)| *kind > 0).max();
        let (kind, danger) = best.or_else(|| everything.then_some((0, None)))?;
        Some(Rank { kind, tier, gate, level, danger })
    }
}

/// The most specific entry that holds; of equals the one that stands first.
pub(super) fn most_specific<'c, T>(
    choices: &'c [Choice<T>],
    asked: &Asked<'_>,
    classifier: &dyn Classifier,
) -> Option<&'c Choice<T>> {
    let mut best: Option<(Rank, &Choice<T>)> = None;
    for choice in choices {
        let Some(rank) = choice.when.rank(asked, classifier) else { continue };
        if best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, choice));
        }
    }
    best.map(|(_, choice)| choice)
}
