//! The JSON Schema of policy files, made from the two tables, for editors.

use serde_json::{Map, Value as Json, json};

use super::fields::{COLLECTIONS, Collection, Field, FieldKind};
use super::keys::{GROUPS, KEYS, KeyRow, Kind};
use super::setting::Value;

const LOCKED_DOC: &str =
    "Whether layers below this one may tighten these values but not loosen them.";

/// The JSON Schema (2020-12) of a policy file.
#[must_use]
pub fn schema() -> Json {
    let mut properties = Map::new();
    for group in GROUPS.iter().filter(|group| !group.path.contains('.')) {
        properties.insert(group.path.to_owned(), group_schema(group.path, group.doc));
    }
    for collection in &COLLECTIONS {
        properties.insert(collection.name.to_owned(), collection_schema(collection));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Aurora policy",
        "description": "What agents may do: .aurora/policies.yaml",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A mapping of settings; an operation may also be written as its answer alone.
fn group_schema(path: &str, doc: &str) -> Json {
    let mut properties = Map::new();
    for group in GROUPS.iter() {
        if let Some(name) = below(path, group.path) {
            properties.insert(name.to_owned(), group_schema(group.path, group.doc));
        }
    }
    let mut short = None;
    for row in KEYS.iter() {
        let Some(name) = below(path, row.path) else { continue };
        let schema = row_schema(row);
        if name == "action" {
            short = Some(schema.clone());
        }
        properties.insert(name.to_owned(), schema);
    }
    properties.insert("locked".into(), json!({"type": "boolean", "description": LOCKED_DOC}));
    let full = json!({"type": "object", "properties": properties, "additionalProperties": false});
    match short {
        Some(short) => json!({"description": doc, "anyOf": [short, full]}),
        None => described(full, doc),
    }
}

/// The name directly below a mapping.
fn below<'p>(parent: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(parent)?.strip_prefix('.').filter(|name| !name.contains('.'))
}

fn described(mut schema: Json, doc: &str) -> Json {
    if let Some(map) = schema.as_object_mut() {
        map.insert("description".into(), json!(doc));
    }
    schema
}

fn row_schema(row: &KeyRow) -> Json {
    let mut schema = match row.kind {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Whole(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Amount(min, max) => json!({"type": "number", "minimum": min, "maximum": max}),
        Kind::Choice(words) => json!({"type": "string", "enum": words}),
        Kind::Answer => json!({"type": "string", "enum": ["allow", "prompt", "deny"]}),
        Kind::Text => text_schema(),
        Kind::Patterns => json!({"type": "array", "items": text_schema()}),
    };
    if let Some(map) = schema.as_object_mut() {
        map.insert("description".into(), json!(row.doc));
        map.insert("default".into(), Value::preset(row.preset).json());
    }
    schema
}

fn text_schema() -> Json {
    json!({"type": "string", "minLength": 1})
}

fn collection_schema(collection: &Collection) -> Json {
    let entry = entry_schema(collection.fields);
    let schema = if collection.named {
        json!({
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z0-9_-]{1,64}$"},
            "additionalProperties": entry,
        })
    } else {
        json!({"type": "array", "items": entry})
    };
    described(schema, collection.doc)
}

fn entry_schema(fields: &[Field]) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        properties.insert(field.name.to_owned(), described(field_schema(field.kind), field.doc));
        if field.required {
            required.push(field.name);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn one_or_more(one: &Json) -> Json {
    json!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})
}

fn field_schema(kind: FieldKind) -> Json {
    match kind {
        FieldKind::Text => text_schema(),
        FieldKind::Name => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}),
        FieldKind::Texts | FieldKind::Patterns | FieldKind::Words => one_or_more(&text_schema()),
        FieldKind::Choice { words, many } => {
            let one = json!({"type": "string", "enum": words});
            if many { one_or_more(&one) } else { one }
        }
        FieldKind::Kinds => {
            one_or_more(&json!({"type": "string", "pattern": "^[a-z0-9_-]+:[a-z0-9_-]+$"}))
        }
        FieldKind::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        FieldKind::Flag => json!({"type": "boolean"}),
        FieldKind::Block(fields) => {
            let mut schema = entry_schema(fields);
            if let Some(map) = schema.as_object_mut() {
                map.insert("minProperties".into(), json!(1));
            }
            schema
        }
    }
}
