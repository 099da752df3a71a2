//! What waits for a person, wherever it is kept: in the log beside us, or behind a server.

pub mod calls;
mod embedded;
mod remote;
pub mod settings;

use aurora_engine::approvals::Filter;
use aurora_model::{ApprovalState, Choice, Digest};
use serde_json::Value;

use crate::exit::Failure;
use crate::output::request::{Detail, Happened, Item};

pub use embedded::Embedded;
pub use remote::Remote;

/// More than that is not looked at in one go.
pub const MOST: usize = 10_000;

/// The queue, as a person's commands see it.
pub trait Requests {
    /// Those that the filter takes, in the order of asking, at most so many.
    fn list(&self, filter: &Filter, limit: usize) -> anyhow::Result<Vec<Item>>;

    /// The one of that name, or the only one whose name begins so.
    fn find(&self, id: &str) -> anyhow::Result<Option<Item>>;

    /// What else there is to know about one.
    fn detail(&self, item: &Item) -> anyhow::Result<Detail>;

    /// Decides one, in the name of whoever sits here, who saw that.
    fn decide(&self, item: &Item, saying: &Saying) -> anyhow::Result<Said>;

    /// Changes what would be done, and says yes to that.
    fn edit(&self, item: &Item, change: &Change) -> anyhow::Result<Said>;

    /// Tells whatever happens to requests from now on, until `each` says no. What happens after
    /// `begin` was called is told for certain.
    fn watch(
        &self,
        begin: &mut dyn FnMut() -> anyhow::Result<()>,
        each: &mut dyn FnMut(&Happened) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()>;
}

/// What somebody decides.
pub struct Saying {
    /// The option.
    pub choice: Choice,
    /// The digest of what they saw.
    pub seen: Digest,
    /// Why.
    pub reason: Option<String>,
}

/// What would be done instead.
pub struct Change {
    /// The arguments.
    pub args: Value,
    /// The digest of what they saw before.
    pub seen: Digest,
    /// Why.
    pub reason: Option<String>,
}

/// What came of saying something.
pub enum Said {
    /// It is recorded.
    Taken(Box<Taken>),
    /// It is not, and here is why.
    Refused(Refusal),
}

/// A decision that was recorded.
pub struct Taken {
    /// How the request stands now.
    pub item: Item,
    /// Whether somebody has its run in their hands; nothing where there is no run.
    pub driven: Option<bool>,
    /// The command that goes on with the run, where somebody must.
    pub resume: Option<String>,
}

/// Why a decision was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In one word, for programs: `closed`, `outdated`, `not_allowed` …
    pub word: String,
    /// In a sentence.
    pub message: String,
    /// How it stands, where somebody was first.
    pub state: Option<ApprovalState>,
    /// Whether it was the asking that was wrong.
    pub usage: bool,
}

impl Refusal {
    /// As the error of a command.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let failure = match self.usage {
            true => Failure::usage(self.message.clone()),
            false => Failure::denied(self.message.clone()),
        };
        match self.word.as_str() {
            "outdated" => failure.hint("`aur approvals show` tells what would be done now"),
            _ => failure,
        }
    }
}
