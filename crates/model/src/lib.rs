//! What things are: the nouns that every other crate shares, without behaviour of their own.

pub mod action;
pub mod context;
pub mod effect;
pub mod operation;
pub mod span;
pub mod verdict;

pub use action::{Action, SqlDialect, ToolCall};
pub use context::{Context, GitFacts, Plan};
pub use effect::{Cause, Count, Effect, EffectKind, PathRef, Touch};
pub use operation::Operation;
pub use span::Span;
pub use verdict::{Answer, Reason, Verdict};
