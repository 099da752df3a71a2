//! From an action to its effects, by real parsers; nothing here knows a policy.

pub mod patch;
pub mod path;
mod roots;
pub mod script;
pub mod shell;
pub mod sql;
pub mod tool;

use aurora_model::{Action, Context, Effect, Span};

/// What an action would cause, as far as it can be seen beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// The effects, in the order in which the text causes them.
    pub effects: Vec<Effect>,
    /// Every simple command that would run, wrappers and what they wrap: custom rules match these.
    pub commands: Vec<Simple>,
    /// Files whose content would let the analysis see more.
    pub wanted: Vec<String>,
    /// Why the action must not happen whatever the policy says: a patch that git might read
    /// differently from us.
    pub refused: Option<String>,
    /// How much a patch changes.
    pub scope: Option<ChangeScope>,
}

/// A simple command as the program would see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Program and arguments; nothing where a value is not known.
    pub argv: Vec<Option<String>>,
    /// Which bytes of the judged text it is.
    pub span: Span,
}

/// How much is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeScope {
    /// Files.
    pub files: u64,
    /// Lines added and removed.
    pub lines: u64,
}

impl Analysis {
    /// Adds what another analysis found.
    pub fn merge(&mut self, other: Self) {
        self.effects.extend(other.effects);
        self.commands.extend(other.commands);
        self.wanted.extend(other.wanted);
        self.refused = self.refused.take().or(other.refused);
        self.scope = self.scope.or(other.scope);
    }
}

/// What an action would cause in this context.
#[must_use]
pub fn analyse(action: &Action, context: &Context) -> Analysis {
    let mut analysis = match action {
        Action::Shell { command } => shell::analyse(command, context),
        Action::Exec { argv } => shell::analyse_argv(argv, context),
        Action::Sql { text, dialect } => tool::sql_analysis(text, *dialect, context),
        Action::Patch { patch } => tool::patch_analysis(patch),
        Action::Tool(call) => tool::analyse(call, context),
    };
    roots::add_lost(&mut analysis.effects, context);
    analysis
}
