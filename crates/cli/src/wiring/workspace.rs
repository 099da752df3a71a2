//! Opens the workspace around the current directory, with what the environment says.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::{Checkpoint, RepoPath, Timestamp};
use aurora_workspace::watchdog::Watched;
use aurora_workspace::{Error, GitWorkspace, Healed, Progress, Settings, Workspace};

use crate::exit::Failure;
use crate::output;
use crate::output::changes::count;
use crate::output::checkpoint::DiffFiles;
use crate::output::progress::Bar;
use crate::wiring::place;

/// The workspace of one command, with the line that says how far it is.
pub struct Session {
    /// The workspace.
    pub workspace: GitWorkspace,
    cwd: PathBuf,
    bar: Arc<Bar>,
}

impl Session {
    /// Opens the workspace around the current directory, completes or undoes what a crash left
    /// half-done, and says so on stderr.
    pub fn open() -> anyhow::Result<Self> {
        let cwd = place::cwd().ok_or_else(|| Failure::failed("the current directory is gone"))?;
        Self::open_at(cwd)
    }

    /// The same for a folder.
    pub fn open_at(cwd: PathBuf) -> anyhow::Result<Self> {
        let bar = Arc::new(Bar::on_stderr());
        let workspace = open_at(&cwd, Arc::clone(&bar) as Arc<dyn Progress>)?;
        let session = Self { workspace, cwd, bar };
        let healed = session.ask(|workspace| workspace.heal())?;
        healed.iter().for_each(|healed| output::note(&in_words(healed)));
        Ok(session)
    }

    /// The same, with checkpoints that look only at what a watchdog names.
    #[must_use]
    pub fn watched_by(self, watch: Arc<dyn Watched>) -> Self {
        Self { workspace: self.workspace.watched_by(watch), ..self }
    }

    /// Asks the workspace for something that may take long; the line is gone when the answer is
    /// there.
    pub fn ask<T>(
        &self,
        question: impl FnOnce(&GitWorkspace) -> aurora_workspace::Result<T>,
    ) -> anyhow::Result<T> {
        self.bar.begin();
        let answer = question(&self.workspace);
        self.bar.clear();
        Ok(answer.map_err(failure)?)
    }

    /// The path below the root that an argument names, read from the current directory; nothing for
    /// the root itself.
    pub fn path(&self, argument: &Path) -> anyhow::Result<Option<RepoPath>> {
        below(self.workspace.root(), &self.cwd, argument)
    }

    /// All of them; an empty list where one is the root, because that is everything.
    pub fn paths(&self, arguments: &[PathBuf]) -> anyhow::Result<Vec<RepoPath>> {
        let paths: Vec<Option<RepoPath>> =
            arguments.iter().map(|argument| self.path(argument)).collect::<Result<_, _>>()?;
        Ok(paths.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default())
    }
}

/// A path below a root, by its words: the last part may be a link, and none of it need exist.
fn below(root: &Path, cwd: &Path, argument: &Path) -> anyhow::Result<Option<RepoPath>> {
    let outside = || {
        Failure::usage(format!("{} is not in the worktree", argument.display())).hint(format!(
            "paths start at the current directory; the worktree is {}",
            root.display()
        ))
    };
    let whole = place::normal(&cwd.join(argument));
    let rest = match whole.strip_prefix(root) {
        Ok(rest) => rest.to_owned(),
        // The way there may lead over a link, such as `/tmp` on some systems.
        Err(_) => {
            let real = real_folder(&whole).ok_or_else(outside)?;
            real.strip_prefix(root).map_err(|_| outside())?.to_owned()
        }
    };
    let bytes = rest.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Ok(None);
    }
    RepoPath::new(bytes).map(Some).ok_or_else(|| outside().into())
}

/// The path with the links of the folders above its last part resolved.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    path.parent()?.canonicalize().ok().map(|folder| folder.join(name))
}

fn in_words(healed: &Healed) -> String {
    let mut text = match healed.completed {
        true => format!("completed what an interruption left half-done: {}", healed.what),
        false => healed.what.clone(),
    };
    if !healed.left_alone.is_empty() {
        let paths: Vec<String> =
            healed.left_alone.iter().take(5).map(ToString::to_string).collect();
        let more = healed.left_alone.len().saturating_sub(paths.len());
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        text.push_str(&format!(
            "; {} changed meanwhile or saved nowhere, and left alone: {}{more}",
            count(healed.left_alone.len(), "path"),
            paths.join(", ")
        ));
    }
    text
}

/// The workspace around a folder.
pub fn open_at(from: &Path, progress: Arc<dyn Progress>) -> anyhow::Result<GitWorkspace> {
    let home = place::home();
    let settings = Settings {
        from: from.to_owned(),
        xdg_config_home: folder("XDG_CONFIG_HOME"),
        path: std::env::var_os("PATH").unwrap_or_default(),
        state_dir: state_dir(home.as_deref()),
        home,
        progress,
        now,
    };
    Ok(GitWorkspace::open(settings).map_err(failure)?)
}

/// Where the diffs of a checkpoint are, as far as they are there.
#[must_use]
pub fn diff_files(workspace: &GitWorkspace, checkpoint: &Checkpoint) -> DiffFiles {
    if checkpoint.feature != workspace.place().feature {
        // They are beside that worktree, which may be gone.
        return DiffFiles::default();
    }
    let there = |path: PathBuf| path.is_file().then(|| path.to_string_lossy().into_owned());
    let id = &checkpoint.checkpoint_id;
    DiffFiles {
        incremental: there(workspace.incremental_diff_path(id)),
        cumulative: there(workspace.cumulative_diff_path(id)),
    }
}

/// The moment at which this is called.
#[must_use]
pub fn now() -> Timestamp {
    // A clock before 1970 is wrong whatever it says; it only orders checkpoints for people.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
}

/// An error of a workspace, with its hint and its exit code.
#[must_use]
pub fn failure(error: Error) -> Failure {
    let hint = error.hint().filter(|hint| !hint.is_empty()).map(ToOwned::to_owned);
    let failure = match error {
        Error::NoRepository { .. } | Error::NotFound { .. } => Failure::usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Where shadows and worktrees live: `$XDG_STATE_HOME/aurora`, as the convention has it.
fn state_dir(home: Option<&Path>) -> PathBuf {
    let state = folder("XDG_STATE_HOME").or_else(|| Some(home?.join(".local/state")));
    state.unwrap_or_else(|| PathBuf::from("/var/tmp")).join("aurora")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argument: &str, expected: Option<&str>) {
        let found = below(Path::new("/r"), Path::new("/r/src"), Path::new(argument));
        let found = found.ok().map(|path| path.map_or(String::new(), |path| path.to_string()));
        assert_eq!(found.as_deref(), expected, "{argument}");
    }

    #[test]
    fn arguments_are_read_from_the_current_directory() {
        check("a.txt", Some("src/a.txt"));
        check("./deep//b", Some("src/deep/b"));
        check("../README.md", Some("README.md"));
        check(".", Some("src"));
        check("..", Some(""));
        check("/r/x", Some("x"));
    }

    #[test]
    fn arguments_that_lead_outside_are_refused() {
        check("../../etc", None);
        check("/nowhere/at/all", None);
        check("/rr/x", None);
    }
}
