//! Too much, too often, too slow: bounded, and told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_server::{Limits, Stop, serve};
use axum::http::Request;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{World, block};

// APR-1
#[test]
fn what_is_too_large_or_no_json_is_refused() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let path = "/api/v1/approvals";
        let large =
            format!("{{\"tool\":\"x\",\"args\":{{\"a\":\"{}\"}}}}", "x".repeat(1024 * 1024));
        let got = world.send(Request::post(path), &ana, Some(large)).await;
        assert_eq!((got.status, got.problem().as_str()), (413, "too-large"));
        let lying = Request::post(path).header("content-length", "99999999");
        assert_eq!(world.send(lying, &ana, Some("{}".to_owned())).await.status, 413);
        for body in [
            "",
            "nonsense",
            "[]",
            "{\"tool\":1e999}",
            &"[".repeat(10_000),
            "{\"tool\":\"\\ud800\"}",
        ] {
            let got = world.send(Request::post(path), &ana, Some(body.to_owned())).await;
            assert_eq!((got.status, got.problem().as_str()), (400, "malformed"), "{body}");
        }
        for media in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let request = Request::post(path)
                .header("host", "localhost")
                .header("authorization", format!("Bearer {ana}"))
                .header("content-type", media)
                .body("{}".into())
                .unwrap();
            let got = world.raw(request).await;
            assert_eq!((got.status, got.problem().as_str()), (415, "not-json"), "{media}");
        }
    });
}

// APR-1
#[test]
fn who_asks_too_often_is_told_when_to_come_back() {
    block(async {
        let world = World::with(Limits { rate_per_s: 1.0, ..Limits::default() });
        let (ana, bob) = (world.person("ana").await, world.person("bob").await);
        let mut refused = None;
        for _ in 0..5 {
            let got = world.get("/api/v1/whoami", &ana).await;
            refused = Some(got).filter(|got| got.status != 200);
        }
        let got = refused.unwrap();
        assert_eq!((got.status, got.problem().as_str()), (429, "too-many"));
        assert!(got.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
        assert_eq!(world.get("/api/v1/whoami", &bob).await.status, 200, "each token has its own");
        // Who guesses tokens runs into the limit of their address.
        let mut statuses = Vec::new();
        for number in 0..20 {
            statuses.push(world.get("/api/v1/whoami", &format!("aur_{number}")).await.status);
        }
        assert_eq!((statuses[0], statuses[19]), (401, 429), "{statuses:?}");
    });
}

async fn listening(limits: Limits) -> (Arc<World>, String, Stop, tokio::task::JoinHandle<()>) {
    let world = Arc::new(World::with(limits));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let stop = Stop::of(&world.server);
    let server = Arc::clone(&world.server);
    let task = tokio::spawn(async move { serve(server, listener).await.unwrap() });
    (world, address, stop, task)
}

async fn said(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut text)).await;
    String::from_utf8_lossy(&text).into_owned()
}

// APR-1
#[test]
fn a_client_that_never_finishes_is_let_go_and_others_are_answered_meanwhile() {
    block(async {
        let limits = Limits {
            head_time: Duration::from_millis(300),
            body_time: Duration::from_millis(300),
            rate_per_s: 1e6,
            ..Limits::default()
        };
        let (world, address, _stop, _task) = listening(limits).await;
        let ana = world.person("ana").await;
        let begun = Instant::now();
        let mut head = TcpStream::connect(&address).await.unwrap();
        head.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
        let mut body = TcpStream::connect(&address).await.unwrap();
        let begin = format!(
            "POST /api/v1/approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ana}\r\n\
             Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{"
        );
        body.write_all(begin.as_bytes()).await.unwrap();
        let mut fine = TcpStream::connect(&address).await.unwrap();
        let whole = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        fine.write_all(whole.as_bytes()).await.unwrap();
        assert!(said(&mut fine).await.starts_with("HTTP/1.1 200"));
        let told = said(&mut body).await;
        assert!(told.starts_with("HTTP/1.1 408"), "{told}");
        let told = said(&mut head).await;
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 408"), "{told}");
        assert!(begun.elapsed() < Duration::from_secs(15));
    });
}

// APR-1
#[test]
fn heads_without_end_are_refused() {
    block(async {
        let (_world, address, _stop, _task) = listening(Limits::default()).await;
        let mut many = TcpStream::connect(&address).await.unwrap();
        let headers: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
        let text = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        many.write_all(text.as_bytes()).await.unwrap();
        let told = said(&mut many).await;
        assert!(told.starts_with("HTTP/1.1 431"), "{told}");
        let mut long = TcpStream::connect(&address).await.unwrap();
        let text = format!(
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
            "x".repeat(200_000)
        );
        // The other end may close before all of it is written.
        let _ = long.write_all(text.as_bytes()).await;
        let told = said(&mut long).await;
        assert!(told.is_empty() || told.starts_with("HTTP/1.1 431"), "{told}");
    });
}

// APR-1
#[test]
fn a_server_that_is_told_to_stop_ends_also_with_streams_open() {
    block(async {
        let limits = Limits { rate_per_s: 1e6, ..Limits::default() };
        let (world, address, stop, task) = listening(limits).await;
        let ana = world.person("ana").await;
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let text = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ana}\r\n\r\n"
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        stop.stop();
        tokio::time::timeout(Duration::from_secs(20), task).await.unwrap().unwrap();
        said(&mut stream).await;
        assert!(TcpStream::connect(&address).await.is_err(), "nobody listens any more");
    });
}

// APR-2
#[test]
fn a_decision_over_a_real_socket_does_not_wait_for_anything() {
    block(async {
        let limits = Limits { rate_per_s: 1e6, ..Limits::default() };
        let (world, address, _stop, _task) = listening(limits).await;
        let ana = world.person("ana").await;
        let standing = world.ask(|_| {}).await;
        // Somebody waits for it in the same process, as a driver of a run would.
        let waiting = {
            let (queue, id) = (world.queue.clone(), standing.request.id.clone());
            tokio::spawn(async move { queue.closed(&id).await.unwrap().state })
        };
        let body = json!({"digest": standing.request.digest, "decision": "approve"}).to_string();
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let text = format!(
            "POST /api/v1/approvals/spawn-1.q1/decision HTTP/1.1\r\nHost: localhost\r\n\
             Authorization: Bearer {ana}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        let told = said(&mut stream).await;
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        let state = tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap().unwrap();
        assert_eq!(state, aurora_model::ApprovalState::Approved);
    });
}
