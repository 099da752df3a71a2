//! What things are: the nouns that every other crate shares, without behaviour of their own.

pub mod action;
pub mod checkpoint;
pub mod context;
pub mod effect;
pub mod operation;
pub mod path;
pub mod span;
pub mod time;
pub mod verdict;
pub mod violation;

pub use action::{Action, SqlDialect, ToolCall};
pub use checkpoint::{
    Change, ChangeKind, Checkpoint, CheckpointId, CheckpointKind, EntryMode, Head, Nested,
    SkipReason, Skipped, TreeId,
};
pub use context::{Context, GitFacts, Plan};
pub use effect::{Cause, Count, Effect, EffectKind, PathRef, Touch};
pub use operation::Operation;
pub use path::RepoPath;
pub use span::Span;
pub use time::Timestamp;
pub use verdict::{Answer, Reason, Verdict};
pub use violation::{Constraint, Severity, ValidationStatus, Violation};
