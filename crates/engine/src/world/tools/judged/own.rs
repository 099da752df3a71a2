//! Calls of tools that are an agent's own: what they would be done to, as far as their arguments say.

use std::path::{Path, PathBuf};

use aurora_model::{RepoPath, Target, ToolCall};
use aurora_workspace::desk::Files;

use super::super::args::PATHS;
use super::super::files;
use super::{Judged, of_command, run_words};

/// A larger file outside the desk is not read.
const MAX_BYTES: u64 = 1024 * 1024;

/// An argument that is text.
pub(super) fn text<'c>(call: &'c ToolCall, name: &str) -> Option<&'c str> {
    call.args.get(name).and_then(serde_json::Value::as_str)
}

fn path(call: &ToolCall) -> Option<&str> {
    PATHS.iter().find_map(|name| text(call, name))
}

/// A path below the desk; nothing when it is outside.
fn below(path: &str, desk: &Path) -> Option<RepoPath> {
    let full: PathBuf = desk.join(path);
    RepoPath::new(full.strip_prefix(desk).ok()?.to_str()?)
}

/// What a call would be done to, as it is now.
pub(super) fn targets(call: &ToolCall, judged: &Judged, desk: &Path) -> Vec<Target> {
    let Ok(at_desk) = Files::beneath(desk) else { return Vec::new() };
    if let Some(command) = text(call, "command") {
        return of_command(command, judged, &at_desk, desk);
    }
    let Some(path) = path(call) else { return Vec::new() };
    let target = match below(path, desk) {
        Some(below) => files::target(&at_desk, &below).ok(),
        None => Some(outside(path, Path::new(path))),
    };
    target.into_iter().collect()
}

/// A file that is none of the desk's, by its name.
pub(super) fn outside(name: &str, path: &Path) -> Target {
    let found = std::fs::metadata(path);
    let small = found.is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
    let bytes = small.then(|| std::fs::read(path).ok()).flatten();
    Target::Path { path: name.to_owned(), content: bytes.map(|bytes| files::hash(&bytes)) }
}

/// What a call is, in one line.
pub(super) fn words(call: &ToolCall, desk: &Path) -> String {
    if let Some(command) = text(call, "command") {
        return run_words(command);
    }
    match path(call) {
        Some(path) => {
            let shown = below(path, desk).map_or_else(|| path.to_owned(), |path| path.to_string());
            format!("{} {shown}", call.name)
        }
        None => format!("call {}", call.name),
    }
}
