//! What tasks and questions are found by, so that no decision has to look at all of them.

use aurora_model::{About, Brief, Gaps};

use super::roll::{Tagged, Tags};
use super::state::next_route;
use super::{Asked, TaskState, TaskStatus};

/// Nothing will be done about it any more.
pub(super) const OVER: Tags = Tags::one(0);
/// What depends on it may begin.
pub(super) const DONE: Tags = Tags::one(1);
/// Something is being done about it.
pub(super) const BUSY: Tags = Tags::one(2);
/// A desk holds its work.
pub(super) const AT_A_DESK: Tags = Tags::one(3);
/// All ways failed.
pub(super) const FAILED: Tags = Tags::one(4);
/// All ways failed, and nobody was asked yet.
pub(super) const UNASKED: Tags = Tags::one(5);
/// It can be judged: what it waits for is done.
pub(super) const TO_JUDGE: Tags = Tags::one(6);
/// It may begin, and no way is left.
pub(super) const STUCK: Tags = Tags::one(7);
/// It may begin for the first time.
pub(super) const NEW: Tags = Tags::one(8);
/// It may begin again.
pub(super) const AGAIN: Tags = Tags::one(9);
/// Something that it depends on will never be done.
pub(super) const HOPELESS: Tags = Tags::one(10);

/// A question that waits for an answer.
pub(super) const OPEN: Tags = Tags::one(0);
/// Such a question about what is about to be run.
pub(super) const PREVIEW: Tags = Tags::one(1);
/// Such a question about a failure.
pub(super) const FAILURE: Tags = Tags::one(2);

/// What a task is found by as it stands.
pub(super) fn of(task: &TaskState, brief: Option<&Brief>, gaps: Gaps) -> Tags {
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
    .fold(Tags::default(), Tags::and)
}

impl Tagged for TaskState {
    fn tags(&self) -> Tags {
        self.tags
    }
}

impl Tagged for Asked {
    fn tags(&self) -> Tags {
        let kind = match self.question.about {
            About::Preview => PREVIEW,
            About::Failure { .. } => FAILURE,
            About::Policy { .. }
            | About::Changes { .. }
            | About::Operation { .. }
            | About::Unknown { .. } => OPEN,
        };
        OPEN.and(kind).when(self.is_open())
    }
}
