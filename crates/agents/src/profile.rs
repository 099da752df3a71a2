//! What the settings say about agents and the model: typed, complete, and without a file in sight.

use std::collections::BTreeMap;

use aurora_model::{AgentName, Usd};

use crate::talk::Tools;
use crate::template::Template;

/// Everything that `agents.yaml` says, all layers together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profiles {
    /// Who does tasks that name nobody, and plays roles that nobody has.
    pub default: Option<AgentName>,
    /// The model for fallback and for decomposition.
    pub model: Option<ModelProfile>,
    /// The agents, in the order of the file.
    pub agents: Vec<AgentProfile>,
}

impl Profiles {
    /// The agent of that name.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&AgentProfile> {
        self.agents.iter().find(|agent| agent.name.as_str() == name)
    }
}

/// Whose API a model is asked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProvider {
    /// Anthropic's.
    Anthropic,
    /// OpenAI's, and of everything that is like it.
    OpenAi,
    /// Google's Gemini.
    Gemini,
    /// Ollama, on this machine or another.
    Ollama,
}

impl ModelProvider {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Ollama];

    /// The word for it in the settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The provider of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The variable that holds its key unless the settings name another; Ollama needs none.
    #[must_use]
    pub const fn usual_key(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => None,
        }
    }
}

/// A model that is asked directly.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelProfile {
    /// Whose API.
    pub provider: ModelProvider,
    /// The model's name there.
    pub name: String,
    /// Another address than the provider's own.
    pub base_url: Option<String>,
    /// The name of the variable that holds the key; nothing when no key is needed.
    pub api_key_env: Option<String>,
    /// How many tokens an answer may have.
    pub max_output_tokens: u32,
    /// Its price, where it is not the one of the built-in table.
    pub price: Option<Price>,
}

impl ModelProfile {
    /// How many tokens an answer may have unless the settings say so.
    pub const USUAL_OUTPUT_TOKENS: u32 = 4096;
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// To the model.
    pub input_usd_per_mtok: f64,
    /// From the model.
    pub output_usd_per_mtok: f64,
}

/// One agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentProfile {
    /// Its name.
    pub name: AgentName,
    /// How it is reached.
    pub provider: Provider,
    /// The role that it plays.
    pub role: Option<String>,
    /// Variables that are set for it.
    pub environment: BTreeMap<String, String>,
    /// Names of our variables that it gets too.
    pub pass_environment: Vec<String>,
    /// How much one attempt may take.
    pub limits: Limits,
    /// How it is told that it did what it was to do.
    pub success: Success,
    /// Where it was written, as it is shown to people.
    pub origin: String,
}

impl AgentProfile {
    /// A profile of which only name and provider are known.
    #[must_use]
    pub fn new(name: AgentName, provider: Provider) -> Self {
        Self {
            name,
            provider,
            role: None,
            environment: BTreeMap::new(),
            pass_environment: Vec::new(),
            limits: Limits::default(),
            success: Success::default(),
            origin: "built-in".to_owned(),
        }
    }
}

/// How an agent is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Provider {
    /// A command.
    Cli(CliProfile),
    /// A scenario that is played by a process of ours.
    Scripted {
        /// The scenario's file, as an absolute path.
        scenario: String,
    },
    /// A model, asked directly; nothing stands for the one of the settings.
    Api {
        /// Which.
        model: Option<ModelProfile>,
        /// The tools of ours that it works with; without, it answers in words.
        tools: Option<Tools>,
    },
    /// Nobody: it says that it did it.
    Null,
}

impl Provider {
    /// The word for it in the settings.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cli(_) => "cli",
            Self::Scripted { .. } => "scripted",
            Self::Api { .. } => "api",
            Self::Null => "null",
        }
    }
}

/// A command that is an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliProfile {
    /// Program and arguments. INVARIANT: there is a program.
    pub command: Vec<Template>,
    /// Where the prompt goes.
    pub prompt: PromptBy,
    /// How its output is read.
    pub output: Output,
}

/// Where the prompt goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptBy {
    /// Into the command, at `{prompt}`.
    Argument,
    /// Into its stdin.
    Stdin,
}

impl PromptBy {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Argument, Self::Stdin];

    /// The word for it in the settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Stdin => "stdin",
        }
    }
}

/// How an agent's output is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Output {
    /// As lines for people.
    #[default]
    Text,
    /// As one JSON object a line, by the protocol of the execution modes.
    LineJson,
    /// As Claude Code writes it with `--output-format stream-json`.
    ClaudeStreamJson,
    /// As Claude Code speaks on its pipes with `--permission-prompt-tool stdio`: every call of a tool
    /// comes to us and waits for an answer.
    ClaudeControl,
}

impl Output {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Text, Self::LineJson, Self::ClaudeStreamJson, Self::ClaudeControl];

    /// The word for it in the settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::LineJson => "line-json",
            Self::ClaudeStreamJson => "claude-stream-json",
            Self::ClaudeControl => "claude-control",
        }
    }
}

/// How much one attempt may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// How much money.
    pub max_cost: Option<Usd>,
    /// How many seconds, in place of the policy's.
    pub timeout_seconds: Option<u64>,
}

/// How an agent is told that it did what it was to do; all of it must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// The codes with which a process that succeeded ends.
    pub exit_codes: Vec<i32>,
    /// A text that some line of its output must have.
    pub require_line: Option<String>,
    /// Texts of which no line of its output may have one.
    pub fail_on: Vec<String>,
}

impl Default for Success {
    fn default() -> Self {
        Self { exit_codes: vec![0], require_line: None, fail_on: Vec::new() }
    }
}
