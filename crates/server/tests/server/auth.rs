//! Who is let in: tokens, hosts, origins, and processes of agents.

use std::net::SocketAddr;

use aurora_engine::people::TokenKind;
use aurora_model::Timestamp;
use aurora_server::Peer;
use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use tower::ServiceExt as _;

use crate::harness::{World, block, local, now, pass_ms};

const PATH: &str = "/api/v1/approvals";

// APR-8
#[test]
fn without_a_token_that_opens_nothing_is_told() {
    block(async {
        let world = World::new();
        let end = Timestamp { unix_ms: now().unix_ms + 1000 };
        let short = world.token_until("ana", &[], TokenKind::Person, Some(end)).await;
        let taken = world.person("bob").await;
        assert_eq!(world.get(PATH, &short).await.status, 200);
        assert_eq!(world.get(PATH, &taken).await.status, 200);
        let id = world.tokens.all().await.unwrap()[1].id.clone();
        world.tokens.revoke(&id, "test", now()).await.unwrap();
        pass_ms(1000);
        let unknown = format!("aur_{}", "0".repeat(64));
        for token in
            ["", "aur_", "x", short.as_str(), taken.as_str(), unknown.as_str(), &"x".repeat(999)]
        {
            for path in [PATH, "/api/v1/approvals/x", "/api/v1/audit", "/metrics", "/api/v1/events"]
            {
                let got = world.get(path, token).await;
                assert_eq!((got.status, got.problem().as_str()), (401, "unauthorized"), "{path}");
                assert!(got.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
            }
        }
        for scheme in ["Basic", "bearer  x"] {
            let request = Request::get(PATH).header("authorization", format!("{scheme} x"));
            assert_eq!(world.send(request, "", None).await.status, 401);
        }
        for path in ["/healthz", "/readyz", "/api/v1/openapi.json"] {
            assert_eq!(world.get(path, "").await.status, 200, "{path}");
        }
    });
}

// APR-8
#[test]
fn a_page_from_elsewhere_and_a_name_that_leads_here_are_refused() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let send = |headers: &'static [(&'static str, &'static str)]| {
            let mut request = Request::get(PATH).header("authorization", format!("Bearer {ana}"));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            world.raw(request.body(Body::empty()).unwrap())
        };
        assert_eq!(send(&[("host", "localhost:7788")]).await.status, 200);
        assert_eq!(send(&[("host", "aurora.example")]).await.status, 200);
        let same = [("host", "localhost:7788"), ("origin", "http://localhost:7788")];
        assert_eq!(send(Box::leak(Box::new(same))).await.status, 200);
        let got = send(&[("host", "evil.example")]).await;
        assert_eq!((got.status, got.problem().as_str()), (421, "unknown-host"));
        let got = send(&[("host", "localhost:7788"), ("origin", "http://evil.example")]).await;
        assert_eq!((got.status, got.problem().as_str()), (403, "cross-origin"));
        let got = send(&[("host", "localhost"), ("sec-fetch-site", "cross-site")]).await;
        assert_eq!((got.status, got.problem().as_str()), (403, "cross-origin"));
        assert_eq!(send(&[]).await.status, 400);
    });
}

// APR-8
#[test]
fn the_secret_of_a_start_decides_for_who_started_it_and_never_for_an_agent() {
    block(async {
        let world = World::new();
        let standing = world.ask(|_| {}).await;
        let body = json!({"digest": standing.request.digest, "decision": "deny"}).to_string();
        let from = |port: u16| Peer {
            from: SocketAddr::from(([127, 0, 0, 1], port)),
            to: SocketAddr::from(([127, 0, 0, 1], 7788)),
        };
        let send = |peer: Option<Peer>| {
            let mut request = Request::post("/api/v1/approvals/spawn-1.q1/decision")
                .header("host", "localhost")
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {}", local().expose()))
                .body(Body::from(body.clone()))
                .unwrap();
            request.extensions_mut().extend(
                peer.map(|peer| {
                    let mut extensions = axum::http::Extensions::new();
                    extensions.insert(peer);
                    extensions
                })
                .unwrap_or_default(),
            );
            world.app.clone().oneshot(request)
        };
        assert_eq!(send(Some(from(666))).await.unwrap().status(), 403, "a process of an agent's");
        assert_eq!(send(None).await.unwrap().status(), 403, "nobody knows which process");
        let got = world.get("/api/v1/whoami", local().expose()).await.json();
        assert_eq!((&got["name"], &got["token"]), (&json!("olga"), &json!("local")));
        assert_eq!(send(Some(from(40_000))).await.unwrap().status(), 200);
        let told = world.get("/api/v1/approvals/spawn-1.q1", local().expose()).await.json();
        assert_eq!(told["decision"]["by"]["name"], "olga");
    });
}

// APR-8: a token that lies about can be read by whoever runs beside it.
#[test]
fn a_persons_token_does_not_decide_for_a_process_of_an_agents() {
    block(async {
        let world = World::new();
        let standing = world.ask(|_| {}).await;
        let ana = world.person("ana").await;
        let body = json!({"digest": standing.request.digest, "decision": "deny"}).to_string();
        let send = |port: u16| {
            let mut request = Request::post("/api/v1/approvals/spawn-1.q1/decision")
                .header("host", "localhost")
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {ana}"))
                .body(Body::from(body.clone()))
                .unwrap();
            request.extensions_mut().insert(Peer {
                from: SocketAddr::from(([127, 0, 0, 1], port)),
                to: SocketAddr::from(([127, 0, 0, 1], 7788)),
            });
            world.app.clone().oneshot(request)
        };
        assert_eq!(send(666).await.unwrap().status(), 403);
        assert_eq!(send(40_000).await.unwrap().status(), 200);
    });
}

// APR-1
#[test]
fn every_answer_says_to_browsers_what_they_may_not_do_with_it() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for path in [PATH, "/nope", "/api/v1/openapi.json", "/api/v1/approvals/none"] {
            let got = world.get(path, &ana).await;
            assert_eq!(got.headers["x-content-type-options"], "nosniff", "{path}");
            assert_eq!(got.headers["cache-control"], "no-store");
            let csp = got.headers["content-security-policy"].to_str().unwrap();
            assert!(csp.contains("frame-ancestors 'none'"));
            assert!(!got.headers.contains_key("set-cookie"), "nothing for others to ride on");
            assert!(!got.headers.contains_key("access-control-allow-origin"));
        }
    });
}
