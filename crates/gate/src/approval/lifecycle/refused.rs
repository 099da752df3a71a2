//! Why a command to a request is refused, so that whoever gave it can be told the truth.

use std::fmt;

use aurora_model::{ApprovalState, Digest, Reason};

use super::Standing;

/// Why it is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no such request.
    Unknown,
    /// Somebody or something was first.
    Closed {
        /// How it stands.
        state: ApprovalState,
        /// Who decided, and from where, whatever became of it afterwards.
        by: Option<String>,
        /// Their reason, or why it ended.
        reason: Option<String>,
    },
    /// Its time is over.
    Expired,
    /// Whoever decides is not one of those who may.
    NotAllowed {
        /// Why.
        why: String,
    },
    /// What they saw is not what would be done.
    Outdated {
        /// The digest of what would be done.
        current: Digest,
    },
    /// It has no such answer.
    NoSuchChoice {
        /// What was answered.
        choice: &'static str,
        /// What can be.
        options: Vec<&'static str>,
    },
    /// They said yes before; others must.
    VotedBefore {
        /// How many more.
        needed: u32,
    },
    /// Who wants something else must say what.
    NeedsReason,
    /// It cannot be edited like this.
    CannotEdit {
        /// Why.
        why: String,
    },
    /// The policy forbids what it was edited to.
    Forbidden {
        /// Why.
        reasons: Vec<Reason>,
    },
}

impl Refused {
    /// It is not open any more.
    #[must_use]
    pub fn closed(standing: &Standing) -> Self {
        let decision = standing.decision.as_ref();
        let by = decision.map(|one| format!("{} ({})", one.by.name, one.by.surface.name()));
        let said = || decision.and_then(|one| one.reason.clone());
        let reason = standing.reason.clone().or_else(said);
        Self::Closed { state: standing.state, by, reason }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such request"),
            Self::Closed { state, by, reason } => {
                write!(f, "it is {}", state.name().replace('_', " "))?;
                match by {
                    Some(by) if is_decision(*state) => write!(f, " by {by}")?,
                    Some(by) => write!(f, "; {by} approved it")?,
                    None => {}
                }
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Self::Expired => f.write_str("its time is over"),
            Self::NotAllowed { why } => f.write_str(why),
            Self::Outdated { .. } => {
                f.write_str("what you saw is not what would be done: look at it again")
            }
            Self::NoSuchChoice { choice, options } => {
                write!(f, "it cannot be answered with {choice}, but with {}", options.join(", "))
            }
            Self::VotedBefore { needed } => {
                write!(f, "you said yes before; {needed} more must")
            }
            Self::NeedsReason => f.write_str("say what should be done otherwise"),
            Self::CannotEdit { why } => write!(f, "it cannot be edited like this: {why}"),
            Self::Forbidden { reasons } => {
                let why = reasons.first().map_or("", |reason| reason.message.as_str());
                write!(f, "the policy forbids it: {why}")
            }
        }
    }
}

/// Whether it stands as somebody decided it.
const fn is_decision(state: ApprovalState) -> bool {
    matches!(
        state,
        ApprovalState::Approved | ApprovalState::Denied | ApprovalState::ChangesRequested
    )
}

impl std::error::Error for Refused {}
