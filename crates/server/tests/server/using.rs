//! Using a yes over HTTP: once, by who asked, for exactly what was approved.

use aurora_engine::people::TokenKind;
use serde_json::{Value, json};

use crate::harness::{Got, World, block, policy_digest};

const PATH: &str = "/api/v1/approvals";

/// A world with a request of `claude`'s, and whoever takes part.
struct Asked {
    world: World,
    agent: String,
    ana: String,
    id: String,
    told: Value,
}

impl Asked {
    async fn new() -> Self {
        let world = World::new();
        let agent = world.token("claude", &[], TokenKind::Agent).await;
        let ana = world.person("ana").await;
        let got = world.post(PATH, &agent, call("git push")).await;
        assert_eq!(got.status, 201, "{got:?}");
        let told = got.json();
        let id = told["approval_id"].as_str().unwrap().to_owned();
        Self { world, agent, ana, id, told }
    }

    async fn approved() -> Self {
        let asked = Self::new().await;
        let yes = json!({"digest": asked.told["digest"], "decision": "approve"});
        assert_eq!(asked.world.decide(&asked.id, &asked.ana, yes).await.status, 200);
        asked
    }

    async fn post(&self, end: &str, token: &str, body: Value) -> Got {
        self.world.post(&format!("{PATH}/{}/{end}", self.id), token, body).await
    }

    /// Reserves what was asked.
    async fn reserve(&self) -> Got {
        self.post("reserve", &self.agent, self.exactly()).await
    }

    fn exactly(&self) -> Value {
        json!({"digest": self.told["digest"], "args": {"command": "git push"}})
    }

    async fn state(&self) -> Value {
        self.world.get(&format!("{PATH}/{}", self.id), &self.ana).await.json()["state"].clone()
    }
}

fn call(command: &str) -> Value {
    json!({"tool": "Bash", "args": {"command": command}})
}

fn refusal(got: &Got) -> (u16, String) {
    (got.status, got.problem())
}

fn expected(status: u16, kind: &str) -> (u16, String) {
    (status, kind.to_owned())
}

// APR-8, APR-5
#[test]
fn a_yes_is_used_once_and_what_came_of_it_is_recorded_once() {
    block(async {
        let asked = Asked::approved().await;
        let done = json!({"outcome": "executed", "summary": "pushed"});
        let early = asked.post("result", &asked.agent, done.clone()).await;
        assert_eq!(refusal(&early), expected(409, "not-reserved"));
        let got = asked.reserve().await;
        assert_eq!((got.status, &got.json()["state"]), (200, &json!("reserved")), "{got:?}");
        assert_eq!(got.json()["executor"], "claude");
        assert_eq!(got.json()["subject"]["args"], json!({"command": "git push"}));
        let again = asked.reserve().await;
        assert_eq!(refusal(&again), expected(409, "already-used"));
        assert_eq!(again.json()["state"], "reserved");
        let got = asked.post("result", &asked.agent, done.clone()).await;
        assert_eq!((got.status, &got.json()["state"]), (200, &json!("executed")), "{got:?}");
        for got in [asked.post("result", &asked.agent, done).await, asked.reserve().await] {
            assert_eq!(refusal(&got), expected(409, "already-used"));
            assert_eq!(got.json()["state"], "executed");
        }
        let history = asked.world.get(&format!("{PATH}/{}", asked.id), &asked.ana).await.json();
        let kinds: Vec<&Value> =
            history["history"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
        assert_eq!(kinds, ["requested", "decided", "reserved", "executed"]);
        assert_eq!(history["history"][3]["event"]["summary"], "pushed");
    });
}

// APR-5
#[test]
fn of_many_who_use_one_yes_at_once_one_gets_it() {
    block(async {
        let asked = std::sync::Arc::new(Asked::approved().await);
        let all: Vec<_> = (0..20)
            .map(|_| {
                let asked = std::sync::Arc::clone(&asked);
                tokio::spawn(async move { asked.reserve().await.status })
            })
            .collect();
        let mut statuses = Vec::new();
        for one in all {
            statuses.push(one.await.unwrap());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    });
}

// APR-5
#[test]
fn what_failed_or_cannot_be_told_ends_as_that() {
    block(async {
        for (outcome, state) in [("failed", "failed"), ("unknown", "outcome_unknown")] {
            let asked = Asked::approved().await;
            assert_eq!(asked.reserve().await.status, 200);
            let body = json!({"outcome": outcome, "error": "the line broke"});
            let got = asked.post("result", &asked.agent, body).await;
            assert_eq!((got.status, &got.json()["state"]), (200, &json!(state)), "{got:?}");
        }
    });
}

// APR-6
#[test]
fn what_is_not_what_was_approved_makes_the_yes_stale() {
    block(async {
        let other_digest = policy_digest();
        for (body, reason) in [
            (json!({"digest": null, "args": {"command": "git push --force"}}), "not what was"),
            (json!({"digest": other_digest, "args": {"command": "git push"}}), "not what was"),
            // It is forbidden what it would be by now.
            (json!({"digest": null, "args": {"command": "rm x"}}), "forbids"),
        ] {
            let asked = Asked::approved().await;
            let mut body = body;
            if body["digest"].is_null() {
                body["digest"] = asked.told["digest"].clone();
            }
            let got = asked.post("reserve", &asked.agent, body).await;
            assert_eq!(refusal(&got), expected(412, "stale"));
            let told = got.json();
            assert_eq!(
                (&told["state"], &told["current_digest"]),
                (&json!("stale"), &asked.told["digest"])
            );
            assert!(told["detail"].as_str().unwrap().contains(reason), "{told}");
            assert_eq!(asked.state().await, "stale");
            assert_eq!(refusal(&asked.reserve().await), expected(409, "already-decided"));
        }
    });
}

// APR-6
#[test]
fn after_an_edit_only_the_edited_call_can_be_made() {
    block(async {
        let asked = Asked::new().await;
        let edit =
            json!({"digest": asked.told["digest"], "args": {"command": "git push --dry-run"}});
        let got = asked.post("edit", &asked.ana, edit).await;
        assert_eq!(got.status, 200, "{got:?}");
        let now = got.json()["digest"].clone();
        let body = json!({"digest": now, "args": {"command": "git push --dry-run"}});
        let got = asked.post("reserve", &asked.agent, body).await;
        assert_eq!((got.status, &got.json()["state"]), (200, &json!("reserved")), "{got:?}");
    });
}

// APR-2
#[test]
fn nothing_is_used_without_a_yes_nor_by_anybody_else() {
    block(async {
        let asked = Asked::new().await;
        let done = json!({"outcome": "executed"});
        for (end, body) in [("reserve", asked.exactly()), ("result", done.clone())] {
            let got = asked.post(end, &asked.agent, body.clone()).await;
            assert_eq!(refusal(&got), expected(409, "not-approved"), "{end}");
            let path = format!("{PATH}/nobody/{end}");
            assert_eq!(asked.world.post(&path, &asked.agent, body).await.status, 404);
        }
        let no = json!({"digest": asked.told["digest"], "decision": "deny"});
        assert_eq!(asked.world.decide(&asked.id, &asked.ana, no).await.status, 200);
        let got = asked.reserve().await;
        assert_eq!(refusal(&got), expected(409, "already-decided"));
        assert_eq!(got.json()["decided_by"], "ana (http)");

        let asked = Asked::approved().await;
        let other = asked.world.token("codex", &[], TokenKind::Agent).await;
        for token in [&other, &asked.ana] {
            for (end, body) in [("reserve", asked.exactly()), ("result", done.clone())] {
                let got = asked.post(end, token, body).await;
                assert_eq!(refusal(&got), expected(403, "not-the-requester"), "{end}");
            }
        }
        assert_eq!(asked.state().await, "approved");
        // What a run asked is done by its driver, and by nobody over HTTP.
        let of_run = asked.world.ask(|_| {}).await;
        let path = format!("{PATH}/{}/reserve", of_run.request.id);
        let body = json!({"digest": of_run.request.digest, "args": of_run.request.subject.args});
        let got = asked.world.post(&path, &asked.agent, body).await;
        assert_eq!(refusal(&got), expected(403, "not-the-requester"));
    });
}

// APR-3
#[test]
fn what_ran_out_of_time_is_gone_even_before_anybody_woke_it() {
    block(async {
        let world = World::new();
        let agent = world.token("claude", &[], TokenKind::Agent).await;
        let standing = world
            .ask(|request| {
                request.requester.person = Some("claude".to_owned());
                request.ruling.timeout.policy = "deny".to_owned();
                request.ruling.timeout.settings = json!({"timeout_s": 60});
            })
            .await;
        crate::harness::pass_ms(120_000_000);
        let body = json!({"digest": standing.request.digest, "args": {"command": "git push"}});
        for (end, body) in [("reserve", body), ("result", json!({"outcome": "executed"}))] {
            let got = world.post(&format!("{PATH}/spawn-1.q1/{end}"), &agent, body).await;
            assert_eq!(refusal(&got), expected(410, "expired"), "{end}");
        }
    });
}

// APR-1
#[test]
fn what_cannot_be_understood_changes_nothing() {
    block(async {
        let asked = Asked::approved().await;
        let digest = &asked.told["digest"];
        for body in [
            json!({}),
            json!({"digest": digest}),
            json!({"digest": "x", "args": {}}),
            json!({"digest": digest, "args": "git push"}),
            json!({"digest": digest, "args": {}, "executor": "root"}),
        ] {
            let got = asked.post("reserve", &asked.agent, body.clone()).await;
            assert_eq!(refusal(&got), expected(400, "malformed"), "{body}");
        }
        let broken = json!({"digest": digest, "args": {"command": "break"}});
        let got = asked.post("reserve", &asked.agent, broken).await;
        assert_eq!(refusal(&got), expected(503, "unavailable"));
        assert_eq!(asked.state().await, "approved");
        assert_eq!(asked.reserve().await.status, 200);
        for body in [
            json!({}),
            json!({"outcome": "perhaps"}),
            json!({"outcome": "failed"}),
            json!({"outcome": "failed", "error": " "}),
            json!({"outcome": "failed", "error": "x", "summary": "y"}),
            json!({"outcome": "executed", "error": "x"}),
            json!({"outcome": "executed", "summary": null}),
            json!({"outcome": "executed", "summary": "x".repeat(4001)}),
        ] {
            let got = asked.post("result", &asked.agent, body.clone()).await;
            assert_eq!(refusal(&got), expected(400, "malformed"), "{body}");
        }
        assert_eq!(asked.state().await, "reserved");
    });
}
