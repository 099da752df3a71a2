//! Our own tools, which a model that we converse with works with at its desk.

pub(super) mod args;
pub(super) mod command;
pub(super) mod files;
pub mod judged;
pub(super) mod patch;
pub(super) mod told;

use std::path::Path;

use aurora_agents::talk::{ToolSchema, Tools};
use aurora_workspace::desk::Files;
use serde_json::{Value, json};

use args::Args;
use told::Made;

/// Which shape the arguments of the tools have.
pub const SCHEMA: u16 = 1;

/// How long a command may take unless it is said, in seconds.
pub(super) const COMMAND_SECONDS: u64 = 60;
/// How long a command may take at most, in seconds.
pub(super) const MOST_COMMAND_SECONDS: u64 = 600;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    ReadFile,
    List,
    Search,
    WriteFile,
    ApplyPatch,
    RunCommand,
}

impl Tool {
    const ALL: [Self; 6] = [
        Self::ReadFile,
        Self::List,
        Self::Search,
        Self::WriteFile,
        Self::ApplyPatch,
        Self::RunCommand,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "repo.read_file",
            Self::List => "repo.list",
            Self::Search => "repo.search",
            Self::WriteFile => "repo.write_file",
            Self::ApplyPatch => "repo.apply_patch",
            Self::RunCommand => "run_command",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    const fn description(self) -> &'static str {
        match self {
            Self::ReadFile => "Read a text file of the worktree, or some of its lines.",
            Self::List => "List what is in a folder of the worktree.",
            Self::Search => {
                "Find a text, letter by letter, in the files of the worktree; says path, line number \
                 and line of each place."
            }
            Self::WriteFile => {
                "Write a whole file of the worktree; folders that are missing are made. May have to \
                 wait until a person allows it."
            }
            Self::ApplyPatch => {
                "Apply a unified diff, as `git diff` writes it, to files of the worktree: all of it or \
                 nothing. May have to wait until a person allows it."
            }
            Self::RunCommand => {
                "Run a line in bash at the root of the worktree, without input. Says its exit code and \
                 output. May have to wait until a person allows it."
            }
        }
    }

    fn schema(self) -> Value {
        let text = |about: &str| json!({"type": "string", "description": about});
        let path = text("the path below the root of the worktree, such as src/main.rs");
        let why = text("why you want this, for the person who may be asked");
        let (properties, required) = match self {
            Self::ReadFile => (
                json!({
                    "path": path,
                    "first_line": {"type": "integer", "minimum": 1,
                        "description": "where to begin; 1 unless it is given"},
                    "lines": {"type": "integer", "minimum": 1, "description": "how many lines"},
                }),
                json!(["path"]),
            ),
            Self::List => {
                (json!({"path": text("the folder; the root unless it is given")}), json!([]))
            }
            Self::Search => (
                json!({"text": text("what to find"), "path": text("the folder to look in")}),
                json!(["text"]),
            ),
            Self::WriteFile => (
                json!({
                    "path": path,
                    "content": text("the whole content of the file"),
                    "executable": {"type": "boolean", "description": "whether it may be run"},
                    "why": why,
                }),
                json!(["path", "content"]),
            ),
            Self::ApplyPatch => {
                (json!({"patch": text("the unified diff"), "why": why}), json!(["patch"]))
            }
            Self::RunCommand => (
                json!({
                    "command": text("the line for bash"),
                    "timeout_seconds": {"type": "integer", "minimum": 1,
                        "maximum": MOST_COMMAND_SECONDS,
                        "description": "how long it may take; 60 unless it is given"},
                    "why": why,
                }),
                json!(["command"]),
            ),
        };
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    }
}

/// Does what needs no process.
pub(super) fn at_desk(desk: &Path, args: &Args) -> Made {
    let beneath = match Files::beneath(desk) {
        Ok(beneath) => beneath,
        Err(error) => return files::failed(&error),
    };
    match args {
        Args::Read { path, first_line, lines } => files::read(&beneath, path, *first_line, *lines),
        Args::List { path } => files::list(&beneath, path.as_ref()),
        Args::Search { text, path } => files::search(&beneath, text, path.as_ref()),
        Args::Write { path, content, executable } => {
            files::write(&beneath, path, content, *executable)
        }
        Args::Patch { patch } => match patch::apply(patch.as_bytes(), &beneath) {
            Ok(changes) => files::change(&beneath, &changes),
            Err(why) => Made::failed("does_not_apply", &why),
        },
        Args::Run { .. } => Made::failed("failed", "a command needs a process"),
    }
}

/// The names of all tools.
#[must_use]
pub fn names() -> Vec<&'static str> {
    Tool::ALL.iter().map(|tool| tool.name()).collect()
}

/// The tools that an agent is given, as its model is told of them.
#[must_use]
pub fn schemas(given: &Tools) -> Vec<ToolSchema> {
    let tools = Tool::ALL.into_iter().filter(|tool| given.include(tool.name()));
    let told = |tool: Tool| ToolSchema {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        args: tool.schema(),
    };
    tools.map(told).collect()
}
