//! A conversation with a model that uses tools: everything that must be kept so that it can go on
//! later, elsewhere, with the true results of the calls that it made.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use aurora_model::Cost;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::llm::Stop;
use crate::price;

/// A conversation so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// Who the model is to be, and the rules.
    pub system: String,
    /// What was said, in order. A message never changes once it is here.
    pub messages: Vec<Message>,
    /// The results of the last turn's calls that are there already, while others wait for a person.
    pub given: Vec<CallResult>,
    /// How far it came.
    pub progress: Progress,
}

/// How far a conversation came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How often the model was asked.
    pub turns: u32,
    /// How often it waited for a person.
    #[serde(default)]
    pub parks: u32,
    /// What it has cost; nothing before the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Progress {
    /// Counts a turn and what it cost.
    pub fn count(&mut self, cost: &Cost) {
        self.turns = self.turns.saturating_add(1);
        self.spend(cost);
    }

    /// Counts what was spent besides, as on an answer that broke off.
    pub fn spend(&mut self, cost: &Cost) {
        let sum = self.cost.as_ref().map_or_else(|| cost.clone(), |sum| price::sum(sum, cost));
        self.cost = Some(sum);
    }
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// To the model.
    User {
        /// The text.
        text: String,
    },
    /// By the model.
    Assistant {
        /// The text.
        text: String,
        /// The calls that it made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call>,
        /// What its provider wants to see again, as it was.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        thoughts: Vec<Value>,
    },
    /// What came of the calls before it: all of them, in their order.
    Results {
        /// One for each.
        results: Vec<CallResult>,
    },
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The model's name for it; no other call of the same turn has it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, or the text that was to be them and is no JSON object.
    pub args: Value,
    /// What its provider wants to see again with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

impl Call {
    /// Why its arguments cannot be used; nothing when they can, as far as their shape goes.
    #[must_use]
    pub fn malformed(&self) -> Option<String> {
        match &self.args {
            Value::Object(_) => None,
            Value::String(_) => Some("the arguments are not complete JSON".to_owned()),
            _ => Some("the arguments must be a JSON object".to_owned()),
        }
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The model's name for the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the model is told.
    pub content: String,
    /// Whether it failed or was refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// A tool, as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub args: Value,
}

/// Which of our tools an agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tools {
    /// All of them.
    All,
    /// Those of these names.
    Named(Vec<String>),
}

impl Tools {
    /// Whether a tool is among them.
    #[must_use]
    pub fn include(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|one| one == name),
        }
    }
}

/// What a model said when it was its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The text.
    pub text: String,
    /// The calls that it makes; when there are none, it is done.
    pub calls: Vec<Call>,
    /// What its provider wants to see again.
    pub thoughts: Vec<Value>,
    /// What the turn cost.
    pub cost: Cost,
    /// Why it ended.
    pub stop: Stop,
}

/// A model that could not be asked, or broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not ask {model}: {why}")]
pub struct Unanswered {
    /// Which model.
    pub model: String,
    /// Why.
    pub why: String,
    /// Whether trying again may help.
    pub transient: bool,
    /// What it may have cost nevertheless.
    pub cost: Option<Cost>,
}

/// What a model's next turn is, once it is there.
pub type NextTurn<'a> =
    Pin<Box<dyn Future<Output = std::result::Result<Turn, Unanswered>> + Send + 'a>>;

/// Whoever can be conversed with, using tools.
pub trait Converser: Send + Sync {
    /// Asks for the next turn, and hands on the pieces of its text as they come. Dropping the future
    /// ends it.
    fn next<'a>(
        &'a self,
        conversation: &'a Conversation,
        tools: &'a [ToolSchema],
        hear: &'a mut (dyn FnMut(&str) + Send),
    ) -> NextTurn<'a>;
}

/// Results that do not fit the calls of the last turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unfitting {
    /// What does not fit.
    pub what: String,
}

impl Conversation {
    /// A conversation that begins.
    #[must_use]
    pub fn begin(system: String, prompt: String) -> Self {
        Self { system, messages: vec![Message::User { text: prompt }], ..Self::default() }
    }

    /// The calls of the last turn, while they have no results.
    #[must_use]
    pub fn waiting(&self) -> &[Call] {
        match self.messages.last() {
            Some(Message::Assistant { calls, .. }) => calls,
            _ => &[],
        }
    }

    /// Takes a turn over.
    pub fn take(&mut self, turn: Turn) {
        self.progress.count(&turn.cost);
        let Turn { text, calls, thoughts, .. } = turn;
        self.messages.push(Message::Assistant { text, calls, thoughts });
    }

    /// Gives the calls of the last turn their results: those that were there before and these. Each
    /// goes to its own call, in the order of the calls, whatever the order in which they came.
    ///
    /// # Errors
    /// When a call has no result, or a result has no call; nothing has changed then.
    pub fn answer(&mut self, more: Vec<CallResult>) -> std::result::Result<(), Unfitting> {
        let mut by_call: BTreeMap<&str, &CallResult> = BTreeMap::new();
        for result in self.given.iter().chain(&more) {
            if by_call.insert(&result.call, result).is_some() {
                let what = format!("the call {} has two results", result.call);
                return Err(Unfitting { what });
            }
        }
        let mut results = Vec::new();
        for call in self.waiting() {
            let missing = || Unfitting { what: format!("the call {} has no result", call.id) };
            results.push(by_call.remove(call.id.as_str()).cloned().ok_or_else(missing)?);
        }
        if let Some(call) = by_call.keys().next() {
            let what = format!("a result names the call {call}, which nobody made");
            return Err(Unfitting { what });
        }
        if results.is_empty() {
            return Err(Unfitting { what: "no call waits for a result".to_owned() });
        }
        self.given.clear();
        self.messages.push(Message::Results { results });
        Ok(())
    }

    /// How many tokens go to the model, roughly.
    #[must_use]
    pub fn guess_tokens(&self) -> u64 {
        let said = self.messages.iter().map(|message| match message {
            Message::User { text } => price::guess_tokens(text),
            Message::Assistant { text, calls, .. } => {
                let args = calls.iter().map(|call| price::guess_tokens(&call.args.to_string()));
                price::guess_tokens(text).saturating_add(args.sum())
            }
            Message::Results { results } => {
                results.iter().map(|one| price::guess_tokens(&one.content)).sum()
            }
        });
        said.fold(price::guess_tokens(&self.system), u64::saturating_add)
    }
}

#[cfg(test)]
mod tests;
