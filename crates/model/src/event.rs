//! What happened, as it is kept for ever: the events of a run's stream.
//!
//! A stored event is never rewritten. Fields are only added, with a default; an event whose meaning
//! must change gets a new name, and the old one stays readable. `tests/golden/` holds one of each.

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalState;
use crate::checkpoint::{CheckpointId, TreeId};
use crate::cost::Cost;
use crate::id::{Digest, QuestionId, TaskId};
use crate::question::{Answerer, Choice, Question};
use crate::run::Brief;
use crate::task::{Route, Touched};
use crate::verdict::{Answer, Reason};

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// What it was told.
        brief: Brief,
    },
    /// A person was asked.
    QuestionAsked {
        /// What.
        question: Question,
    },
    /// A question was answered.
    QuestionAnswered {
        /// Which.
        question: QuestionId,
        /// What.
        choice: Choice,
        /// By whom.
        answerer: Answerer,
    },
    /// The gate judged a task before it began.
    TaskJudged {
        /// Which.
        task: TaskId,
        /// What it said.
        decision: Answer,
        /// Why.
        #[serde(default)]
        reasons: Vec<Reason>,
    },
    /// An attempt began; it is performed after this is recorded.
    AttemptStarted {
        /// The task.
        task: TaskId,
        /// Which attempt of the task, counted from 1 over all ways.
        attempt: u32,
        /// The way.
        route: Route,
        /// The desk at which it works.
        desk: u32,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// How.
        end: AttemptEnd,
        /// What it cost since it began, or since it went on after it was parked.
        #[serde(default)]
        cost: Cost,
        /// How long that took.
        millis: u64,
        /// What it said, kept beside the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transcript: Option<Digest>,
        /// What its desk held when it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<TreeId>,
    },
    /// The gate judged what an attempt changed, before it was taken over.
    ChangesJudged {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// What it said.
        decision: Answer,
        /// Why.
        #[serde(default)]
        reasons: Vec<Reason>,
        /// How many files were changed.
        files: u64,
        /// How many lines.
        lines: u64,
        /// What was judged: exactly this is taken over, and nothing that came later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<TreeId>,
    },
    /// What an attempt changed could not be taken over; nothing of it was.
    AdoptionFailed {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// What went wrong.
        error: String,
        /// The paths that others changed meanwhile in another way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<String>,
    },
    /// A task's work was taken over, and the task is done. It happens once.
    TaskCompleted {
        /// Which.
        task: TaskId,
        /// The attempt that did it.
        attempt: u32,
        /// The way.
        route: Route,
        /// What the agent said at the end.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
        /// The checkpoint that was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<CheckpointId>,
        /// What it changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<Touched>,
    },
    /// All ways failed; a person is asked when what else is running has ended.
    TaskFailed {
        /// Which.
        task: TaskId,
        /// What went wrong.
        error: String,
    },
    /// A task was left out.
    TaskSkipped {
        /// Which.
        task: TaskId,
        /// Why.
        why: SkipWhy,
    },
    /// The policy forbids a task; it is left out.
    TaskDenied {
        /// Which.
        task: TaskId,
        /// Why.
        reasons: Vec<Reason>,
    },
    /// The tasks were written down as a plan, and nothing else was to be done.
    PlanWritten {
        /// The folder.
        path: String,
    },
    /// Git's own data or the run's worktree is not as it was when the run began, and no task was let
    /// do that. Nobody can tell whose hand it was.
    Noticed {
        /// The task whose attempt had ended when it was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Which attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// What, one thing each; told once.
        what: Vec<String>,
    },
    /// A question was closed without an answer: nobody decided in time, or it has become pointless.
    QuestionClosed {
        /// Which.
        question: QuestionId,
        /// How: `timed_out`, `cancelled`, `stale`.
        how: ApprovalState,
        /// Why.
        reason: String,
    },
    /// An attempt waits for a person: its conversation is kept beside the log, and its place is free.
    TaskParked {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
        /// The conversation so far, kept beside the log.
        context: Digest,
        /// The calls that wait, each with the question about it.
        calls: Vec<ParkedCall>,
        /// What this part of it cost, since it began or went on.
        #[serde(default)]
        cost: Cost,
        /// How long this part of it took.
        millis: u64,
        /// What its desk held when it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<TreeId>,
    },
    /// A parked call has its result: what came of it after a yes, or a refusal.
    CallSettled {
        /// The task.
        task: TaskId,
        /// The question about it.
        question: QuestionId,
        /// What came of it.
        how: HowSettled,
        /// What the model is told, kept beside the log.
        result: Digest,
    },
    /// A parked attempt goes on, with the results of its calls.
    TaskUnparked {
        /// The task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
    },
    /// Somebody stopped the run; it can be resumed.
    RunInterrupted {
        /// How: `SIGINT`, `SIGTERM`, `abort`.
        by: String,
    },
    /// The run goes on after an interruption or a crash.
    RunResumed {},
    /// Nothing is left to do.
    RunFinished {
        /// How it ended.
        outcome: RunOutcome,
    },
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedCall {
    /// The name that the model gave to the call.
    pub call: String,
    /// The question about it.
    pub question: QuestionId,
}

/// What came of a parked call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HowSettled {
    /// It was made.
    Executed,
    /// It was made, and failed.
    Failed,
    /// A person said no, or wants it otherwise.
    Refused,
    /// Nobody decided in time.
    TimedOut,
    /// What it would be done to had changed.
    Stale,
    /// Nobody can tell.
    Unknown,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum AttemptEnd {
    /// The agent says that it is done.
    Succeeded {
        /// What it said at the end.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
    },
    /// The agent failed, or could not be started.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// It took too long and was ended, with everything that it had started.
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The budget did not allow it; it was not begun.
    OverBudget {
        /// What was left and what was needed.
        error: String,
    },
    /// The run was stopped or died meanwhile; it does not count as an attempt.
    Interrupted {},
}

/// Why a task was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum SkipWhy {
    /// A person, or `--yes` in their place, left it out.
    Answered {
        /// What had gone wrong.
        error: String,
    },
    /// Something that it depends on was not done.
    Dependency {
        /// What.
        on: TaskId,
    },
    /// It was done before the run began.
    Done {},
    /// A person was asked about it, and the question was closed without an answer.
    Unanswered {
        /// How it was closed: `timed_out`, `cancelled`, `stale`.
        how: ApprovalState,
        /// Why.
        reason: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every task was completed.
    Completed,
    /// Some tasks were left out or denied.
    Partial,
    /// A person ended it before it began.
    Aborted,
}
