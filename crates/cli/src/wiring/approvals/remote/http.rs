//! HTTP to a server of ours: a token, JSON both ways, problems as they are told, and its events.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aurora_model::ApprovalState;
use reqwest::{Client, Response, Url};
use serde_json::Value;

use super::Refusal;
use crate::exit::Failure;
use crate::wiring::{input, store};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait before events are asked for again.
const AGAIN: Duration = Duration::from_secs(2);
/// A longer answer is none.
const MAX_BYTES: usize = 64 * 1024 * 1024;
const MAX_TOKEN_BYTES: u64 = 64 * 1024;

/// A server, and what opens it.
pub struct Http {
    base: Url,
    token: Option<String>,
    client: Client,
    runtime: tokio::runtime::Runtime,
}

/// What a server answers.
pub enum Answer {
    /// What was asked for.
    Told(Value),
    /// Why not.
    Problem(Problem),
}

/// Why a server does not do it, after RFC 9457.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The status.
    pub status: u16,
    kind: String,
    detail: String,
    told: Value,
}

impl Http {
    /// A server at an address.
    pub fn new(url: &str, token_file: Option<&PathBuf>) -> anyhow::Result<Self> {
        let wrong = |why: &str| {
            Failure::usage(format!("`{url}` is no address of a server: {why}"))
                .hint("write it like http://127.0.0.1:7788")
        };
        let base =
            Url::parse(url.trim_end_matches('/')).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(wrong("it begins with http:// or https://").into());
        }
        let token = token(url, token_file)?;
        if token.is_some() && base.scheme() == "http" && !is_here(&base) {
            return Err(Failure::usage(format!("a token would go to {url} for everybody to read"))
                .hint("use https, or a tunnel to a port of this machine")
                .into());
        }
        let cannot = |why: String| Failure::failed(format!("cannot start to ask: {why}"));
        let client = Client::builder()
            .connect_timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| cannot(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| cannot(error.to_string()))?;
        Ok(Self { base, token, client, runtime })
    }

    /// Asks for something.
    pub fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let request = self.client.get(self.url(path)).timeout(PATIENCE);
        self.runtime.block_on(self.answer(request))
    }

    /// Says something.
    pub fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        let request = self.client.post(self.url(path)).timeout(PATIENCE);
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.runtime.block_on(self.answer(request))
    }

    fn url(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.base.as_str().trim_end_matches('/'))
    }

    fn opened(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    fn unreached(&self, error: &reqwest::Error) -> Failure {
        // What it is about is in the last of the causes.
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        Failure::failed(format!("cannot ask {}: {cause}", self.base))
            .hint("is `aur serve` running there?")
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Answer> {
        let sent = self.opened(request).send().await;
        let response = sent.map_err(|error| self.unreached(&error))?;
        let status = response.status();
        let bytes = read(response).await.map_err(|error| self.unreached(&error))?;
        let unclear = || Failure::failed(format!("{} answers in no way that we know", self.base));
        let told: Option<Value> = serde_json::from_slice(&bytes).ok();
        match (status.is_success(), told) {
            (true, Some(told)) => Ok(Answer::Told(told)),
            (false, Some(told)) => Ok(Answer::Problem(Problem::new(status.as_u16(), told))),
            (_, None) => Err(unclear().hint(format!("it said {status}")).into()),
        }
    }

    /// Tells each record of a stream of events; nothing is told when the stream stands. A stream that
    /// breaks is taken up where it was.
    pub fn events(
        &self,
        path: &str,
        each: &mut dyn FnMut(Option<&Value>) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let mut last: Option<String> = None;
        loop {
            let request = self.opened(self.client.get(self.url(path)));
            let request = match &last {
                Some(last) => request.header("last-event-id", last),
                None => request,
            };
            let sent = self.runtime.block_on(request.send());
            // Whoever was connected once waits for the server to come back.
            match sent {
                Ok(response) if response.status().is_success() => {
                    if !self.listen(response, &mut last, each)? {
                        return Ok(());
                    }
                }
                Ok(response) => {
                    let status = response.status().as_u16();
                    let bytes = self.runtime.block_on(read(response)).unwrap_or_default();
                    let told = serde_json::from_slice(&bytes).unwrap_or_default();
                    return Err(Problem::new(status, told).failure().into());
                }
                Err(error) if last.is_none() => return Err(self.unreached(&error).into()),
                Err(_) => {}
            }
            self.runtime.block_on(tokio::time::sleep(AGAIN));
        }
    }

    fn listen(
        &self,
        mut response: Response,
        last: &mut Option<String>,
        each: &mut dyn FnMut(Option<&Value>) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let mut text = Vec::new();
        while let Ok(Some(bytes)) = self.runtime.block_on(response.chunk()) {
            text.extend_from_slice(&bytes);
            while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                let rest = text.split_off(end + 2);
                let event = String::from_utf8_lossy(&text).into_owned();
                text = rest;
                let (id, data) = fields(&event);
                let record = data.and_then(|data| serde_json::from_str::<Value>(&data).ok());
                if !each(record.as_ref())? {
                    return Ok(false);
                }
                // A stream that broke before its first event is taken up from its beginning.
                *last = id.or_else(|| last.take()).or_else(|| Some(String::new()));
            }
            if text.len() > MAX_BYTES {
                return Ok(true);
            }
        }
        Ok(true)
    }
}

/// The id and the data of one event.
fn fields(event: &str) -> (Option<String>, Option<String>) {
    let field = |name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
    };
    (field("id:"), field("data:"))
}

async fn read(mut response: Response) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BYTES {
            break;
        }
    }
    Ok(bytes)
}

fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// What opens a server: a file that was named, `AURORA_TOKEN`, or what the server that was started here
/// wrote down.
fn token(url: &str, file: Option<&PathBuf>) -> anyhow::Result<Option<String>> {
    if let Some(file) = file {
        let text = read_token(file)
            .ok_or_else(|| Failure::usage(format!("there is no token in {}", file.display())))?;
        return Ok(Some(text));
    }
    if let Ok(token) = std::env::var("AURORA_TOKEN")
        && !token.trim().is_empty()
    {
        return Ok(Some(token.trim().to_owned()));
    }
    let Ok(folder) = store::folder() else { return Ok(None) };
    let text = input::small_text(&folder.join("serve.json"), MAX_TOKEN_BYTES).unwrap_or_default();
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let same = told.get("url").and_then(Value::as_str).map(|own| own.trim_end_matches('/'));
    let token = told.get("token").and_then(Value::as_str).map(ToOwned::to_owned);
    Ok(token.filter(|_| same == Some(url.trim_end_matches('/'))))
}

/// The token in a file: its text, or what a started server wrote there.
fn read_token(file: &Path) -> Option<String> {
    let text = input::small_text(file, MAX_TOKEN_BYTES)?;
    let told: Option<Value> = serde_json::from_str(&text).ok();
    let told = told.as_ref().and_then(|told| told.get("token")).and_then(Value::as_str);
    let token = told.unwrap_or(text.trim()).to_owned();
    (!token.is_empty() && !token.contains(char::is_whitespace)).then_some(token)
}

impl Problem {
    fn new(status: u16, told: Value) -> Self {
        let text = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = text("type").rsplit(':').next().unwrap_or_default().to_owned();
        Self { status, kind, detail: text("detail"), told }
    }

    /// As the error of a command.
    pub fn failure(&self) -> Failure {
        let told = match self.detail.as_str() {
            "" => format!("the server said {}", self.status),
            detail => detail.to_owned(),
        };
        match self.status {
            401 => Failure::denied(told)
                .hint("--token-file or AURORA_TOKEN opens it; `aur token create` makes one"),
            403 => Failure::denied(told),
            _ => Failure::failed(told),
        }
    }

    /// Why a decision was not taken; nothing where something else is wrong.
    pub fn refusal(&self, id: &str) -> Option<Refusal> {
        let (word, usage) = match self.kind.as_str() {
            "already-decided" => ("closed", false),
            "expired" => ("expired", false),
            "stale" => ("outdated", false),
            "not-allowed" | "agent-cannot-decide" => ("not_allowed", false),
            "policy-forbids" => ("forbidden", false),
            "voted-before" => ("voted_before", false),
            "cannot-edit" | "refused" => ("cannot_edit", false),
            "no-such-choice" => ("no_such_choice", true),
            "needs-reason" => ("needs_reason", true),
            "not-found" => ("unknown", true),
            _ => return None,
        };
        let text = |key: &str| self.told.get(key).and_then(Value::as_str);
        let state = text("state").and_then(ApprovalState::from_name);
        let message = match state {
            Some(state) => {
                let by = text("decided_by").map(|by| format!(", by {by}")).unwrap_or_default();
                let why = text("reason").map(|why| format!(": {why}")).unwrap_or_default();
                format!("{id} was decided before: {}{by}{why}", state.name().replace('_', " "))
            }
            None => format!("{id}: {}", self.detail),
        };
        Some(Refusal { word: word.to_owned(), message, state, usage })
    }
}

/// A query, with everything but letters, digits and `-._~/` written as numbers.
pub fn encoded(query: &[(String, String)]) -> String {
    let escape = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect()
    };
    let pairs: Vec<String> =
        query.iter().map(|(key, value)| format!("{}={}", escape(key), escape(value))).collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_queries_and_problems_are_read_as_they_are_written() {
        let (id, data) = fields("id: 7\nevent: decided\ndata: {\"a\": 1}\n\n");
        assert_eq!((id.as_deref(), data.as_deref()), (Some("7"), Some("{\"a\": 1}")));
        assert_eq!(fields(": heartbeat\n\n"), (None, None));
        assert_eq!(encoded(&[("run".to_owned(), "a b&c".to_owned())]), "run=a%20b%26c");
        let told = serde_json::json!({
            "type": "urn:aurora:problem:already-decided", "detail": "it is denied",
            "state": "denied", "decided_by": "ana (http)", "reason": "no",
        });
        let refusal = Problem::new(409, told).refusal("x.q1").unwrap();
        assert_eq!(refusal.message, "x.q1 was decided before: denied, by ana (http): no");
        assert_eq!(refusal.word, "closed");
    }

    /// APR-8: a token does not travel in the open.
    #[test]
    fn a_token_goes_only_where_nobody_else_can_read_it() {
        let check = |url: &str, expected: bool| {
            assert_eq!(is_here(&Url::parse(url).unwrap()), expected, "{url}");
        };
        check("http://127.0.0.1:1", true);
        check("http://[::1]:1", true);
        check("http://localhost", true);
        check("http://localhost.example.org", false);
        check("http://10.0.0.1", false);
    }
}
