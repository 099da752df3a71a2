//! `aur approvals channels`, and what a command tells over them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use aurora_engine::approvals::{Queue, Silence};
use aurora_gate::approval::digest_of;
use aurora_model::{
    Autonomy, Choice, Digest, GateKind, QuestionId, Request, Requester, Ruling, Subject, Tier,
    TimeoutRule,
};
use serde_json::{Value, json};

use crate::harness::World;
use crate::log;

/// Takes HTTP on this machine; says what it was told.
fn receiver() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let lower = line.trim().to_ascii_lowercase();
                if let Some(text) = lower.strip_prefix("content-length:") {
                    length = text.trim().parse().unwrap();
                }
                if lower.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let answer = "HTTP/1.1 204 x\r\nconnection: close\r\n\r\n";
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if tell.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (address, told)
}

fn request(id: &str) -> Request {
    let subject = Subject {
        project: "/p".to_owned(),
        run: None,
        task: None,
        agent: None,
        tool: "bash".to_owned(),
        schema: 1,
        args: json!({ "command": "git push" }),
        targets: Vec::new(),
        policy: Digest::of_bytes([0; 32]),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    };
    let timeout = TimeoutRule {
        policy: "wait".to_owned(),
        settings: json!({}),
        chosen_by: "the test".to_owned(),
    };
    Request {
        id: QuestionId::parse(id).unwrap(),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: vec![Choice::Allow, Choice::Deny],
        title: "push to main".to_owned(),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: Vec::new(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        on_no: String::new(),
        claimed: None,
        detail: None,
        requester: Requester::default(),
        ruling: Ruling {
            timeout,
            deciders: Vec::new(),
            quorum: 1,
            remind_every_s: None,
            warn_before_s: None,
        },
        parked: None,
        asked_at: log::NOW,
    }
}

/// APR-9: channels are listed with what cannot be used from here, and one can be tried.
#[test]
fn channels_are_listed_and_one_can_be_tried() {
    let (address, told) = receiver();
    let world = World::with_commit();
    let none = world.run(&["approvals", "channels"]);
    assert!(none.stdout.contains("nobody is told"), "{}", none.stdout);
    world.write(
        "repo/.aurora/approvals.yaml",
        &format!(
            "notify:\n  - {{name: team, kind: slack, to: 'http://{address}/x'}}\n  - {{name: ops, kind: webhook, to: 'http://{address}/', secret_env: AURORA_HOOK}}\n"
        ),
    );
    let listed = world.run(&["approvals", "channels"]).stdout;
    assert_eq!(
        listed,
        "team  slack  from low: asked, reminded, warned, escalated, timed_out,\n  outcome_unknown\n\
         ops  webhook  from low: asked, reminded, warned, escalated, timed_out,\n  outcome_unknown\n  \
         not from here: the variable AURORA_HOOK is not set\n"
    );
    let tried = world.run(&["approvals", "channels", "--test", "team"]);
    assert_eq!((tried.code, tried.stdout.as_str()), (Some(0), "the test over team arrived\n"));
    let said = told.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(said["text"], "*test*: `the channel team works`");
    let failed = world.run(&["approvals", "channels", "--test", "ops"]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stderr.contains("AURORA_HOOK is not set"), "{}", failed.stderr);
    let unknown = world.run(&["approvals", "channels", "--test", "taem"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean `team`?"), "{}", unknown.stderr);
}

/// APR-9: a decision that is made by a command is told, from that command.
#[test]
fn a_decision_by_command_is_told() {
    let (address, told) = receiver();
    let world = World::with_commit();
    let store = log::store(&world);
    let queue = Queue::new(Arc::clone(&store), Arc::new(Silence), || log::NOW);
    log::wait(queue.open(&request("r1"))).unwrap();
    world.write(
        "repo/.aurora/approvals.yaml",
        &format!(
            "notify:\n  - {{name: team, kind: slack, to: 'http://{address}/x', on: decided}}\n"
        ),
    );
    let decided = world.run(&["approvals", "deny", "r1", "--reason", "not today"]);
    assert_eq!(decided.code, Some(0), "{}", decided.stderr);
    let said = told.recv_timeout(Duration::from_secs(10)).unwrap();
    let text = said["text"].as_str().unwrap();
    assert!(text.starts_with("*denied by "), "{text}");
    assert!(text.ends_with(" (high)*: `push to main`"), "{text}");
    assert_eq!(log::wait(store.next_outgoing()).unwrap(), None);
}

/// APR-9: what a run asks has left before the run's process ends, when the receiver is there.
#[test]
fn what_a_run_asks_is_told_before_its_process_ends() {
    for _ in 0..3 {
        let (address, told) = receiver();
        let world = World::with_commit();
        world.write(
            "repo/.aurora/approvals.yaml",
            &format!("notify:\n  - {{name: ops, kind: slack, to: 'http://{address}/x'}}\n"),
        );
        world.write("repo/.aurora/scenario.yaml", "default: [{say: done}]\n");
        world.write(
            "repo/.aurora/agents.yaml",
            "agents: [{id: worker, provider: scripted, scenario: scenario.yaml}]\n",
        );
        world.write("tasks.md", "# Go on\n\n- [ ] Go on\n");
        let run = world.run(&["spawn", "../tasks.md", "--json"]);
        let said = told.try_recv().unwrap_or_else(|_| panic!("nothing was told: {run:?}"));
        assert!(said["text"].is_string(), "{said}");
    }
}
