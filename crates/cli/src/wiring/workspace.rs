//! Opens the workspace around the current directory, with what the environment says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::Timestamp;
use aurora_workspace::{Error, GitWorkspace, Progress, Settings};

use crate::exit::Failure;
use crate::wiring::place;

/// The workspace around the current directory.
pub fn open(progress: Arc<dyn Progress>) -> anyhow::Result<GitWorkspace> {
    let from = place::cwd().ok_or_else(|| Failure::failed("the current directory is gone"))?;
    open_at(&from, progress)
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
