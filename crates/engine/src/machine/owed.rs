//! What the world owes a run in a given state.

use super::{Doing, Effect, Phase, State, TaskStatus};

/// Everything that must be performed because of this state.
#[must_use]
pub fn owed(state: &State) -> Vec<Effect> {
    if state.phase != Phase::Open {
        return Vec::new();
    }
    let asked =
        state.open_questions().map(|question| Effect::Ask { question: question.id.clone() });
    let mut owed: Vec<Effect> = asked.collect();
    let previewing =
        state.open_questions().any(|question| question.about == aurora_model::About::Preview);
    if state.is_plan_only() {
        if !previewing {
            owed.push(Effect::WritePlan);
        }
        return owed;
    }
    for task in &state.tasks {
        let id = task.id();
        match task.status {
            TaskStatus::Waiting if !previewing && !state.has_failure() && state.is_ready(task) => {
                owed.push(Effect::Judge { task: id.clone() });
            }
            TaskStatus::Busy { attempt, desk, doing } => {
                let task = id.clone();
                owed.push(match doing {
                    Doing::Attempting => Effect::Attempt { task, attempt, desk },
                    Doing::Checking => Effect::Check { task, attempt, desk },
                    Doing::Adopting => Effect::Adopt { task, attempt, desk },
                });
            }
            _ => {}
        }
    }
    owed
}
