//! Who decides, and from where.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whoever decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// The person's name, or what decided in their place (`--yes`, a timeout policy).
    pub name: String,
    /// What it is.
    pub kind: DeciderKind,
    /// Its roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// From where.
    pub surface: Surface,
}

/// What decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeciderKind {
    /// A person.
    Person,
    /// An agent, or a program in its name. It can never decide.
    Agent,
    /// Something that a person set up beforehand: `--yes`, `APPROVAL_GATES=false`, a timeout policy.
    Rule,
}

/// From where a decision came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The prompt of a run.
    Terminal,
    /// A command such as `aur approvals approve`.
    Command,
    /// The HTTP interface.
    Http,
    /// The page.
    Page,
    /// A flag such as `--yes`.
    Flag,
    /// A variable such as `APPROVAL_GATES`.
    Environment,
    /// A timeout policy.
    Timeout,
}

impl Surface {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Command => "command",
            Self::Http => "http",
            Self::Page => "page",
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::Timeout => "timeout",
        }
    }
}

/// Somebody who may decide: `ana`, `role:lead`, or `anyone`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// Every person.
    Anyone,
    /// One person.
    Person(String),
    /// Everybody who has a role.
    Role(String),
}

impl Who {
    /// Reads `ana`, `role:lead` or `anyone`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| crate::id::is_name(name);
        match text.strip_prefix("role:") {
            Some(role) => is_name(role).then(|| Self::Role(role.to_owned())),
            None if text == "anyone" => Some(Self::Anyone),
            None => is_name(text).then(|| Self::Person(text.to_owned())),
        }
    }

    /// Whether this person is meant.
    #[must_use]
    pub fn includes(&self, decider: &Decider) -> bool {
        match self {
            Self::Anyone => true,
            Self::Person(name) => decider.name == *name,
            Self::Role(role) => decider.roles.iter().any(|one| one == role),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anyone => f.write_str("anyone"),
            Self::Person(name) => f.write_str(name),
            Self::Role(role) => write!(f, "role:{role}"),
        }
    }
}

impl Serialize for Who {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Who {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is nobody")))
    }
}
