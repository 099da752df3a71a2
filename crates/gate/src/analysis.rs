//! From an action to its effects, by real parsers; nothing here knows a policy.

pub mod patch;
pub mod path;
pub mod script;
pub mod shell;
pub mod sql;
pub mod tool;

use aurora_model::{Action, Context, Effect};

/// What an action would cause, as far as it can be seen beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// The effects, in the order in which the text causes them.
    pub effects: Vec<Effect>,
    /// Every simple command that would run, after wrappers were taken off: custom rules match these.
    pub commands: Vec<Simple>,
    /// Files whose content would let the analysis see more.
    pub wanted: Vec<String>,
}

/// A simple command as the programs would see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Program and arguments; nothing where a value is not known.
    pub argv: Vec<Option<String>>,
    /// Which bytes of the judged text it is.
    pub span: aurora_model::Span,
}

/// What an action would cause.
#[must_use]
pub fn analyse(action: &Action, context: &Context) -> Analysis {
    let _ = (action, context);
    Analysis::default()
}
