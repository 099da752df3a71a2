//! Server-sent events over a real socket: whoever comes back misses nothing and gets nothing twice.

use std::sync::Arc;
use std::time::Duration;

use aurora_model::QuestionId;
use aurora_server::{Limits, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{World, block, now};

const PATIENCE: Duration = Duration::from_secs(20);

struct Client {
    stream: TcpStream,
    text: String,
}

impl Client {
    async fn open(address: &str, token: &str, query: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let text = format!(
            "GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n\
             Authorization: Bearer {token}\r\n{headers}\r\n"
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        Self { stream, text: String::new() }
    }

    /// Reads until this was said; false when the other end closed before.
    async fn until(&mut self, wanted: &str) -> bool {
        let read = async {
            let mut buffer = [0; 4096];
            while !self.text.contains(wanted) {
                match self.stream.read(&mut buffer).await.unwrap_or(0) {
                    0 => return false,
                    count => self.text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                }
            }
            true
        };
        tokio::time::timeout(PATIENCE, read).await.expect("it is said in time")
    }

    /// The positions of the events so far.
    fn ids(&self) -> Vec<u64> {
        let mut ids = Vec::new();
        for block in self.text.split("\n\n").filter(|block| block.contains("data: ")) {
            let id = block.lines().find_map(|line| line.trim().strip_prefix("id: "));
            ids.extend(id.and_then(|id| id.parse::<u64>().ok()));
        }
        ids
    }
}

async fn listening(limits: Limits) -> (Arc<World>, String) {
    let world = Arc::new(World::with(Limits { rate_per_s: 1e6, ..limits }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve(Arc::clone(&world.server), listener));
    (world, address)
}

async fn ask(world: &World, number: u32) {
    let id = QuestionId::parse(&format!("q-{number}")).unwrap();
    world.ask(|request| request.id = id).await;
}

// APR-1
#[test]
fn who_comes_back_with_the_last_id_goes_on_where_it_was() {
    block(async {
        let (world, address) = listening(Limits::default()).await;
        let ana = world.person("ana").await;
        let mut first = Client::open(&address, &ana, "", "").await;
        assert!(first.until(": connected").await);
        assert!(first.text.contains("content-type: text/event-stream"));
        for number in 0..3 {
            ask(&world, number).await;
        }
        assert!(first.until("approval/q-2").await);
        assert_eq!(first.ids(), [2, 3, 4], "from now on: the token was there before");
        drop(first);
        for number in 3..400 {
            ask(&world, number).await;
        }
        let mut again = Client::open(&address, &ana, "", "Last-Event-ID: 4\r\n").await;
        assert!(again.until("approval/q-399").await);
        assert_eq!(again.ids(), (5..=401).collect::<Vec<u64>>());
        // The header wins over the address, as a browser keeps the address.
        let mut both = Client::open(&address, &ana, "?after=0", "Last-Event-ID: 399\r\n").await;
        assert!(both.until("approval/q-399").await);
        assert_eq!(both.ids(), [400, 401]);
        let mut after = Client::open(&address, &ana, "?after=0&kind=token_created", "").await;
        assert!(after.until("token_created").await);
        let mut stream = Client::open(&address, &ana, "?after=0&stream=approval%2Fq-39", "").await;
        assert!(stream.until("approval/q-399").await);
        assert_eq!(stream.ids().len(), 11, "q-39 and q-390 to q-399");
        let mut ahead = Client::open(&address, &ana, "?after=999999", "").await;
        assert!(ahead.until(": connected").await);
        ask(&world, 400).await;
        assert!(
            ahead.until("approval/q-400").await,
            "a position of another log means: from now on"
        );
    });
}

// APR-1
#[test]
fn a_place_that_is_none_is_malformed() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        for query in ["?after=x", "?after=-1", "?stream=", "?kind=a%20b"] {
            let got = world.get(&format!("/api/v1/events{query}"), &ana).await;
            assert_eq!((got.status, got.problem().as_str()), (400, "malformed"), "{query}");
        }
        for id in ["x", "-4", "1.5", "99999999999999999999"] {
            let request = axum::http::Request::get("/api/v1/events").header("last-event-id", id);
            assert_eq!(world.send(request, &ana, None).await.status, 400, "{id}");
        }
    });
}

// APR-1
#[test]
fn a_stream_says_that_it_lives_and_ends_when_its_token_is_taken_back() {
    block(async {
        let limits = Limits { heartbeat: Duration::from_millis(50), ..Limits::default() };
        let (world, address) = listening(limits).await;
        let ana = world.person("ana").await;
        let mut client = Client::open(&address, &ana, "?kind=none", "").await;
        ask(&world, 1).await;
        assert!(client.until(": heartbeat\nid: 2\n\n").await, "what is passed over counts as seen");
        let id = world.tokens.all().await.unwrap()[0].id.clone();
        world.tokens.revoke(&id, "test", now()).await.unwrap();
        assert!(!client.until("never said").await, "it ends");
    });
}

// APR-1
#[test]
fn streams_are_counted_and_a_client_that_does_not_read_is_let_go() {
    block(async {
        let limits =
            Limits { streams: 1, stall_time: Duration::from_millis(100), ..Limits::default() };
        let (world, address) = listening(limits).await;
        let ana = world.person("ana").await;
        let mut deaf = Client::open(&address, &ana, "?after=0", "").await;
        assert!(deaf.until(": connected").await);
        let got = world.get("/api/v1/events", &ana).await;
        assert_eq!((got.status, got.problem().as_str()), (429, "too-many"));
        let large = "x".repeat(512 * 1024);
        for number in 0..40 {
            let id = QuestionId::parse(&format!("large-{number}")).unwrap();
            world
                .ask(|request| {
                    request.id = id;
                    request.claimed = Some(large.clone());
                })
                .await;
        }
        // It does not read; its place is free again as soon as that is noticed.
        let noticed = async {
            loop {
                let text = world.get("/metrics", &ana).await.text;
                if text.contains("aurora_event_streams 0\n") {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, noticed).await.expect("it is let go in time");
    });
}
