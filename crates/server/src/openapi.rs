//! The OpenAPI document, made from the table of routes: what is not in the one is not in the other.

mod bodies;
mod schemas;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::problem::MEDIA_TYPE;
use crate::routes::{self, Access, Gives, Kind, Method, Param, Place, Route};

/// Statuses that are not in `refuses` of a route because every request can get them.
const ALWAYS: [u16; 6] = [400, 403, 421, 429, 500, 507];
/// Those that requests with a body can get.
const WITH_BODY: [u16; 3] = [408, 413, 415];

/// The whole document.
#[must_use]
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in routes::all() {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        let method = match route.method {
            Method::Get => "get",
            Method::Post => "post",
        };
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(method.to_owned(), operation(route));
        }
    }
    let mut schemas = schemas::all();
    schemas.extend(bodies::all());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Aurora",
            "version": "1",
            "summary": "Approvals, runs, checkpoints, policies and the log of Aurora",
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [
            {"name": "approvals", "description": "What waits for a person"},
            {"name": "runs", "description": "What agents do"},
            {"name": "checkpoints", "description": "Recorded states of the worktree"},
            {"name": "policies", "description": "What is allowed"},
            {"name": "agents", "description": "Who works"},
            {"name": "audit", "description": "Everything that happened"},
            {"name": "server", "description": "The server itself"},
        ],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of `aur token create`, or the one of this start that \
                        `aur serve` keeps in `.aurora/serve.json`.",
                },
            },
            "schemas": schemas,
        },
    })
}

const ABOUT: &str = "Every refusal and failure is `application/problem+json` (RFC 9457); its `type` \
ends with a word to match on. Lists have pages: send `next` back as `after`; a page may be short or \
empty and still have a `next`. A decision carries the `digest` of what was seen; when something else \
would be done by now, it is refused (412). The first decision counts, and everybody else is told who \
made it (409). Tokens of agents and services read and ask, and never decide. Whoever \
asked uses a yes once: `reserve` before the call, `result` after it.";

fn operation(route: &Route) -> Value {
    let mut told = json!({
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "responses": responses(route),
    });
    let Some(fields) = told.as_object_mut() else { return told };
    if !route.params.is_empty() {
        let params: Vec<Value> = route.params.iter().map(param).collect();
        fields.insert("parameters".to_owned(), params.into());
    }
    if let Some(schema) = route.body {
        let body = json!({
            "required": true,
            "content": {"application/json": {"schema": refers(schema)}},
        });
        fields.insert("requestBody".to_owned(), body);
    }
    if route.access == Access::Open {
        fields.insert("security".to_owned(), json!([]));
    }
    told
}

fn refers(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

fn responses(route: &Route) -> Value {
    let mut told = Map::new();
    for (status, gives) in route.gives {
        let content = match gives {
            Gives::Json(schema) => json!({"application/json": {"schema": refers(schema)}}),
            Gives::Text(media) => {
                // The parameters of a media type are not part of its key.
                let media = media.split(';').next().unwrap_or(media);
                json!({media: {"schema": {"type": "string"}}})
            }
        };
        let description = title(*status);
        told.insert(status.to_string(), json!({"description": description, "content": content}));
    }
    let mut refused: BTreeSet<u16> = route.refuses.iter().copied().chain(ALWAYS).collect();
    if route.access != Access::Open {
        refused.extend([401, 503]);
    }
    if route.body.is_some() {
        refused.extend(WITH_BODY);
    }
    for status in refused {
        let mut response = json!({
            "description": title(status),
            "content": {MEDIA_TYPE: {"schema": refers("Problem")}},
        });
        if let (429, Some(fields)) = (status, response.as_object_mut()) {
            let about = "when to try again, in seconds";
            let header = json!({"description": about, "schema": {"type": "integer", "minimum": 1}});
            fields.insert("headers".to_owned(), json!({"Retry-After": header}));
        }
        told.insert(status.to_string(), response);
    }
    Value::Object(told)
}

const fn title(status: u16) -> &'static str {
    match status {
        200 => "Done",
        201 => "Asked: it waits for a person",
        400 => "It cannot be understood",
        401 => "No token, or one that is unknown, expired or revoked",
        403 => "Whoever asks may not, or the policy forbids it",
        404 => "There is no such thing",
        408 => "The body took too long to arrive",
        409 => "Not as it stands: somebody was first, or nobody has decided; the answer says",
        410 => "Its time is over",
        412 => "What was seen is not what would be done",
        413 => "The body is too large",
        415 => "The body is not JSON",
        421 => "The name in `Host` is not one of this server",
        422 => "It was understood, and cannot be done like this",
        429 => "Too many requests",
        503 => "Something that is needed cannot be read now",
        507 => "The disk is full; nothing was recorded",
        _ => "The log cannot be read or written",
    }
}

fn param(param: &Param) -> Value {
    let place = match param.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
    };
    json!({
        "name": param.name,
        "in": place,
        "required": param.place == Place::Path,
        "description": param.about,
        "schema": kind(param),
    })
}

fn kind(param: &Param) -> Value {
    match param.kind {
        Kind::Number { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::OneOf(words) => json!({"type": "string", "enum": words()}),
        Kind::Name => json!({"type": "string", "pattern": schemas::NAME, "maxLength": 120}),
        Kind::Text { max } if param.place == Place::Path => {
            json!({"type": "string", "minLength": 1, "maxLength": max})
        }
        Kind::Text { max } => {
            json!({"type": "string", "pattern": schemas::LINE, "maxLength": max})
        }
        Kind::Cursor(list) => json!({"type": "string", "pattern": list.pattern()}),
    }
}
