//! How dangerous an action is, what kind of action it is, and how much an agent may do by itself.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::decider::Decider;

/// How dangerous; ordered so that the most dangerous is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Hardly.
    Low,
    /// Somewhat.
    Medium,
    /// Very; also whatever nobody has classified.
    High,
    /// It may cost the house.
    Critical,
}

impl Tier {
    /// All of them, mildest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The tier of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// How much an agent may do by itself; ordered so that the freest is the greatest.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Nothing.
    Locked,
    /// Reading, running tests and asking a database; every change is asked about.
    #[default]
    Supervised,
    /// Work on code, tests, documents and local history.
    Semi,
    /// Everything that the policy allows.
    Full,
}

impl Autonomy {
    /// All of them, tightest first.
    pub const ALL: [Self; 4] = [Self::Locked, Self::Supervised, Self::Semi, Self::Full];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Supervised => "supervised",
            Self::Semi => "semi",
            Self::Full => "full",
        }
    }

    /// The level of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A change of how much somebody may do by itself, as it is kept for ever in the stream of a scope. The
/// rules of [`crate::event`] hold here too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AutonomyEvent {
    /// It may do less than it could, because of something that happened.
    Lowered {
        /// Whose: `project`, `role:backend`, `agent:claude`.
        scope: String,
        /// To which level at most.
        to: Autonomy,
        /// What happened.
        why: String,
        /// Who, where it was a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Decider>,
    },
    /// A person let it do more again.
    Raised {
        /// Whose.
        scope: String,
        /// To which level at most.
        to: Autonomy,
        /// Who.
        by: Decider,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

impl AutonomyEvent {
    /// The word for it, as it stands in the log.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Lowered { .. } => "lowered",
            Self::Raised { .. } => "raised",
        }
    }

    /// Whose level it is about.
    #[must_use]
    pub fn scope(&self) -> &str {
        match self {
            Self::Lowered { scope, .. } | Self::Raised { scope, .. } => scope,
        }
    }

    /// The level that it leads to.
    #[must_use]
    pub const fn to(&self) -> Autonomy {
        match self {
            Self::Lowered { to, .. } | Self::Raised { to, .. } => *to,
        }
    }
}

/// A kind of action: `category:action`, such as `vcs:push`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ActionType(String);

impl ActionType {
    /// Reads `category:action`: exactly one colon, small letters, digits, `_` and `-`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let sound = |part: &str| {
            let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
            !part.is_empty() && part.len() <= 60 && part.chars().all(letter)
        };
        let (category, action) = text.split_once(':')?;
        (sound(category) && sound(action)).then(|| Self(text.to_owned()))
    }

    /// The whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the colon.
    #[must_use]
    pub fn category(&self) -> &str {
        self.0.split_once(':').map_or(self.0.as_str(), |(category, _)| category)
    }
}

impl fmt::Display for ActionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ActionType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no action type")))
    }
}
