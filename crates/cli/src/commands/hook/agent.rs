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
    /// The answer in the agent's own format.
    #[must_use]
    pub fn reply(&self, answer: Answer, reason: &str, defer: bool) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_does_not_honour_ask_is_told_no() {
        let word = |agent: &Agent, answer| {
            let reply = agent.reply(answer, "r", false);
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
        assert_eq!(CLAUDE_CODE.reply(Answer::Allow, "r", true), json!({}));
        assert_ne!(CLAUDE_CODE.reply(Answer::Ask, "r", true), json!({}));
        assert_ne!(CLAUDE_CODE.reply(Answer::Deny, "r", true), json!({}));
    }
}
