//! Breaking a goal down: asking for subgoals, and taking nothing for one that is none.

mod find;
mod order;
mod prompt;
mod shape;

use aurora_model::{AgentName, Cost, Scope, Task, TaskId};
use serde::{Deserialize, Serialize};

use crate::error::{BadAnswer, Error, Result};
use crate::llm::{Completer, Completion, Request, Stop};
use crate::price;

/// How many subgoals there may be unless the caller says so.
pub const USUAL_MAX_SUBGOALS: usize = 20;

/// A goal with what is known where it is to be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The goal, as the user wrote it.
    pub text: String,
    /// The agents that there are.
    pub agents: Vec<KnownAgent>,
    /// Lines about the repository: its top folders and files, bounded by the caller.
    pub facts: Vec<String>,
    /// How many subgoals there may be.
    pub max_subgoals: usize,
}

/// An agent of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its name.
    pub name: AgentName,
    /// The role that it plays.
    pub role: Option<String>,
}

/// A goal and the subgoals that make it up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The goal, as the user wrote it.
    pub goal: String,
    /// Its parts, in an order in which they can be read.
    pub subgoals: Vec<Subgoal>,
}

/// One part of a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subgoal {
    /// Its name: `sg-1`, `sg-2` and so on.
    pub id: TaskId,
    /// What is to be done, in one line.
    pub title: String,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// Who is to do it; nothing leaves it to the default agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Whether nobody of that name is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
    /// The subgoals that must be reached before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// How much it is expected to touch.
    #[serde(default, skip_serializing_if = "Scope::is_unknown")]
    pub scope: Scope,
}

impl Decomposition {
    /// The subgoals as tasks of a run.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        let task = |subgoal: &Subgoal| Task {
            id: subgoal.id.clone(),
            title: subgoal.title.clone(),
            details: subgoal.details.clone(),
            agent: subgoal.agent.clone(),
            depends_on: subgoal.depends_on.clone(),
            scope: subgoal.scope.clone(),
            done: false,
        };
        self.subgoals.iter().map(task).collect()
    }

    /// How many subgoals are for somebody who is not there.
    #[must_use]
    pub fn gaps(&self) -> usize {
        self.subgoals.iter().filter(|subgoal| subgoal.gap).count()
    }
}

/// An answer that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What it says.
    pub decomposition: Decomposition,
    /// What was wrong with it and is not any more, in words for people.
    pub repairs: Vec<String>,
}

/// A goal that was broken down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decomposed {
    /// Into what.
    pub decomposition: Decomposition,
    /// What was wrong with the answer and is not any more, in words for people.
    pub repairs: Vec<String>,
    /// The answer as it came.
    pub text: String,
    /// What all of it cost.
    pub cost: Cost,
}

/// Asks for the subgoals of a goal. An answer that cannot be used is sent back once, with what is
/// wrong; a second one is refused.
///
/// # Errors
/// When nobody could be asked, or with the text of the answer when it cannot be used.
pub async fn decompose(completer: &dyn Completer, goal: &Goal) -> Result<Decomposed> {
    if goal.text.trim().is_empty() {
        return Err(Error::Settings {
            what: "the goal is empty: say what is to be reached".into(),
        });
    }
    let request = request(goal);
    let first = completer.complete(&request).await?;
    let problems = match judged(&first, goal) {
        Ok(read) => return Ok(decomposed(read, first)),
        Err(problems) => problems,
    };
    let again = prompt::again(&request, &first.text, &problems);
    let refused = |mut problems: Vec<String>, more: Option<String>, answer: Completion| {
        problems.extend(more);
        let Completion { text, cost, .. } = answer;
        Err(Error::Answer(Box::new(BadAnswer { problems, text, cost })))
    };
    let second = match completer.complete(&again).await {
        Ok(second) => second,
        Err(error) => return refused(problems, Some(format!("then: {error}")), first),
    };
    let cost = price::sum(&first.cost, &second.cost);
    let second = Completion { cost, ..second };
    match judged(&second, goal) {
        Ok(read) => Ok(decomposed(read, second)),
        Err(problems) => refused(problems, None, second),
    }
}

fn decomposed(read: Read, answer: Completion) -> Decomposed {
    let Completion { text, cost, .. } = answer;
    Decomposed { decomposition: read.decomposition, repairs: read.repairs, text, cost }
}

/// What a completion says, or what is wrong with it.
fn judged(answer: &Completion, goal: &Goal) -> std::result::Result<Read, Vec<String>> {
    let why = match &answer.stop {
        Stop::Finished | Stop::Other(_) => return read(&answer.text, goal),
        Stop::Length => "the answer was cut off: it is longer than max_output_tokens allows",
        Stop::Filtered => "the provider held the answer back",
    };
    // What was cut after its last brace is still whole.
    read(&answer.text, goal).map_err(|_| vec![why.to_owned()])
}

/// What is asked for a goal.
#[must_use]
pub fn request(goal: &Goal) -> Request {
    prompt::request(goal)
}

/// Reads an answer. What is mildly wrong is repaired and said.
///
/// # Errors
/// With everything that is wrong when that is more.
pub fn read(text: &str, goal: &Goal) -> std::result::Result<Read, Vec<String>> {
    let answer = find::json(text).map_err(|problem| vec![problem])?;
    shape::read(&answer, goal)
}
