//! A home, a repository and an empty environment for one run after another.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A scratch folder with a home and a repository, gone when the test ends.
pub struct World {
    /// Everything is below this.
    pub dir: PathBuf,
    variables: Vec<(String, String)>,
    cwd: PathBuf,
    program: PathBuf,
}

impl World {
    /// A repository on branch `main` that follows `origin/main`.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("aur-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let dir = dir.canonicalize().unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_aur"));
        let world = Self { cwd: dir.join("repo"), dir, variables: Vec::new(), program };
        world.write("home/.keep", "");
        world.write("repo/.git/HEAD", "ref: refs/heads/main\n");
        world.write(
            "repo/.git/config",
            "[remote \"origin\"]\n\turl = u\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
        );
        world
    }

    /// A real repository with one commit, of `README.md` and `src/a.txt`.
    pub fn with_commit() -> Self {
        let world = Self::new();
        std::fs::remove_dir_all(world.path("repo/.git")).unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.write("repo/README.md", "hello\n");
        world.write("repo/src/a.txt", "one\ntwo\nthree\n");
        world.git(&["add", "-A"]);
        world.git(&["commit", "--quiet", "-m", "first"]);
        world
    }

    /// Runs git in the repository, which must succeed, and gives what it said.
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(args)
            .current_dir(self.dir.join("repo"))
            .env_clear()
            .env("HOME", self.dir.join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a line in bash, with `aur` being this program, and gives what it printed.
    pub fn shell(&self, line: &str) -> String {
        let output = Command::new("bash")
            .args(["-c", &format!("aur() {{ \"$AUR\" \"$@\"; }}\n{line}")])
            .current_dir(&self.cwd)
            .env_clear()
            .env("AUR", env!("CARGO_BIN_EXE_aur"))
            .env("HOME", self.dir.join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{line}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same with another environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with the program under another path.
    pub fn by(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// The same with another current directory.
    pub fn at(mut self, below: &str) -> Self {
        self.cwd = self.dir.join(below);
        std::fs::create_dir_all(&self.cwd).unwrap();
        self
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.dir.join(below)
    }

    pub fn write(&self, below: &str, text: &str) {
        let path = self.dir.join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.dir.join(below)).unwrap()
    }

    /// The names in a folder, in order.
    pub fn list(&self, below: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.join(below))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .current_dir(&self.cwd)
            .env_clear()
            .env("HOME", self.dir.join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", &self.dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COLUMNS", "80")
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Run {
        self.run_with(args, b"")
    }

    pub fn run_with<S: AsRef<OsStr>>(&self, args: &[S], stdin: &[u8]) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // A program that answers before it has read everything closes the pipe: that is its right.
        let feeder = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        let run = self.finish(child);
        feeder.join().unwrap();
        run
    }

    pub fn finish(&self, child: Child) -> Run {
        let output = child.wait_with_output().unwrap();
        let plain = |bytes: Vec<u8>| {
            String::from_utf8_lossy(&bytes)
                .replace(env!("CARGO_BIN_EXE_aur"), "[AUR]")
                .replace(&self.dir.display().to_string(), "[DIR]")
        };
        Run {
            code: output.status.code(),
            stdout: plain(output.stdout),
            stderr: plain(output.stderr),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        make_writable(&self.dir);
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn make_writable(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755));
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// What one run left behind.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Everything in one text.
    pub fn shown(&self) -> String {
        let mut out = self.code.map_or("killed".to_owned(), |code| format!("exit: {code}"));
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                out.push_str(&format!("\n----- {name} -----\n{}", text.trim_end_matches('\n')));
            }
        }
        out
    }

    /// The same with hashes and moments that differ from run to run replaced by what they are.
    pub fn steady(&self) -> String {
        steady(&self.shown())
    }

    /// stdout as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Each line of stdout as JSON.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }
}

/// The text with checkpoints' own digits as `xxxxxxxx`, other hashes as `[HASH]`, moments as `[WHEN]`.
pub fn steady(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let is_hex = word.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        match word.len() {
            8 if is_hex && out.ends_with('-') => out.push_str("xxxxxxxx"),
            10 | 40 if is_hex => out.push_str("[HASH]"),
            _ => out.push_str(&word),
        }
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    moments(&out)
}

fn moments(text: &str) -> String {
    let is_date = |at: &str| {
        let digits = |range: std::ops::Range<usize>| {
            at.get(range).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        digits(0..4) && at.get(4..5) == Some("-") && digits(5..7) && at.get(7..8) == Some("-")
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if is_date(rest) {
            let end = rest.find("UTC").map(|at| at + 3).into_iter();
            end.chain(rest.find('Z').map(|at| at + 1)).min().filter(|length| *length <= 24)
        } else {
            None
        };
        match length {
            Some(length) => {
                out.push_str("[WHEN]");
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                out.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
    }
    out
}

/// Who runs these tests, as the system knows them.
pub fn me() -> String {
    let told = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}
