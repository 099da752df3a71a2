//! The router: every route of the table, and what is done with every request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{MethodFilter, on};

use crate::call::Call;
use crate::guard;
use crate::problem::Problem;
use crate::routes::{self, Method, Route};
use crate::server::Server;

/// The two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Theirs.
    pub from: SocketAddr,
    /// Ours.
    pub to: SocketAddr,
}

/// The router of a server.
pub fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in routes::all() {
        let filter = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
        };
        let server = Arc::clone(server);
        let handler = move |request: Request<Body>| handle(Arc::clone(&server), route, request);
        router = router.route(route.path, on(filter, handler));
    }
    router
        .fallback(unknown)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(Arc::clone(server), every))
}

/// What is done with every request, also with one for nothing that is there.
async fn every(
    State(server): State<Arc<Server>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let peer = request.extensions().get::<Peer>().copied();
    let from = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.from.ip());
    let own = peer.map(|peer| peer.to.ip());
    let checked = guard::check(&request, &server.hosts, own);
    let checked = checked.and_then(|()| {
        let taken = server.by_address.take(from, Instant::now());
        taken.map_err(|wait| Problem::too_many("this address asks too often", wait))
    });
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.response(&path),
    };
    guard::harden(response.headers_mut());
    let class = usize::from(response.status().as_u16() / 100);
    if let Some(count) = server.answered.by_class.get(class) {
        count.fetch_add(1, Ordering::Relaxed);
    }
    response
}

async fn handle(
    server: Arc<Server>,
    route: &'static Route,
    request: Request<Body>,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let limit = server.limits.answer_time;
    let answer = async {
        let call = Call::read(server, route, request).await?;
        (route.run)(call).await
    };
    let answer = match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer,
        Err(_) => {
            let told = "answering took too long; nothing can be said about what came of it";
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-slow", told))
        }
    };
    match answer {
        Ok(reply) => reply.response(),
        Err(problem) => problem.response(&path),
    }
}

async fn unknown(request: Request<Body>) -> Response<Body> {
    let told = "there is nothing here; /api/v1/openapi.json says what there is";
    Problem::not_found(told).response(request.uri().path())
}

async fn other_method(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path();
    let told = format!("{} is not for this; see `Allow`", request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", told).response(path)
}
