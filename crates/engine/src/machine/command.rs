//! What the machine can be told: by a person, or by whoever performed something.

use aurora_model::{
    Answer, Answerer, ApprovalState, AttemptEnd, Brief, CheckpointId, Choice, Cost, Digest,
    FrozenCall, HowSettled, QuestionId, Reason, TaskId, Touched, TreeId,
};

/// Something that the machine is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Begin.
    Start(Box<Brief>),
    /// A question is answered.
    Answer {
        /// Which.
        question: QuestionId,
        /// What.
        choice: Choice,
        /// By whom.
        answerer: Answerer,
    },
    /// The gate judged a task.
    Judged {
        /// Which.
        task: TaskId,
        /// What it said.
        decision: Answer,
        /// Why.
        reasons: Vec<Reason>,
        /// Whether only a person can answer, when it is asked.
        needs_person: bool,
    },
    /// An attempt is over.
    AttemptOver {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// How it ended.
        end: AttemptEnd,
        /// What it cost since it began, or since it went on after it was parked.
        cost: Cost,
        /// How long that took.
        millis: u64,
        /// What was said.
        transcript: Option<Digest>,
        /// What its desk held when it began.
        base: Option<TreeId>,
        /// What is not as it was when the run began, told before or not.
        noticed: Vec<String>,
    },
    /// The gate judged what an attempt changed.
    ChangesJudged {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// What it said.
        decision: Answer,
        /// Why.
        reasons: Vec<Reason>,
        /// How many files.
        files: u64,
        /// How many lines.
        lines: u64,
        /// The first of the paths, each after `+`, `~` or `-`.
        paths: Vec<String>,
        /// The folder in which it can be looked at.
        place: Option<String>,
        /// What was judged.
        result: Option<TreeId>,
        /// Whether only a person can answer, when it is asked.
        needs_person: bool,
    },
    /// What an attempt changed was taken over.
    Adopted {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The checkpoint that was made.
        checkpoint: Option<CheckpointId>,
        /// What changed.
        changed: Vec<Touched>,
        /// What is not as it was when the run began, told before or not.
        noticed: Vec<String>,
    },
    /// What an attempt changed could not be taken over, and nothing of it was.
    NotAdopted {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// Why.
        error: String,
        /// The paths in conflict.
        conflicts: Vec<String>,
    },
    /// A question was closed without an answer.
    Closed {
        /// Which.
        question: QuestionId,
        /// How: timed out, cancelled, stale.
        how: ApprovalState,
        /// Why.
        reason: String,
    },
    /// An attempt waits for a person: it made calls that may not be made without a yes.
    Parked {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The conversation so far, kept beside the log.
        context: Digest,
        /// The calls that wait, all of them. None at all where it was only stopped: it goes on when
        /// the run does.
        calls: Vec<FrozenCall>,
        /// What it cost since it began, or since it went on after it was parked.
        cost: Cost,
        /// How long that took.
        millis: u64,
        /// What its desk held when it began.
        base: Option<TreeId>,
    },
    /// A parked call has its result.
    Settled {
        /// The task.
        task: TaskId,
        /// The question about it.
        question: QuestionId,
        /// What came of it.
        how: HowSettled,
        /// What the model is told, kept beside the log.
        result: Digest,
    },
    /// The plan was written.
    PlanWritten {
        /// The folder.
        path: String,
    },
    /// Stop; what is running is ended, and can be resumed.
    Interrupt {
        /// How.
        by: String,
    },
    /// Give it up: nobody will resume it.
    Abandon,
    /// Go on after an interruption or a crash.
    Resume,
}

/// Why the machine does not take a command. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It comes too late or twice: what it speaks of is no longer so.
    #[error("{what}")]
    Stale {
        /// What.
        what: String,
    },
    /// There is no such thing.
    #[error("{what}")]
    Unknown {
        /// What.
        what: String,
    },
    /// The question does not have this answer.
    #[error("{question} can be answered with {options}, not with `{choice}`")]
    NoSuchChoice {
        /// Which question.
        question: QuestionId,
        /// What it can be answered with.
        options: String,
        /// What was answered.
        choice: &'static str,
    },
    /// Somebody answered before.
    #[error("{question} was answered before: {choice}, by {by}")]
    Answered {
        /// Which question.
        question: QuestionId,
        /// What they answered.
        choice: &'static str,
        /// Who it was.
        by: String,
    },
    /// What was given makes no run.
    #[error("{what}")]
    Unsound {
        /// What is wrong.
        what: String,
    },
}
