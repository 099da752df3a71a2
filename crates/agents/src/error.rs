//! What can go wrong between us and an agent, sorted by what a caller can do about it.

/// The result of speaking with an agent.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong on our side; an agent that fails is no error, but a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings do not allow it: a key is missing, a template names something unknown.
    #[error("{what}")]
    Settings {
        /// What, and what to do.
        what: String,
    },
    /// The agent spoke, and not in its protocol.
    #[error("{agent} said something that is not its protocol: {what}")]
    Protocol {
        /// Which agent.
        agent: String,
        /// What it said.
        what: String,
    },
    /// A model could not be asked.
    #[error("could not ask {model}: {why}")]
    Model {
        /// Which model.
        model: String,
        /// Why.
        why: String,
        /// Whether trying again may help.
        transient: bool,
    },
    /// An answer came and cannot be used.
    #[error("the answer cannot be used: {}", .0.problems.join("; "))]
    Answer(Box<BadAnswer>),
    /// A pipe broke.
    #[error("could not {doing} {agent}: {source}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        agent: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// An answer that cannot be used, kept so that somebody can look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAnswer {
    /// What is wrong with it.
    pub problems: Vec<String>,
    /// The answer as it came.
    pub text: String,
    /// What it cost nevertheless.
    pub cost: aurora_model::Cost,
}
