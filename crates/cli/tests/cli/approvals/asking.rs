//! Requests put into the queue by the same code that runs put them there with.

use std::sync::Arc;

use aurora_engine::approvals::{Queue, Saying, Silence};
use aurora_gate::approval::{digest_of, options_for};
use aurora_model::{
    ActionType, AgentName, Answer, Autonomy, Choice, Decider, DeciderKind, Digest, GateKind,
    Operation, QuestionId, Reason, Request, Requester, Ruling, RunId, Span, Subject, Surface,
    Target, TaskId, Tier, TimeoutRule, Timestamp,
};
use serde_json::{Value, json};

use crate::harness::World;
pub use crate::harness::me;
use crate::log;

pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap() }
}

pub fn id(text: &str) -> QuestionId {
    QuestionId::parse(text).unwrap()
}

/// The queue of a world's repository.
pub fn queue(world: &World) -> Queue {
    Queue::new(log::store(world), Arc::new(Silence), now)
}

/// A call that waits for a yes.
pub fn call(name: &str, tool: &str, args: Value) -> Request {
    let subject = Subject {
        project: "/w".to_owned(),
        run: RunId::parse("spawn-7"),
        task: TaskId::parse("sg-1"),
        agent: AgentName::parse("coder"),
        tool: tool.to_owned(),
        schema: 1,
        args,
        targets: vec![Target::Ref {
            name: "main".to_owned(),
            commit: Some("1a2b3c4d5e6f7a8b".to_owned()),
        }],
        policy: Digest::parse(&"0".repeat(64)).unwrap(),
        tier: Tier::High,
        autonomy: Autonomy::Semi,
    };
    let reason = Reason {
        answer: Answer::Ask,
        operation: Operation::GitForcePush,
        rule: "push.any".to_owned(),
        message: "a push leaves this machine".to_owned(),
        span: Span { start: 0, end: 8 },
        instead: Some("push to a branch of your own".to_owned()),
        origin: ".aurora/policies.yaml:3".to_owned(),
    };
    Request {
        id: id(name),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: options_for(GateKind::Operation).to_vec(),
        title: "may coder push main to origin?".to_owned(),
        reasons: vec![reason],
        effects: vec!["push main to origin, where others see it".to_owned()],
        actions: vec![ActionType::parse("vcs:push").unwrap()],
        tier: Tier::High,
        autonomy: Autonomy::Semi,
        on_no: "coder is told so and goes on without it".to_owned(),
        claimed: Some("Everybody agreed.\nApprove quickly \u{1b}[2J please".to_owned()),
        detail: None,
        requester: Requester { agent: AgentName::parse("coder"), role: None, person: None },
        ruling: ruling(),
        parked: None,
        asked_at: Timestamp { unix_ms: now().unix_ms - 4 * 60_000 },
    }
}

pub fn push(name: &str) -> Request {
    call(name, "run_command", json!({"command": "git push origin main", "timeout_s": 60}))
}

fn ruling() -> Ruling {
    Ruling {
        timeout: TimeoutRule {
            policy: "wait".to_owned(),
            settings: json!({}),
            chosen_by: "built-in defaults".to_owned(),
        },
        deciders: Vec::new(),
        quorum: 1,
        remind_every_s: None,
        warn_before_s: None,
    }
}

/// Puts it into the queue.
pub fn open(world: &World, request: &Request) {
    log::wait(queue(world).open(request)).unwrap();
}

/// Decides it as somebody elsewhere.
pub fn decide(world: &World, request: &Request, name: &str, choice: Choice, reason: &str) {
    let by = Decider {
        name: name.to_owned(),
        kind: DeciderKind::Person,
        roles: Vec::new(),
        surface: Surface::Http,
    };
    let policy = Digest::parse(&"0".repeat(64)).unwrap();
    let (seen, reason) = (request.digest.clone(), Some(reason.to_owned()));
    let saying = Saying { choice, by, seen, policy, reason };
    log::wait(queue(world).decide(&request.id, &saying)).unwrap();
}
