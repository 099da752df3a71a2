//! What the world owes a run in a given state.

use super::tags::{BUSY, TO_JUDGE, TO_SETTLE};
use super::{Doing, Effect, Phase, State, TaskState, TaskStatus};

/// No more questions are put at once; the next ones are, when these are answered.
const ASKED_AT_ONCE: usize = 64;

/// Everything that must be performed because of this state. Of what can wait, no more than can be
/// done at once: a long list of tasks is judged while its first ones are being done.
#[must_use]
pub fn owed(state: &State) -> Vec<Effect> {
    if state.phase != Phase::Open {
        return Vec::new();
    }
    let asked = state.open_questions().take(ASKED_AT_ONCE);
    let asked = asked.map(|question| Effect::Ask { question: question.id.clone() });
    let mut owed: Vec<Effect> = asked.collect();
    if state.is_plan_only() {
        if !state.is_previewing() {
            owed.push(Effect::WritePlan);
        }
        return owed;
    }
    owed.extend(state.tasks.tagged(BUSY).filter_map(of_busy));
    owed.extend(state.tasks.tagged(TO_SETTLE).flat_map(of_parked));
    if !state.is_previewing() && !state.has_failure() {
        let unjudged = state.tasks.tagged(TO_JUDGE).take(state.most_at_once());
        owed.extend(unjudged.map(|task| Effect::Judge { task: task.id().clone() }));
    }
    owed
}

/// The calls of a parked attempt that were decided and have no result yet.
fn of_parked(task: &TaskState) -> Vec<Effect> {
    let (Some(desk), Some(conversation)) = (task.desk(), &task.conversation) else {
        return Vec::new();
    };
    let calls = conversation.calls.iter().filter(|call| call.is_to_settle());
    let settle = |question| Effect::Settle { task: task.id().clone(), question, desk };
    calls.map(|call| settle(call.now.clone())).collect()
}

fn of_busy(task: &TaskState) -> Option<Effect> {
    let TaskStatus::Busy { attempt, desk, doing } = task.status else { return None };
    let task = task.id().clone();
    Some(match doing {
        Doing::Attempting => Effect::Attempt { task, attempt, desk },
        Doing::Checking => Effect::Check { task, attempt, desk },
        Doing::Adopting => Effect::Adopt { task, attempt, desk },
    })
}
