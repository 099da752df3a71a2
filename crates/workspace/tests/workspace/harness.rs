//! A throw-away repository, a seeded source of chance, and the user's git state byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aurora_model::Timestamp;
use aurora_workspace::{GitWorkspace, Settings, Silent};

/// Chance that can be repeated: splitmix64.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A number from the environment, so that a run can be repeated or made longer.
pub fn number_from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A scratch folder with a home and a repository, gone when the test ends.
pub struct World {
    pub root: PathBuf,
    dir: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl World {
    /// On the disk, where a sync is a sync.
    pub fn on_disk() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    /// In memory where there is such a place, so that many cases take little time.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self::within(made.or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn within(temporary: tempfile::TempDir) -> Self {
        let dir = temporary.path().canonicalize().unwrap();
        let world = Self { root: dir.join("repo"), dir, _temporary: Some(temporary) };
        std::fs::create_dir_all(&world.root).unwrap();
        std::fs::create_dir_all(world.home()).unwrap();
        world.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        world
    }

    /// The same world, seen from another worktree in it.
    pub fn seen_from(&self, root: &Path) -> Self {
        Self { root: root.to_owned(), dir: self.dir.clone(), _temporary: None }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(&self.root, args);
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn try_git<A: AsRef<OsStr>>(&self, at: &Path, args: &[A]) -> Output {
        git_in(at, &self.home(), args)
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "a commit"]);
    }

    pub fn workspace(&self) -> GitWorkspace {
        GitWorkspace::open(settings_of(&self.dir)).unwrap()
    }

    pub fn settings(&self) -> Settings {
        settings_of(&self.dir)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Settings of the world in a folder, for a child process too.
pub fn settings_of(dir: &Path) -> Settings {
    Settings {
        from: dir.join("repo"),
        home: Some(dir.join("home")),
        xdg_config_home: None,
        path: std::env::var_os("PATH").unwrap(),
        state_dir: dir.join("state"),
        progress: Arc::new(Silent),
        now,
    }
}

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp { unix_ms: i64::try_from(since.as_millis()).unwrap() }
}

pub fn git_in<A: AsRef<OsStr>>(at: &Path, home: &Path, args: &[A]) -> Output {
    Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "gc.auto=0",
            "-c",
            "core.fsync=none",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(args)
        .current_dir(at)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap()
}

/// Everything in the user's git folder that must never change by a byte: all but objects, our own
/// folder and the one ref that keeps objects alive.
pub fn git_state(git_dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![git_dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = path.strip_prefix(git_dir).unwrap().to_owned();
            if ["aurora", "objects", "refs/aurora"].iter().any(|ours| name == Path::new(ours)) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if name == Path::new("packed-refs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let theirs = text.lines().filter(|line| !line.contains(" refs/aurora/keep/"));
                found.insert(name, theirs.collect::<Vec<_>>().join("\n").into_bytes());
            } else {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// The same after a kill: a git program that the killed one had started may still be at work for a
/// moment, with git's own locks. A lock that stays is the user's trouble, so it is not waited for long.
pub fn settled_git_state(git_dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let give_up = Instant::now() + Duration::from_secs(20);
    loop {
        let state = git_state(git_dir);
        let locked = state.keys().any(|name| name.extension().is_some_and(|end| end == "lock"));
        if !locked || Instant::now() > give_up {
            return state;
        }
        std::thread::yield_now();
    }
}

/// Fails with the names of what differs.
pub fn same_git_state(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
    when: &str,
) {
    let names = before.keys().chain(after.keys());
    let differ: Vec<&PathBuf> =
        names.filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(differ.is_empty(), "{when}: git's own data changed: {differ:?}");
}
