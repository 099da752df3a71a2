//! The line-JSON protocol of the execution modes: one JSON object a line, in both directions.

use aurora_model::{Cost, Known, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Job;
use crate::price;

/// What an agent is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToAgent {
    /// What to do; the first line.
    Task(TaskMessage),
    /// Stop changing files until `resume`.
    PauseRequest {
        /// The checkpoint that is about to be made.
        checkpoint_id: String,
        /// Why.
        reason: String,
        /// How long we wait for the acknowledgement.
        timeout_ms: u64,
    },
    /// Go on.
    Resume {
        /// The checkpoint that was made.
        checkpoint_id: String,
    },
    /// What it has changed is not all right.
    CheckpointViolation {
        /// How bad it is: `info`, `warning`, `error` or `critical`.
        severity: String,
        /// The checkpoint at which it was found.
        checkpoint_id: String,
        /// What, as objects with `file`, `constraint`, `message` and `suggestion`.
        violations: Vec<Value>,
        /// What was done about it: `none` or `reverted`.
        action_taken: String,
        /// Whether a `violation_ack` is waited for.
        requires_acknowledgment: bool,
    },
    /// Something to know.
    Message {
        /// `info`, `warning` or `error`.
        severity: String,
        /// What.
        content: String,
        /// Whether an answer is waited for.
        requires_acknowledgment: bool,
    },
}

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The run.
    pub run: String,
    /// The task's name.
    pub task: String,
    /// The task's title.
    pub title: String,
    /// Which attempt it is.
    pub attempt: u32,
    /// The role to play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What is to be done, with everything that the agent must know.
    pub prompt: String,
    /// The folder in which it works.
    pub working_directory: String,
    /// How many seconds it has.
    pub timeout_seconds: u64,
}

impl TaskMessage {
    /// The message for a job.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        Self {
            run: crate::template::run_of(job).to_owned(),
            task: job.task.clone(),
            title: job.title.clone(),
            attempt: job.attempt,
            role: job.role.clone(),
            prompt: job.prompt.clone(),
            working_directory: job.cwd.clone(),
            timeout_seconds: job.timeout_seconds,
        }
    }
}

impl ToAgent {
    /// The message as a line.
    #[must_use]
    pub fn line(&self) -> String {
        // Only maps with keys that are no text cannot be written, and there are none here.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// What an agent tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromAgent {
    /// It has paused.
    PauseAck {
        /// The checkpoint that it was asked for.
        checkpoint_id: String,
        /// `paused` when it did.
        #[serde(default)]
        status: String,
        /// What it could not finish before.
        #[serde(default)]
        pending_operations: Vec<Value>,
    },
    /// It has understood what was wrong.
    ViolationAck {
        /// The checkpoint at which it was found.
        checkpoint_id: String,
        /// Whether it has.
        #[serde(default)]
        understood: bool,
        /// What it will do about it.
        #[serde(default)]
        corrective_action: String,
    },
    /// Something for people.
    Message {
        /// What.
        #[serde(alias = "text", alias = "message")]
        content: String,
    },
    /// How far it is, for people.
    Progress {
        /// What it does now.
        #[serde(alias = "text", alias = "message")]
        content: String,
    },
    /// It calls one of its own tools.
    ToolCall {
        /// The tool's name.
        name: String,
        /// The arguments.
        #[serde(default, alias = "arguments", alias = "input")]
        args: Value,
    },
    /// What one call to a model cost.
    Cost(CostMessage),
    /// How it ended.
    Result {
        /// Whether it did what it was to do.
        success: bool,
        /// What it did, or why not.
        #[serde(default)]
        summary: String,
    },
}

/// What one call to a model cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CostMessage {
    /// In US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl CostMessage {
    /// Adds this call to what was spent before. An amount that is not believed is left out, makes the
    /// sum unknown, and is told in words.
    pub fn add_to(&self, cost: &mut Cost) -> Option<String> {
        let sum = self.usd.map(|usd| price::believed(usd).map(|usd| cost.usd.plus(usd)));
        let sum = sum.transpose().and_then(|sum| sum.map(price::believed_sum).transpose());
        let doubt = match sum {
            Ok(Some(sum)) => {
                (cost.usd, cost.known) = (sum, Known::Reported);
                None
            }
            Ok(None) => None,
            Err(doubt) => {
                cost.known = Known::Unknown;
                Some(doubt)
            }
        };
        if self.input_tokens.is_some() || self.output_tokens.is_some() {
            let before = cost.tokens.unwrap_or_default();
            cost.tokens = Some(Tokens {
                input: before.input.saturating_add(self.input_tokens.unwrap_or(0)),
                output: before.output.saturating_add(self.output_tokens.unwrap_or(0)),
            });
        }
        if self.model.is_some() {
            cost.model.clone_from(&self.model);
        }
        doubt
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_have_the_names_and_shapes_of_the_execution_modes() {
        let to = [
            (
                ToAgent::PauseRequest {
                    checkpoint_id: "ckpt-003-xyz".to_owned(),
                    reason: "checkpoint_validation".to_owned(),
                    timeout_ms: 10000,
                },
                json!({"type": "pause_request", "checkpoint_id": "ckpt-003-xyz",
                       "reason": "checkpoint_validation", "timeout_ms": 10000}),
            ),
            (
                ToAgent::Resume { checkpoint_id: "ckpt-003-xyz".to_owned() },
                json!({"type": "resume", "checkpoint_id": "ckpt-003-xyz"}),
            ),
            (
                ToAgent::CheckpointViolation {
                    severity: "warning".to_owned(),
                    checkpoint_id: "c".to_owned(),
                    violations: vec![json!({"file": "src/config.ts"})],
                    action_taken: "none".to_owned(),
                    requires_acknowledgment: true,
                },
                json!({"type": "checkpoint_violation", "severity": "warning", "checkpoint_id": "c",
                       "violations": [{"file": "src/config.ts"}], "action_taken": "none",
                       "requires_acknowledgment": true}),
            ),
        ];
        for (message, expected) in to {
            assert_eq!(serde_json::from_str::<Value>(&message.line()).unwrap(), expected);
            assert!(message.line().ends_with("}\n"));
        }
        let from = json!({"type": "pause_ack", "checkpoint_id": "ckpt-003-xyz",
                          "status": "paused", "pending_operations": []});
        assert!(matches!(serde_json::from_value(from), Ok(FromAgent::PauseAck { .. })));
        let from = json!({"type": "violation_ack", "checkpoint_id": "c", "understood": true,
                          "corrective_action": "will_move_file_to_allowed_path"});
        assert!(matches!(
            serde_json::from_value(from),
            Ok(FromAgent::ViolationAck { understood: true, .. })
        ));
    }

    #[test]
    fn what_several_calls_cost_is_added_up() {
        let mut cost = Cost::default();
        let call = CostMessage {
            usd: Some(0.25),
            input_tokens: Some(10),
            output_tokens: None,
            model: Some("m".to_owned()),
        };
        for call in [&call, &call, &CostMessage::default()] {
            assert_eq!(call.add_to(&mut cost), None);
        }
        assert_eq!(cost.usd.to_string(), "$0.50");
        assert_eq!(cost.tokens, Some(Tokens { input: 20, output: 0 }));
        assert_eq!((cost.known, cost.model.as_deref()), (Known::Reported, Some("m")));
    }
}
