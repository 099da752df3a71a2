//! The arguments of a call, resolved: paths below the desk, limits said, and nothing that the model
//! merely says about them.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use aurora_model::RepoPath;
use serde_json::{Map, Value, json};

use super::{COMMAND_SECONDS, MOST_COMMAND_SECONDS, Tool};

/// A file or a patch that is larger is not written.
const MAX_CONTENT_BYTES: usize = 2 << 20;
/// A command or a text to find that is longer is not taken.
const MAX_LINE_BYTES: usize = 64 << 10;
/// More of what a model says about a call is not shown.
const MAX_CLAIM_CHARS: usize = 500;

/// Names under which a path stands.
pub(super) const PATHS: [&str; 4] = ["file_path", "notebook_path", "path", "filePath"];

/// What a call is to do.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::world) enum Args {
    Read { path: RepoPath, first_line: u64, lines: Option<u64> },
    List { path: Option<RepoPath> },
    Search { text: String, path: Option<RepoPath> },
    Write { path: RepoPath, content: String, executable: Option<bool> },
    Patch { patch: String },
    Run { command: String, seconds: u64 },
}

impl Args {
    /// Reads the arguments of a call at a desk, or says what is wrong with them in words for a model.
    pub fn read(tool: Tool, args: &Value, desk: &Path) -> Result<Self, String> {
        let Value::Object(given) = args else {
            return Err("the arguments must be a JSON object".to_owned());
        };
        let reader = Reader { given, desk };
        reader.only(match tool {
            Tool::ReadFile => &["path", "first_line", "lines"],
            Tool::List => &["path"],
            Tool::Search => &["text", "path"],
            Tool::WriteFile => &["path", "content", "executable", "why"],
            Tool::ApplyPatch => &["patch", "why"],
            Tool::RunCommand => &["command", "timeout_seconds", "why"],
        })?;
        Ok(match tool {
            Tool::ReadFile => Self::Read {
                path: reader.path("path")?,
                first_line: reader.number("first_line", u64::MAX)?.unwrap_or(1),
                lines: reader.number("lines", u64::MAX)?,
            },
            Tool::List => Self::List { path: reader.folder("path")? },
            Tool::Search => Self::Search {
                text: reader.text("text", MAX_LINE_BYTES)?,
                path: reader.folder("path")?,
            },
            Tool::WriteFile => Self::Write {
                path: reader.path("path")?,
                content: reader.any_text("content", MAX_CONTENT_BYTES)?,
                executable: reader.flag("executable")?,
            },
            Tool::ApplyPatch => Self::Patch { patch: reader.text("patch", MAX_CONTENT_BYTES)? },
            Tool::RunCommand => Self::Run {
                command: reader.text("command", MAX_LINE_BYTES)?,
                seconds: reader
                    .number("timeout_seconds", MOST_COMMAND_SECONDS)?
                    .unwrap_or(COMMAND_SECONDS),
            },
        })
    }

    /// The same, where a command takes no longer than this.
    pub fn within(&self, left: Duration) -> Self {
        match self {
            Self::Run { command, seconds } => {
                let seconds = (*seconds).min(left.as_secs().max(1));
                Self::Run { command: command.clone(), seconds }
            }
            other => other.clone(),
        }
    }

    /// The arguments as they are written down: reading them again gives the same.
    pub fn resolved(&self) -> Value {
        match self {
            Self::Read { path, first_line, lines } => match lines {
                Some(lines) => {
                    json!({"path": path.to_string(), "first_line": first_line, "lines": lines})
                }
                None => json!({"path": path.to_string(), "first_line": first_line}),
            },
            Self::List { path } => json!({"path": shown(path.as_ref())}),
            Self::Search { text, path } => json!({"text": text, "path": shown(path.as_ref())}),
            Self::Write { path, content, executable } => match executable {
                Some(flag) => {
                    json!({"path": path.to_string(), "content": content, "executable": flag})
                }
                None => json!({"path": path.to_string(), "content": content}),
            },
            Self::Patch { patch } => json!({"patch": patch}),
            Self::Run { command, seconds } => {
                json!({"command": command, "timeout_seconds": seconds})
            }
        }
    }
}

/// What the model says about a call; nobody vouches for it.
pub(in crate::world) fn claim(args: &Value, said: &str) -> Option<String> {
    let why = args.get("why").and_then(Value::as_str).unwrap_or(said);
    let claim: String = why.trim().chars().take(MAX_CLAIM_CHARS).collect();
    (!claim.is_empty()).then_some(claim)
}

/// A folder for people and models.
pub(super) fn shown(path: Option<&RepoPath>) -> String {
    path.map_or_else(|| ".".to_owned(), ToString::to_string)
}

struct Reader<'a> {
    given: &'a Map<String, Value>,
    desk: &'a Path,
}

impl Reader<'_> {
    fn only(&self, names: &[&str]) -> Result<(), String> {
        match self.given.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => {
                Err(format!("there is no argument `{name}`; there are {}", names.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// An argument; what is null was not given.
    fn get(&self, name: &str) -> Option<&Value> {
        self.given.get(name).filter(|value| !value.is_null())
    }

    fn any_text(&self, name: &str, max: usize) -> Result<String, String> {
        match self.get(name) {
            Some(Value::String(text)) if text.len() <= max => Ok(text.clone()),
            Some(Value::String(_)) => Err(format!("`{name}` has more than {max} bytes")),
            Some(_) => Err(format!("`{name}` must be a string")),
            None => Err(format!("`{name}` is missing")),
        }
    }

    fn text(&self, name: &str, max: usize) -> Result<String, String> {
        let text = self.any_text(name, max)?;
        if text.trim().is_empty() {
            return Err(format!("`{name}` is empty"));
        }
        if text.contains('\0') {
            return Err(format!("`{name}` has a character that no text has"));
        }
        Ok(text)
    }

    fn number(&self, name: &str, max: u64) -> Result<Option<u64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_u64().filter(|number| (1..=max).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("`{name}` must be a whole number of at least 1")),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("`{name}` must be true or false")),
        }
    }

    fn path(&self, name: &str) -> Result<RepoPath, String> {
        let text = self.text(name, 4096)?;
        self.below(name, &text)?.ok_or_else(|| format!("`{name}` names no file"))
    }

    fn folder(&self, name: &str) -> Result<Option<RepoPath>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(_) => self.below(name, &self.text(name, 4096)?),
        }
    }

    /// A path below the desk; nothing for the desk itself.
    fn below(&self, name: &str, text: &str) -> Result<Option<RepoPath>, String> {
        let outside =
            || format!("`{name}` must be a path below the root of the worktree, without `..`");
        let relative = match text.starts_with('/') {
            true => Path::new(text).strip_prefix(self.desk).map_err(|_| outside())?,
            false => Path::new(text),
        };
        let parts: Vec<&str> = relative
            .to_str()
            .ok_or_else(outside)?
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        if parts.is_empty() {
            return Ok(None);
        }
        // What leads upwards is no such path.
        RepoPath::new(parts.join("/")).map(Some).ok_or_else(outside)
    }
}

/// A path in the arguments of a call that leads out of the desk, to where something is or could be
/// made. A path that leads nowhere at all is a mistake.
pub(in crate::world) fn leaving<'a>(args: &'a Value, desk: &Path) -> Option<&'a str> {
    let named = PATHS.iter().find_map(|name| args.get(name)?.as_str())?;
    let mut full = PathBuf::new();
    for part in desk.join(named).components() {
        match part {
            Component::ParentDir => drop(full.pop()),
            Component::CurDir => {}
            part => full.push(part),
        }
    }
    let folder = full.parent().filter(|folder| folder.parent().is_some());
    let is_there = full.exists() || folder.is_some_and(Path::is_dir);
    (is_there && !full.starts_with(desk)).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    // APR-5: only what leads out of the desk to something is an attempt to leave.
    #[test]
    fn a_path_that_leads_out_to_something_is_told_from_a_mistake() {
        let dir = tempfile::tempdir().unwrap();
        let desk = dir.path().join("desk");
        std::fs::create_dir(&desk).unwrap();
        let leaves = |path: &str| leaving(&json!({"path": path}), &desk).is_some();
        for out in ["../x", "a/../../x", "/etc/passwd", "/etc/new", ".."] {
            assert!(leaves(out), "{out}");
        }
        let inside = desk.join("x").display().to_string();
        for here in ["x", ".", "a/../x", "/src-of-mine/main.rs", "/README-of-mine.md", &inside] {
            assert!(!leaves(here), "{here}");
        }
        assert!(leaving(&json!({"file_path": "/etc/passwd"}), &desk).is_some());
        assert!(leaving(&json!({"command": "ls /etc"}), &desk).is_none());
    }

    fn read(tool: Tool, args: &Value) -> Result<Args, String> {
        Args::read(tool, args, Path::new("/desks/1"))
    }

    // MOD-2: paths are below the desk, however they are written.
    #[test]
    fn paths_are_made_one_way_and_those_that_lead_out_are_refused() {
        for same in ["src/a.txt", "./src//a.txt", "/desks/1/src/a.txt", "src/./a.txt"] {
            let args = read(Tool::ReadFile, &json!({"path": same})).unwrap();
            assert_eq!(args.resolved(), json!({"path": "src/a.txt", "first_line": 1}), "{same}");
        }
        for out in ["../x", "src/../../x", "/etc/passwd", "/desks/10/x", "a/..", "/desks/1", "a\0b"]
        {
            assert!(read(Tool::ReadFile, &json!({"path": out})).is_err(), "{out}");
        }
        assert_eq!(read(Tool::List, &json!({"path": "."})), Ok(Args::List { path: None }));
    }

    // APR-3: what was asked about is what is made.
    #[test]
    fn what_is_written_down_is_read_again_as_the_same() {
        let calls = [
            (Tool::ReadFile, json!({"path": "a", "lines": 3})),
            (Tool::List, json!({})),
            (Tool::Search, json!({"text": "x", "path": "src"})),
            (Tool::WriteFile, json!({"path": "a", "content": "", "executable": true, "why": "so"})),
            (Tool::ApplyPatch, json!({"patch": "--- a/x\n"})),
            (Tool::RunCommand, json!({"command": "ls", "timeout_seconds": 5})),
        ];
        for (tool, given) in calls {
            let args = read(tool, &given).unwrap();
            assert_eq!(read(tool, &args.resolved()), Ok(args.clone()), "{given}");
            assert!(args.resolved().get("why").is_none(), "what is claimed authorises nothing");
        }
        assert_eq!(claim(&json!({"why": " because "}), "text").as_deref(), Some("because"));
        assert_eq!(claim(&json!({}), "text").as_deref(), Some("text"));
        assert_eq!(claim(&json!({}), " "), None);
    }

    #[test]
    fn what_a_tool_does_not_take_is_said_in_words() {
        let check = |tool, given: Value, expected: &str| {
            let error = read(tool, &given).unwrap_err();
            assert!(error.contains(expected), "{given}: {error}");
        };
        check(Tool::RunCommand, json!([]), "must be a JSON object");
        check(Tool::RunCommand, json!({}), "`command` is missing");
        check(Tool::RunCommand, json!({"command": " "}), "`command` is empty");
        check(Tool::RunCommand, json!({"command": "ls", "timeout_seconds": 9999}), "whole number");
        check(Tool::RunCommand, json!({"command": "ls", "cwd": "/"}), "there is no argument `cwd`");
        check(Tool::WriteFile, json!({"path": "a", "content": 7}), "`content` must be a string");
        check(Tool::ReadFile, json!({"path": "a", "lines": 0}), "whole number");
    }
}
