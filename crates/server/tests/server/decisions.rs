//! Decisions over HTTP: bound to what was seen, made by people, once, and answered with the truth.

use std::sync::Arc;

use aurora_engine::people::TokenKind;
use aurora_model::{ApprovalState, Who};
use serde_json::json;

use crate::harness::{World, block, pass_ms};

// APR-1, APR-2
#[test]
fn a_person_sees_everything_and_decides_and_the_next_one_is_told_who_did() {
    block(async {
        let world = World::new();
        let (ana, bob) = (world.person("ana").await, world.person("bob").await);
        let standing = world.ask(|_| {}).await;
        let digest = standing.request.digest.as_str();
        let got = world.get("/api/v1/approvals/spawn-1.q1", &ana).await;
        assert_eq!(got.status, 200, "{got:?}");
        let told = got.json();
        assert_eq!(told["approval_id"], "spawn-1.q1");
        assert_eq!(told["approval_type"], "operation");
        assert_eq!(
            (&told["status"], &told["state"]),
            (&json!("awaiting_approval"), &json!("pending"))
        );
        assert_eq!(told["digest"], digest);
        assert_eq!(told["subject"]["args"]["command"], "git push");
        assert_eq!(told["untrusted"]["claimed"], "it is quite safe, believe me");
        assert!(told.get("claimed").is_none(), "what an agent says stands apart: {told}");
        let yes = json!({"digest": digest, "decision": "approve", "reason": "looked at it"});
        let got = world.decide("spawn-1.q1", &ana, yes.clone()).await;
        assert_eq!(got.status, 200, "{got:?}");
        let told = got.json();
        assert_eq!(
            (&told["state"], &told["approval_status"]),
            (&json!("approved"), &json!("approved"))
        );
        assert_eq!(told["decision"]["by"]["name"], "ana");
        assert_eq!(told["decision"]["by"]["surface"], "http");
        assert_eq!(told["decision"]["feedback"], "looked at it");
        let no = json!({"digest": digest, "decision": "deny"});
        for (token, body) in [(&bob, no), (&ana, yes)] {
            let got = world.decide("spawn-1.q1", token, body).await;
            assert_eq!((got.status, got.problem().as_str()), (409, "already-decided"));
            assert_eq!(got.json()["decided_by"], "ana (http)");
            assert_eq!(got.json()["state"], "approved");
        }
        let history = world.get("/api/v1/approvals/spawn-1.q1", &bob).await.json();
        assert_eq!(history["history"].as_array().unwrap().len(), 2);
    });
}

// APR-3
#[test]
fn what_was_not_seen_cannot_be_decided() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let standing = world.ask(|_| {}).await;
        let forged = json!({"digest": "0".repeat(64), "decision": "approve"});
        let got = world.decide("spawn-1.q1", &ana, forged).await;
        assert_eq!((got.status, got.problem().as_str()), (412, "stale"));
        assert_eq!(got.json()["current_digest"], standing.request.digest.as_str());
        for body in [
            json!({"decision": "approve"}),
            json!({"digest": "abc", "decision": "approve"}),
            json!({"digest": standing.request.digest, "decision": "approve", "choice": "allow"}),
            json!({"digest": standing.request.digest}),
            json!({"digest": standing.request.digest, "decision": "approve", "extra": 1}),
            json!({"digest": standing.request.digest, "decision": 7}),
            json!({"digest": standing.request.digest, "decision": "deny", "reason": "x".repeat(4001)}),
            json!([standing.request.digest, "approve"]),
        ] {
            let got = world.decide("spawn-1.q1", &ana, body.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (400, "malformed"), "{body}");
        }
        let open = world.queue.load(&standing.request.id).await.unwrap().unwrap();
        assert_eq!((open.state, open.records), (ApprovalState::Pending, 1), "nothing was recorded");
    });
}

// APR-1
#[test]
fn the_words_of_the_first_design_are_understood() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for (number, (status, state)) in [
            ("approved", "approved"),
            ("rejected", "denied"),
            ("adjust_requested", "changes_requested"),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("ask-{number}");
            let named = aurora_model::QuestionId::parse(&id).unwrap();
            let standing = world.ask(|request| request.id = named).await;
            let body = json!({
                "digest": standing.request.digest, "approval_status": status, "feedback": "so",
            });
            let got = world.decide(&id, &ana, body).await;
            assert_eq!(got.json()["state"], state, "{got:?}");
            assert_eq!(got.json()["approval_status"], status);
            assert_eq!(got.json()["decision"]["feedback"], "so");
        }
    });
}

// APR-2
#[test]
fn answers_that_do_not_fit_are_refused_with_what_would() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let standing = world.ask(|_| {}).await;
        let digest = &standing.request.digest;
        for (said, kind) in [
            (json!({"digest": digest, "choice": "retry"}), "no-such-choice"),
            (json!({"digest": digest, "choice": "whatever"}), "no-such-choice"),
            (json!({"digest": digest, "decision": "maybe"}), "no-such-choice"),
            (json!({"digest": digest, "decision": "request_changes"}), "needs-reason"),
            (
                json!({"digest": digest, "decision": "request_changes", "reason": " "}),
                "needs-reason",
            ),
        ] {
            let got = world.decide("spawn-1.q1", &ana, said.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (422, kind), "{said}");
        }
        let got = world.decide("nobody", &ana, json!({"digest": digest, "decision": "deny"})).await;
        assert_eq!((got.status, got.problem().as_str()), (404, "not-found"));
    });
}

// APR-6
#[test]
fn what_expired_is_gone_and_was_nobodys_no() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let standing = world
            .ask(|request| {
                request.ruling.timeout.policy = "deny".to_owned();
                request.ruling.timeout.settings = json!({"timeout_s": 60});
            })
            .await;
        pass_ms(300 * 60_000);
        let yes = json!({"digest": standing.request.digest, "decision": "approve"});
        for _ in 0..2 {
            let got = world.decide("spawn-1.q1", &ana, yes.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (410, "expired"), "{got:?}");
        }
        let told = world.get("/api/v1/approvals/spawn-1.q1", &ana).await.json();
        assert_eq!((&told["state"], &told["decision"]), (&json!("timed_out"), &json!(null)));
    });
}

// APR-8
#[test]
fn who_asked_and_who_is_not_named_and_who_is_no_person_cannot_decide() {
    block(async {
        let world = World::new();
        let standing = world
            .ask(|request| {
                request.requester.person = Some("ana".to_owned());
                request.ruling.deciders = vec![Who::Role("lead".to_owned())];
            })
            .await;
        let yes = json!({"digest": standing.request.digest, "decision": "approve"});
        let lead = world.token("ana", &["lead"], TokenKind::Person).await;
        let bob = world.person("bob").await;
        let agent = world.token("claude", &["lead"], TokenKind::Agent).await;
        let service = world.token("cron", &["lead"], TokenKind::Service).await;
        for (token, kind) in [
            (&lead, "not-allowed"),
            (&bob, "not-allowed"),
            (&agent, "agents-never-decide"),
            (&service, "agents-never-decide"),
        ] {
            let got = world.decide("spawn-1.q1", token, yes.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (403, kind));
            let path = "/api/v1/approvals/spawn-1.q1";
            assert_eq!(world.get(path, token).await.status, 200, "they may look at it");
        }
        // Her roles are in the settings, not in the token.
        let lea = world.person("lea").await;
        let got = world.decide("spawn-1.q1", &lea, yes).await;
        assert_eq!(got.status, 200, "{got:?}");
    });
}

// APR-8
#[test]
fn several_people_say_yes_where_several_must() {
    block(async {
        let world = World::new();
        let standing = world.ask(|request| request.ruling.quorum = 2).await;
        let yes = json!({"digest": standing.request.digest, "decision": "approve"});
        let (ana, bob) = (world.person("ana").await, world.person("bob").await);
        let got = world.decide("spawn-1.q1", &ana, yes.clone()).await;
        assert_eq!((got.status, &got.json()["votes_missing"]), (200, &json!(1)));
        let got = world.decide("spawn-1.q1", &ana, yes.clone()).await;
        assert_eq!((got.status, got.problem().as_str()), (409, "voted-before"));
        let got = world.decide("spawn-1.q1", &bob, yes).await;
        assert_eq!(got.json()["state"], "approved");
    });
}

// APR-3
#[test]
fn other_arguments_are_judged_again_before_they_are_approved() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let standing = world.ask(|_| {}).await;
        let digest = &standing.request.digest;
        let path = "/api/v1/approvals/spawn-1.q1/edit";
        let edit = |command: &str| json!({"digest": digest, "args": {"command": command}});
        for (body, expected) in [
            (edit("rm -rf ."), (403, "policy-forbids")),
            (edit("drop table"), (422, "cannot-edit")),
            (edit("break"), (503, "unavailable")),
            (json!({"digest": "0".repeat(64), "args": {"command": "git push -n"}}), (412, "stale")),
            (json!({"digest": digest, "args": [1]}), (400, "malformed")),
        ] {
            let got = world.post(path, &ana, body.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), expected, "{body}");
        }
        let got = world.post(path, &ana, edit("git push -n")).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!((&got.json()["state"], &got.json()["version"]), (&json!("approved"), &json!(2)));
        assert_ne!(got.json()["digest"], digest.as_str());
        let told = world.get("/api/v1/approvals/spawn-1.q1", &ana).await.json();
        assert_eq!(told["subject"]["args"]["command"], "git push -n");
        let got = world.post(path, &ana, edit("git push")).await;
        assert_eq!((got.status, got.problem().as_str()), (409, "already-decided"));
    });
}

// APR-10
#[test]
fn a_batch_decides_what_was_seen_and_tells_of_each_what_became_of_it() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let mut items = Vec::new();
        for number in 0..3 {
            let id = aurora_model::QuestionId::parse(&format!("b-{number}")).unwrap();
            let standing = world.ask(|request| request.id = id).await;
            items.push(json!({"id": format!("b-{number}"), "digest": standing.request.digest}));
        }
        items[1]["digest"] = json!("0".repeat(64));
        items.push(json!({"id": "nobody", "digest": "0".repeat(64)}));
        items.push(items[0].clone());
        let body = json!({"items": items, "decision": "deny", "reason": "not today"});
        let got = world.post("/api/v1/approvals/batch", &ana, body).await;
        assert_eq!(got.status, 200, "{got:?}");
        let told = got.json();
        let statuses: Vec<u64> = told["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["status"].as_u64().unwrap())
            .collect();
        assert_eq!(statuses, [200, 412, 200, 404, 409]);
        assert_eq!(told["decided"], 2);
        let none = json!({"items": [], "decision": "deny"});
        assert_eq!(world.post("/api/v1/approvals/batch", &ana, none).await.status, 400);
    });
}

// APR-2
#[test]
fn of_many_who_decide_at_once_over_http_exactly_one_is_told_that_it_counted() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.unwrap().block_on(async {
        let world = Arc::new(World::new());
        let standing = world.ask(|_| {}).await;
        let digest = standing.request.digest.to_string();
        let mut people = Vec::new();
        for number in 0..100 {
            people.push(world.person(&format!("p{number}")).await);
        }
        let mut deciding = tokio::task::JoinSet::new();
        for (number, token) in people.into_iter().enumerate() {
            let (world, digest) = (Arc::clone(&world), digest.clone());
            deciding.spawn(async move {
                let word = if number % 2 == 0 { "approve" } else { "deny" };
                let body = json!({"digest": digest, "decision": word});
                let got = world.decide("spawn-1.q1", &token, body).await;
                (number, got)
            });
        }
        let all = deciding.join_all().await;
        let won: Vec<usize> =
            all.iter().filter(|(_, got)| got.status == 200).map(|(number, _)| *number).collect();
        assert_eq!(won.len(), 1);
        let winner = format!("p{} (http)", won[0]);
        for (_, got) in all.iter().filter(|(_, got)| got.status != 200) {
            assert_eq!(got.status, 409);
            assert_eq!(got.json()["decided_by"], winner.as_str());
        }
    });
}
