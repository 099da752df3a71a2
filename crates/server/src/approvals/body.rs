//! What is sent to the queue, and what its words mean. The words of the first design documents
//! (`approval_status`, `feedback`) are understood as well as our own.

use aurora_engine::face::{Standing, no_of, yes_of};
use aurora_model::{Choice, Digest, Outcome};
use serde::Deserialize;
use serde_json::Value;

use crate::call::given;
use crate::problem::Problem;

/// The longest reason, in characters.
pub const MAX_REASON: usize = 4000;
/// The most requests that one batch decides.
pub const MAX_BATCH: usize = 200;
/// What can be decided whatever the options are called.
pub const DECISIONS: [&str; 3] = ["approve", "deny", "request_changes"];
/// The same in the words of the first design.
pub const SEED_STATUSES: [&str; 3] = ["approved", "rejected", "adjust_requested"];

/// The names of all options.
#[must_use]
pub fn choices() -> Vec<&'static str> {
    Choice::ALL.into_iter().map(Choice::name).collect()
}

/// A decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewDecision {
    /// What was seen.
    pub digest: String,
    #[serde(default, deserialize_with = "given")]
    decision: Option<String>,
    #[serde(default, deserialize_with = "given")]
    choice: Option<String>,
    #[serde(default, deserialize_with = "given")]
    approval_status: Option<String>,
    reason: Option<String>,
    feedback: Option<String>,
}

/// Several decisions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewBatch {
    /// Which requests, each as it was seen.
    pub items: Vec<BatchItem>,
    #[serde(default, deserialize_with = "given")]
    decision: Option<String>,
    #[serde(default, deserialize_with = "given")]
    choice: Option<String>,
    #[serde(default, deserialize_with = "given")]
    approval_status: Option<String>,
    reason: Option<String>,
    feedback: Option<String>,
}

/// One request of a batch, as it was seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchItem {
    /// Which.
    pub id: String,
    /// What was seen.
    pub digest: String,
}

/// Other arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewEdit {
    /// What was seen.
    pub digest: String,
    /// The arguments of the tool, all of them.
    pub args: Value,
    /// Why.
    pub reason: Option<String>,
}

/// Why a request is taken back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCancel {
    /// Why.
    pub reason: String,
}

/// A yes that is about to be used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewReservation {
    /// What was approved, as it was seen.
    pub digest: String,
    /// The arguments of the call that is about to be made, all of them.
    pub args: Value,
}

/// What came of a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewResult {
    /// Whether it was done.
    pub outcome: String,
    /// What came of it.
    #[serde(default, deserialize_with = "given")]
    pub summary: Option<String>,
    /// What went wrong.
    #[serde(default, deserialize_with = "given")]
    pub error: Option<String>,
}

/// A call of a tool that somebody may have to decide.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewApproval {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// What whoever asks says about it. Nobody vouches for it.
    pub claimed: Option<String>,
    /// The run for which it is asked.
    pub run: Option<String>,
    /// The task for which it is asked.
    pub task: Option<String>,
}

/// What somebody says, before it is known which option of a request that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The plain yes, no, or not like this.
    Outcome(Outcome),
    /// This option.
    Choice(Choice),
}

/// What somebody says, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What.
    pub word: Word,
    /// Why.
    pub reason: Option<String>,
}

impl NewDecision {
    /// What is said.
    ///
    /// # Errors
    /// When it is said in no way, in several, or in words that nobody knows.
    pub fn said(&self) -> Result<Said, Problem> {
        let ways = [&self.decision, &self.choice, &self.approval_status];
        said(ways, &self.reason, &self.feedback)
    }
}

impl NewBatch {
    /// What is said.
    ///
    /// # Errors
    /// When it is said in no way, in several, or in words that nobody knows.
    pub fn said(&self) -> Result<Said, Problem> {
        let ways = [&self.decision, &self.choice, &self.approval_status];
        said(ways, &self.reason, &self.feedback)
    }
}

fn said(
    [decision, choice, status]: [&Option<String>; 3],
    reason: &Option<String>,
    feedback: &Option<String>,
) -> Result<Said, Problem> {
    let word = match (decision, choice, status) {
        (Some(word), None, None) => outcome_of(&DECISIONS, word, "decision")?,
        (None, None, Some(word)) => outcome_of(&SEED_STATUSES, word, "approval_status")?,
        (None, Some(name), None) => {
            let choice = Choice::from_name(name);
            Word::Choice(choice.ok_or_else(|| no_such("choice", name, &choices()))?)
        }
        _ => {
            let told = "say it by exactly one of `decision`, `choice` and `approval_status`";
            return Err(Problem::malformed(told));
        }
    };
    sound_reason(reason.as_deref())?;
    sound_reason(feedback.as_deref())?;
    let reason = reason.clone().or_else(|| feedback.clone());
    Ok(Said { word, reason: reason.filter(|reason| !reason.trim().is_empty()) })
}

/// Refuses reasons that are too long.
///
/// # Errors
/// When it is one.
pub fn sound_reason(reason: Option<&str>) -> Result<(), Problem> {
    if reason.is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        let told = format!("a reason may have {MAX_REASON} characters");
        return Err(Problem::malformed(told));
    }
    Ok(())
}

fn outcome_of(words: &[&str; 3], word: &str, field: &str) -> Result<Word, Problem> {
    let outcomes = [Outcome::Approved, Outcome::Denied, Outcome::ChangesRequested];
    let found = words.iter().zip(outcomes).find(|(known, _)| **known == word);
    found
        .map(|(_, outcome)| Word::Outcome(outcome))
        .ok_or_else(|| no_such(field, word, words.as_slice()))
}

fn no_such(field: &str, word: &str, words: &[&str]) -> Problem {
    let shown: String = word.chars().take(60).collect();
    let told = format!("`{field}` cannot be `{shown}`");
    Problem::unprocessable("no-such-choice", told).with("options", words)
}

impl Word {
    /// The option of a request that is meant.
    ///
    /// # Errors
    /// When it has none, or a yes could mean several things.
    pub fn choice(&self, standing: &Standing) -> Result<Choice, Problem> {
        let request = &standing.request;
        let choice = match self {
            Self::Choice(choice) => return Ok(*choice),
            Self::Outcome(Outcome::Approved) => yes_of(request),
            Self::Outcome(Outcome::Denied) => no_of(request),
            Self::Outcome(Outcome::ChangesRequested) => {
                Some(Choice::RequestChanges).filter(|one| request.options.contains(one))
            }
        };
        let options: Vec<&str> = request.options.iter().map(|one| one.name()).collect();
        choice.ok_or_else(|| {
            let told = "here that could mean several things or nothing: say which `choice`";
            Problem::unprocessable("no-such-choice", told).with("options", options)
        })
    }
}

/// The digest that somebody saw.
///
/// # Errors
/// When it is none.
pub fn digest(text: &str) -> Result<Digest, Problem> {
    Digest::parse(text)
        .ok_or_else(|| Problem::malformed("`digest` must be the 64 digits of a digest"))
}

/// Refuses arguments that no tool takes.
///
/// # Errors
/// When they are no object.
pub fn sound_args(args: &Value) -> Result<(), Problem> {
    match args.is_object() {
        true => Ok(()),
        false => Err(Problem::malformed("`args` must be an object")),
    }
}
