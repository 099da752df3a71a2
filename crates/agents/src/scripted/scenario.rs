//! What a scenario says: steps for each task and attempt, as data.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::CostMessage;

/// Steps by task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scenario {
    /// For tasks that have no part of their own.
    default: Option<Part>,
    /// By the task's name or title.
    tasks: BTreeMap<String, Part>,
}

/// The steps of a task, one list for each attempt; the last holds for all later ones.
#[derive(Debug, Clone, Default, PartialEq)]
struct Part {
    attempts: Vec<Vec<Step>>,
}

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Says a line.
    Say(String),
    /// Says a line on stderr.
    Complain(String),
    /// Writes a file.
    Write(File),
    /// Adds to a file.
    Append(File),
    /// Replaces a text in a file, where it occurs.
    Replace(Replace),
    /// Deletes a file, or a folder with all that is in it.
    Delete(String),
    /// Runs a command; one that fails is a failure.
    Run(Vec<String>),
    /// Says that a tool is called.
    ToolCall(Tool),
    /// Says what a call to a model cost.
    Cost(CostMessage),
    /// Waits so many milliseconds.
    WaitMs(u64),
    /// Says very much.
    Flood(Flood),
    /// Says bytes that are no text.
    NotUtf8,
    /// Never ends.
    Hang,
    /// Starts a process that leaves its family and lives on.
    ForkAway(Away),
    /// Is killed by SIGKILL.
    Crash,
    /// Ends with a code.
    Exit(u8),
    /// Says that it failed, and why; ends with code 1.
    Fail(String),
    /// Says that it succeeded; goes on all the same.
    Result(String),
}

/// A file with its text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where.
    pub path: String,
    /// What.
    #[serde(default)]
    pub text: String,
}

/// A text in a file that gives way to another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// Where.
    pub path: String,
    /// The text that must be there.
    pub find: String,
    /// What stands there afterwards.
    pub with: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub args: Value,
}

/// How much is said.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// How many bytes.
    pub bytes: u64,
    /// Whether all of it is one line.
    #[serde(default)]
    pub one_line: bool,
    /// Whether it goes to stderr.
    #[serde(default)]
    pub stderr: bool,
}

/// A process that lives on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Away {
    /// For how many seconds.
    #[serde(default = "long")]
    pub seconds: u64,
    /// A word by which it can be found among the processes.
    #[serde(default)]
    pub mark: String,
}

const fn long() -> u64 {
    3600
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// What is wrong with it, and at which step.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let Value::Object(keys) = value else {
            return Err("a scenario has the keys `default` and `tasks`".to_owned());
        };
        let mut scenario = Self::default();
        for (key, value) in keys {
            match (key.as_str(), value) {
                ("default", value) => scenario.default = Some(part("default", value)?),
                ("tasks", Value::Object(tasks)) => {
                    for (task, value) in tasks {
                        let read = part(&format!("tasks.{task}"), value)?;
                        scenario.tasks.insert(task.clone(), read);
                    }
                }
                ("tasks", _) => return Err("tasks: expected steps by task".to_owned()),
                (key, _) => return Err(format!("{key}: unknown; known are `default`, `tasks`")),
            }
        }
        Ok(scenario)
    }

    /// The steps of an attempt; nothing when the scenario does not know the task.
    #[must_use]
    pub fn steps(&self, task: &str, title: &str, attempt: u32) -> Option<&[Step]> {
        let own = self.tasks.get(task).or_else(|| self.tasks.get(title));
        let part = own.or(self.default.as_ref())?;
        let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let steps = part.attempts.get(index).or_else(|| part.attempts.last())?;
        Some(steps)
    }
}

fn part(path: &str, value: &Value) -> Result<Part, String> {
    match value {
        Value::Array(_) => Ok(Part { attempts: vec![steps(path, value)?] }),
        Value::Object(keys) if keys.len() == 1 && keys.contains_key("attempts") => {
            let Some(Value::Array(attempts)) = keys.get("attempts") else {
                return Err(format!("{path}.attempts: expected a list of lists of steps"));
            };
            let mut part = Part::default();
            for (attempt, value) in attempts.iter().zip(1..).map(|(value, at)| (at, value)) {
                part.attempts.push(steps(&format!("{path}, attempt {attempt}"), value)?);
            }
            Ok(part)
        }
        _ => Err(format!("{path}: expected a list of steps, or `attempts:` with a list of them")),
    }
}

fn steps(path: &str, value: &Value) -> Result<Vec<Step>, String> {
    let Value::Array(values) = value else {
        return Err(format!("{path}: expected a list of steps"));
    };
    let mut steps = Vec::with_capacity(values.len());
    for (value, number) in values.iter().zip(1..) {
        let step = Step::deserialize(value)
            .map_err(|error: serde_json::Error| format!("{path}, step {number}: {error}"))?;
        steps.push(step);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_found_by_name_by_title_by_attempt_and_by_default() {
        let scenario = Scenario::from_json(&json!({
            "default": ["hang"],
            "tasks": {
                "sg-1": [{"say": "by name"}],
                "Add caching": {"attempts": [[{"fail": "once"}], [{"say": "by title"}]]},
            },
        }))
        .unwrap();
        let check = |task: &str, title: &str, attempt, expected: Step| {
            assert_eq!(scenario.steps(task, title, attempt), Some(&[expected][..]), "{task}");
        };
        check("sg-1", "Add caching", 1, Step::Say("by name".to_owned()));
        check("sg-2", "Add caching", 1, Step::Fail("once".to_owned()));
        check("sg-2", "Add caching", 2, Step::Say("by title".to_owned()));
        check("sg-2", "Add caching", 9, Step::Say("by title".to_owned()));
        check("sg-3", "Other", 1, Step::Hang);
        assert_eq!(Scenario::default().steps("sg-1", "x", 1), None);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let check = |value: Value, said: &str| {
            let error = Scenario::from_json(&value).unwrap_err();
            assert!(error.contains(said), "{error}");
        };
        check(json!([]), "keys `default` and `tasks`");
        check(json!({"defualt": []}), "defualt: unknown");
        check(json!({"default": [{"say": "a"}, {"sya": "b"}]}), "default, step 2: unknown variant");
        check(
            json!({"tasks": {"a": {"attempts": [[{"write": {"pat": "x"}}]]}}}),
            "attempt 1, step",
        );
        check(json!({"tasks": {"a": "x"}}), "tasks.a: expected a list of steps");
    }
}
