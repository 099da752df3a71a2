//! Every route, once: how it is called, who may, what it takes and gives, and what answers it. The
//! router and the OpenAPI document are both made from this table.

mod queue;
pub mod words;

use std::future::Future;
use std::pin::Pin;

use crate::answer::Outcome;
use crate::call::Call;
use crate::cursor::List;
use crate::{events, health, log, openapi, runs, surroundings};

/// One way to call the server.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path; names in braces are parameters.
    pub path: &'static str,
    /// Its name in the document.
    pub name: &'static str,
    /// To what it belongs.
    pub tag: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Who may.
    pub access: Access,
    /// What it is told beside the body.
    pub params: &'static [Param],
    /// The schema of the body, where it takes one.
    pub body: Option<&'static str>,
    /// What it gives when all went well: the status, and what comes with it.
    pub gives: &'static [(u16, Gives)],
    /// What can be refused here, besides what can be refused everywhere.
    pub refuses: &'static [u16],
    /// What answers it.
    pub run: fn(Call) -> Answering,
}

/// An answer on its way.
pub type Answering = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// How it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// To read.
    Get,
    /// To change something, or to ask with a body.
    Post,
}

/// Who may call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody who reaches it.
    Open,
    /// Everybody with a token.
    Reader,
    /// People only.
    Person,
}

/// What comes with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// JSON of this schema.
    Json(&'static str),
    /// Text of this media type.
    Text(&'static str),
}

/// Where a parameter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// What a parameter can be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A number.
    Number {
        /// At least.
        min: u64,
        /// At most.
        max: u64,
    },
    /// One of some words.
    OneOf(fn() -> Vec<&'static str>),
    /// A name: letters, digits and `._-`.
    Name,
    /// Text in one line.
    Text {
        /// So many characters at most.
        max: usize,
    },
    /// Where a list goes on.
    Cursor(List),
}

/// Something that a route is told beside the body.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What it can be.
    pub kind: Kind,
    /// What it is for.
    pub about: &'static str,
}

const fn query(name: &'static str, kind: Kind, about: &'static str) -> Param {
    Param { name, place: Place::Query, kind, about }
}

const fn in_path(name: &'static str, about: &'static str) -> Param {
    Param { name, place: Place::Path, kind: Kind::Text { max: 512 }, about }
}

const fn after(list: List) -> Param {
    query("after", Kind::Cursor(list), "`next` of the page before")
}

const LIMIT: Param =
    query("limit", Kind::Number { min: 1, max: 500 }, "how many at most; 50 without it");
const FEATURE: Param =
    query("feature", Kind::Name, "the feature; the user's own checkout without it");
const KIND: Param = query("kind", Kind::Name, "records of this kind only");
const STREAM: Param = query("stream", Kind::Text { max: 512 }, "records of this stream only");

/// Every route.
pub fn all() -> impl Iterator<Item = &'static Route> {
    queue::APPROVALS.iter().chain(RUNS).chain(PLACE).chain(LOG).chain(OWN)
}

static RUNS: &[Route] = &[
    Route {
        method: Method::Get,
        path: "/api/v1/runs",
        name: "listRuns",
        tag: "runs",
        summary: "Runs, the latest written first",
        access: Access::Reader,
        params: &[after(List::Runs), LIMIT],
        body: None,
        gives: &[(200, Gives::Json("RunPage"))],
        refuses: &[],
        run: |call| Box::pin(runs::list(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/runs/{id}",
        name: "showRun",
        tag: "runs",
        summary: "How a run stands: its tasks, its questions, what it cost",
        access: Access::Reader,
        params: &[in_path("id", "the name of the run")],
        body: None,
        gives: &[(200, Gives::Json("Run"))],
        refuses: &[404],
        run: |call| Box::pin(runs::show(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/runs/{id}/events",
        name: "listRunEvents",
        tag: "runs",
        summary: "What happened in a run, in order",
        access: Access::Reader,
        params: &[in_path("id", "the name of the run"), after(List::Events), LIMIT],
        body: None,
        gives: &[(200, Gives::Json("RecordPage"))],
        refuses: &[404],
        run: |call| Box::pin(runs::events(call)),
    },
];

static PLACE: &[Route] = &[
    Route {
        method: Method::Get,
        path: "/api/v1/checkpoints",
        name: "listCheckpoints",
        tag: "checkpoints",
        summary: "Recorded states of the worktree, the newest first",
        access: Access::Reader,
        params: &[FEATURE, after(List::Checkpoints), LIMIT],
        body: None,
        gives: &[(200, Gives::Json("CheckpointPage"))],
        refuses: &[404, 422, 503],
        run: |call| Box::pin(surroundings::checkpoints(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/checkpoints/{id}",
        name: "showCheckpoint",
        tag: "checkpoints",
        summary: "Everything about one checkpoint",
        access: Access::Reader,
        params: &[in_path("id", "its name, its number or `latest`"), FEATURE],
        body: None,
        gives: &[(200, Gives::Json("Checkpoint"))],
        refuses: &[404, 422, 503],
        run: |call| Box::pin(surroundings::checkpoint(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/policies",
        name: "showPolicy",
        tag: "policies",
        summary: "The policy that holds: each setting with its value, origin and lock",
        access: Access::Reader,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Policy"))],
        refuses: &[503],
        run: |call| Box::pin(surroundings::policy(call)),
    },
    Route {
        method: Method::Post,
        path: "/api/v1/policies/check",
        name: "checkPolicy",
        tag: "policies",
        summary: "What the policy would decide about an action; nothing is done or recorded",
        access: Access::Reader,
        params: &[],
        body: Some("NewCheck"),
        gives: &[(200, Gives::Json("Verdict"))],
        refuses: &[422, 503],
        run: |call| Box::pin(surroundings::check(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/agents",
        name: "listAgents",
        tag: "agents",
        summary: "Which agents are configured, and whether they can work",
        access: Access::Reader,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Agents"))],
        refuses: &[503],
        run: |call| Box::pin(surroundings::agents(call)),
    },
];

static LOG: &[Route] = &[
    Route {
        method: Method::Get,
        path: "/api/v1/audit",
        name: "listAudit",
        tag: "audit",
        summary: "Records of the whole log, in order, with their hashes",
        access: Access::Reader,
        params: &[KIND, STREAM, after(List::Audit), LIMIT],
        body: None,
        gives: &[(200, Gives::Json("RecordPage"))],
        refuses: &[],
        run: |call| Box::pin(log::list(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/audit/verify",
        name: "verifyAudit",
        tag: "audit",
        summary: "Whether the log is as it was written; what is wrong is named and located",
        access: Access::Reader,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Verification"))],
        refuses: &[],
        run: |call| Box::pin(log::verify(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/events",
        name: "streamEvents",
        tag: "audit",
        summary: "What is recorded from now on, or from a place on, as server-sent events",
        access: Access::Reader,
        params: &[
            query(
                "after",
                Kind::Number { min: 0, max: 9_007_199_254_740_991 },
                "begin after this position; `Last-Event-ID` wins over it",
            ),
            Param {
                name: "Last-Event-ID",
                place: Place::Header,
                kind: Kind::Number { min: 0, max: 9_007_199_254_740_991 },
                about: "the last position that was seen",
            },
            KIND,
            query("stream", Kind::Text { max: 512 }, "records of streams that begin so only"),
        ],
        body: None,
        gives: &[(200, Gives::Text("text/event-stream"))],
        refuses: &[],
        run: |call| Box::pin(events::stream(call)),
    },
];

static OWN: &[Route] = &[
    Route {
        method: Method::Get,
        path: "/api/v1/whoami",
        name: "whoAmI",
        tag: "server",
        summary: "Whose token this is, and what it may do",
        access: Access::Reader,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Caller"))],
        refuses: &[],
        run: |call| Box::pin(health::who_am_i(call)),
    },
    Route {
        method: Method::Get,
        path: "/api/v1/openapi.json",
        name: "showDocument",
        tag: "server",
        summary: "This document",
        access: Access::Open,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Document"))],
        refuses: &[],
        run: |_| Box::pin(async { Ok(crate::answer::Reply::ok(openapi::document())) }),
    },
    Route {
        method: Method::Get,
        path: "/healthz",
        name: "health",
        tag: "server",
        summary: "Whether the server lives",
        access: Access::Open,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Health"))],
        refuses: &[],
        run: |call| Box::pin(health::lives(call)),
    },
    Route {
        method: Method::Get,
        path: "/readyz",
        name: "readiness",
        tag: "server",
        summary: "Whether the log can be read",
        access: Access::Open,
        params: &[],
        body: None,
        gives: &[(200, Gives::Json("Health"))],
        refuses: &[503],
        run: |call| Box::pin(health::is_ready(call)),
    },
    Route {
        method: Method::Get,
        path: "/metrics",
        name: "metrics",
        tag: "server",
        summary: "Figures for Prometheus",
        access: Access::Reader,
        params: &[],
        body: None,
        gives: &[(200, Gives::Text("text/plain; version=0.0.4; charset=utf-8"))],
        refuses: &[],
        run: |call| Box::pin(health::metrics(call)),
    },
];
