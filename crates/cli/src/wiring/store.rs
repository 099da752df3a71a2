//! Opens the log of the repository around the current directory: one for all its worktrees.

use std::future::Future;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_store::{Settings, SqliteStore, Store};

use super::place::{Given, Place};
use super::repo::Repo;
use crate::exit::Failure;

/// Where the log and what is beside it are, below the main checkout's root.
pub const FOLDER: &str = ".aurora";
/// What people write stays visible to git; what is recorded is not for it.
const IGNORED: &str = "*\n!policies.yaml\n!agents.yaml\n!approvals.yaml\n!config.yaml\n";

/// A log, and what drives whoever asks it.
pub struct Log {
    /// The log.
    pub store: Arc<dyn Store>,
    runtime: tokio::runtime::Runtime,
}

impl Log {
    /// Opens the log, and makes it where there is none.
    pub fn open() -> anyhow::Result<Self> {
        let folder = folder()?;
        let log = Self::at(&folder, failure)?;
        ignore(&folder)?;
        Ok(log)
    }

    /// Opens the log; nothing when nothing was recorded yet.
    pub fn open_existing() -> anyhow::Result<Option<Self>> {
        Self::open_existing_or(failure)
    }

    /// The same, with other words for what is wrong with it.
    pub fn open_existing_or(
        told: fn(aurora_store::Error) -> Failure,
    ) -> anyhow::Result<Option<Self>> {
        let folder = folder()?;
        match folder.join("aurora.db").symlink_metadata() {
            Ok(_) => Self::at(&folder, told).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(Failure::failed(format!("cannot look at {}: {error}", folder.display())).into())
            }
        }
    }

    fn at(folder: &Path, told: fn(aurora_store::Error) -> Failure) -> anyhow::Result<Self> {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(Settings::within(folder)).map_err(told)?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format!("cannot start to wait: {error}")))?;
        Ok(Self { store, runtime })
    }

    /// Waits for an answer.
    pub fn ask<T>(&self, question: impl Future<Output = T>) -> T {
        self.runtime.block_on(question)
    }
}

/// An error of the log, with what can be done about it.
#[must_use]
pub fn failure(error: aurora_store::Error) -> Failure {
    let hint = match &error {
        aurora_store::Error::Full { .. } => Some("make room, then do it again"),
        aurora_store::Error::Newer { .. } => Some("use the newer version of aur"),
        aurora_store::Error::Corrupt { .. } => Some("`aur audit verify` says what is wrong where"),
        _ => None,
    };
    let failure = Failure::failed(error.to_string());
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Whether there is a log.
pub fn is_there() -> anyhow::Result<bool> {
    Ok(Settings::within(&folder()?).path.exists())
}

/// The folder of the log: that of the main checkout, also for whoever stands in another worktree.
pub fn folder() -> anyhow::Result<PathBuf> {
    let place = Place::look(Given::default());
    let Some(repo) = place.repo else {
        return Err(Failure::usage("there is no git repository here")
            .hint("the log belongs to a repository; go into one, or make it with `git init`")
            .into());
    };
    Ok(main_root(&repo).join(FOLDER))
}

/// The root of the main checkout; of a bare repository, the repository itself.
#[must_use]
pub fn main_root(repo: &Repo) -> PathBuf {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (own, shared) = (real(&repo.git_dir), real(&repo.common_dir));
    if own == shared {
        return repo.root.clone();
    }
    match (shared.file_name(), shared.parent()) {
        (Some(name), Some(root)) if name == ".git" => root.to_owned(),
        _ => shared,
    }
}

/// Keeps the log out of git. A file that is there is somebody's own.
fn ignore(folder: &Path) -> anyhow::Result<()> {
    let path = folder.join(".gitignore");
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match made.and_then(|mut file| file.write_all(IGNORED.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Failure::failed(format!("cannot write {}: {error}", path.display())).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_kept_out_of_git_and_a_file_of_somebodys_own_stays() {
        let folder = std::env::temp_dir().join(format!("aur-ignore-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let read = || std::fs::read_to_string(folder.join(".gitignore")).unwrap();
        ignore(&folder).unwrap();
        assert!(read().starts_with("*\n"), "{}", read());
        std::fs::write(folder.join(".gitignore"), "mine\n").unwrap();
        ignore(&folder).unwrap();
        assert_eq!(read(), "mine\n");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_worktree_has_the_log_of_the_main_checkout() {
        let check = |root: &str, git_dir: &str, common_dir: &str, expected: &str| {
            let repo =
                Repo { root: root.into(), git_dir: git_dir.into(), common_dir: common_dir.into() };
            assert_eq!(main_root(&repo), Path::new(expected));
        };
        check("/n/r", "/n/r/.git", "/n/r/.git", "/n/r");
        check("/n/w", "/n/r/.git/worktrees/w", "/n/r/.git", "/n/r");
        check("/n/r/sub", "/n/r/.git/modules/sub", "/n/r/.git/modules/sub", "/n/r/sub");
        check("/n/w", "/n/bare.git/worktrees/w", "/n/bare.git", "/n/bare.git");
    }
}
