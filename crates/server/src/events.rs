//! The log as server-sent events. The id of an event is its position, so that whoever comes back with
//! the last one misses nothing and gets nothing twice.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use aurora_engine::face::Record;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout};

use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::caller;
use crate::log;
use crate::problem::Problem;
use crate::server::Server;

/// The media type.
const MEDIA_TYPE: &str = "text/event-stream";
/// So many records are read at once.
const BATCH: usize = 100;
/// So many bytes are one piece, or as many as one record has.
const PIECE_BYTES: usize = 64 * 1024;
/// So many pieces wait for a client; one that does not read in time is let go.
const WAITING: usize = 4;
/// What a client hears first: how long to wait before it comes back, in milliseconds.
const GREETING: &str = ": connected\nretry: 2000\n\n";

/// `GET /events`.
pub async fn stream(call: Call) -> Outcome {
    let last = last_seen(&call)?;
    let full = || Problem::too_many("too many streams are open", 5);
    let permit = Arc::clone(&call.server.streams).try_acquire_owned().map_err(|_| full())?;
    let news = call.server.store().subscribe();
    // A position that is not there yet belongs to another log.
    let after = last.unwrap_or(u64::MAX).min(news.position());
    let (sender, receiver) = mpsc::channel(WAITING);
    let telling = Telling {
        server: Arc::clone(&call.server),
        headers: call.headers.clone(),
        kind: call.text("kind").map(str::to_owned),
        stream: call.text("stream").map(str::to_owned),
        after,
        sender,
        _permit: permit,
    };
    tokio::spawn(telling.run());
    Ok(Reply::Stream(MEDIA_TYPE, Body::new(Pieces(receiver))))
}

/// The last position that a client has seen.
fn last_seen(call: &Call) -> Result<Option<u64>, Problem> {
    let Some(said) = call.headers.get("last-event-id") else { return Ok(call.number("after")) };
    let said = said.to_str().unwrap_or("?").trim();
    if said.is_empty() {
        return Ok(call.number("after"));
    }
    let plain = said.bytes().all(|byte| byte.is_ascii_digit());
    let number = said.parse().ok().filter(|_| plain);
    let told = "`Last-Event-ID` must be the id of an event of this stream";
    number.map(Some).ok_or_else(|| Problem::malformed(told))
}

/// One client that is told what is recorded.
struct Telling {
    server: Arc<Server>,
    headers: HeaderMap,
    kind: Option<String>,
    stream: Option<String>,
    /// The last position that was looked at.
    after: u64,
    sender: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Telling {
    /// Tells until the client is gone or too slow, its token is worth nothing any more, the server
    /// ends, or the log cannot be read. Whoever comes back goes on where it was.
    async fn run(mut self) {
        let mut stopping = self.server.stopping.subscribe();
        let sender = self.sender.clone();
        tokio::select! {
            () = self.tell() => {}
            () = sender.closed() => {}
            _ = stopping.wait_for(|stop| *stop) => {}
        }
    }

    async fn tell(&mut self) {
        if !self.send(GREETING.to_owned()).await {
            return;
        }
        let mut news = self.server.store().subscribe();
        let heartbeat = self.server.limits.heartbeat;
        let mut beat_at = Instant::now() + heartbeat;
        loop {
            let Ok(records) = self.server.store().read_all(self.after, BATCH).await else { return };
            let mut out = String::new();
            for record in &records {
                self.after = record.position;
                if self.wants(record) {
                    out.push_str(&event(record));
                }
                if out.len() >= PIECE_BYTES && !self.send(std::mem::take(&mut out)).await {
                    return;
                }
            }
            if !out.is_empty() && !self.send(out).await {
                return;
            }
            if records.len() == BATCH && Instant::now() < beat_at {
                continue;
            }
            let waited = tokio::time::timeout_at(beat_at, news.past(self.after)).await;
            match waited {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => {
                    beat_at = Instant::now() + heartbeat;
                    // What was passed over need not be looked at again, and a token may have been
                    // taken back.
                    let known = caller::identify(&self.server, &self.headers).await.is_ok();
                    let beat = format!(": heartbeat\nid: {}\n\n", self.after);
                    if !known || !self.send(beat).await {
                        return;
                    }
                }
            }
        }
    }

    fn wants(&self, record: &Record) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == record.kind)
            && self.stream.as_ref().is_none_or(|stream| record.stream.0.starts_with(stream))
    }

    async fn send(&self, text: String) -> bool {
        let sent = timeout(self.server.limits.stall_time, self.sender.send(Bytes::from(text)));
        matches!(sent.await, Ok(Ok(())))
    }
}

fn event(record: &Record) -> String {
    // JSON has no line breaks of its own, and the kind is a name of ours.
    let kind: String = record.kind.chars().filter(|c| !c.is_control()).collect();
    format!("id: {}\nevent: {kind}\ndata: {}\n\n", record.position, log::shape(record))
}

/// Pieces on their way to a client.
struct Pieces(mpsc::Receiver<Bytes>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
