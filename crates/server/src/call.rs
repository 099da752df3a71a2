//! One request on its way to its handler: read and checked by what the table of routes says of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aurora_engine::people::TokenKind;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, RawPathParams};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::caller::{self, Caller};
use crate::problem::Problem;
use crate::routes::{Access, Kind, Param, Place, Route};
use crate::server::Server;

/// One request.
pub struct Call {
    /// Everything that requests share.
    pub server: Arc<Server>,
    /// Its headers.
    pub headers: HeaderMap,
    caller: Option<Caller>,
    given: BTreeMap<&'static str, String>,
    body: Bytes,
}

impl Call {
    /// Reads a request as its route says.
    ///
    /// # Errors
    /// When it is not as the route says.
    pub async fn read(
        server: Arc<Server>,
        route: &'static Route,
        request: Request<Body>,
    ) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = match route.access {
            Access::Open => None,
            Access::Reader | Access::Person => {
                let caller = caller::identify(&server, &parts.headers).await?;
                let taken = server.by_token.take(caller.token.clone(), std::time::Instant::now());
                taken.map_err(|wait| Problem::too_many("this token asks too often", wait))?;
                Some(caller)
            }
        };
        let person = caller.as_ref().is_none_or(|caller| caller.kind == TokenKind::Person);
        if route.access == Access::Person && !person {
            let told = "only people decide; this token is none of a person";
            return Err(Problem::forbidden("agents-never-decide", told));
        }
        if let (Access::Person, Some(caller)) = (route.access, &caller) {
            caller::may_decide(&server, caller, &parts.extensions).await?;
        }
        let given = parameters(route, &mut parts).await?;
        let body = match route.body {
            None => Bytes::new(),
            Some(_) => {
                json_only(&parts.headers)?;
                read_body(&server, &parts.headers, body).await?
            }
        };
        Ok(Self { server, headers: parts.headers, caller, given, body })
    }

    /// Who asks.
    ///
    /// # Errors
    /// When nobody has to say who they are on this route.
    pub fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_ref().ok_or_else(|| Problem::unauthorized("a token is needed"))
    }

    /// A parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    /// A parameter that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// How many a page has.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(50)
    }

    /// The body.
    ///
    /// # Errors
    /// When it is not what the route takes.
    pub fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let is_object = self.body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if !is_object {
            return Err(Problem::malformed("the body must be a JSON object"));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Problem::malformed(format!("the body cannot be read: {error}")))
    }
}

/// Reads a field that may be missing and may not be `null`: what is not said is left out.
///
/// # Errors
/// When it is not what the field takes.
pub fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// The parameters that were given, each as the route says.
async fn parameters(
    route: &'static Route,
    parts: &mut Parts,
) -> Result<BTreeMap<&'static str, String>, Problem> {
    let mut given = BTreeMap::new();
    let in_path = RawPathParams::from_request_parts(parts, &()).await;
    let in_path = in_path.map_err(|_| Problem::not_found("there is nothing of that name"))?;
    for (name, value) in &in_path {
        let param = route.params.iter().find(|one| one.place == Place::Path && one.name == name);
        let Some(param) = param else { continue };
        if value.len() > 512 || value.chars().any(char::is_control) {
            return Err(Problem::not_found("there is nothing of that name"));
        }
        given.insert(param.name, value.to_owned());
    }
    let query = parts.uri.query().unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let param = route.params.iter().find(|one| one.place == Place::Query && one.name == name);
        let Some(param) = param else {
            let known: Vec<&str> = route
                .params
                .iter()
                .filter(|one| one.place == Place::Query)
                .map(|one| one.name)
                .collect();
            let told = Problem::malformed("there is no such parameter in the query");
            return Err(told.with("parameters", known));
        };
        check(param, &value)?;
        if given.insert(param.name, value.into_owned()).is_some() {
            return Err(Problem::malformed(format!("`{}` is given twice", param.name)));
        }
    }
    Ok(given)
}

/// Whether a value is what a parameter takes.
fn check(param: &Param, value: &str) -> Result<(), Problem> {
    let wrong = |what: String| Err(Problem::malformed(format!("`{}` {what}", param.name)));
    match param.kind {
        Kind::Number { min, max } => {
            let plain = value.bytes().all(|byte| byte.is_ascii_digit());
            match value.parse::<u64>() {
                Ok(number) if plain && (min..=max).contains(&number) => Ok(()),
                _ => wrong(format!("must be a number from {min} to {max}")),
            }
        }
        Kind::OneOf(words) if !words().contains(&value) => {
            wrong(format!("must be one of {}", words().join(", ")))
        }
        Kind::Name if !aurora_model::id::is_name(value) => {
            wrong("can have letters, digits and `._-` only".to_owned())
        }
        Kind::Text { max } if value.is_empty() || value.chars().count() > max => {
            wrong(format!("must have 1 to {max} characters"))
        }
        Kind::Cursor(list) => list.place(Some(value)).map(drop),
        Kind::Text { .. } if value.chars().any(char::is_control) => {
            wrong("must be one line of text".to_owned())
        }
        _ => Ok(()),
    }
}

fn json_only(headers: &HeaderMap) -> Result<(), Problem> {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = media.map(|media| media.split(';').next().unwrap_or_default().trim());
    if media.is_some_and(|media| media.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let told = "the body must be sent as `application/json`";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", told))
}

async fn read_body(server: &Server, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let most = server.limits.body_bytes;
    let too_large = || {
        let told = format!("a body may have {most} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", told)
    };
    let said = headers.get(axum::http::header::CONTENT_LENGTH);
    let said = said.and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    if said.is_some_and(|said: usize| said > most) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(body, most);
    match tokio::time::timeout(server.limits.body_time, read).await {
        Err(_) => {
            let told = "the body took too long to arrive";
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", told))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        // Whoever broke off does not read what they are told.
        Ok(Err(_)) => Err(too_large()),
    }
}
