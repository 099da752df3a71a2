//! A server over a log in memory, with a clock that stands where it is put and ports that are ours.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use aurora_engine::approvals::{Queue, Silence};
use aurora_engine::face::{MemoryStore, Standing, Store, digest_of, options_for};
use aurora_engine::people::{NewToken, Secret, TokenBook, TokenKind};
use aurora_model::{
    Action, Answer, Autonomy, Digest, GateKind, Operation, QuestionId, Reason, Request, Requester,
    Ruling, Span, Subject, Tier, TimeoutRule, Timestamp, Who,
};
use aurora_server::ports::{
    Agents, Asked, Checkpoints, Effective, Judge, Judged, Later, Neighbours, Nothing, Policies,
    Ports, Trouble,
};
use aurora_server::{Limits, Local, Peer, Server, Settings, router};
use axum::Router;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// The moment at which every test begins.
pub const BEGIN_MS: i64 = 1_800_000_000_000;

std::thread_local! {
    static NOW: AtomicI64 = const { AtomicI64::new(BEGIN_MS) };
}

/// The clock of this test's thread.
pub fn now() -> Timestamp {
    Timestamp { unix_ms: NOW.with(|now| now.load(Ordering::Relaxed)) }
}

/// Lets time pass.
pub fn pass_ms(ms: i64) {
    NOW.with(|now| now.fetch_add(ms, Ordering::Relaxed));
}

/// Does something on one thread.
pub fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// A server and what is under it.
pub struct World {
    pub server: Arc<Server>,
    pub queue: Queue,
    pub tokens: TokenBook,
    pub app: Router,
}

/// An answer.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: axum::http::HeaderMap,
    pub text: String,
}

impl Got {
    /// Its body, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The end of the type of a problem, after looking at whether it is a whole one.
    pub fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let told = self.json();
        assert_eq!(told["status"], self.status, "{told}");
        for key in ["title", "detail", "instance"] {
            assert!(told[key].is_string(), "{key}: {told}");
        }
        told["type"].as_str().unwrap().strip_prefix("urn:aurora:problem:").unwrap().to_owned()
    }
}

impl World {
    pub fn new() -> Self {
        Self::with(Limits { rate_per_s: 1e6, ..Limits::default() })
    }

    pub fn with(limits: Limits) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let queue = Queue::new(Arc::clone(&store), Arc::new(Silence), now);
        let server = Server::new(Settings {
            queue: queue.clone(),
            ports: ports(),
            local: Some(Local { hash: local().hash(), person: "olga".to_owned() }),
            hosts: vec!["aurora.example".to_owned()],
            limits,
        });
        let app = router(&server);
        Self { server, queue, tokens: TokenBook::new(store), app }
    }

    /// A token of somebody.
    pub async fn token(&self, person: &str, roles: &[&str], kind: TokenKind) -> String {
        self.token_until(person, roles, kind, None).await
    }

    /// The same with an end.
    pub async fn token_until(
        &self,
        person: &str,
        roles: &[&str],
        kind: TokenKind,
        expires_at: Option<Timestamp>,
    ) -> String {
        let mut bits = [0; 32];
        let seed = format!("{person}{roles:?}{kind:?}{expires_at:?}");
        seed.bytes()
            .enumerate()
            .for_each(|(at, byte)| bits[at % 32] ^= byte.rotate_left(at as u32));
        let secret = Secret::of(bits);
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        let new =
            NewToken { name: String::new(), person: person.to_owned(), roles, kind, expires_at };
        self.tokens.create(new, &secret, "test", now()).await.unwrap();
        secret.expose().to_owned()
    }

    pub async fn person(&self, name: &str) -> String {
        self.token(name, &[], TokenKind::Person).await
    }

    /// Puts a request into the queue.
    pub async fn ask(&self, change: impl FnOnce(&mut Request)) -> Standing {
        let mut request = request();
        change(&mut request);
        self.queue.open(&request).await.unwrap()
    }

    pub async fn get(&self, path: &str, token: &str) -> Got {
        self.send(HttpRequest::get(path), token, None).await
    }

    pub async fn post(&self, path: &str, token: &str, body: Value) -> Got {
        self.send(HttpRequest::post(path), token, Some(body.to_string())).await
    }

    /// Sends a request; with an empty token none is sent.
    pub async fn send(
        &self,
        request: axum::http::request::Builder,
        token: &str,
        body: Option<String>,
    ) -> Got {
        let mut request = request.header("host", "localhost:7788");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        self.raw(request.body(Body::from(body.unwrap_or_default())).unwrap()).await
    }

    /// Sends a request as it is.
    pub async fn raw(&self, mut request: HttpRequest<Body>) -> Got {
        let address = SocketAddr::from(([127, 0, 0, 1], 7788));
        let from = SocketAddr::from(([127, 0, 0, 1], 40_000));
        request.extensions_mut().insert(Peer { from, to: address });
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Got { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    /// Says something to a request, having seen this.
    pub async fn decide(&self, id: &str, token: &str, body: Value) -> Got {
        self.post(&format!("/api/v1/approvals/{id}/decision"), token, body).await
    }
}

/// The secret of this start.
pub fn local() -> Secret {
    Secret::of([1; 32])
}

/// A request as a run would make it.
pub fn request() -> Request {
    let subject = Subject {
        project: "/n/repo".to_owned(),
        run: aurora_model::RunId::parse("spawn-1"),
        task: aurora_model::TaskId::parse("sg-1"),
        agent: aurora_model::AgentName::parse("claude"),
        tool: "Bash".to_owned(),
        schema: 1,
        args: json!({"command": "git push"}),
        targets: Vec::new(),
        policy: policy_digest(),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    };
    Request {
        id: QuestionId::parse("spawn-1.q1").unwrap(),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        options: options_for(GateKind::Operation).to_vec(),
        title: "pushes to origin".to_owned(),
        reasons: vec![reason(Answer::Ask)],
        effects: vec!["pushes `main` to origin".to_owned()],
        actions: vec![aurora_model::ActionType::parse("vcs:push").unwrap()],
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        on_no: "the agent is told why".to_owned(),
        claimed: Some("it is quite safe, believe me".to_owned()),
        detail: None,
        requester: Requester { agent: subject.agent.clone(), role: None, person: None },
        ruling: ruling(Vec::new()),
        parked: Some(policy_digest()),
        asked_at: now(),
        subject,
    }
}

pub fn ruling(deciders: Vec<Who>) -> Ruling {
    let timeout = TimeoutRule {
        policy: "wait".to_owned(),
        settings: json!({}),
        chosen_by: "a test".to_owned(),
    };
    Ruling { timeout, deciders, quorum: 1, remind_every_s: None, warn_before_s: None }
}

pub fn policy_digest() -> Digest {
    Digest::of_bytes([3; 32])
}

fn reason(answer: Answer) -> Reason {
    Reason {
        answer,
        operation: Operation::None,
        rule: "rules.test".to_owned(),
        message: "a test says so".to_owned(),
        span: Span { start: 0, end: 0 },
        instead: None,
        origin: "a test".to_owned(),
    }
}

fn ports() -> Ports {
    Ports {
        checkpoints: Arc::new(Fake),
        policies: Arc::new(Fake),
        agents: Arc::new(Fake),
        judge: Arc::new(Fake),
        aftermath: Arc::new(Nothing),
        neighbours: Arc::new(Fake),
        deliveries: Arc::new(Nothing),
    }
}

/// What others know, made up.
struct Fake;

impl Checkpoints for Fake {
    fn list(&self, feature: Option<String>) -> Later<'_, Vec<Value>> {
        Box::pin(async move {
            if feature.is_some_and(|name| name != "login") {
                return Err(Trouble::NotFound { what: "no such feature".to_owned() });
            }
            Ok((1..=5).map(|n| json!({"checkpoint_id": format!("ckpt-{n:03}")})).collect())
        })
    }

    fn show(&self, id: String, _: Option<String>) -> Later<'_, Value> {
        Box::pin(async move {
            match id.as_str() {
                "ckpt-001" => Ok(json!({"checkpoint_id": id})),
                _ => Err(Trouble::NotFound { what: "no such checkpoint".to_owned() }),
            }
        })
    }
}

impl Policies for Fake {
    fn effective(&self) -> Later<'_, Effective> {
        let settings = vec![json!({"key": "a.b", "value": 1, "origin": "test", "locked": null})];
        Box::pin(async { Ok(Effective { digest: policy_digest(), settings }) })
    }

    fn check(&self, action: Action, _: Option<String>) -> Later<'_, Value> {
        Box::pin(async move {
            let decision = if matches!(action, Action::Shell { .. }) { "deny" } else { "allow" };
            Ok(json!({"decision": decision, "reasons": [], "effects": []}))
        })
    }

    fn digest(&self) -> Later<'_, Digest> {
        Box::pin(async { Ok(policy_digest()) })
    }

    fn roles_of(&self, person: String) -> Later<'_, Vec<String>> {
        let roles = if person == "lea" { vec!["lead".to_owned()] } else { Vec::new() };
        Box::pin(async { Ok(roles) })
    }
}

impl Agents for Fake {
    fn list(&self) -> Later<'_, Value> {
        Box::pin(async { Ok(json!({"agents": []})) })
    }
}

impl Neighbours for Fake {
    /// Port 666 is an agent's.
    fn may_decide(&self, from: SocketAddr, _: SocketAddr) -> Later<'_, Result<(), String>> {
        let told =
            if from.port() == 666 { Err("an agent can never decide".to_owned()) } else { Ok(()) };
        Box::pin(async move { Ok(told) })
    }

    fn is_agent(&self, from: SocketAddr, _: SocketAddr) -> Later<'_, bool> {
        Box::pin(async move { Ok(from.port() == 666) })
    }
}

impl Judge for Fake {
    /// `rm` is forbidden, `ls` is allowed, the rest is asked about; `drop` is critical.
    fn judge(&self, asked: Asked) -> Later<'_, Judged> {
        Box::pin(async move {
            let command = asked.args["command"].as_str().unwrap_or_default().to_owned();
            let verdict = match command.split(' ').next() {
                Some("rm") => Answer::Deny,
                Some("ls") => Answer::Allow,
                Some("break") => return Err(Trouble::Broken { what: "no policy".to_owned() }),
                _ => Answer::Ask,
            };
            let tier = if command.starts_with("drop") { Tier::Critical } else { Tier::High };
            let before = asked.before.map_or_else(|| request().subject, |before| *before);
            let subject = Subject {
                run: asked.run,
                task: asked.task,
                agent: asked.agent,
                tool: asked.tool,
                args: asked.args,
                tier,
                ..before
            };
            Ok(Judged {
                subject,
                verdict,
                reasons: vec![reason(verdict)],
                effects: vec![format!("does {command}")],
                actions: Vec::new(),
                tier,
                autonomy: Autonomy::Supervised,
                ruling: ruling(Vec::new()),
                title: command,
            })
        })
    }
}
