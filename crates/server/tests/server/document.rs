//! The OpenAPI document: served as it is checked in, whole, and without anything that is not there.

use std::collections::BTreeSet;
use std::path::Path;

use axum::http::Request;
use serde_json::Value;

use crate::harness::{World, block};

fn collect(value: &Value, refers: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str);
            refers.extend(name.and_then(|name| name.rsplit('/').next()).map(str::to_owned));
            fields.values().for_each(|value| collect(value, refers));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, refers)),
        _ => {}
    }
}

// APR-1
#[test]
fn the_document_is_served_as_it_is_checked_in() {
    block(async {
        let served = World::new().get("/api/v1/openapi.json", "").await.json();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api/openapi.json");
        let text = format!("{served:#}\n");
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "docs/api/openapi.json is not what is served; write it with \
             `UPDATE_OPENAPI=1 cargo nextest run -p aurora-server document`"
        );
    });
}

// APR-1
#[test]
fn every_schema_that_is_named_is_there_and_every_one_that_is_there_is_named() {
    let document = aurora_server::openapi::document();
    let mut refers = BTreeSet::new();
    collect(&document, &mut refers);
    let there: BTreeSet<String> =
        document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(refers, there);
}

// APR-1
#[test]
fn every_path_of_the_document_answers_and_other_methods_and_paths_are_problems() {
    block(async {
        let world = World::new();
        let ana = world.person("ana").await;
        let document = aurora_server::openapi::document();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let real = path.replace("{id}", "nobody");
            for (method, operation) in methods.as_object().unwrap() {
                if operation["operationId"] == "streamEvents" {
                    continue;
                }
                let request = Request::builder().method(method.to_uppercase().as_str()).uri(&real);
                let got = world.send(request, &ana, Some("{}".to_owned())).await;
                let known = operation["responses"].as_object().unwrap();
                assert!(known.contains_key(&got.status.to_string()), "{method} {path}: {got:?}");
            }
            let got = world.send(Request::delete(&real), &ana, None).await;
            assert_eq!((got.status, got.problem().as_str()), (405, "method"), "{path}");
            let allow = got.headers["allow"].to_str().unwrap().to_lowercase();
            for method in methods.as_object().unwrap().keys() {
                assert!(allow.contains(method), "{path}: {allow}");
            }
        }
        for path in
            ["/", "/api/v1", "/api/v2/approvals", "/api/v1/approvals/", "/api/v1/approvals/a/b"]
        {
            let got = world.get(path, &ana).await;
            assert_eq!((got.status, got.problem().as_str()), (404, "not-found"), "{path}");
        }
    });
}
