//! What things are: the nouns that every other crate shares, without behaviour of their own.

pub mod action;
pub mod approval;
pub mod checkpoint;
pub mod context;
pub mod cost;
pub mod effect;
pub mod event;
pub mod id;
pub mod operation;
pub mod path;
pub mod question;
pub mod run;
pub mod span;
pub mod task;
pub mod time;
pub mod verdict;
pub mod violation;

pub use action::{Action, SqlDialect, ToolCall};
pub use approval::{
    ActionType, ApprovalEvent, ApprovalState, Autonomy, AutonomyEvent, Decider, DeciderKind,
    Decision, GateKind, Outcome, Request, Requester, Ruling, Subject, Surface, Target, Tier,
    TimeoutRule, Who,
};
pub use checkpoint::{
    Change, ChangeKind, Checkpoint, CheckpointId, CheckpointKind, EntryMode, Head, Nested,
    SkipReason, Skipped, TreeId,
};
pub use context::{Context, GitFacts, Plan};
pub use cost::{Cost, Known, Tokens, Usd};
pub use effect::{Cause, Count, Effect, EffectKind, PathRef, Touch};
pub use event::{AttemptEnd, Event, HowSettled, ParkedCall, RunOutcome, SkipWhy};
pub use id::{AgentName, Digest, PlanId, QuestionId, RunId, TaskId};
pub use operation::Operation;
pub use path::RepoPath;
pub use question::{About, Answerer, Choice, FrozenCall, Question};
pub use run::{Brief, Planned, RunKind, RunSettings};
pub use span::Span;
pub use task::{Assignment, Gaps, Route, Scope, Task, Touched};
pub use time::Timestamp;
pub use verdict::{Answer, Reason, Verdict};
pub use violation::{Constraint, Severity, ValidationStatus, Violation};
