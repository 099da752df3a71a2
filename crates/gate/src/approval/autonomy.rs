//! How much an agent may do by itself: a level can make a verdict stricter, never milder.

use aurora_model::{ActionType, Answer, Autonomy};

/// The answer after the agent's level had its say.
#[must_use]
pub fn tighten(answer: Answer, actions: &[ActionType], level: Autonomy) -> Answer {
    let asks = actions.iter().any(|action| asks_about(level, action));
    answer.max(if asks { Answer::Ask } else { Answer::Allow })
}

/// Whether an agent of this level must ask before such an action.
#[must_use]
pub fn asks_about(level: Autonomy, action: &ActionType) -> bool {
    let _ = action;
    level == Autonomy::Locked
}
