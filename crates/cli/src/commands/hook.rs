//! `aur hook`: the gate in front of agents that ask a program before they use a tool.

pub mod agent;
pub mod answer;
pub mod install;
pub mod program;
pub mod reach;
pub mod settings;
pub mod strict_json;

use crate::exit::Exit;
use crate::output;

/// Shown with the help.
pub const EXAMPLES: &str = "Examples:
  aur hook install claude-code
  aur hook claude-code < call.json";

/// Which agent asks, or where to install.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Answer Claude Code's PreToolUse hook: its JSON on stdin, the answer on stdout.
    #[command(after_help = CLAUDE_EXAMPLES)]
    ClaudeCode(answer::Args),
    /// Answer Codex's PreToolUse hook; what a person would be asked is denied.
    #[command(after_help = CODEX_EXAMPLES)]
    Codex(answer::Args),
    /// Answer Gemini CLI's BeforeTool hook; what a person would be asked is denied.
    #[command(after_help = GEMINI_EXAMPLES)]
    Gemini(answer::Args),
    /// Answer Qwen Code's PreToolUse hook.
    #[command(after_help = QWEN_EXAMPLES)]
    Qwen(answer::Args),
    /// Put the hook into an agent's settings, or take it out again.
    Install(install::Args),
}

const CLAUDE_EXAMPLES: &str = r#"Examples:
  aur hook install claude-code
  echo '{"hook_event_name": "PreToolUse", "cwd": "/tmp", "tool_name": "Bash",
         "tool_input": {"command": "git push --force"}}' | aur hook claude-code

Whatever goes wrong inside (a policy that cannot be read, input that is not JSON, a mistake of ours)
is answered with a denial that says so: an agent takes silence for consent.

A call that the policy allows is answered `allow` when what it changes stays inside the worktree (or
below /tmp, /var/tmp, /dev) and it is not seen to reach the network. Otherwise, and always with
--defer, it gets no answer, so that Claude Code's own permissions decide about it."#;

const CODEX_EXAMPLES: &str = r#"Examples:
  in $CODEX_HOME/hooks.json, and then trusted there:
  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
    {"type": "command", "command": "aur hook codex", "timeout": 30}]}]}}

Codex runs what a hook answers "ask" to, so Aurora denies it there and says why."#;

const GEMINI_EXAMPLES: &str = r#"Examples:
  in .gemini/settings.json (the timeout is in milliseconds):
  {"hooks": {"BeforeTool": [{"matcher": "*", "hooks": [
    {"type": "command", "command": "aur hook gemini", "timeout": 30000}]}]}}

Gemini CLI waits for ever on "ask", so Aurora denies it there and says why. It does not run this hook
under --acp."#;

const QWEN_EXAMPLES: &str = r#"Examples:
  in .qwen/settings.json:
  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
    {"type": "command", "command": "aur hook qwen", "timeout": 30}]}]}}"#;

/// Runs one of them.
pub fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::ClaudeCode(args) => answer::run(&agent::CLAUDE_CODE, args),
        Command::Codex(args) => answer::run(&agent::CODEX, args),
        Command::Gemini(args) => answer::run(&agent::GEMINI, args),
        Command::Qwen(args) => answer::run(&agent::QWEN, args),
        Command::Install(args) => output::with_error(args.json, install::run(&args)),
    }
}
