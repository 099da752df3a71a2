//! What a handler gives back when all went well.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{Response, StatusCode};
use serde_json::Value;

use crate::problem::Problem;

/// What a handler gives back.
pub type Outcome = Result<Reply, Problem>;

/// An answer.
#[derive(Debug)]
pub enum Reply {
    /// JSON, with this status.
    Json(StatusCode, Value),
    /// Text of a media type.
    Text(&'static str, String),
    /// Something that goes on, of a media type.
    Stream(&'static str, Body),
}

impl Reply {
    /// JSON, and all is well.
    #[must_use]
    pub fn ok(value: Value) -> Self {
        Self::Json(StatusCode::OK, value)
    }

    /// As a response.
    #[must_use]
    pub fn response(self) -> Response<Body> {
        let (status, media, body) = match self {
            Self::Json(status, value) => {
                (status, "application/json", Body::from(value.to_string()))
            }
            Self::Text(media, text) => (StatusCode::OK, media, Body::from(text)),
            Self::Stream(media, body) => (StatusCode::OK, media, body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        response
    }
}
