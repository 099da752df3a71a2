//! git config and git remote: what they set for the commands that follow on the line.

use aurora_model::Touch;

use super::facts::normal_key;
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::field::Field;

const CONFIG: Spec = Spec {
    short_values: "ft",
    short_optional: "",
    long_values: &["file", "blob", "type", "default", "value", "comment", "url"],
    long_flags: &[
        "global",
        "system",
        "local",
        "worktree",
        "get",
        "get-all",
        "get-regexp",
        "get-urlmatch",
        "replace-all",
        "add",
        "unset",
        "unset-all",
        "rename-section",
        "remove-section",
        "list",
        "edit",
        "get-color",
        "get-colorbool",
        "bool",
        "int",
        "bool-or-int",
        "path",
        "null",
        "name-only",
        "includes",
        "show-origin",
        "show-scope",
        "fixed-value",
        "all",
        "regexp",
        "append",
    ],
    long_optional: &[],
    style: Style::Permute,
};

const REMOTE: Spec = Spec {
    short_values: "tm",
    short_optional: "",
    long_values: &["track", "master"],
    long_flags: &["fetch", "tags", "verbose"],
    long_optional: &["mirror"],
    style: Style::Permute,
};

/// What `git config ARGS` writes and sets.
#[must_use]
pub fn config(args: &[Field]) -> Vec<Step> {
    let parsed = CONFIG.parse(args);
    let reads = ["get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color"];
    let mut operands = parsed.operands.clone();
    let mode = operands.first().and_then(|first| first.text()).unwrap_or_default();
    if reads.iter().any(|name| parsed.has('\0', name))
        || parsed.has('l', "")
        || matches!(mode, "get" | "list")
    {
        return Vec::new();
    }
    let removes = parsed.has('\0', "unset")
        || parsed.has('\0', "unset-all")
        || parsed.has('\0', "remove-section")
        || matches!(mode, "unset" | "remove-section");
    if matches!(mode, "set" | "unset" | "remove-section" | "rename-section" | "edit") {
        operands.remove(0);
    }
    let mut steps = Vec::new();
    let writes = removes || operands.len() > 1 || parsed.has('e', "edit") || mode == "edit";
    if let Some(file) = parsed.value('f', "file").filter(|_| writes)
        && !is_own(file)
    {
        steps.push(Step::Change { target: file.clone(), touch: Touch::Write, recursive: false });
    }
    if let [key, value, ..] = operands.as_slice()
        && let (Some(key), Some(value)) = (key.text(), value.text())
        && !removes
    {
        steps.push(Step::Remember(normal_key(key), value.to_owned()));
    }
    steps
}

/// What `git remote ARGS` sets: a mirror makes every push one that forces.
#[must_use]
pub fn remote(args: &[Field]) -> Vec<Step> {
    let parsed = REMOTE.parse(args);
    let adds = parsed.operands.first().is_some_and(|first| first.is("add"));
    let mut mirror = parsed.opts.iter().filter(|opt| opt.name.is('\0', "mirror"));
    let mirrors = mirror.any(|opt| opt.value.as_ref().is_none_or(|how| how.is("push")));
    match parsed.operands.get(1).and_then(|name| name.text()) {
        Some(name) if adds && mirrors => {
            vec![Step::Remember(format!("remote.{name}.mirror"), "true".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// Whether a path is git's own folder, where its bookkeeping is exempt.
fn is_own(path: &Field) -> bool {
    path.prefix().starts_with(".git/") || path.prefix().contains("/.git/")
}
