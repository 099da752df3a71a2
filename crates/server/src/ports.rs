//! What the server needs of others and cannot see: whoever starts it gives it these.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use aurora_model::{
    Action, ActionType, AgentName, Answer, Autonomy, Digest, Reason, Ruling, RunId, Subject,
    TaskId, Tier,
};
use serde_json::Value;

/// An answer that comes later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// There is no such thing.
    NotFound {
        /// What is missing.
        what: String,
    },
    /// It was understood, and cannot be done like this.
    Refused {
        /// Why.
        why: String,
    },
    /// Something on this machine is broken, such as a settings file.
    Broken {
        /// What.
        what: String,
    },
}

/// Everything that the server is given.
#[derive(Clone)]
pub struct Ports {
    /// Recorded states of the worktree.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// What is allowed.
    pub policies: Arc<dyn Policies>,
    /// Who works.
    pub agents: Arc<dyn Agents>,
    /// Judges a call, and says who decides it.
    pub judge: Arc<dyn Judge>,
    /// What happens after a decision.
    pub aftermath: Arc<dyn Aftermath>,
    /// Who else is on this machine.
    pub neighbours: Arc<dyn Neighbours>,
    /// What became of notifications.
    pub deliveries: Arc<dyn Deliveries>,
}

/// Recorded states of the worktree.
pub trait Checkpoints: Send + Sync {
    /// All of a feature, the oldest first; without one, of the user's own checkout.
    fn list(&self, feature: Option<String>) -> Later<'_, Vec<Value>>;

    /// Everything about one.
    fn show(&self, id: String, feature: Option<String>) -> Later<'_, Value>;
}

/// The policy that holds, as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The digest of what it says.
    pub digest: Digest,
    /// Each key with its value, origin and lock.
    pub settings: Vec<Value>,
}

/// What is allowed.
pub trait Policies: Send + Sync {
    /// The policy that holds now.
    fn effective(&self) -> Later<'_, Effective>;

    /// What it would decide about an action; nothing is done or recorded.
    fn check(&self, action: Action, role: Option<String>) -> Later<'_, Value>;

    /// The digest of the policy that holds now.
    fn digest(&self) -> Later<'_, Digest>;

    /// The roles that the settings give to a person.
    fn roles_of(&self, person: String) -> Later<'_, Vec<String>>;
}

/// Who works.
pub trait Agents: Send + Sync {
    /// What is known about each agent without starting anything.
    fn list(&self) -> Later<'_, Value>;
}

/// A call of a tool that is to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Which shape its arguments have.
    pub schema: u16,
    /// Its arguments, as they are given.
    pub args: Value,
    /// The agent that calls it.
    pub agent: Option<AgentName>,
    /// The agent's role.
    pub role: Option<String>,
    /// The run in which it is called.
    pub run: Option<RunId>,
    /// The task in which it is called.
    pub task: Option<TaskId>,
    /// The action as it was asked about before, where somebody edits it.
    pub before: Option<Box<Subject>>,
}

/// A call as it was resolved, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What a yes would authorise.
    pub subject: Subject,
    /// What policy and autonomy say.
    pub verdict: Answer,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What would happen, in words.
    pub effects: Vec<String>,
    /// What kinds of action that is.
    pub actions: Vec<ActionType>,
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// Who may decide, how many must, and what happens when nobody does.
    pub ruling: Ruling,
    /// What it is, in one line.
    pub title: String,
}

/// Judges a call, and says who decides it.
pub trait Judge: Send + Sync {
    /// The judgement; nothing is done or recorded.
    fn judge(&self, asked: Asked) -> Later<'_, Judged>;
}

/// Who else is on this machine.
pub trait Neighbours: Send + Sync {
    /// Whether the process at the other end of a connection may decide in the name of whoever
    /// started the server. A file that only a user can read, an agent of theirs can read as well.
    ///
    /// # Errors
    /// When it may not, or nobody can tell, with why.
    fn may_decide(&self, from: SocketAddr, to: SocketAddr) -> Later<'_, Result<(), String>>;

    /// Whether the process at the other end is known to be an agent's: it can have read the token of
    /// a person.
    fn is_agent(&self, from: SocketAddr, to: SocketAddr) -> Later<'_, bool>;
}

/// What became of the messages of one channel since the server began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivered {
    /// The channel.
    pub channel: String,
    /// So many arrived.
    pub delivered: u64,
    /// So many tries failed.
    pub failed: u64,
    /// So many were given up.
    pub given_up: u64,
    /// So many were pointless by the time they could have been sent.
    pub dropped: u64,
}

/// What became of notifications.
pub trait Deliveries: Send + Sync {
    /// For each channel.
    fn counted(&self) -> Vec<Delivered>;
}

/// What happens after a decision.
pub trait Aftermath: Send + Sync {
    /// Carries a decision over to whoever waits for it, as far as nobody else does. It is best
    /// effort: who waits finds the decision in the log in any case.
    fn decided(
        &self,
        id: aurora_model::QuestionId,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Nothing happens: who waits for a decision finds it in the log, and nobody is told anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Aftermath for Nothing {
    fn decided(
        &self,
        _: aurora_model::QuestionId,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }
}

impl Deliveries for Nothing {
    fn counted(&self) -> Vec<Delivered> {
        Vec::new()
    }
}
