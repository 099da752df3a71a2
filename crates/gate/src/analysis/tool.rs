//! Agents' tool calls as effects: a table of the tools that are known, and care with those that are not.

mod envelope;

use aurora_model::{
    Cause, Context, Count, Effect, EffectKind, PathRef, Span, SqlDialect, ToolCall, Touch,
};
use serde_json::Value;

use super::shell::field::Field;
use super::{Analysis, patch, path, shell};

/// What a tool does with its arguments: the names under which they may stand.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// Nothing that a policy asks about.
    Nothing,
    /// Runs a shell command (a string, or an argv).
    Shell(&'static [&'static str]),
    /// Changes one file.
    Change(&'static [&'static str], Touch),
    /// Deletes one file or folder.
    Delete(&'static [&'static str]),
    /// Renames: from, to.
    Rename(&'static [&'static str], &'static [&'static str]),
    /// Applies a patch: a unified diff, or the `*** Begin Patch` form.
    Patch(&'static [&'static str]),
    /// Reaches out to the network.
    Fetch(&'static [&'static str]),
}

const COMMAND: &[&str] = &["command", "cmd", "script", "input"];
const PATH: &[&str] =
    &["file_path", "path", "filePath", "filepath", "absolute_path", "target_file", "notebook_path"];
const DIFF: &[&str] = &["unified_diff", "patch", "diff", "input", "patchText", "command"];
const FROM: &[&str] = &["from", "source", "old_path", "src", "path"];
const TO: &[&str] = &["to", "destination", "new_path", "dest", "dst", "target"];
const URL: &[&str] = &["url", "urls", "query", "prompt"];

/// The tools of the agents that Aurora knows, and Aurora's own; sorted by name.
static TOOLS: &[(&str, Does)] = &[
    ("Agent", Does::Nothing),
    ("AskUserQuestion", Does::Nothing),
    ("Bash", Does::Shell(COMMAND)),
    ("BashOutput", Does::Nothing),
    ("CronCreate", Does::Nothing),
    ("CronDelete", Does::Nothing),
    ("CronList", Does::Nothing),
    ("Edit", Does::Change(PATH, Touch::Write)),
    ("EnterPlanMode", Does::Nothing),
    ("EnterWorktree", Does::Nothing),
    ("ExitPlanMode", Does::Nothing),
    ("ExitWorktree", Does::Nothing),
    ("Glob", Does::Nothing),
    ("Grep", Does::Nothing),
    ("KillBash", Does::Nothing),
    ("KillShell", Does::Nothing),
    ("LS", Does::Nothing),
    ("LSP", Does::Nothing),
    ("ListAgents", Does::Nothing),
    ("ListMcpResourcesTool", Does::Nothing),
    ("Monitor", Does::Shell(COMMAND)),
    ("MultiEdit", Does::Change(PATH, Touch::Write)),
    ("NotebookEdit", Does::Change(PATH, Touch::Write)),
    ("NotebookRead", Does::Nothing),
    ("Read", Does::Nothing),
    ("ReadMcpResourceTool", Does::Nothing),
    ("ReportFindings", Does::Nothing),
    ("ScheduleWakeup", Does::Nothing),
    ("SendMessage", Does::Nothing),
    ("Skill", Does::Nothing),
    ("SlashCommand", Does::Nothing),
    ("Task", Does::Nothing),
    ("TaskCreate", Does::Nothing),
    ("TaskGet", Does::Nothing),
    ("TaskList", Does::Nothing),
    ("TaskOutput", Does::Nothing),
    ("TaskStop", Does::Nothing),
    ("TaskUpdate", Does::Nothing),
    ("TodoRead", Does::Nothing),
    ("TodoWrite", Does::Nothing),
    ("ToolSearch", Does::Nothing),
    ("WebFetch", Does::Fetch(URL)),
    ("WebSearch", Does::Fetch(URL)),
    ("Workflow", Does::Nothing),
    ("Write", Does::Change(PATH, Touch::Write)),
    ("apply_patch", Does::Patch(DIFF)),
    ("bash", Does::Shell(COMMAND)),
    ("create_directory", Does::Change(PATH, Touch::Create)),
    ("create_file", Does::Change(PATH, Touch::Create)),
    ("delete_file", Does::Delete(PATH)),
    ("edit", Does::Change(PATH, Touch::Write)),
    ("edit_file", Does::Change(PATH, Touch::Write)),
    ("exec_command", Does::Shell(COMMAND)),
    ("feature.get_context", Does::Nothing),
    ("fetch", Does::Fetch(URL)),
    ("glob", Does::Nothing),
    ("google_web_search", Does::Fetch(URL)),
    ("grep", Does::Nothing),
    ("grep_search", Does::Nothing),
    ("list", Does::Nothing),
    ("list_directory", Does::Nothing),
    ("local_shell", Does::Shell(COMMAND)),
    ("ls", Does::Nothing),
    ("move_file", Does::Rename(FROM, TO)),
    ("multiedit", Does::Change(PATH, Touch::Write)),
    ("patch", Does::Patch(DIFF)),
    ("read", Does::Nothing),
    ("read_file", Does::Nothing),
    ("read_many_files", Does::Nothing),
    ("remove_file", Does::Delete(PATH)),
    ("rename_file", Does::Rename(FROM, TO)),
    ("replace", Does::Change(PATH, Touch::Write)),
    ("repo.apply_patch", Does::Patch(DIFF)),
    ("repo.diff", Does::Nothing),
    ("repo.list", Does::Nothing),
    ("repo.read_file", Does::Nothing),
    ("repo.search", Does::Nothing),
    ("repo.status", Does::Nothing),
    ("repo.write_file", Does::Change(PATH, Touch::Write)),
    ("run_command", Does::Shell(COMMAND)),
    ("run_shell_command", Does::Shell(COMMAND)),
    ("run_terminal_cmd", Does::Shell(COMMAND)),
    ("search_file_content", Does::Nothing),
    ("shell", Does::Shell(COMMAND)),
    ("shell_command", Does::Shell(COMMAND)),
    ("task", Does::Nothing),
    ("todo_write", Does::Nothing),
    ("todoread", Does::Nothing),
    ("todowrite", Does::Nothing),
    ("update_plan", Does::Nothing),
    ("view_image", Does::Nothing),
    ("web_fetch", Does::Fetch(URL)),
    ("web_search", Does::Fetch(URL)),
    ("webfetch", Does::Fetch(URL)),
    ("websearch", Does::Fetch(URL)),
    ("write", Does::Change(PATH, Touch::Write)),
    ("write_file", Does::Change(PATH, Touch::Write)),
    ("write_stdin", Does::Shell(&["chars", "input"])),
];

/// What a tool call would cause. A call that names several working folders is judged in each.
#[must_use]
pub fn analyse(call: &ToolCall, context: &Context) -> Analysis {
    let in_context = |context: &Context| {
        let at = TOOLS.binary_search_by_key(&call.name.as_str(), |(name, _)| *name);
        match at.ok().and_then(|at| TOOLS.get(at)) {
            Some((_, does)) => known(*does, call, context),
            None => unknown(call, context),
        }
    };
    let mut out = None;
    for dir in texts(&call.args, &["directory", "workdir", "cwd", "dir_path"]).0 {
        let cwd = path::normalize(dir, context.cwd.as_deref().or(context.root.as_deref()));
        add(&mut out, in_context(&Context { cwd, ..context.clone() }));
    }
    out.unwrap_or_else(|| in_context(context))
}

/// The arguments under any of these names, each different one once: nobody but the tool knows which
/// of them it heeds.
fn given<'a>(args: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for value in names.iter().filter_map(|name| args.get(name)) {
        if !value.is_null() && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The texts among such arguments, and whether that is all of them, and at least one.
fn texts<'a>(args: &'a Value, names: &[&str]) -> (Vec<&'a str>, bool) {
    let values = given(args, names);
    let texts: Vec<&str> = values.iter().filter_map(|value| value.as_str()).collect();
    let whole = !texts.is_empty() && texts.len() == values.len();
    (texts, whole)
}

/// Adds what one argument causes to what the others do; the sizes of patches add up.
fn add(all: &mut Option<Analysis>, mut more: Analysis) {
    let Some(all) = all else {
        *all = Some(more);
        return;
    };
    let scope = match (all.scope.take(), more.scope.take()) {
        (Some(one), Some(other)) => Some(super::ChangeScope {
            files: one.files.saturating_add(other.files),
            lines: one.lines.saturating_add(other.lines),
        }),
        (one, other) => one.or(other),
    };
    all.merge(more);
    all.scope = scope;
}

fn known(does: Does, call: &ToolCall, context: &Context) -> Analysis {
    let args = &call.args;
    let mut out = None;
    let whole = match does {
        Does::Nothing => return Analysis::default(),
        Does::Shell(names) => {
            let values = given(args, names);
            let mut whole = !values.is_empty();
            for value in values {
                match value {
                    Value::String(command) => add(&mut out, shell::analyse(command, context)),
                    Value::Array(words) => match strings(words) {
                        Some(argv) => add(&mut out, shell::analyse_argv(&argv, context)),
                        None => whole = false,
                    },
                    _ => whole = false,
                }
            }
            whole
        }
        Does::Change(names, touch) => {
            let (files, whole) = texts(args, names);
            files.iter().for_each(|file| add(&mut out, change(file, touch, context)));
            whole
        }
        Does::Delete(names) => {
            let (files, whole) = texts(args, names);
            let recursive = args.get("recursive").and_then(Value::as_bool).unwrap_or(false);
            for file in files {
                let paths = vec![place(file, context)];
                let count = Count::Known(1);
                add(&mut out, with(EffectKind::DeleteFiles { paths, count, recursive }));
            }
            whole
        }
        Does::Rename(from, to) => {
            let ((from, whole_from), (to, whole_to)) = (texts(args, from), texts(args, to));
            for name in from.iter().chain(&to) {
                add(&mut out, change(name, Touch::Rename, context));
            }
            whole_from && whole_to
        }
        Does::Patch(names) => {
            let (patches, whole) = texts(args, names);
            for text in patches {
                let is_envelope = text.trim_start().starts_with("*** Begin Patch");
                let found = if is_envelope {
                    envelope::analyse(text, context)
                } else {
                    patch_analysis(text.as_bytes())
                };
                add(&mut out, found);
            }
            whole
        }
        Does::Fetch(names) => {
            let (targets, _) = texts(args, names);
            let target = (*targets.first().unwrap_or(&"the network")).to_owned();
            return with(EffectKind::Network { target });
        }
    };
    if !whole {
        let why = "its arguments are not those that this tool takes".to_owned();
        let cause = Cause::Unreadable;
        add(&mut out, with(EffectKind::Opaque { what: call.name.clone(), why, cause }));
    }
    out.unwrap_or_default()
}

fn change(file: &str, touch: Touch, context: &Context) -> Analysis {
    let path = place(file, context);
    with(EffectKind::ChangePath { path, touch, recursive: false })
}

/// A tool of an MCP server, or one that nobody has told us about: what its arguments show, and
/// always the fact that it is not known.
fn unknown(call: &ToolCall, context: &Context) -> Analysis {
    let mut out = with(EffectKind::UnknownTool { name: call.name.clone() });
    let Some(args) = call.args.as_object() else { return out };
    let deletes = ["delete", "remove", "unlink"].iter().any(|verb| call.name.contains(verb));
    let writes = ["write", "edit", "create", "move", "rename", "save", "update", "upload"]
        .iter()
        .any(|verb| call.name.contains(verb));
    for (key, value) in args {
        let found = match (key.to_ascii_lowercase().as_str(), value) {
            ("command" | "cmd" | "script" | "shell" | "bash", Value::String(text)) => {
                shell::analyse(text, context)
            }
            ("argv", Value::Array(words)) => match strings(words) {
                Some(argv) => shell::analyse_argv(&argv, context),
                None => continue,
            },
            ("sql" | "query" | "statement" | "statements", Value::String(text)) => {
                sql_analysis(text, SqlDialect::Generic, context)
            }
            ("patch" | "diff" | "unified_diff", Value::String(text)) => {
                patch_analysis(text.as_bytes())
            }
            (key, Value::String(text)) if is_path_key(key) && (deletes || writes) => {
                let path = place(text, context);
                with(if deletes {
                    let paths = vec![path];
                    EffectKind::DeleteFiles { paths, count: Count::Known(1), recursive: false }
                } else {
                    EffectKind::ChangePath { path, touch: Touch::Write, recursive: false }
                })
            }
            _ => continue,
        };
        out.merge(found);
    }
    out
}

fn is_path_key(key: &str) -> bool {
    PATH.contains(&key)
        || TO.contains(&key)
        || FROM.contains(&key)
        || key == "file"
        || key == "filename"
}

fn strings(words: &[Value]) -> Option<Vec<String>> {
    words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

fn place(file: &str, context: &Context) -> PathRef {
    let cwd = context.cwd.as_deref().or(context.root.as_deref());
    let expanded = match (file.strip_prefix("~/"), &context.home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => file.to_owned(),
    };
    let field = Field::lit(expanded, Span::default());
    path::resolve(&field, cwd, context.root.as_deref().or(cwd))
}

fn with(kind: EffectKind) -> Analysis {
    let effects = vec![Effect::new(kind, Span::default())];
    Analysis { effects, ..Analysis::default() }
}

/// What a patch would cause; a patch that git might read differently is refused.
#[must_use]
pub fn patch_analysis(bytes: &[u8]) -> Analysis {
    let patch = patch::analyse(bytes);
    let mut out = Analysis { effects: patch::effects(&patch), ..Analysis::default() };
    out.refused = patch.refusal.map(|refusal| format!("line {}: {}", refusal.line, refusal.why));
    out.scope = Some(super::ChangeScope {
        files: patch.files.len() as u64,
        lines: patch.files.iter().map(|file| file.added_lines + file.removed_lines).sum(),
    });
    out
}

/// What SQL text would cause.
#[must_use]
pub fn sql_analysis(text: &str, dialect: SqlDialect, context: &Context) -> Analysis {
    shell::analyse_sql(text, dialect, context)
}

#[cfg(test)]
mod tests;
