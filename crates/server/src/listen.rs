//! Listens: accepts connections, as many as may be, and lets them end in order.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use hyper::server::conn::http1;
use hyper::service::Service as _;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::router::{Peer, router};
use crate::server::Server;

/// The head of a request may have so many bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// And so many headers.
const MAX_HEADERS: usize = 64;

/// What ends a server: it is told once, and ends in order.
#[derive(Clone)]
pub struct Stop(Arc<Server>);

impl Stop {
    /// Of this server.
    #[must_use]
    pub fn of(server: &Arc<Server>) -> Self {
        Self(Arc::clone(server))
    }

    /// Ends it.
    pub fn stop(&self) {
        self.0.stopping.send_replace(true);
    }
}

/// Serves until it is told to stop, then lets what is going on end, for a while.
///
/// # Errors
/// When nothing can be accepted any more.
pub async fn serve(server: Arc<Server>, listener: TcpListener) -> std::io::Result<()> {
    let app = router(&server);
    let room = Arc::new(Semaphore::new(server.limits.connections));
    let mut stopping = server.stopping.subscribe();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = accept(&listener, &room) => accepted,
        };
        match accepted {
            Some((stream, from, permit)) => {
                let Ok(to) = stream.local_addr() else { continue };
                let (server, app) = (Arc::clone(&server), app.clone());
                let peer = Peer { from, to };
                connections.spawn(async move {
                    connection(&server, app, stream, peer).await;
                    drop(permit);
                });
            }
            // Too many open files, or a client that was gone before it was there.
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    drop(listener);
    let end = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(server.limits.leave_time, end).await;
    connections.shutdown().await;
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, std::net::SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    let (stream, peer) = listener.accept().await.ok()?;
    Some((stream, peer, permit))
}

async fn connection(server: &Arc<Server>, app: axum::Router, stream: TcpStream, peer: Peer) {
    // What is said in small pieces is to be heard at once.
    let _ = stream.set_nodelay(true);
    let app = TowerToHyperService::new(app);
    let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        app.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.limits.head_time)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let mut stopping = server.stopping.subscribe();
    tokio::select! {
        // However it ends, there is nobody left to tell.
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
