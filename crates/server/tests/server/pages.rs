//! Lists: pages that hang together, filters, and everything that is only passed on.

use aurora_engine::people::TokenKind;
use aurora_model::{GateKind, QuestionId, Tier};
use serde_json::{Value, json};

use crate::harness::{World, block, pass_ms};

async fn walk(world: &World, token: &str, path: &str, field: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut next = String::new();
    loop {
        let got = world.get(&format!("{path}{next}"), token).await;
        assert_eq!(got.status, 200, "{path}{next}: {got:?}");
        let told = got.json();
        found.extend(told[field].as_array().unwrap().iter().cloned());
        match told["next"].as_str() {
            Some(cursor) => next = format!("&after={cursor}"),
            None => return found,
        }
    }
}

// APR-1
#[test]
fn pages_of_the_queue_hang_together_and_filters_take_what_they_say() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for number in 0..25 {
            let id = QuestionId::parse(&format!("q-{number:02}")).unwrap();
            world
                .ask(|request| {
                    request.id = id;
                    request.tier = if number % 5 == 0 { Tier::Critical } else { Tier::Low };
                    let preview = number % 2 == 1;
                    request.gate = if preview { GateKind::Preview } else { GateKind::Operation };
                })
                .await;
        }
        let all = walk(&world, &ana, "/api/v1/approvals?limit=4", "approvals").await;
        let names: Vec<&str> = all.iter().map(|one| one["approval_id"].as_str().unwrap()).collect();
        let expected: Vec<String> = (0..25).map(|number| format!("q-{number:02}")).collect();
        assert_eq!(names, expected);
        let count = |query: &'static str| {
            let (world, ana) = (&world, &ana);
            async move {
                walk(world, ana, &format!("/api/v1/approvals?limit=3{query}"), "approvals")
                    .await
                    .len()
            }
        };
        assert_eq!(count("&tier=critical").await, 5);
        assert_eq!(count("&tier=low").await, 25, "at least so dangerous");
        assert_eq!(count("&gate=preview").await, 12);
        assert_eq!(count("&run=spawn-1").await, 25);
        assert_eq!(count("&agent=codex").await, 0);
        assert_eq!(count("&state=approved").await, 0);
        let parked = walk(&world, &ana, "/api/v1/parked?limit=500", "agents").await;
        assert_eq!((&parked[0]["agent"], &parked[0]["count"]), (&json!("claude"), &json!(13)));
    });
}

// APR-1
#[test]
fn parameters_that_make_no_sense_are_malformed() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for query in [
            "limit=0",
            "limit=501",
            "limit=-1",
            "limit=x",
            "limit=1&limit=2",
            "limit=+5",
            "after=",
            "after=x",
            "after=lff",
            "state=open",
            "tier=HIGH",
            "gate=",
            "run=..%2Fetc",
            "nope=1",
            "agent=%00",
            "run=%ff",
        ] {
            let got = world.get(&format!("/api/v1/approvals?{query}"), &ana).await;
            assert_eq!((got.status, got.problem().as_str()), (400, "malformed"), "{query}");
        }
        let got = world.get("/api/v1/approvals/%ff", &ana).await;
        assert_eq!(got.status, 404);
    });
}

// OBS-1
#[test]
fn the_log_is_read_in_pages_and_verified() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for number in 0..7 {
            let id = QuestionId::parse(&format!("q-{number}")).unwrap();
            world.ask(|request| request.id = id).await;
        }
        let all = walk(&world, &ana, "/api/v1/audit?limit=3", "records").await;
        let positions: Vec<u64> = all.iter().map(|one| one["position"].as_u64().unwrap()).collect();
        assert_eq!(positions, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(all[1]["payload"]["request"]["id"], "q-0", "the payload is JSON, not text");
        let only = walk(&world, &ana, "/api/v1/audit?limit=1&kind=token_created", "records").await;
        assert_eq!(only.len(), 1);
        let one =
            walk(&world, &ana, "/api/v1/audit?limit=1&stream=approval%2Fq-3", "records").await;
        assert_eq!((one.len(), &one[0]["stream"]), (1, &json!("approval/q-3")));
        let told = world.get("/api/v1/audit/verify", &ana).await.json();
        assert_eq!((&told["whole"], &told["records"]), (&json!(true), &json!(8)));
    });
}

// OBS-2
#[test]
fn what_each_person_says_and_how_fast_is_counted_for_a_bounded_number_of_people() {
    block(async {
        let world = World::new();
        let reader = world.token("prometheus", &[], TokenKind::Service).await;
        let say = async |number: usize, token: &str, decision: &str, after_ms: i64, quorum: u32| {
            let id = format!("q-{number}");
            let standing = world
                .ask(|request| {
                    request.id = QuestionId::parse(&id).unwrap();
                    request.ruling.quorum = quorum;
                })
                .await;
            pass_ms(after_ms);
            let body = json!({"digest": standing.request.digest, "decision": decision});
            assert_eq!(world.decide(&id, token, body).await.status, 200);
        };
        let ana = world.person("ana").await;
        let bob = world.person("bob \"b\"").await;
        say(0, &ana, "approve", 1500, 1).await;
        say(1, &ana, "approve", 2500, 1).await;
        say(2, &ana, "deny", 30_000, 1).await;
        // A vote is something that a person said, and decides nothing yet.
        say(3, &bob, "approve", 1000, 2).await;
        let text = world.get("/metrics", &reader).await.text;
        for line in [
            "aurora_person_decisions_total{person=\"ana\",outcome=\"approved\"} 2",
            "aurora_person_decisions_total{person=\"ana\",outcome=\"denied\"} 1",
            "aurora_person_decision_seconds_bucket{person=\"ana\",le=\"2\"} 1",
            "aurora_person_decision_seconds_bucket{person=\"ana\",le=\"10\"} 2",
            "aurora_person_decision_seconds_bucket{person=\"ana\",le=\"+Inf\"} 3",
            "aurora_person_decision_seconds_sum{person=\"ana\"} 34.000",
            "aurora_person_decision_seconds_count{person=\"ana\"} 3",
            "aurora_person_decisions_total{person=\"bob \\\"b\\\"\",outcome=\"approved\"} 1",
            "aurora_approval_decision_seconds_count 3",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
        }
        for number in 4..120 {
            let token = world.person(&format!("p-{number}")).await;
            say(number, &token, "deny", 0, 1).await;
        }
        let text = world.get("/metrics", &reader).await.text;
        let people = text.lines().filter(|line| line.contains("person_decision_seconds_count"));
        assert_eq!(people.count(), 101, "a hundred by name, the others together");
        let others = "aurora_person_decisions_total{person=\"(others)\",outcome=\"denied\"} 18\n";
        assert!(text.contains(others), "{text}");
    });
}

// OBS-2
#[test]
fn what_happened_is_counted_once() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let standing = world.ask(|_| {}).await;
        let text = world.get("/metrics", &ana).await.text;
        assert!(text.contains("aurora_approvals{state=\"pending\",tier=\"high\"} 1\n"), "{text}");
        let body = json!({"digest": standing.request.digest, "decision": "deny"});
        assert_eq!(world.decide("spawn-1.q1", &ana, body).await.status, 200);
        for _ in 0..2 {
            let text = world.get("/metrics", &ana).await.text;
            for line in [
                "aurora_approvals{state=\"pending\",tier=\"high\"} 0",
                "aurora_approvals{state=\"denied\",tier=\"high\"} 1",
                "aurora_approval_decisions_total{outcome=\"denied\",surface=\"http\"} 1",
                "aurora_approval_decision_seconds_count 1",
                "aurora_log_position 3",
            ] {
                assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
            }
        }
        let id = QuestionId::parse("again").unwrap();
        world.ask(|request| request.id = id).await;
        let told = world.get("/api/v1/approvals/again", &ana).await.json();
        assert_eq!(told["precedent"]["denied"], 1, "the like was denied once");
    });
}

// WEB
#[test]
fn checkpoints_policies_and_agents_are_passed_on() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let all = walk(&world, &ana, "/api/v1/checkpoints?limit=2", "checkpoints").await;
        let names: Vec<&str> =
            all.iter().map(|one| one["checkpoint_id"].as_str().unwrap()).collect();
        assert_eq!(names, ["ckpt-005", "ckpt-004", "ckpt-003", "ckpt-002", "ckpt-001"]);
        assert_eq!(world.get("/api/v1/checkpoints?feature=none", &ana).await.status, 404);
        assert_eq!(world.get("/api/v1/checkpoints/ckpt-001", &ana).await.status, 200);
        assert_eq!(world.get("/api/v1/checkpoints/ckpt-009", &ana).await.status, 404);
        let told = world.get("/api/v1/policies", &ana).await.json();
        assert_eq!(told["settings"][0]["key"], "a.b");
        let check = |body: Value| world.post("/api/v1/policies/check", &ana, body);
        assert_eq!(check(json!({"command": "rm x"})).await.json()["decision"], "deny");
        assert_eq!(check(json!({"sql": "SELECT 1"})).await.json()["decision"], "allow");
        for body in [
            json!({}),
            json!({"command": "x", "sql": "y"}),
            json!({"command": []}),
            json!({"args": {}}),
            json!({"command": "x", "dialect": "postgres"}),
            json!({"command": "x", "role": "a b"}),
            json!({"command": "x", "role": null}),
        ] {
            assert_eq!(check(body.clone()).await.status, 400, "{body}");
        }
        assert_eq!(world.get("/api/v1/agents", &ana).await.json(), json!({"agents": []}));
        assert_eq!(world.get("/api/v1/runs", &ana).await.json(), json!({"runs": [], "next": null}));
        assert_eq!(world.get("/api/v1/runs/nobody", &ana).await.status, 404);
        assert_eq!(world.get("/api/v1/runs/nobody/events", &ana).await.status, 404);
    });
}
