//! A log with many requests in it, as runs leave them: each has a call that waits, a timer, and a parked
//! conversation kept beside the log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use aurora_engine::approvals::{Queue, Saying, Silence};
use aurora_gate::approval::digest_of;
use aurora_gate::approval::options::options_for;
use aurora_model::{
    ActionType, AgentName, Answer, Autonomy, Choice, Decider, DeciderKind, Digest, GateKind,
    Operation, QuestionId, Reason, Request, Requester, Ruling, RunId, Span, Subject, Surface,
    Target, TaskId, Tier, TimeoutRule, Timestamp,
};
use aurora_store::{Settings, SqliteStore};
use serde_json::json;

use super::Outcome;

/// How many requests are put into the queue at once when the log is made.
const TOGETHER: u64 = 200;
/// How long a conversation of 10 MB is, in messages of 100 KB.
const MESSAGES: usize = 100;

/// The clock of the bench goes ahead of the world's by so many milliseconds.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// The time.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let unix_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    Timestamp { unix_ms: unix_ms + AHEAD.load(Ordering::Relaxed) }
}

/// Lets time pass.
pub fn days_pass(days: i64) {
    AHEAD.fetch_add(days * 86_400_000, Ordering::Relaxed);
}

/// How large the conversation of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// 1 KB, as half of them have.
    Small,
    /// 10 MB.
    Large,
    /// None: a question of a run.
    None,
}

impl Size {
    /// The size for a request.
    pub const fn of(n: u64) -> Self {
        match n % 4 {
            0 | 2 => Self::Small,
            1 => Self::Large,
            _ => Self::None,
        }
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "1 KB",
            Self::Large => "10 MB",
            Self::None => "none",
        }
    }

    /// In bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Small => 1000,
            Self::Large => 10_000_000,
            Self::None => 0,
        }
    }
}

/// Opens the log.
pub fn open(folder: &Path) -> Outcome<Queue> {
    let store = SqliteStore::open(Settings::within(folder)).map_err(|error| error.to_string())?;
    Ok(Queue::new(Arc::new(store), Arc::new(Silence), now))
}

/// The digests of the two conversations.
pub struct Parked {
    small: Digest,
    large: Digest,
}

impl Parked {
    /// Keeps them beside the log: each message its own bytes, and a list of their names.
    pub async fn keep(queue: &Queue) -> Outcome<Self> {
        let small = Self::one(queue, 1, Size::Small.bytes()).await?;
        let large = Self::one(queue, MESSAGES, Size::Large.bytes() / MESSAGES).await?;
        Ok(Self { small, large })
    }

    async fn one(queue: &Queue, messages: usize, bytes: usize) -> Outcome<Digest> {
        let mut names = Vec::new();
        for n in 0..messages {
            let text = format!("{n:08}").repeat(bytes / 8);
            let put = queue.store().put(text.into_bytes()).await;
            names.push(put.map_err(|error| error.to_string())?);
        }
        let manifest = serde_json::to_vec(&names).map_err(|error| error.to_string())?;
        queue.store().put(manifest).await.map_err(|error| error.to_string())
    }

    const fn of(&self, n: u64) -> Option<&Digest> {
        match Size::of(n) {
            Size::Small => Some(&self.small),
            Size::Large => Some(&self.large),
            Size::None => None,
        }
    }
}

/// Reads a conversation whole, and says how long it is.
pub async fn read(queue: &Queue, manifest: &Digest) -> Outcome<usize> {
    let store = queue.store();
    let bytes = store.get(manifest).await.map_err(|error| error.to_string())?;
    let names: Vec<Digest> = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let mut length = 0;
    for name in &names {
        length += store.get(name).await.map_err(|error| error.to_string())?.len();
    }
    Ok(length)
}

/// Puts so many requests into the queue.
pub async fn fill(queue: &Queue, requests: u64) -> Outcome<()> {
    let parked = Parked::keep(queue).await?;
    let mut next = 0;
    while next < requests {
        let end = (next + TOGETHER).min(requests);
        let some = (next..end).map(|n| {
            let request = request(n, parked.of(n).cloned())?;
            queue.opening(&request).map_err(|error| error.to_string())
        });
        let some = some.collect::<Outcome<Vec<_>>>()?;
        queue.store().append_all(some).await.map_err(|error| error.to_string())?;
        next = end;
    }
    Ok(())
}

/// The name of a request.
pub fn id(n: u64) -> Outcome<QuestionId> {
    let name = format!("spawn-{}.q{}", 1_705_234_567 + n / 20, n % 20);
    QuestionId::parse(&name).ok_or_else(|| format!("{name} is no name"))
}

fn subject(n: u64) -> Outcome<Subject> {
    let script = "for service in api worker web; do docker compose restart \"$service\" && \
        ./scripts/wait-until-healthy \"$service\" --timeout 120; done";
    let policy = digest_of_text("policy")?;
    let target = |file: usize| {
        let path = format!("services/checkout/migrations/{:04}_{file}.sql", n % 10_000);
        digest_of_text(&path).map(|content| Target::Path { path, content: Some(content) })
    };
    Ok(Subject {
        project: "/home/ada/projects/shop".to_owned(),
        run: RunId::parse(&format!("spawn-{}", 1_705_234_567 + n / 20)),
        task: TaskId::parse(&format!("sg-{}", n % 20)),
        agent: AgentName::parse("claude"),
        tool: "shell".to_owned(),
        schema: 1,
        args: json!({ "command": format!("{script} # {n}"), "cwd": "services/checkout" }),
        targets: (0..4).map(target).collect::<Outcome<_>>()?,
        policy,
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    })
}

/// A request of about two kilobytes.
fn request(n: u64, parked: Option<Digest>) -> Outcome<Request> {
    let subject = subject(n)?;
    let reason = |rule: &str| Reason {
        answer: Answer::Ask,
        operation: Operation::OpaqueExec,
        rule: rule.to_owned(),
        message: "restarts what other people use, and nothing says that it comes back".to_owned(),
        span: Span { start: 0, end: 90 },
        instead: Some("restart one service, and look at it before the next".to_owned()),
        origin: ".aurora/policies.yaml:12:5".to_owned(),
    };
    Ok(Request {
        id: id(n)?,
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: options_for(GateKind::Operation).to_vec(),
        title: "restart three services in a loop".to_owned(),
        reasons: vec![reason("rules.restarts"), reason("safety.network")],
        effects: vec![
            "runs `docker compose restart`, which cannot be seen beforehand".to_owned();
            3
        ],
        actions: ActionType::parse("infra:restart").into_iter().collect(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        on_no: "the model is told that it may not, and looks for another way".to_owned(),
        claimed: Some("the services hold stale connections after the migration".to_owned()),
        detail: None,
        requester: Requester { agent: AgentName::parse("claude"), role: None, person: None },
        ruling: Ruling {
            timeout: TimeoutRule {
                policy: "deny".to_owned(),
                settings: json!({ "timeout_s": 14_400 + n }),
                chosen_by: "built-in defaults".to_owned(),
            },
            deciders: Vec::new(),
            quorum: 1,
            remind_every_s: None,
            warn_before_s: None,
        },
        parked,
        asked_at: now(),
    })
}

/// A person's yes to a request.
pub fn yes(n: u64) -> Outcome<Saying> {
    Ok(Saying {
        choice: Choice::Allow,
        by: Decider {
            name: "ada".to_owned(),
            kind: DeciderKind::Person,
            roles: Vec::new(),
            surface: Surface::Command,
        },
        seen: digest_of(&subject(n)?),
        policy: digest_of_text("policy")?,
        reason: Some("seen, go on".to_owned()),
    })
}

fn digest_of_text(text: &str) -> Outcome<Digest> {
    let sum = text.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let name = format!("{sum:016x}").repeat(4);
    Digest::parse(&name).ok_or_else(|| format!("{name} is no digest"))
}
