//! What every agent can be asked: `Agent`, with one contract suite for all of them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use aurora_model::{AgentName, Cost};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::Result;
use crate::talk::{Converser, Tools};

/// How far an agent can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holding {
    /// Only the watchdog, checkpoints and rollback bind it.
    Observed,
    /// It runs its own tools, where nothing reaches the real worktree before it was judged.
    Contained,
    /// Every action waits for our answer.
    Asks,
}

/// What an agent can do, as far as it is known before it is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent yes or no of the spec")]
pub struct Capabilities {
    /// It changes files itself.
    pub edits_files: bool,
    /// It can be told to pause and go on.
    pub pause_resume: bool,
    /// It takes messages while it works.
    pub messages: bool,
    /// It confirms messages.
    pub acknowledges: bool,
    /// It says what a call cost.
    pub reports_cost: bool,
    /// How far it can be held.
    pub holding: Holding,
}

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The name of the attempt, such as `spawn-1/sg-3/2`.
    pub name: String,
    /// What is to be done, with everything that the agent must know.
    pub prompt: String,
    /// The task's title, in one line.
    pub title: String,
    /// The task's name within its run.
    pub task: String,
    /// Which attempt it is, counted from 1.
    pub attempt: u32,
    /// The role to play, where one was asked for that nobody has.
    pub role: Option<String>,
    /// The folder in which the agent works, as it will see it.
    pub cwd: String,
    /// How many seconds it has.
    pub timeout_seconds: u64,
}

/// A process that must be started for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables that the agent gets besides those of the allow-list.
    pub env: BTreeMap<String, String>,
    /// Names of variables of ours that it gets too, where we have them.
    pub pass_env: Vec<String>,
}

/// How a job begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A process is needed; its pipes are handed to `attend`.
    Process(Launch),
    /// Nothing is needed.
    Call,
}

/// The pipes of a process that was started for a job.
pub struct Pipes {
    /// To the process.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// From the process.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// From the process, for people.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    /// How the process ended; it comes after the last byte.
    pub ended: Pin<Box<dyn Future<Output = Ended> + Send>>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
    /// Nobody knows.
    Lost,
}

/// Something heard from an agent while it works.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A line of what it says, for people.
    Said(String),
    /// A line of its error output, for people.
    Complained(String),
    /// It calls one of its own tools.
    Tool {
        /// The tool's name.
        name: String,
        /// The arguments.
        args: serde_json::Value,
    },
    /// What it has cost so far.
    Spent(Cost),
}

/// A call that an agent wants to make by itself, and about which it asks first.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// The agent's own name for the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: serde_json::Value,
}

/// Whether an agent may make a call by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Permission {
    /// Yes, with exactly these arguments.
    Allow {
        /// The arguments.
        args: serde_json::Value,
    },
    /// No.
    Deny {
        /// Why, for the agent.
        message: String,
        /// Whether it should end what it is doing altogether.
        interrupt: bool,
    },
}

/// What came of a call that an agent made by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The agent's own name for the call.
    pub call: String,
    /// Whether it failed.
    pub failed: bool,
    /// What the agent was told, in one line, cut.
    pub told: String,
}

/// Who hears what an agent says. It must not block.
pub trait Listener: Send + Sync {
    /// Hears something.
    fn hear(&self, heard: Heard);

    /// Says whether an agent may make a call, and takes its time: the agent waits. Dropping the future
    /// takes the question back. Where nobody can be asked, it is a no.
    fn may<'a>(&'a self, wish: Wish) -> Pin<Box<dyn Future<Output = Permission> + Send + 'a>> {
        let message = format!("nobody is here who could allow {}", wish.tool);
        Box::pin(async { Permission::Deny { message, interrupt: false } })
    }

    /// Hears what came of a call that was allowed.
    fn made(&self, made: Made) {
        let _ = made;
    }
}

/// What came of a job. An agent that failed is a report too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether the agent says that it did it.
    pub success: bool,
    /// What it said at the end, or what went wrong.
    pub summary: String,
    /// What it cost.
    pub cost: Cost,
    /// Everything that it said, as it was, capped; bytes that are no text stay as they are.
    pub transcript: Vec<u8>,
}

/// A model that works with our tools: whoever drives it makes its calls.
#[derive(Clone, Copy)]
pub struct Talker<'a> {
    /// Whoever is conversed with.
    pub model: &'a dyn Converser,
    /// The tools that it is given.
    pub tools: &'a Tools,
}

/// An agent or a model that does jobs.
pub trait Agent: Send + Sync {
    /// Its name in the settings.
    fn name(&self) -> &AgentName;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// What a job would cost, where that can be said; it is reserved before the job begins.
    fn estimate(&self, job: &Job) -> Cost;

    /// How a job begins.
    ///
    /// # Errors
    /// When the settings do not allow it.
    fn start(&self, job: &Job) -> Result<Start>;

    /// With whom to converse in place of `attend`, where the agent works with our tools.
    fn talker(&self) -> Option<Talker<'_>> {
        None
    }

    /// Does the job and says what came of it. Pipes are there when `start` asked for a process.
    /// Dropping the future ends it; ending the process is the caller's part.
    fn attend<'a>(
        &'a self,
        job: &'a Job,
        pipes: Option<Pipes>,
        listener: &'a dyn Listener,
    ) -> Pin<Box<dyn Future<Output = Result<Report>> + Send + 'a>>;
}
