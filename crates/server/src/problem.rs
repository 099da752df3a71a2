//! What is told when something is refused or goes wrong, after RFC 9457 (`application/problem+json`).

use aurora_engine::Error;
use aurora_engine::face::{LogError, Refused};
use aurora_model::ApprovalState;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::ports::Trouble;

/// What the types of problems begin with.
const TYPE: &str = "urn:aurora:problem:";
/// The media type.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// One refusal or failure, as it is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The status.
    pub status: StatusCode,
    /// A word that programs can match on; it ends the `type`.
    pub kind: &'static str,
    /// What it is about this time, in one line.
    pub detail: String,
    /// What else there is to know.
    pub more: Box<Map<String, Value>>,
    /// When to try again, in seconds.
    pub retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem.
    #[must_use]
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { status, kind, detail, more: Box::default(), retry_after_s: None }
    }

    /// The request cannot be understood.
    #[must_use]
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", detail)
    }

    /// There is no such thing.
    #[must_use]
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// Whoever asks may not.
    #[must_use]
    pub fn forbidden(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, kind, detail)
    }

    /// It was understood, and cannot be done like this.
    #[must_use]
    pub fn unprocessable(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, kind, detail)
    }

    /// Too much was asked in too short a time.
    #[must_use]
    pub fn too_many(detail: impl Into<String>, retry_after_s: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many", detail);
        Self { retry_after_s: Some(retry_after_s.max(1)), ..problem }
    }

    /// Nobody knows who asks.
    #[must_use]
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    }

    /// The same, with something else to know.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// The title of every problem of this status.
    fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Problem")
    }

    /// As JSON; `instance` is the path that was asked.
    #[must_use]
    pub fn json(&self, instance: &str) -> Value {
        let mut told = Map::new();
        told.insert("type".to_owned(), format!("{TYPE}{}", self.kind).into());
        told.insert("title".to_owned(), self.title().into());
        told.insert("status".to_owned(), self.status.as_u16().into());
        told.insert("detail".to_owned(), self.detail.clone().into());
        told.insert("instance".to_owned(), instance.into());
        if let Some(seconds) = self.retry_after_s {
            told.insert("retry_after_s".to_owned(), seconds.into());
        }
        told.extend((*self.more).clone());
        Value::Object(told)
    }

    /// As a response.
    #[must_use]
    pub fn response(&self, instance: &str) -> Response<Body> {
        let mut response = Response::new(Body::from(self.json(instance).to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let how = HeaderValue::from_static("Bearer realm=\"aurora\"");
            headers.insert(WWW_AUTHENTICATE, how);
        }
        response
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let told = refused.to_string();
        match refused {
            Refused::Unknown => Self::not_found(told),
            Refused::Closed { state, by, reason } => {
                let gone = matches!(state, ApprovalState::TimedOut);
                let (status, kind) = match gone {
                    true => (StatusCode::GONE, "expired"),
                    false => (StatusCode::CONFLICT, "already-decided"),
                };
                let more = Self::new(status, kind, told).with("state", state.name());
                more.with("decided_by", json!(by)).with("reason", json!(reason))
            }
            Refused::Expired => Self::new(StatusCode::GONE, "expired", told),
            Refused::NotAllowed { .. } => Self::forbidden("not-allowed", told),
            Refused::Outdated { current } => {
                Self::new(StatusCode::PRECONDITION_FAILED, "stale", told)
                    .with("current_digest", current.as_str())
            }
            Refused::NoSuchChoice { options, .. } => {
                Self::unprocessable("no-such-choice", told).with("options", json!(options))
            }
            Refused::VotedBefore { needed } => {
                Self::new(StatusCode::CONFLICT, "voted-before", told).with("votes_missing", needed)
            }
            Refused::NeedsReason => Self::unprocessable("needs-reason", told),
            Refused::CannotEdit { .. } => Self::unprocessable("cannot-edit", told),
            Refused::Forbidden { reasons } => {
                Self::forbidden("policy-forbids", told).with("reasons", json!(reasons))
            }
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Request { refused, .. } => refused.into(),
            Error::NoRun { .. } => Self::not_found(error.to_string()),
            Error::Store(error) => error.into(),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", error.to_string()),
        }
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        match &error {
            LogError::NotFound { .. } => Self::not_found(error.to_string()),
            LogError::Refused { .. } => Self::unprocessable("cannot-record", error.to_string()),
            LogError::Full { .. } => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "full", error.to_string())
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "log", error.to_string()),
        }
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotFound { what } => Self::not_found(what),
            Trouble::Refused { why } => Self::unprocessable("refused", why),
            Trouble::Broken { what } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what)
            }
        }
    }
}
