//! What a yes authorises changes with everything that it depends on, and with nothing else.

use std::sync::Arc;

use aurora_gate::approval::{Rules, digest_of};
use aurora_model::{
    About, AgentName, Answerer, Autonomy, Digest, FrozenCall, GateKind, Question, QuestionId,
    Surface, Target, TaskId, Tier, Timestamp,
};
use aurora_store::MemoryStore;

use super::{Registrar, decider_of, people_only};
use crate::approvals::{Queue, Silence};
use crate::machine::State;

fn registrar() -> Registrar {
    let now = || Timestamp { unix_ms: 0 };
    Registrar {
        queue: Queue::new(Arc::new(MemoryStore::default()), Arc::new(Silence), now),
        rules: Arc::new(Rules::default()),
        policy: Digest::of_bytes([1; 32]),
        project: "/w".to_owned(),
    }
}

fn call() -> FrozenCall {
    FrozenCall {
        call: "c1".to_owned(),
        agent: AgentName::parse("dev").unwrap(),
        tool: "Bash".to_owned(),
        schema: 1,
        args: serde_json::json!({ "command": "git push" }),
        targets: vec![Target::Ref { name: "main".to_owned(), commit: Some("a".to_owned()) }],
        policy: Digest::of_bytes([2; 32]),
        title: "push".to_owned(),
        reasons: Vec::new(),
        effects: vec!["main moves".to_owned()],
        actions: Vec::new(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        claimed: Some("it is safe".to_owned()),
        needs_person: false,
    }
}

fn question(call: &FrozenCall) -> Question {
    let task = TaskId::parse("a").unwrap();
    Question {
        id: QuestionId::parse("r.q1").unwrap(),
        about: About::Operation { task, call: Box::new(call.clone()) },
        options: Vec::new(),
        needs_person: false,
    }
}

// APR-3
#[test]
fn apr_3_every_field_of_a_call_is_part_of_what_is_approved_and_what_the_agent_says_is_not() {
    let (registrar, state) = (registrar(), State::default());
    let digest = |call: &FrozenCall| digest_of(&registrar.subject(&question(call), &state));
    let approved = digest(&call());
    let changes: [fn(&mut FrozenCall); 8] = [
        |call| call.agent = AgentName::parse("eve").unwrap(),
        |call| call.tool = "Write".to_owned(),
        |call| call.schema = 2,
        |call| call.args = serde_json::json!({ "command": "git push -f" }),
        |call| call.targets.clear(),
        |call| call.policy = Digest::of_bytes([3; 32]),
        |call| call.tier = Tier::Low,
        |call| call.autonomy = Autonomy::Full,
    ];
    for change in changes {
        let mut other = call();
        change(&mut other);
        assert_ne!(digest(&other), approved, "{other:?}");
    }
    let words: [fn(&mut FrozenCall); 2] = [
        |call| call.claimed = Some("trust me".to_owned()),
        |call| call.title = "another title".to_owned(),
    ];
    for change in words {
        let mut other = call();
        change(&mut other);
        assert_eq!(digest(&other), approved);
    }
}

// APR-3
#[test]
fn apr_3_a_request_says_who_asks_what_and_what_a_no_does() {
    let (registrar, state) = (registrar(), State::default());
    let request = registrar.request(&question(&call()), &state, Timestamp { unix_ms: 5 });
    assert_eq!((request.gate, request.title.as_str()), (GateKind::Operation, "push"));
    assert_eq!(request.requester.agent.unwrap().as_str(), "dev");
    assert_eq!(request.claimed.as_deref(), Some("it is safe"));
    assert_eq!(request.effects, ["main moves"]);
    assert!(request.on_no.starts_with("it is not done"));
    assert_eq!(request.digest, digest_of(&request.subject));
}

// APR-8
#[test]
fn apr_8_a_flag_is_nobody_and_gates_for_people_are_known_before_a_run_begins() {
    let by = |surface: &str| {
        let (by, surface) = ("x".to_owned(), surface.to_owned());
        decider_of(&Answerer { by, surface, reason: None }).surface
    };
    assert_eq!((by("flag"), by("terminal")), (Surface::Flag, Surface::Terminal));
    assert_eq!(by("anything else"), Surface::Command);
    let read = |text: &str| Rules::read(&[("a.yaml".to_owned(), text.to_owned())]).unwrap();
    assert_eq!(people_only(&read("")), []);
    let rules = read("people: {ana: {}}\napprovers:\n  - {when: {gate: preview}, who: ana}\n");
    assert_eq!(people_only(&rules), [GateKind::Preview]);
}
