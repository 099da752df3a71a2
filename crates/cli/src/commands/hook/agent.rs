//! How each agent's pre-tool hook speaks, as rows of a table.

use aurora_model::Answer;
use serde_json::{Value, json};

/// One agent's way with hooks.
#[derive(Debug)]
pub struct Agent {
    /// The event that comes before a tool is used.
    pub event: &'static str,
    /// The environment variable that holds the folder where the agent was started.
    pub project_variable: &'static str,
    form: Form,
    /// Whether it waits for a person when it is told to; one that does not must be told no.
    asks: bool,
    /// Whether it understands an explicit yes.
    takes_allow: bool,
}

/// What an agent's event is about, as far as the answer's format depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moment {
    /// A tool is about to be used.
    #[default]
    BeforeTool,
    /// The agent is about to ask a person whether a tool may be used.
    PermissionRequest,
}

const PERMISSION_REQUEST: &str = "PermissionRequest";

#[derive(Debug, Clone, Copy)]
enum Form {
    /// `hookSpecificOutput.permissionDecision`.
    PermissionDecision,
    /// `decision` and `reason`.
    Decision,
}

/// Claude Code.
pub static CLAUDE_CODE: Agent = Agent {
    event: "PreToolUse",
    project_variable: "CLAUDE_PROJECT_DIR",
    form: Form::PermissionDecision,
    asks: true,
    takes_allow: true,
};

/// OpenAI's Codex: "ask" runs the tool, and so must never be said.
pub static CODEX: Agent = Agent {
    event: "PreToolUse",
    project_variable: "CODEX_PROJECT_DIR",
    form: Form::PermissionDecision,
    asks: false,
    takes_allow: false,
};

/// Gemini CLI: "ask" hangs without a terminal, and so must never be said.
pub static GEMINI: Agent = Agent {
    event: "BeforeTool",
    project_variable: "GEMINI_PROJECT_DIR",
    form: Form::Decision,
    asks: false,
    takes_allow: true,
};

/// Qwen Code: Claude Code's format.
pub static QWEN: Agent = Agent {
    event: "PreToolUse",
    project_variable: "QWEN_PROJECT_DIR",
    form: Form::PermissionDecision,
    asks: true,
    takes_allow: true,
};

const NOBODY_TO_ASK: &str =
    "\nThis agent's hook cannot wait for a person, so it is denied here; a person may run it.";

impl Agent {
    /// What an event is about. One that is not known is taken for the one before a tool is used:
    /// its answer is the one that every agent heeds.
    #[must_use]
    pub fn moment(&self, event: Option<&str>) -> Moment {
        let asks = event.is_some_and(|event| is_named(event, PERMISSION_REQUEST));
        match self.form {
            Form::PermissionDecision if asks => Moment::PermissionRequest,
            _ => Moment::BeforeTool,
        }
    }

    /// Whether an event must come with a tool.
    #[must_use]
    pub fn needs_tool(&self, event: &str) -> bool {
        is_named(event, self.event) || is_named(event, PERMISSION_REQUEST)
    }

    /// The answer in the agent's own format.
    #[must_use]
    pub fn reply(&self, moment: Moment, answer: Answer, reason: &str, defer: bool) -> Value {
        if moment == Moment::PermissionRequest {
            // A person is asked next, which is all that anything but a denial could wish for.
            return match answer {
                Answer::Allow | Answer::Ask => json!({}),
                Answer::Deny => json!({"hookSpecificOutput": {
                    "hookEventName": PERMISSION_REQUEST,
                    "decision": {"behavior": "deny", "message": reason},
                }}),
            };
        }
        if answer == Answer::Allow && (defer || !self.takes_allow) {
            return json!({});
        }
        let (word, note) = match answer {
            Answer::Allow => ("allow", ""),
            Answer::Ask if self.asks => ("ask", ""),
            Answer::Ask => ("deny", NOBODY_TO_ASK),
            Answer::Deny => ("deny", ""),
        };
        let reason = format!("{reason}{note}");
        match self.form {
            Form::PermissionDecision => json!({"hookSpecificOutput": {
                "hookEventName": self.event,
                "permissionDecision": word,
                "permissionDecisionReason": reason,
            }}),
            Form::Decision => json!({"decision": word, "reason": reason}),
        }
    }
}

fn is_named(event: &str, name: &str) -> bool {
    event.trim().eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_does_not_honour_ask_is_told_no() {
        let word = |agent: &Agent, answer| {
            let reply = agent.reply(Moment::BeforeTool, answer, "r", false);
            let said = reply.pointer("/hookSpecificOutput/permissionDecision");
            said.or(reply.get("decision")).and_then(|word| word.as_str().map(str::to_owned))
        };
        for (agent, allow, ask) in [
            (&CLAUDE_CODE, Some("allow"), "ask"),
            (&QWEN, Some("allow"), "ask"),
            (&CODEX, None, "deny"),
            (&GEMINI, Some("allow"), "deny"),
        ] {
            assert_eq!(word(agent, Answer::Allow).as_deref(), allow, "{agent:?}");
            assert_eq!(word(agent, Answer::Ask).as_deref(), Some(ask), "{agent:?}");
            assert_eq!(word(agent, Answer::Deny).as_deref(), Some("deny"), "{agent:?}");
        }
    }

    #[test]
    fn a_deferred_yes_says_nothing_and_a_deferred_no_still_says_no() {
        let reply = |answer| CLAUDE_CODE.reply(Moment::BeforeTool, answer, "r", true);
        assert_eq!(reply(Answer::Allow), json!({}));
        assert_ne!(reply(Answer::Ask), json!({}));
        assert_ne!(reply(Answer::Deny), json!({}));
    }
}
