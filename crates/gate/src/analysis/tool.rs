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

/// What a tool call would cause.
#[must_use]
pub fn analyse(call: &ToolCall, context: &Context) -> Analysis {
    let here = working_directory(&call.args, context);
    let context = here.as_ref().unwrap_or(context);
    let at = TOOLS.binary_search_by_key(&call.name.as_str(), |(name, _)| *name);
    match at.ok().and_then(|at| TOOLS.get(at)) {
        Some((_, does)) => known(*does, call, context),
        None => unknown(call, context),
    }
}

/// Some tools name the folder in which they work.
fn working_directory(args: &Value, context: &Context) -> Option<Context> {
    let dir = ["directory", "workdir", "cwd", "dir_path"]
        .iter()
        .find_map(|key| args.get(key)?.as_str())?;
    let cwd = path::normalize(dir, context.cwd.as_deref().or(context.root.as_deref()));
    Some(Context { cwd, ..context.clone() })
}

fn known(does: Does, call: &ToolCall, context: &Context) -> Analysis {
    let args = &call.args;
    let text =
        |names: &[&str]| names.iter().find_map(|name| args.get(name)?.as_str()).map(str::to_owned);
    let missing = || {
        let why = "its arguments are not those that this tool takes".to_owned();
        let cause = Cause::Unreadable;
        with(EffectKind::Opaque { what: call.name.clone(), why, cause })
    };
    match does {
        Does::Nothing => Analysis::default(),
        Does::Shell(names) => {
            let found = names.iter().find_map(|name| args.get(name));
            match found {
                Some(Value::String(command)) => shell::analyse(command, context),
                Some(Value::Array(words)) => match strings(words) {
                    Some(argv) => shell::analyse_argv(&argv, context),
                    None => missing(),
                },
                _ => missing(),
            }
        }
        Does::Change(names, touch) => match text(names) {
            Some(file) => {
                let path = place(&file, context);
                with(EffectKind::ChangePath { path, touch, recursive: false })
            }
            None => missing(),
        },
        Does::Delete(names) => match text(names) {
            Some(file) => {
                let recursive = args.get("recursive").and_then(Value::as_bool).unwrap_or(false);
                let paths = vec![place(&file, context)];
                with(EffectKind::DeleteFiles { paths, count: Count::Known(1), recursive })
            }
            None => missing(),
        },
        Does::Rename(from, to) => match (text(from), text(to)) {
            (Some(from), Some(to)) => {
                let mut out = Analysis::default();
                for name in [from, to] {
                    let path = place(&name, context);
                    let kind =
                        EffectKind::ChangePath { path, touch: Touch::Rename, recursive: false };
                    out.effects.push(Effect::new(kind, Span::default()));
                }
                out
            }
            _ => missing(),
        },
        Does::Patch(names) => match text(names) {
            Some(text) if text.trim_start().starts_with("*** Begin Patch") => {
                envelope::analyse(&text, context)
            }
            Some(text) => patch_analysis(text.as_bytes()),
            None => missing(),
        },
        Does::Fetch(names) => {
            let target = text(names).unwrap_or_else(|| "the network".to_owned());
            with(EffectKind::Network { target })
        }
    }
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
