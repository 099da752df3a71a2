//! What tasks and questions are found by, so that no decision has to look at all of them.

use aurora_model::{About, Brief, Gaps};

use super::roll::{Marked, Marks};
use super::state::next_route;
use super::{Asked, TaskState, TaskStatus};

/// Nothing will be done about it any more.
pub(super) const OVER: Marks = Marks::one(0);
/// What depends on it may begin.
pub(super) const DONE: Marks = Marks::one(1);
/// Something is being done about it.
pub(super) const BUSY: Marks = Marks::one(2);
/// A desk holds its work.
pub(super) const AT_A_DESK: Marks = Marks::one(3);
/// All ways failed.
pub(super) const FAILED: Marks = Marks::one(4);
/// All ways failed, and nobody was asked yet.
pub(super) const UNASKED: Marks = Marks::one(5);
/// It can be judged: what it waits for is done.
pub(super) const TO_JUDGE: Marks = Marks::one(6);
/// It may begin, and no way is left.
pub(super) const STUCK: Marks = Marks::one(7);
/// It may begin for the first time.
pub(super) const NEW: Marks = Marks::one(8);
/// It may begin again.
pub(super) const AGAIN: Marks = Marks::one(9);
/// Something that it depends on will never be done.
pub(super) const HOPELESS: Marks = Marks::one(10);

/// A question that waits for an answer.
pub(super) const OPEN: Marks = Marks::one(0);
/// Such a question about what is about to be run.
pub(super) const PREVIEW: Marks = Marks::one(1);
/// Such a question about a failure.
pub(super) const FAILURE: Marks = Marks::one(2);

/// What a task is found by as it stands.
pub(super) fn of(task: &TaskState, brief: Option<&Brief>, gaps: Gaps) -> Marks {
    let waiting = task.status == TaskStatus::Waiting;
    let cleared = task.status == TaskStatus::Cleared;
    let ready = task.missing == 0;
    let way = cleared && brief.is_some_and(|brief| next_route(brief, gaps, task).is_some());
    let new = task.attempts.is_empty();
    [
        OVER.when(task.is_over()),
        DONE.when(task.is_done()),
        BUSY.when(task.is_busy()),
        AT_A_DESK.when(task.desk().is_some()),
        FAILED.when(matches!(task.status, TaskStatus::Failed { .. })),
        UNASKED.when(matches!(task.status, TaskStatus::Failed { question: None, .. })),
        TO_JUDGE.when(waiting && ready),
        STUCK.when(cleared && !way),
        NEW.when(way && new && ready),
        AGAIN.when(cleared && !new),
        HOPELESS.when((waiting || cleared) && task.lost > 0),
    ]
    .into_iter()
    .fold(Marks::default(), Marks::and)
}

impl Marked for TaskState {
    fn marks(&self) -> Marks {
        self.marks
    }
}

impl Marked for Asked {
    fn marks(&self) -> Marks {
        let kind = match self.question.about {
            About::Preview => PREVIEW,
            About::Failure { .. } => FAILURE,
            About::Policy { .. } | About::Changes { .. } => OPEN,
        };
        OPEN.and(kind).when(self.is_open())
    }
}
