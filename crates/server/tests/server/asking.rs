//! Asking over HTTP: agents ask in their own name, and are told at once where nobody must be asked.

use aurora_engine::people::TokenKind;
use serde_json::json;

use crate::harness::{World, block};

const PATH: &str = "/api/v1/approvals";

// APR-8
#[test]
fn an_agent_asks_in_its_own_name_and_another_decides() {
    block(async {
        let world = World::new();
        let agent = world.token("claude", &[], TokenKind::Agent).await;
        let body = json!({"tool": "Bash", "args": {"command": "git push"}, "claimed": "trust me"});
        let got = world.post(PATH, &agent, body).await;
        assert_eq!(got.status, 201, "{got:?}");
        let told = got.json();
        assert_eq!(told["requester"]["person"], "claude");
        assert_eq!(told["agent"], "claude");
        assert_eq!(told["untrusted"]["claimed"], "trust me");
        assert_eq!(told["reasons"][0]["rule"], "rules.test", "why it is asked is kept with it");
        assert_eq!(told["effects"], json!(["does git push"]));
        assert_eq!(told["options"], json!(["allow", "deny", "request_changes"]));
        let id = told["approval_id"].as_str().unwrap();
        assert!(id.len() >= 30, "nobody guesses it: {id}");
        let yes = json!({"digest": told["digest"], "decision": "approve"});
        // A person of the same name is the one who asked, too.
        let own = world.token("claude", &[], TokenKind::Person).await;
        assert_eq!(world.decide(id, &agent, yes.clone()).await.status, 403);
        assert_eq!(world.decide(id, &own, yes.clone()).await.status, 403);
        let ana = world.person("ana").await;
        assert_eq!(world.decide(id, &ana, yes).await.status, 200);
        let again =
            world.post(PATH, &agent, json!({"tool": "Bash", "args": {"command": "x"}})).await;
        assert_ne!(again.json()["approval_id"], id);
    });
}

// APR-4
#[test]
fn what_needs_nobody_is_not_asked_and_what_is_forbidden_is_refused() {
    block(async {
        let world = World::new();
        let agent = world.token("claude", &[], TokenKind::Agent).await;
        let ask = |command: &str| json!({"tool": "Bash", "args": {"command": command}});
        let got = world.post(PATH, &agent, ask("ls")).await;
        assert_eq!((got.status, &got.json()["decision"]), (200, &json!("allow")));
        let got = world.post(PATH, &agent, ask("rm x")).await;
        assert_eq!((got.status, got.problem().as_str()), (403, "policy-forbids"));
        assert_eq!(got.json()["reasons"][0]["rule"], "rules.test");
        for body in [
            json!({"tool": "", "args": {}}),
            json!({"tool": "a\nb", "args": {}}),
            json!({"tool": "Bash", "args": "ls"}),
            json!({"tool": "Bash"}),
            json!({"tool": "Bash", "args": {}, "run": "../etc"}),
            json!({"tool": "Bash", "args": {}, "gate": "preview"}),
        ] {
            let got = world.post(PATH, &agent, body.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (400, "malformed"), "{body}");
        }
        assert_eq!(world.get(PATH, &agent).await.json()["approvals"], json!([]));
    });
}

// APR-2
#[test]
fn only_who_asked_takes_a_request_back() {
    block(async {
        let world = World::new();
        let agent = world.token("claude", &[], TokenKind::Agent).await;
        let other = world.token("codex", &[], TokenKind::Agent).await;
        let ana = world.person("ana").await;
        let ask = json!({"tool": "Bash", "args": {"command": "git push"}});
        let told = world.post(PATH, &agent, ask).await.json();
        let path = format!("{PATH}/{}/cancel", told["approval_id"].as_str().unwrap());
        let why = json!({"reason": "found another way"});
        for token in [&other, &ana] {
            let got = world.post(&path, token, why.clone()).await;
            assert_eq!((got.status, got.problem().as_str()), (403, "not-the-requester"));
        }
        assert_eq!(world.post(&path, &agent, json!({"reason": " "})).await.status, 422);
        let got = world.post(&path, &agent, why.clone()).await;
        assert_eq!((got.status, &got.json()["state"]), (200, &json!("cancelled")));
        assert_eq!(world.post(&path, &agent, why).await.status, 409);
        let yes = json!({"digest": told["digest"], "decision": "approve"});
        let got = world.decide(told["approval_id"].as_str().unwrap(), &ana, yes).await;
        assert_eq!((got.status, &got.json()["state"]), (409, &json!("cancelled")));
    });
}
