//! Why a call to a model failed, in one line for people, and whether trying again may help.

use std::error::Error as StdError;
use std::time::Duration;

use aurora_model::Cost;
use serde_json::Value;

use super::{Model, clean};
use crate::profile::ModelProvider;

/// More of a provider's message is not shown.
const MAX_MESSAGE_CHARS: usize = 300;

/// A call that failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fault {
    /// What happened, and what to do; one line, without the key.
    pub why: String,
    /// Whether trying again may help.
    pub transient: bool,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// How long the provider wants us to wait.
    pub wait: Option<Duration>,
    /// What had come of an answer, where something had.
    pub begun: Option<Box<Begun>>,
}

/// An answer that broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The text that had come; nothing where there were only thoughts.
    pub text: String,
    /// What it may have cost nevertheless.
    pub cost: Cost,
}

impl Fault {
    /// Whether the same call may succeed, and nobody has heard a part of its answer.
    pub fn may_go_away(&self) -> bool {
        self.transient && self.begun.is_none()
    }

    /// Whether the provider did not want the schema.
    pub fn rejects_schema(&self) -> bool {
        let why = self.why.to_lowercase();
        let names_it = ["schema", "format", "output_config"].iter().any(|word| why.contains(word));
        self.begun.is_none() && matches!(self.status, Some(400 | 422)) && names_it
    }

    /// Something on our side.
    pub fn ours(model: &Model, what: &str) -> Self {
        Self { why: model.tell(what, None, None), ..Self::default() }
    }

    /// The answer ended before it was complete.
    pub fn cut(model: &Model, begun: bool, said: Option<&str>) -> Self {
        let origin = &model.address.origin;
        let (what, hint) = match (said, begun) {
            (Some(_), _) => (format!("{origin} broke off"), None),
            (None, true) => (format!("{origin} broke off in the middle of the answer"), None),
            (None, false) => (
                format!("{origin} ended without an answer of its API"),
                Some("does base_url lead to the right place?"),
            ),
        };
        Self { why: model.tell(&what, said, hint), transient: true, ..Self::default() }
    }

    /// What the client says went wrong.
    pub fn of(model: &Model, error: &genai::Error) -> Self {
        use genai::Error as E;
        match error {
            E::WebStream { error, .. } => Self::of_stream(model, error.as_ref()),
            E::HttpError { status, body, headers, .. } => {
                let wait = headers.get("retry-after").and_then(|value| value.to_str().ok());
                Self::of_status(model, status.as_u16(), body, wait)
            }
            E::ChatResponse { body, .. } => Self::of_event(model, body),
            E::StreamParse { serde_error, .. } if serde_error.is_eof() => {
                Self::cut(model, false, None)
            }
            E::StreamParse { .. } | E::JsonValueExt(_) | E::SerdeJson(_) => {
                let origin = &model.address.origin;
                let what = format!("{origin} answered something that is not its API's");
                let hint = Some("does base_url lead to the right place?");
                Self { why: model.tell(&what, None, hint), ..Self::default() }
            }
            other => Self::ours(model, &other.to_string()),
        }
    }

    fn of_stream(model: &Model, error: &(dyn StdError + Send + Sync + 'static)) -> Self {
        if let Some(error) = error.downcast_ref::<genai::Error>() {
            return Self::of(model, error);
        }
        let origin = &model.address.origin;
        let connecting =
            error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect);
        let why = if connecting {
            let hint = match model.profile.provider {
                ModelProvider::Ollama => "is Ollama running there (`ollama serve`)?",
                _ => "is the address right, and can it be reached from here?",
            };
            model.tell(
                &format!("could not connect to {origin}"),
                Some(&root_cause(error)),
                Some(hint),
            )
        } else {
            model.tell(&format!("{origin} broke off"), Some(&root_cause(error)), None)
        };
        Self { why, transient: true, ..Self::default() }
    }

    fn of_status(model: &Model, status: u16, body: &str, retry_after: Option<&str>) -> Self {
        let variable = model.profile.api_key_env.as_deref();
        let key = format!("check the key in {}", variable.unwrap_or("api_key_env's variable"));
        let hint = match status {
            401 | 403 => Some(key.as_str()),
            404 => Some("check the model's name and base_url"),
            429 => Some("wait, or look at the limits and the credit of the account"),
            300..=399 => Some("base_url must be the address to which it leads"),
            500.. => Some("the provider has trouble: try again later"),
            _ => None,
        };
        let what = format!("{} answered {status}", model.address.origin);
        let message = message(body);
        Self {
            why: model.tell(&what, message.as_deref(), hint),
            transient: matches!(status, 408 | 409 | 425 | 429 | 500..),
            status: Some(status),
            wait: retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs),
            ..Self::default()
        }
    }

    /// An error that came as an event of the stream.
    fn of_event(model: &Model, body: &Value) -> Self {
        const PASSING: [&str; 6] =
            ["overloaded", "rate_limit", "api_error", "server_error", "timeout", "unavailable"];
        let error = body.get("error").unwrap_or(body);
        let kind = ["type", "status", "code"]
            .iter()
            .find_map(|key| error.get(key)?.as_str())
            .unwrap_or_default()
            .to_lowercase();
        let code = error.get("code").and_then(Value::as_u64).unwrap_or_default();
        let transient =
            code == 429 || code >= 500 || PASSING.iter().any(|word| kind.contains(word));
        let said = spoken(body).unwrap_or_else(|| body.to_string());
        let what = format!("{} reported an error", model.address.origin);
        Self { why: model.tell(&what, Some(&said), None), transient, ..Self::default() }
    }
}

impl Model {
    /// One line: what happened, what the provider said, what to do.
    fn tell(&self, what: &str, said: Option<&str>, hint: Option<&str>) -> String {
        let mut line = clean::line(&self.without_key(what), MAX_MESSAGE_CHARS);
        // The key goes first: what was cut in its middle would not be recognised.
        let said = said.map(|said| clean::line(&self.without_key(said), MAX_MESSAGE_CHARS));
        for (before, part) in [(": ", said.as_deref()), ("; ", hint)] {
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                line.push_str(before);
                line.push_str(part);
            }
        }
        line
    }

    fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key, "…"),
            None => text.to_owned(),
        }
    }
}

/// The innermost cause, which says most.
pub fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// What a provider says in the body of a refusal.
fn message(body: &str) -> Option<String> {
    match serde_json::from_str::<Value>(body) {
        Ok(json) => Some(spoken(&json).unwrap_or_else(|| json.to_string())),
        // A page for people says nothing in its first line.
        Err(_) if body.trim_start().starts_with('<') => None,
        Err(_) => Some(body.to_owned()),
    }
}

/// The message within an error, in the shapes of the four providers.
fn spoken(json: &Value) -> Option<String> {
    let json = json.get(0).unwrap_or(json);
    ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .find_map(|path| json.pointer(path)?.as_str())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_providers_message_is_found_in_every_shape() {
        let check = |body: &str, expected: Option<&str>| {
            assert_eq!(message(body).as_deref(), expected, "{body}");
        };
        check(r#"{"type":"error","error":{"type":"x","message":"no"}}"#, Some("no"));
        check(r#"{"error":"no such model"}"#, Some("no such model"));
        check(r#"[{"error":{"code":400,"message":"bad"}}]"#, Some("bad"));
        check(r#"{"detail":"not found"}"#, Some("not found"));
        check(r#"{"odd":1}"#, Some(r#"{"odd":1}"#));
        check("gateway down", Some("gateway down"));
        check("<html><body>x</body></html>", None);
    }
}
