//! What an action would cause, as data: the only thing that a policy judges.

use serde::{Deserialize, Serialize};

use crate::{Operation, Span};

/// One consequence of an action, with the place in the text that causes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// What happens.
    #[serde(flatten)]
    pub kind: EffectKind,
    /// Which bytes of the judged text cause it.
    pub span: Span,
    /// It stands in a script file that the text runs, not in the text itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_script: bool,
}

impl Effect {
    /// An effect of the text itself.
    #[must_use]
    pub const fn new(kind: EffectKind, span: Span) -> Self {
        Self { kind, span, in_script: false }
    }
}

/// Why nothing more is known about something opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// What runs is decided only when it runs.
    Dynamic,
    /// It comes from the network.
    Network,
    /// It cannot be read: too long, not parsed, hidden characters.
    Unreadable,
}

/// How many things are affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// Exactly this many.
    Known(u64),
    /// It cannot be known beforehand.
    Unknown,
}

/// A path as far as it is known before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathRef {
    /// As it was written.
    pub text: String,
    /// Normalised: relative to the worktree root when inside it, absolute when outside, nothing
    /// when it depends on a value that is not known. With `glob` it is a pattern.
    pub resolved: Option<String>,
    /// Whether `resolved` is a glob pattern rather than one name.
    pub glob: bool,
}

/// In which way a path is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// It comes into being.
    Create,
    /// Its content is replaced or edited.
    Write,
    /// Content is added at its end.
    Append,
    /// It is emptied or cut short.
    Truncate,
    /// It goes away, though nothing in it is lost (an empty folder).
    Remove,
    /// It gets another name, or something else gets its name.
    Rename,
    /// Its permissions change.
    Mode,
    /// Its owner changes.
    Owner,
    /// A link is made at it or to it.
    Link,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum EffectKind {
    /// Files go away.
    DeleteFiles {
        /// Which, as far as known.
        paths: Vec<PathRef>,
        /// How many files, when each path is one file.
        count: Count,
        /// Whole directories go.
        recursive: bool,
    },
    /// A path is changed in a way other than deletion.
    ChangePath {
        /// Which.
        path: PathRef,
        /// How.
        touch: Touch,
        /// Everything below it is changed too.
        recursive: bool,
    },
    /// History on a remote is rewritten, or a remote ref deleted.
    ForcePush {
        /// The spelling that makes it one (`--force`, `+main`, `--delete` …).
        how: String,
        /// The remote, when it is named.
        remote: Option<String>,
    },
    /// A push lands on main or master.
    PushMain {
        /// The branch that is pushed to, or why it may be main.
        destination: String,
        /// The remote, when it is named.
        remote: Option<String>,
    },
    /// Work that is only in the working tree, the stash or an unmerged branch is thrown away.
    DiscardWork {
        /// What is thrown away, in words.
        what: String,
    },
    /// A table, schema or database is dropped.
    DropObject {
        /// `table users`, `database shop` …
        object: String,
    },
    /// A table is emptied.
    EmptyTable {
        /// Which.
        object: String,
    },
    /// DELETE or UPDATE without WHERE.
    ChangeAllRows {
        /// `DELETE FROM users`, `UPDATE users` …
        statement: String,
    },
    /// Infrastructure is destroyed.
    DestroyInfra {
        /// What, in words.
        what: String,
    },
    /// A disk or file system is overwritten.
    WipeDisk {
        /// Which.
        device: String,
    },
    /// A folder is lost on which the machine, or everything of a person, rests: `/etc`, a home …
    LoseRoot {
        /// Which, as it was written.
        path: String,
        /// In which way: a verb in front of the path.
        how: String,
    },
    /// Code runs that cannot be seen beforehand, or something could not be understood.
    Opaque {
        /// What it is.
        what: String,
        /// Why nothing more is known.
        why: String,
        /// The kind of reason.
        cause: Cause,
    },
    /// A tool without a model is called.
    UnknownTool {
        /// Its name.
        name: String,
    },
    /// Something is fetched from, or sent to, the network.
    Network {
        /// Where.
        target: String,
    },
}

impl EffectKind {
    /// The operation that a policy judges this effect under.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::DeleteFiles { .. } => Operation::FileDelete,
            Self::ChangePath { .. } | Self::Network { .. } => Operation::None,
            Self::ForcePush { .. } => Operation::GitForcePush,
            Self::PushMain { .. } => Operation::GitPushMain,
            Self::DiscardWork { .. } => Operation::GitDiscard,
            Self::DropObject { .. } => Operation::DropTable,
            Self::EmptyTable { .. } => Operation::Truncate,
            Self::ChangeAllRows { .. } => Operation::SqlDeleteAll,
            Self::DestroyInfra { .. } => Operation::InfraDestroy,
            Self::WipeDisk { .. } | Self::LoseRoot { .. } => Operation::DiskWipe,
            Self::Opaque { .. } => Operation::OpaqueExec,
            Self::UnknownTool { .. } => Operation::UnknownTool,
        }
    }
}
