//! Starting git so that nothing of the repository's is executed and nothing from outside gets in.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::error::{Error, Result};

/// What a git program may know of the world around it.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// `$PATH`.
    pub path: OsString,
    /// `$HOME`.
    pub home: Option<PathBuf>,
}

/// Settings that outrank the repository's own, so that none of its programs is ever started.
const HARDENED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=",
    "core.logAllRefUpdates=false",
    "core.fsync=committed",
    "core.fsyncMethod=fsync",
    "core.commitGraph=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.directory=*",
];

/// One run of git with everything said explicitly: which repository, and nothing inherited.
pub(crate) struct Git {
    command: Command,
    doing: String,
    input: Option<Vec<u8>>,
}

impl Git {
    /// A run in a git folder. `doing` completes "git could not …".
    pub fn new(program: &Program, git_dir: &Path, doing: impl Into<String>) -> Self {
        let mut command = Command::new("git");
        command.env_clear().env("PATH", &program.path).current_dir(git_dir);
        if let Some(home) = &program.home {
            command.env("HOME", home);
        }
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            // This outranks a `protocol.<name>.allow` of the repository's, which `protocol.allow` does not.
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("LC_ALL", "C");
        for setting in HARDENED {
            command.args(["-c", setting]);
        }
        command.arg("--git-dir").arg(git_dir);
        Self { command, doing: doing.into(), input: None }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<I: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = I>) -> Self {
        self.command.args(args);
        self
    }

    /// One variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// What git reads.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Runs it and gives what it wrote; anything but success is an error.
    pub fn run(self) -> Result<Vec<u8>> {
        let doing = self.doing.clone();
        let output = self.output()?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        let detail =
            if said.is_empty() { output.status.to_string() } else { said.replace('\n', "; ") };
        Err(Error::Git { doing, detail })
    }

    /// Runs it, whether it succeeds or not.
    pub fn output(mut self) -> Result<Output> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin);
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(not_started)?;
        let input = child.stdin.take();
        let output = std::thread::scope(|scope| {
            if let (Some(bytes), Some(mut input)) = (self.input, input) {
                // A git that stops reading early says why on its own; a broken pipe is not the reason.
                scope.spawn(move || input.write_all(&bytes).ok());
            }
            child.wait_with_output()
        });
        output.map_err(Error::io("run", "git"))
    }
}

fn not_started(source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::NotFound {
        return Error::Unsupported {
            what: "the git program was not found".to_owned(),
            hint: "install git, or put it on PATH".to_owned(),
        };
    }
    Error::Io { doing: "start", path: PathBuf::from("git"), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Repo;

    fn program() -> Program {
        Program { path: std::env::var_os("PATH").unwrap(), home: None }
    }

    #[test]
    fn nothing_of_a_hostile_repository_is_executed() {
        // WSP-1: hooks, fsmonitor and protocols of the repository are hostile input.
        let repo = Repo::new();
        let trap = repo.home().join("sprung");
        let hook = repo.root().join(".git/hooks/reference-transaction");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        let script = format!("#!/bin/sh\ntouch {}\n", trap.display());
        std::fs::write(&hook, &script).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        repo.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
        repo.git(&["config", "alias.update-ref", &format!("!{}", hook.display())]);
        let _ = std::fs::remove_file(&trap);

        let git_dir = repo.root().join(".git");
        let head = repo.git(&["rev-parse", "HEAD"]);
        Git::new(&program(), &git_dir, "set a ref")
            .args(["update-ref", "refs/aurora/x", head.trim()])
            .run()
            .unwrap();
        assert!(!trap.exists(), "a hook was run");
        assert_eq!(repo.git(&["rev-parse", "refs/aurora/x"]), head);
    }

    #[test]
    fn a_promised_object_is_not_fetched_by_a_program_of_the_repository() {
        // WSP-1: a promisor remote names a program that a lazy fetch would run.
        let repo = Repo::new();
        let trap = repo.home().join("sprung");
        repo.git(&["config", "core.repositoryFormatVersion", "1"]);
        repo.git(&["config", "extensions.partialClone", "origin"]);
        repo.git(&["config", "remote.origin.promisor", "true"]);
        repo.git(&["config", "remote.origin.url", &format!("ext::touch {}", trap.display())]);
        repo.git(&["config", "protocol.ext.allow", "always"]);
        let output = Git::new(&program(), &repo.root().join(".git"), "look")
            .args(["cat-file", "-p", "1234567890123456789012345678901234567890"])
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(!trap.exists(), "a fetch was attempted");
    }

    #[test]
    fn failures_say_what_was_attempted_and_input_is_read() {
        // WSP-1
        let repo = Repo::new();
        let git_dir = repo.root().join(".git");
        let error = Git::new(&program(), &git_dir, "find the commit")
            .args(["rev-parse", "--verify", "nothing"])
            .run()
            .unwrap_err();
        assert!(error.to_string().starts_with("git could not find the commit: "), "{error}");
        let id = Git::new(&program(), &git_dir, "hash")
            .args(["hash-object", "--stdin"])
            .input("hello\n")
            .run()
            .unwrap();
        assert_eq!(id, b"ce013625030ba8dba906f756967f9e9ca394464a\n");
    }

    #[test]
    fn a_missing_git_program_is_said_to_be_missing() {
        // WSP-1
        let repo = Repo::new();
        let program = Program { path: OsString::from("/nonexistent"), home: None };
        let error = Git::new(&program, &repo.root().join(".git"), "do").arg("x").run().unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}
