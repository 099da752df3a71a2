//! Pages of the queue: everything is on one of them, once, whatever is asked for.

use std::sync::Arc;

use aurora_engine::approvals::{Filter, Queue, Silence};
use aurora_gate::approval::{Command, digest_of};
use aurora_model::{
    AgentName, Autonomy, Choice, Digest, GateKind, QuestionId, Request, Requester, Ruling, RunId,
    Subject, Tier, TimeoutRule, Timestamp,
};
use aurora_store::MemoryStore;

/// More than are read at once, so that what is found rarely is found behind them.
const MANY: usize = 600;

fn request(n: usize) -> Request {
    let digest = Digest::parse(&"b".repeat(64)).unwrap();
    let subject = Subject {
        project: "/home/ada/shop".to_owned(),
        run: RunId::parse(&format!("run-{}", n / 100)),
        task: None,
        agent: AgentName::parse("claude"),
        tool: "shell".to_owned(),
        schema: 1,
        args: serde_json::json!({ "command": format!("make {n}") }),
        targets: Vec::new(),
        policy: digest,
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    };
    let timeout = TimeoutRule {
        policy: "wait".to_owned(),
        settings: serde_json::Value::Null,
        chosen_by: "a test".to_owned(),
    };
    Request {
        id: QuestionId::parse(&format!("run-{}.q{n}", n / 100)).unwrap(),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: vec![Choice::Allow, Choice::Deny],
        title: format!("run make {n}"),
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
        asked_at: Timestamp { unix_ms: 1_772_728_099_503 },
    }
}

async fn names(queue: &Queue, filter: &Filter, limit: usize) -> (Vec<String>, usize) {
    let (mut all, mut after, mut pages) = (Vec::new(), 0, 0);
    loop {
        let page = queue.list(filter, after, limit).await.unwrap();
        pages += 1;
        assert!(page.requests.len() <= limit);
        all.extend(page.requests.iter().map(|one| one.request.id.to_string()));
        match page.next {
            Some(next) => after = next,
            None => return (all, pages),
        }
    }
}

// APR-6: a queue of any length is shown page by page, in the order of asking.
#[tokio::test]
async fn every_request_is_on_one_page_in_the_order_of_asking() {
    let now = || Timestamp { unix_ms: 1_772_728_100_000 };
    let queue = Queue::new(Arc::new(MemoryStore::new()), Arc::new(Silence), now);
    for n in 0..MANY {
        queue.open(&request(n)).await.unwrap();
    }
    let reason = "nobody needs it".to_owned();
    let cancel = Command::Cancel { reason };
    queue.tell(&request(7).id, &cancel).await.unwrap();
    let wanted: Vec<String> =
        (0..MANY).filter(|n| *n != 7).map(|n| request(n).id.to_string()).collect();
    for limit in [1, 50, 256, 599, 5_000] {
        let (found, pages) = names(&queue, &Filter::default(), limit).await;
        assert_eq!(found, wanted, "{limit}");
        assert!(pages <= wanted.len() / limit + 1, "{pages} pages of {limit}");
    }
    let rare = Filter { run: Some("run-5".to_owned()), ..Filter::default() };
    for limit in [1, 50, 100, 101] {
        let (found, pages) = names(&queue, &rare, limit).await;
        assert_eq!(found, wanted[499..], "{limit}");
        assert!(pages <= 100 / limit + 1, "{pages} pages of {limit}");
    }
    let none = Filter { agent: Some("nobody".to_owned()), ..Filter::default() };
    assert_eq!(names(&queue, &none, 50).await, (Vec::new(), 1));
}
