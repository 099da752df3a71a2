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
    } else {
        format!("{id}  {}\n", what_changed(created))
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

fn what_changed(created: &Created) -> String {
    let checkpoint = &created.checkpoint;
    match (&checkpoint.previous_checkpoint_id, &checkpoint.head.commit) {
        _ if !created.changes.is_empty() => changes::summary(&created.changes),
        (Some(previous), _) => format!("no file changed since {}", escape::line(&previous.0)),
        (None, Some(_)) => "everything is as it was committed".to_owned(),
        (None, None) => "no commit yet, and no file to record".to_owned(),
    }
}

/// Which paths were looked at, where that is worth saying.
#[must_use]
pub fn why_slow(scanned: &Scanned) -> Option<String> {
    match scanned {
        Scanned::Watched { .. } | Scanned::Anew { .. } => None,
        Scanned::Everything { because } => Some(format!(
            "everything was looked at: {because} (with `aur watch` running, only what changed is)"
        )),
    }
}

/// What is said of a checkpoint that could not build on the one before it.
#[must_use]
pub fn damage(scanned: &Scanned) -> Option<String> {
    match scanned {
        Scanned::Watched { .. } | Scanned::Everything { .. } => None,
        Scanned::Anew { because } => Some(format!(
            "the checkpoint before this one is damaged ({because}), so every file counts as new; \
             `aur checkpoints verify` says which are whole"
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
