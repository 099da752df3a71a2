//! What tasks and questions are found by, so that no decision has to look at all of them.

use aurora_model::{About, Brief, Gaps};

use super::roll::{Tagged, Tags};
use super::state::next_route;
use super::{Asked, Call, TaskState, TaskStatus};

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

/// Its attempt is parked, and a call of it was decided and has no result yet.
pub(super) const TO_SETTLE: Tags = Tags::one(11);
/// Its attempt is parked, and every call has its result.
pub(super) const TO_GO_ON: Tags = Tags::one(12);

/// A question that waits for an answer.
pub(super) const OPEN: Tags = Tags::one(0);
/// Such a question about what is about to be run.
pub(super) const PREVIEW: Tags = Tags::one(1);
/// Such a question about a failure.
pub(super) const FAILURE: Tags = Tags::one(2);

/// Such a question that need not be answered by a person.
pub(super) const FOR_ANYBODY: Tags = Tags::one(3);

/// What a task is found by as it stands.
pub(super) fn of(task: &TaskState, brief: Option<&Brief>, gaps: Gaps) -> Tags {
    let waiting = task.status == TaskStatus::Waiting;
    let cleared = task.status == TaskStatus::Cleared;
    let ready = task.missing == 0;
    let way = cleared && brief.is_some_and(|brief| next_route(brief, gaps, task).is_some());
    let new = task.attempts.is_empty();
    let parked = matches!(task.status, TaskStatus::Parked { .. });
    let calls = task.conversation.as_ref().map_or(&[][..], |one| one.calls.as_slice());
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
        TO_SETTLE.when(parked && calls.iter().any(Call::is_to_settle)),
        TO_GO_ON.when(parked && calls.iter().all(|call| call.settled.is_some())),
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
        let anybody = FOR_ANYBODY.when(!self.question.needs_person);
        OPEN.and(kind).and(anybody).when(self.is_open())
    }
}
