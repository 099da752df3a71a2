//! The repository that a folder belongs to: the outermost one, or one inside it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aurora_model::Head;
use gix::hash::ObjectId;

use super::tracked::Tracked;
use crate::git::Settings;
use crate::git::ignore::Rules;
use crate::git::ignore::config::GitConfig;

/// A larger HEAD, `.git` file or ref is none.
const MAX_POINTER_BYTES: u64 = 1 << 16;

/// A repository whose files are looked at.
pub(crate) struct Repository {
    /// Its path below the root with a slash at the end; empty for the outermost one.
    pub base: Vec<u8>,
    /// The worktree's own git folder.
    pub git_dir: PathBuf,
    /// The git folder that its worktrees share.
    pub common_dir: PathBuf,
    /// What its settings say.
    pub config: GitConfig,
    /// The rules that hold everywhere in it.
    pub rules: Arc<Rules>,
    hash: gix::hash::Kind,
    tracked: OnceLock<Tracked>,
    /// The only paths that the index may know and the previous checkpoint does not have. With these
    /// the index need not be read to tell that it does not know others.
    perhaps: OnceLock<BTreeSet<Vec<u8>>>,
}

impl Repository {
    /// A repository whose git folders are known.
    pub fn at(
        settings: &Settings,
        git_dir: PathBuf,
        common_dir: PathBuf,
        base: Vec<u8>,
        hash: gix::hash::Kind,
    ) -> Arc<Self> {
        let config = GitConfig::read(settings, &git_dir, &common_dir);
        let rules = Rules::of_repository(&config, &common_dir, base.len());
        let (tracked, perhaps) = (OnceLock::new(), OnceLock::new());
        Arc::new(Self { base, git_dir, common_dir, config, rules, hash, tracked, perhaps })
    }

    /// The repository in a folder that has something called `.git`; nothing when that is no
    /// repository's.
    pub fn inside(
        settings: &Settings,
        root: &Path,
        folder: &[u8],
        hash: gix::hash::Kind,
    ) -> Option<Arc<Self>> {
        let worktree = root.join(std::ffi::OsStr::from_bytes(folder));
        let (git_dir, common_dir) = git_dirs(&worktree)?;
        let mut base = folder.to_vec();
        base.push(b'/');
        Some(Self::at(settings, git_dir, common_dir, base, hash))
    }

    /// The files of a repository inside whose change may change what counts there.
    pub fn sources_inside(worktree: &Path) -> Vec<PathBuf> {
        let Some((git_dir, common_dir)) = git_dirs(worktree) else { return Vec::new() };
        vec![git_dir.join("index"), common_dir.join("info/exclude"), common_dir.join("config")]
    }

    /// What its index knows; read when first asked for.
    pub fn tracked(&self) -> &Tracked {
        self.tracked.get_or_init(|| Tracked::read(&self.git_dir, self.hash))
    }

    /// From now on, the index is asked about these paths only.
    pub fn ask_only_about(&self, paths: impl Iterator<Item = Vec<u8>>) {
        self.perhaps.get_or_init(|| paths.collect());
    }

    /// Whether the index may know a path that no checkpoint has.
    pub fn tracks(&self, path: &[u8]) -> bool {
        self.perhaps.get().is_none_or(|perhaps| perhaps.contains(self.inner(path)))
            && self.tracked().find(self.inner(path)).is_some()
    }

    /// Whether the index may know a path, or something below it, that no checkpoint has.
    pub fn tracks_below(&self, path: &[u8]) -> bool {
        let inner = self.inner(path);
        let perhaps = self.perhaps.get().is_none_or(|perhaps| {
            perhaps
                .range(inner.to_vec()..)
                .take_while(|path| path.starts_with(inner))
                .any(|path| super::walk::is_within(path, inner))
        });
        perhaps && self.tracked().has_at_or_below(inner)
    }

    /// The commit of a submodule.
    pub fn submodule(&self, path: &[u8]) -> Option<ObjectId> {
        let inner = self.inner(path);
        let perhaps = self.perhaps.get().is_none_or(|perhaps| perhaps.contains(inner));
        if perhaps { self.tracked().submodule(inner) } else { None }
    }

    /// A path as its index has it.
    pub fn inner<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        path.get(self.base.len()..).unwrap_or_default()
    }

    /// Where its HEAD stands.
    pub fn head(&self) -> Head {
        head_of(&self.git_dir, &self.common_dir)
    }
}

/// The git folders of a worktree, when what it calls `.git` is a repository's.
fn git_dirs(worktree: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot_git = worktree.join(".git");
    let git_dir = if std::fs::symlink_metadata(&dot_git).ok()?.is_file() {
        let text = pointer(&dot_git)?;
        let target = text.strip_prefix(b"gitdir: ")?.trim_ascii_end().to_vec();
        worktree.join(std::ffi::OsStr::from_bytes(&target))
    } else {
        dot_git
    };
    let common_dir = match pointer(&git_dir.join("commondir")) {
        Some(text) => git_dir.join(std::ffi::OsStr::from_bytes(text.trim_ascii_end())),
        None => git_dir.clone(),
    };
    let sound = git_dir.join("HEAD").symlink_metadata().is_ok()
        && common_dir.join("objects").is_dir()
        && common_dir.join("refs").is_dir();
    sound.then_some((git_dir, common_dir))
}

/// Where the HEAD of a repository inside stands; nothing when it is none any more.
pub(crate) fn head_inside(root: &Path, folder: &[u8]) -> Option<Head> {
    let (git_dir, common_dir) = git_dirs(&root.join(std::ffi::OsStr::from_bytes(folder)))?;
    Some(head_of(&git_dir, &common_dir))
}

/// A small file's bytes.
fn pointer(path: &Path) -> Option<Vec<u8>> {
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_POINTER_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Where a HEAD stands, read from git's files.
pub(crate) fn head_of(git_dir: &Path, common_dir: &Path) -> Head {
    let Some(text) = pointer(&git_dir.join("HEAD")) else { return Head::default() };
    let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
    let Some(mut name) = text.strip_prefix("ref:").map(|name| name.trim().to_owned()) else {
        return Head { commit: digits(&text), branch: None };
    };
    let branch = name.strip_prefix("refs/heads/").map(str::to_owned);
    // A branch may itself be a symbolic ref; git follows five of them.
    for _ in 0..5 {
        let sound = !name.starts_with('/') && name.split('/').all(|part| part != "..");
        let loose = [git_dir, common_dir].map(|dir| dir.join(&name));
        let Some(text) = loose.iter().filter(|_| sound).find_map(|path| pointer(path)) else {
            return Head { commit: packed(common_dir, &name), branch };
        };
        let text = String::from_utf8_lossy(text.trim_ascii()).into_owned();
        match text.strip_prefix("ref:") {
            Some(next) => name = next.trim().to_owned(),
            None => return Head { commit: digits(&text), branch },
        }
    }
    Head { commit: None, branch }
}

fn packed(common_dir: &Path, name: &str) -> Option<String> {
    let text = std::fs::read(common_dir.join("packed-refs")).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_suffix(name.as_bytes())?.strip_suffix(b" "))?;
    digits(std::str::from_utf8(line).ok()?)
}

fn digits(text: &str) -> Option<String> {
    let sound = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| text.to_owned())
}
