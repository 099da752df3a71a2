//! The schemas of what is given back.

use aurora_model::{Autonomy, Outcome};
use serde_json::{Map, Value, json};

use crate::approvals::{STATUSES, choices};
use crate::routes::words;

/// What a name looks like.
pub const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9._-]*$";
/// One line of text.
pub const LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/// All of them, by name.
pub fn all() -> Map<String, Value> {
    let mut all = Map::new();
    all.extend(approvals());
    all.extend(records());
    all.extend(others());
    all
}

/// An object with these properties; others may come with later versions.
pub fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// An object whose properties are always there.
fn whole(properties: Value) -> Value {
    let names: Vec<String> =
        properties.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": names})
}

/// A digest.
pub fn digest() -> Value {
    json!({"type": "string", "pattern": "^[0-9a-f]{64}$"})
}

fn moment() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn maybe(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn list(of: Value) -> Value {
    json!({"type": "array", "items": of})
}

fn refers(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn page(name: &str, of: &str) -> Value {
    whole(json!({name: list(refers(of)), "next": maybe(text())}))
}

fn summary() -> Value {
    let autonomy: Vec<&str> = Autonomy::ALL.into_iter().map(Autonomy::name).collect();
    json!({
        "approval_id": text(),
        "approval_type": {"enum": words::gates()},
        "status": {"enum": STATUSES, "description": "`state` in the words of the first design."},
        "state": {"enum": words::states()},
        "session_id": maybe(text()),
        "run": maybe(text()),
        "task": maybe(text()),
        "agent": maybe(text()),
        "requester": whole(json!({
            "agent": maybe(text()), "role": maybe(text()), "person": maybe(text()),
        })),
        "title": text(),
        "tier": {"enum": words::tiers()},
        "autonomy": {"enum": autonomy},
        "actions": list(text()),
        "options": list(json!({"enum": choices()})),
        "digest": digest(),
        "version": count(),
        "timestamp": moment(),
        "expires_at": maybe(moment()),
        "deciders": {
            "type": "array",
            "items": text(),
            "description": "Who may decide by now: names, `role:NAME`, `anyone`; empty for every person.",
        },
        "quorum": count(),
        "votes": count(),
        "escalated": count(),
    })
}

fn approvals() -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, schema: Value| drop(all.insert(name.to_owned(), schema));
    put("ApprovalSummary", whole(summary()));
    put("ApprovalPage", page("approvals", "ApprovalSummary"));
    put("Approval", approval());
    put("Decision", decision());
    put(
        "Decided",
        whole(json!({
            "approval_id": text(),
            "approval_status": {"enum": STATUSES},
            "state": {"enum": words::states()},
            "digest": digest(),
            "version": count(),
            "votes_missing": count(),
            "timestamp": moment(),
            "decision": maybe(refers("Decision")),
        })),
    );
    put(
        "BatchDecided",
        whole(json!({
            "decided": count(),
            "results": list(whole(json!({
                "approval_id": text(),
                "status": count(),
                "decided": maybe(refers("Decided")),
                "problem": maybe(refers("Problem")),
            }))),
        })),
    );
    put(
        "Allowed",
        whole(json!({
            "decision": {"const": "allow"},
            "effects": list(text()),
            "tier": {"enum": words::tiers()},
        })),
    );
    let parked = whole(json!({
        "agent": text(), "count": count(), "parked": list(refers("ApprovalSummary")),
    }));
    put("ParkedPage", whole(json!({"agents": list(parked), "next": maybe(text())})));
    put(
        "Reason",
        object(
            json!({
                "answer": {"enum": ["allow", "prompt", "deny"]},
                "rule": text(),
                "message": text(),
                "origin": text(),
            }),
            &["answer", "rule", "message"],
        ),
    );
    all
}

fn approval() -> Value {
    let mut properties = summary();
    let event = whole(json!({
        "timestamp": moment(), "kind": text(), "event": {"type": ["object", "null"]},
    }));
    let more = json!({
        "subject": {"type": "object", "description": "What a yes authorises; `digest` is over this."},
        "reasons": list(refers("Reason")),
        "effects": list(text()),
        "on_no": text(),
        "untrusted": {
            "description": "What the agent says itself. Nobody vouches for it.",
            "type": "object",
            "properties": {"claimed": maybe(text())},
            "required": ["claimed"],
        },
        "timeout": object(json!({"policy": text(), "chosen_by": text()}), &["policy", "chosen_by"]),
        "detail": maybe(digest()),
        "parked": maybe(digest()),
        "said": list(refers("Decision")),
        "decision": maybe(refers("Decision")),
        "ended_because": maybe(text()),
        "closed_at": maybe(moment()),
        "executor": maybe(text()),
        "result": maybe(digest()),
        "precedent": whole(json!({
            "approved": count(), "denied": count(), "changes_requested": count(),
            "timed_out": count(),
        })),
        "history": list(event),
    });
    if let (Some(fields), Value::Object(more)) = (properties.as_object_mut(), more) {
        fields.extend(more);
    }
    whole(properties)
}

fn decision() -> Value {
    let outcomes = [Outcome::Approved, Outcome::Denied, Outcome::ChangesRequested];
    whole(json!({
        "approval_status": {"enum": crate::approvals::SEED_STATUSES},
        "outcome": {"enum": outcomes},
        "choice": {"enum": choices()},
        "by": object(
            json!({"name": text(), "kind": text(), "roles": list(text()), "surface": text()}),
            &["name", "kind", "surface"],
        ),
        "digest": digest(),
        "policy": digest(),
        "feedback": maybe(text()),
    }))
}

fn records() -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, schema: Value| drop(all.insert(name.to_owned(), schema));
    put(
        "Record",
        whole(json!({
            "position": count(),
            "stream": text(),
            "version": count(),
            "at": moment(),
            "kind": text(),
            "schema": count(),
            "payload": {},
            "hash": digest(),
            "chain": digest(),
        })),
    );
    put("RecordPage", page("records", "Record"));
    put(
        "Verification",
        whole(json!({
            "whole": {"type": "boolean"},
            "records": count(),
            "streams": count(),
            "position": count(),
            "head": maybe(digest()),
            "findings": list(whole(json!({"message": text()}))),
            "more": count(),
        })),
    );
    put(
        "RunSummary",
        whole(json!({
            "run": text(),
            "goal": text(),
            "tasks": count(),
            "finished": {"type": "boolean"},
            "driven": {"type": "boolean"},
            "events": count(),
            "began_at": moment(),
            "last_at": moment(),
            "last_kind": text(),
        })),
    );
    put("RunPage", page("runs", "RunSummary"));
    put(
        "Run",
        object(
            json!({
                "run": text(),
                "goal": maybe(text()),
                "phase": {"enum": ["new", "open", "interrupted", "finished"]},
                "outcome": maybe(text()),
                "driven": {"type": "boolean"},
                "events": count(),
                "began_at": maybe(moment()),
                "last_at": maybe(moment()),
                "tasks": list(object(
                    json!({"task": text(), "title": text(), "status": text(), "attempts": count()}),
                    &["task", "title", "status", "attempts"],
                )),
                "questions": list(json!({"type": "object"})),
                "noticed": list(text()),
            }),
            &["run", "phase", "driven", "events", "tasks", "questions"],
        ),
    );
    all
}

fn others() -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, schema: Value| drop(all.insert(name.to_owned(), schema));
    put("Checkpoint", object(json!({"checkpoint_id": text()}), &["checkpoint_id"]));
    put(
        "CheckpointPage",
        whole(json!({
            "checkpoints": list(refers("Checkpoint")), "total": count(), "next": maybe(text()),
        })),
    );
    let setting = json!({"key": text(), "value": {}, "origin": text(), "locked": maybe(text())});
    put("Policy", whole(json!({"digest": digest(), "settings": list(whole(setting))})));
    put(
        "Verdict",
        object(
            json!({
                "decision": {"enum": ["allow", "prompt", "deny"]},
                "reasons": list(json!({"type": "object"})),
                "effects": list(json!({})),
            }),
            &["decision", "reasons", "effects"],
        ),
    );
    put("Agents", object(json!({"agents": list(json!({"type": "object"}))}), &["agents"]));
    put(
        "Caller",
        whole(json!({
            "name": text(),
            "kind": {"enum": ["person", "agent", "service"]},
            "roles": list(text()),
            "token": text(),
            "may_decide": {"type": "boolean"},
        })),
    );
    put("Health", whole(json!({"status": text()})));
    put("Document", json!({"type": "object", "required": ["openapi", "paths"]}));
    put(
        "Problem",
        object(
            json!({
                "type": {"type": "string", "pattern": "^urn:aurora:problem:[a-z-]+$"},
                "title": text(),
                "status": {"type": "integer", "minimum": 400, "maximum": 599},
                "detail": text(),
                "instance": text(),
                "retry_after_s": count(),
                "state": {"enum": words::states()},
                "decided_by": maybe(text()),
                "reason": maybe(text()),
                "current_digest": digest(),
                "votes_missing": count(),
                "options": list(text()),
                "reasons": list(refers("Reason")),
                "parameters": list(text()),
                "hint": text(),
            }),
            &["type", "title", "status", "detail", "instance"],
        ),
    );
    all
}
