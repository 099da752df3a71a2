//! The conversation of a parked attempt: where it is kept, and what became of the calls it waits for.

use aurora_model::{Digest, HowSettled, ParkedCall, QuestionId};

/// The conversation of an attempt that was parked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The attempt.
    pub attempt: u32,
    /// What was said until it was parked, kept beside the log.
    pub context: Digest,
    /// The calls that it waits for, in the order in which they were made.
    pub calls: Vec<Call>,
}

/// A call that a parked conversation waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name that the model gave to the call; its result must carry it.
    pub call: String,
    /// The question that was asked about it first.
    pub question: QuestionId,
    /// The question that counts now: another one where nobody can tell what became of the call.
    pub now: QuestionId,
    /// Whether that question was answered or closed.
    pub decided: bool,
    /// What came of it, and what the model is told about it, kept beside the log.
    pub settled: Option<(HowSettled, Digest)>,
}

impl Call {
    /// Whether it was decided and has no result yet.
    #[must_use]
    pub fn is_to_settle(&self) -> bool {
        self.decided && self.settled.is_none()
    }
}

impl Conversation {
    pub(super) fn new(attempt: u32, context: Digest, calls: &[ParkedCall]) -> Self {
        let waiting = |one: &ParkedCall| Call {
            call: one.call.clone(),
            question: one.question.clone(),
            now: one.question.clone(),
            decided: false,
            settled: None,
        };
        Self { attempt, context, calls: calls.iter().map(waiting).collect() }
    }

    /// The call about which a question asks now.
    #[must_use]
    pub fn asked_by(&self, question: &QuestionId) -> Option<&Call> {
        self.calls.iter().find(|call| call.now == *question)
    }

    fn change(&mut self, question: &QuestionId, how: impl FnOnce(&mut Call)) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.now == *question) {
            how(call);
        }
    }

    pub(super) fn decided(&mut self, question: &QuestionId) {
        self.change(question, |call| call.decided = true);
    }

    pub(super) fn settled(&mut self, question: &QuestionId, how: HowSettled, result: &Digest) {
        self.change(question, |call| {
            // What has its result keeps it.
            if call.is_to_settle() {
                call.settled = Some((how, result.clone()));
            }
        });
    }

    /// Nobody can tell what became of a call, and another question asks about it.
    pub(super) fn ask_about(&mut self, question: &QuestionId, by: QuestionId) {
        self.change(question, |call| {
            call.now = by;
            call.decided = false;
            call.settled = None;
        });
    }
}
