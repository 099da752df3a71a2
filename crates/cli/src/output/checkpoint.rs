//! A checkpoint that was just made, for people and for programs.

use aurora_model::{Change, Checkpoint, RepoPath};
use aurora_workspace::{Created, Scanned};
use serde_json::{Map, Value, json};

use super::changes;
use super::escape;
use super::skipped;
use super::style::Style;

/// Where the diffs of a checkpoint are for people to read, as far as they were written.
#[derive(Debug, Default)]
pub struct DiffFiles {
    /// What differs from the previous checkpoint.
    pub incremental: Option<String>,
    /// What differs from where the chain began.
    pub cumulative: Option<String>,
}

/// What a person is told.
#[must_use]
pub fn human(created: &Created, style: Style) -> String {
    let checkpoint = &created.checkpoint;
    let id = style.bold(&escape::line(&checkpoint.checkpoint_id.0));
    let mut out = if created.unchanged {
        format!("nothing changed since {id}\n")
    } else if checkpoint.previous_checkpoint_id.is_none() && created.changes.is_empty() {
        format!("{id}  everything is as it was committed\n")
    } else {
        format!("{id}  {}\n", changes::summary(&created.changes))
    };
    let left_out = skipped::summary(&checkpoint.skipped);
    if !left_out.is_empty() && !created.unchanged {
        let told = format!("left out: {left_out}; --json lists all");
        out.push_str(&super::wrap::hang("  ", &told, style.width));
    }
    if !created.unchanged {
        out.push_str(&skipped::nested(checkpoint));
    }
    out
}

/// Which paths were looked at, where that is worth saying.
#[must_use]
pub fn why_slow(scanned: &Scanned) -> Option<String> {
    match scanned {
        Scanned::Watched { .. } => None,
        Scanned::Everything { because } => Some(format!(
            "everything was looked at: {because} (with `aur watch` running, only what changed is)"
        )),
    }
}

/// What a program is told.
#[must_use]
pub fn json(created: &Created, diffs: &DiffFiles) -> Value {
    let checkpoint = &created.checkpoint;
    let mut out = identity(checkpoint);
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("unchanged", json!(created.unchanged));
    put("files_changed", paths(&created.changes));
    put("changes", json!(created.changes));
    put("skipped", json!(checkpoint.skipped));
    put("empty_folders", json!(checkpoint.empty_folders));
    put("nested", json!(checkpoint.nested));
    put("violations", json!(checkpoint.violations));
    put("validation_status", json!(checkpoint.validation_status));
    put("severity", json!(checkpoint.severity));
    put("scanned", json!(created.scanned));
    put("diff_incremental", json!(diffs.incremental));
    put("diff_cumulative", json!(diffs.cumulative));
    Value::Object(out)
}

/// What every answer about a checkpoint begins with.
#[must_use]
pub fn identity(checkpoint: &Checkpoint) -> Map<String, Value> {
    let all = json!({
        "checkpoint_id": checkpoint.checkpoint_id,
        "tree": checkpoint.tree,
        "previous_checkpoint_id": checkpoint.previous_checkpoint_id,
        "timestamp": checkpoint.timestamp,
        "feature": checkpoint.feature,
        "kind": checkpoint.kind,
        "message": checkpoint.message,
        "head": checkpoint.head,
    });
    match all {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The paths of changes, as an array of strings.
#[must_use]
pub fn paths(changes: &[Change]) -> Value {
    let paths: Vec<&RepoPath> = changes.iter().map(|change| &change.path).collect();
    json!(paths)
}
