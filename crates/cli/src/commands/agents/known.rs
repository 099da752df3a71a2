//! Agents that people have, each with an entry that was tried.

/// An agent that is known by its program.
pub struct Known {
    /// Its program, and its name in the entry.
    pub program: &'static str,
    /// What it is called by people.
    pub title: &'static str,
    /// Its entry in `agents.yaml`.
    pub entry: &'static str,
}

/// All of them, in the order in which a default is chosen.
pub static KNOWN: [Known; 6] = [
    Known {
        program: "claude",
        title: "Claude Code",
        entry: r#"  - id: claude
    provider: cli
    command: ["claude", "-p", "{prompt}", "--output-format", "stream-json", "--verbose",
      "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    output: claude-stream-json
    pass_environment: [ANTHROPIC_API_KEY]
    limits: {max_cost_usd: 5.00}
"#,
    },
    Known {
        program: "codex",
        title: "Codex",
        entry: r#"  - id: codex
    provider: cli
    command: ["codex", "exec", "-s", "workspace-write", "{prompt}"]
    pass_environment: [OPENAI_API_KEY]
    limits: {max_cost_usd: 0.50}
"#,
    },
    Known {
        program: "gemini",
        title: "Gemini CLI",
        entry: r#"  - id: gemini
    provider: cli
    command: ["gemini", "--approval-mode", "yolo", "-p", "{prompt}"]
    pass_environment: [GEMINI_API_KEY]
    limits: {max_cost_usd: 0.50}
"#,
    },
    Known {
        program: "opencode",
        title: "opencode",
        entry: r#"  - id: opencode
    provider: cli
    command: ["opencode", "run", "--auto", "{prompt}"]
    limits: {max_cost_usd: 0.50}
"#,
    },
    Known {
        program: "qwen",
        title: "Qwen Code",
        entry: r#"  - id: qwen
    provider: cli
    command: ["qwen", "--approval-mode", "yolo", "-p", "{prompt}"]
    pass_environment: [OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL]
    limits: {max_cost_usd: 0.50}
"#,
    },
    Known {
        program: "aider",
        title: "aider",
        entry: r#"  - id: aider
    provider: cli
    command: ["aider", "--yes-always", "--no-auto-commits", "--no-check-update", "--no-pretty",
      "--no-fancy-input", "--message", "{prompt}"]
    pass_environment: [OPENAI_API_KEY, ANTHROPIC_API_KEY]
    limits: {max_cost_usd: 0.50}
"#,
    },
];
