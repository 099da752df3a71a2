//! A throw-away repository for tests: a real git, nothing of the machine's own settings.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::{RepoPath, Timestamp};

use crate::git::{GitWorkspace, Settings};
use crate::progress::Silent;

/// A throw-away repository.
pub struct Repo {
    dir: tempfile::TempDir,
}

impl Repo {
    /// An empty repository without a commit, on branch `main`.
    pub fn empty() -> Self {
        let repo = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(repo.root()).unwrap();
        std::fs::create_dir_all(repo.home()).unwrap();
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// A repository with one commit of `README.md` and `src/a.txt`.
    pub fn new() -> Self {
        let repo = Self::empty();
        repo.write("README.md", "hello\n");
        repo.write("src/a.txt", "one\ntwo\nthree\n");
        repo.commit("first");
        repo
    }

    /// The worktree's root.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// An empty home, outside the repository.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A folder for state, outside the repository.
    pub fn state_dir(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Runs git in the worktree, which must succeed, and gives its output.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(&self.root(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {args:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git in a folder, with an identity and without the machine's settings.
    pub fn try_git(&self, at: &Path, args: &[&str]) -> Output {
        Command::new("git")
            .args([
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.org",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(args)
            .current_dir(at)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap()
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// A path on the disk. Bytes that are no UTF-8 are fine.
    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root().join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file, with its folders.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file; nothing when there is none.
    pub fn read(&self, path: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        std::fs::read(self.path(path)).ok()
    }

    /// What a workspace needs to know.
    pub fn settings(&self) -> Settings {
        Settings {
            from: self.root(),
            home: Some(self.home()),
            xdg_config_home: None,
            path: std::env::var_os("PATH").unwrap(),
            state_dir: self.state_dir(),
            progress: Arc::new(Silent),
            now,
        }
    }

    /// The workspace.
    pub fn workspace(&self) -> GitWorkspace {
        GitWorkspace::open(self.settings()).unwrap()
    }
}

/// The clock of tests is the real one.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap() }
}

/// A path below the root.
pub fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}
