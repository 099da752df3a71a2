//! The queue with real logs, clocks that jump, crowds, and the power going off.

mod autonomy;
mod batch;
mod clock;
mod crash;
mod crowd;
mod keeping;
mod killed;
mod refusals;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_engine::Error;
use aurora_engine::approvals::clock::Sleep;
use aurora_engine::approvals::{Clock, Queue, Saying, Silence, SystemClock};
use aurora_gate::approval::{Refused, digest_of, options_for};
use aurora_model::{
    AgentName, ApprovalEvent, ApprovalState, Autonomy, Choice, Decider, DeciderKind, Digest,
    GateKind, QuestionId, Request, Requester, Ruling, Subject, Surface, Tier, TimeoutRule,
    Timestamp,
};
use aurora_store::{MemoryStore, Settings, SqliteStore, Store};
use serde_json::{Value, json};
use tokio::sync::watch;

/// When the requests of these tests are asked: a minute before the clocks of New York go forward.
const ASKED: Timestamp = Timestamp { unix_ms: 1_772_953_140_000 };

fn at(seconds: i64) -> Timestamp {
    Timestamp { unix_ms: ASKED.unix_ms + seconds * 1000 }
}

fn id(name: &str) -> QuestionId {
    QuestionId::parse(name).unwrap()
}

fn digest(digit: char) -> Digest {
    Digest::parse(&digit.to_string().repeat(64)).unwrap()
}

fn rule(policy: &str, settings: Value) -> TimeoutRule {
    TimeoutRule { policy: policy.to_owned(), settings, chosen_by: "a test".to_owned() }
}

/// A request of claude that ends an hour after it was asked.
fn request(name: &str) -> Request {
    asked(name, ASKED, rule("deny", json!({ "timeout_s": 3600 })))
}

fn asked(name: &str, asked_at: Timestamp, timeout: TimeoutRule) -> Request {
    let subject = Subject {
        project: "/home/ada/shop".to_owned(),
        run: None,
        task: None,
        agent: AgentName::parse("claude"),
        tool: "shell".to_owned(),
        schema: 1,
        args: json!({ "command": format!("rm -r {name}") }),
        targets: Vec::new(),
        policy: digest('b'),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    };
    Request {
        id: id(name),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: options_for(GateKind::Operation).to_vec(),
        title: format!("run rm -r {name}"),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        on_no: String::new(),
        claimed: None,
        detail: None,
        requester: Requester { agent: AgentName::parse("claude"), role: None, person: None },
        ruling: Ruling {
            timeout,
            deciders: Vec::new(),
            quorum: 1,
            remind_every_s: None,
            warn_before_s: None,
        },
        parked: None,
        asked_at,
    }
}

fn person(name: &str) -> Decider {
    let kind = DeciderKind::Person;
    Decider { name: name.to_owned(), kind, roles: Vec::new(), surface: Surface::Command }
}

fn saying(request: &Request, choice: Choice, name: &str) -> Saying {
    Saying {
        choice,
        by: person(name),
        seen: request.digest.clone(),
        policy: digest('b'),
        reason: Some(format!("{name} says so")),
    }
}

/// A clock that goes when it is told to. A clone is the same clock.
#[derive(Clone)]
struct Hands(watch::Sender<Timestamp>);

impl Hands {
    fn new() -> Self {
        Self(watch::Sender::new(ASKED))
    }

    fn set(&self, seconds: i64) {
        self.0.send_replace(at(seconds));
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn sleep_until(&self, until: Timestamp) -> Sleep<'_> {
        let mut hands = self.0.subscribe();
        Box::pin(async move {
            let before = *hands.borrow_and_update();
            // Whoever sets it back wakes everybody, as the kernel does.
            let over = |now: &Timestamp| *now >= until || *now < before;
            let _ = hands.wait_for(over).await;
        })
    }
}

fn queue_by(store: Arc<dyn Store>, clock: &Hands) -> Queue {
    let clock = clock.clone();
    Queue::new(store, Arc::new(Silence), move || clock.now())
}

fn real_queue(store: Arc<dyn Store>) -> Queue {
    Queue::new(store, Arc::new(Silence), || SystemClock.now())
}

fn file(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(Settings::within(folder)).unwrap())
}

/// Runs a story on several threads of its own.
fn run<T>(story: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(story)
}

/// Runs a story with a log in memory and with one in a file.
fn on_both<F: Future<Output = ()>>(story: impl Fn(Arc<dyn Store>) -> F) {
    run(story(Arc::new(MemoryStore::new())));
    let folder = tempfile::tempdir().unwrap();
    run(story(file(folder.path())));
}

/// Waits until something is so; that it never is, is a failure.
async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}: it does not come");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn state(queue: &Queue, name: &str) -> ApprovalState {
    queue.load(&id(name)).await.unwrap().unwrap().state
}

/// What happened to a request, in words.
async fn kinds(queue: &Queue, name: &str) -> Vec<&'static str> {
    let history = queue.history(&id(name)).await.unwrap();
    history.iter().map(|(_, event): &(_, ApprovalEvent)| event.kind()).collect()
}

/// Why somebody was refused.
fn refused<T: std::fmt::Debug>(told: Result<T, Error>) -> Refused {
    match told {
        Err(Error::Request { refused, .. }) => refused,
        other => panic!("{other:?}"),
    }
}
