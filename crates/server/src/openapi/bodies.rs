//! The schemas of what is sent.

use serde_json::{Map, Value, json};

use super::schemas::{LINE, NAME, digest, object};
use crate::approvals::{
    DECISIONS, MAX_BATCH, MAX_CLAIMED, MAX_REASON, MAX_TOOL, OUTCOMES, SEED_STATUSES, choices,
};

/// All of them, by name.
pub fn all() -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, schema: Value| drop(all.insert(name.to_owned(), schema));
    put("NewDecision", said(json!({"digest": digest()}), &["digest"]));
    let item = json!({"id": {"type": "string"}, "digest": digest()});
    let items = json!({
        "type": "array",
        "items": closed(item, &["id", "digest"]),
        "minItems": 1,
        "maxItems": MAX_BATCH,
    });
    put("NewBatch", said(json!({"items": items}), &["items"]));
    let edit = json!({"digest": digest(), "args": args(), "reason": reason()});
    put("NewEdit", closed(edit, &["digest", "args"]));
    put("NewCancel", closed(json!({"reason": why()}), &["reason"]));
    let about_to = json!({"digest": digest(), "args": args()});
    put("NewReservation", closed(about_to, &["digest", "args"]));
    put("NewResult", result());
    let name = json!({"type": ["string", "null"], "pattern": NAME, "maxLength": 120});
    let asked = json!({
        "tool": {"type": "string", "pattern": LINE, "maxLength": MAX_TOOL},
        "args": args(),
        "claimed": {
            "type": ["string", "null"],
            "maxLength": MAX_CLAIMED,
            "description": "What whoever asks says about it. It is shown as untrusted, and authorises nothing.",
        },
        "run": name,
        "task": name,
    });
    put("NewApproval", closed(asked, &["tool", "args"]));
    put("NewCheck", check());
    all
}

/// An object that has nothing else.
fn closed(properties: Value, required: &[&str]) -> Value {
    let mut schema = object(properties, required);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}

fn args() -> Value {
    json!({
        "type": "object",
        "description": "The arguments of the tool, all of them.",
    })
}

fn reason() -> Value {
    json!({"type": ["string", "null"], "maxLength": MAX_REASON})
}

/// A reason that must be there: not blank.
fn why() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_REASON, "pattern": "\\S"})
}

/// What came of a call: it was done, or why it was not, or why nobody knows.
fn result() -> Value {
    let [executed, failed, unknown] = OUTCOMES;
    let summary = json!({"type": "string", "maxLength": MAX_REASON});
    let done = json!({"outcome": {"const": executed}, "summary": summary});
    let not = json!({"outcome": {"enum": [failed, unknown]}, "error": why()});
    json!({"oneOf": [closed(done, &["outcome"]), closed(not, &["outcome", "error"])]})
}

/// What is decided, in one of three ways to say it, and why; `reason` wins over `feedback`.
fn said(more: Value, required: &[&str]) -> Value {
    let mut schema = closed(more, required);
    let ways = json!({
        "decision": {
            "enum": DECISIONS,
            "description": "The plain yes, no, or not like this, whatever the options are called.",
        },
        "choice": {"enum": choices(), "description": "One of the request's `options`."},
        "approval_status": {"enum": SEED_STATUSES, "description": "The same as `decision`."},
        "reason": reason(),
        "feedback": reason(),
    });
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(fields), Value::Object(ways)) = (fields, ways) {
        fields.extend(ways);
    }
    if let Some(fields) = schema.as_object_mut() {
        let ways = ["decision", "choice", "approval_status"].map(|way| json!({"required": [way]}));
        fields.insert("oneOf".to_owned(), json!(ways));
    }
    schema
}

fn check() -> Value {
    let properties = json!({
        "command": {
            "description": "A line for the shell, or a program and its arguments.",
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ],
        },
        "sql": {"type": "string"},
        "dialect": {"enum": ["generic", "postgres", "mysql", "sqlite"]},
        "patch": {"type": "string", "description": "As `git diff` prints it."},
        "tool": {"type": "string", "description": "The name of an agent's tool."},
        "args": {"type": "object", "description": "The arguments of the tool."},
        "role": {"type": "string", "pattern": NAME, "maxLength": 120},
    });
    let mut schema = closed(properties, &[]);
    if let Some(fields) = schema.as_object_mut() {
        let ways = ["command", "sql", "patch", "tool"].map(|way| json!({"required": [way]}));
        fields.insert("oneOf".to_owned(), json!(ways));
        fields
            .insert("dependentRequired".to_owned(), json!({"dialect": ["sql"], "args": ["tool"]}));
    }
    schema
}
