//! The JSON Schema of `approvals.yaml`, made from what reads it, for editors.

use aurora_model::{Autonomy, GateKind, Tier};
use serde_json::{Map, Value, json};

use super::read::MAX_QUORUM;
use crate::approval::timeout::POLICIES;

/// The JSON Schema (2020-12) of the file.
#[must_use]
pub fn schema() -> Value {
    let policies: Vec<Value> = POLICIES.iter().map(policy).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Aurora approvals",
        "description": "Who may decide what agents ask: .aurora/approvals.yaml",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "people": people(),
            "autonomy": autonomy(),
            "risk": {
                "description": "How dangerous each kind of action is.",
                "type": ["object", "null"],
                "propertyNames": { "$ref": "#/$defs/kinds" },
                "additionalProperties": { "$ref": "#/$defs/tier" },
            },
            "timeouts": {
                "description": "What happens when nobody decides; the most specific rule wins.",
                "anyOf": [
                    { "type": "array", "items": { "$ref": "#/$defs/timeout" } },
                    { "$ref": "#/$defs/timeout" },
                    { "type": "null" },
                ],
            },
            "approval_timeout": { "$ref": "#/$defs/timeout" },
            "approvers": approvers(),
            "notify": {
                "description": "Who is told what happens to a request, and over what.",
                "type": "array",
                "items": { "type": "object" },
            },
        },
        "$defs": definitions(policies),
    })
}

fn definitions(policies: Vec<Value>) -> Value {
    json!({
        "timeout": { "oneOf": policies },
        "duration": {
            "description": "90s, 30m, 4h, 2d; a plain number means minutes.",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": "^[1-9][0-9]*[smhd]?$" },
            ],
        },
        "duration_or_never": {
            "anyOf": [{ "const": "never" }, { "$ref": "#/$defs/duration" }],
        },
        "who": some(&json!({ "type": "string", "pattern": "^(role:)?[A-Za-z0-9_][A-Za-z0-9._-]*$" })),
        "kinds": { "type": "string", "pattern": "^[a-z0-9_-]+(:[a-z0-9_-]+)?$" },
        "tier": { "enum": Tier::ALL.map(Tier::name) },
        "level": { "enum": Autonomy::ALL.map(Autonomy::name) },
        "levels": {
            "type": ["object", "null"],
            "additionalProperties": { "$ref": "#/$defs/level" },
        },
        "when": {
            "description": "Everything given here must hold; of a list one.",
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
                "action": some(&json!({ "$ref": "#/$defs/kinds" })),
                "tier": some(&json!({ "$ref": "#/$defs/tier" })),
                "gate": some(&json!({ "enum": GateKind::ALL.map(GateKind::name) })),
                "autonomy": some(&json!({ "$ref": "#/$defs/level" })),
            },
        },
    })
}

/// One policy with its own settings and the common ones.
fn policy(kind: &crate::approval::timeout::PolicyKind) -> Value {
    let mut properties = Map::new();
    properties.insert("policy".into(), json!({ "const": kind.name }));
    properties.insert("when".into(), json!({ "$ref": "#/$defs/when" }));
    for name in ["remind_every", "warn_before"] {
        properties.insert(name.into(), json!({ "$ref": "#/$defs/duration_or_never" }));
    }
    if let Value::Object(own) = (kind.schema)() {
        properties.extend(own);
    }
    json!({
        "description": kind.doc,
        "type": "object",
        "required": ["policy"],
        "additionalProperties": false,
        "properties": properties,
    })
}

fn people() -> Value {
    json!({
        "description": "Who people are, by name: roles, login, mail. Who may decide is said by approvers.",
        "type": ["object", "null"],
        "additionalProperties": {
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {
                "roles": some(&json!({ "type": "string" })),
                "login": { "type": "string" },
                "email": { "type": "string" },
            },
        },
    })
}

fn autonomy() -> Value {
    json!({
        "description": "How much agents may do by themselves.",
        "anyOf": [
            { "$ref": "#/$defs/level" },
            {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "default": { "$ref": "#/$defs/level" },
                    "roles": { "$ref": "#/$defs/levels" },
                    "agents": { "$ref": "#/$defs/levels" },
                },
            },
        ],
    })
}

fn approvers() -> Value {
    json!({
        "description": "Who may decide what, and how many must; the most specific rule wins.",
        "type": ["array", "object", "null"],
        "items": {
            "type": "object",
            "additionalProperties": false,
            "anyOf": [{ "required": ["who"] }, { "required": ["quorum"] }],
            "properties": {
                "when": { "$ref": "#/$defs/when" },
                "who": { "$ref": "#/$defs/who" },
                "quorum": { "type": "integer", "minimum": 1, "maximum": MAX_QUORUM },
            },
        },
    })
}

/// One, or a list of them.
fn some(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }] })
}
