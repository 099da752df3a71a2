//! What the world owes a run: each is performed after what led to it was recorded, and is owed again
//! after a crash until its outcome is recorded too.

use aurora_model::{QuestionId, Route, TaskId};

/// Something to be performed. Performing it twice must do no harm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Put a question to a person.
    Ask {
        /// Which.
        question: QuestionId,
    },
    /// Write the tasks down as a plan.
    WritePlan,
    /// Judge a task before it begins.
    Judge {
        /// Which.
        task: TaskId,
    },
    /// Let an agent or the model try.
    Attempt {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The desk.
        desk: u32,
    },
    /// Make a parked call after a yes, once; or put its refusal into words after a no.
    Settle {
        /// The task.
        task: TaskId,
        /// The question about it.
        question: QuestionId,
        /// The desk at which its attempt works.
        desk: u32,
    },
    /// Judge what an attempt changed.
    Check {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The desk.
        desk: u32,
    },
    /// Take over what an attempt changed.
    Adopt {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The desk.
        desk: u32,
    },
}

impl Effect {
    /// The route of the attempt that is to be performed, as the state has it.
    #[must_use]
    pub fn route<'a>(&self, state: &'a super::State) -> Option<&'a Route> {
        let Self::Attempt { task, attempt, .. } = self else { return None };
        let task = state.task(task)?;
        task.attempts.iter().find(|one| one.number == *attempt).map(|one| &one.route)
    }
}
