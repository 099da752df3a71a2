//! Git's own data as far as it makes git execute something or look elsewhere: a fingerprint of it,
//! taken at every checkpoint and compared with the one before.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::{Constraint, RepoPath, Severity, Violation};
use serde::{Deserialize, Serialize};

use super::setting::{self, Reach};
use crate::error::{Error, Result};
use crate::git::Place;
use crate::git::own;

/// How many files are looked at; beyond that it is said that there were more.
const MAX_FILES: usize = 5_000;
/// How many folders are opened in search of submodules' git data.
const MAX_FOLDERS: usize = 2_000;
/// A larger file is told by its size and times only.
const MAX_BYTES: u64 = 4 << 20;
/// A larger fingerprint is none of ours.
const LARGEST_BYTES: u64 = 64 << 20;
/// A file that changed so shortly before it was looked at may change again within one tick of the
/// file system's clock, so its times prove nothing.
const RACY_NS: i128 = 1_000_000_000;

/// Git's data of a worktree at one moment. Kept in the feature's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitFingerprint {
    files: BTreeMap<RepoPath, FilePrint>,
    /// Whether there was more than is looked at.
    #[serde(default)]
    capped: bool,
}

/// One file of git's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FilePrint {
    role: Role,
    executable: bool,
    hash: String,
    /// Hashes of settings by name, of a configuration that can be understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<BTreeMap<String, String>>,
    stat: Stat,
}

/// What shows that a file was not touched since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    inode: u64,
    mode: u32,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// When we looked, in seconds and nanoseconds of the same clock.
    looked: (i64, i64),
}

/// What a file is to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    /// Settings.
    Config,
    /// A program that git runs by itself.
    Hook,
    /// Where the rest of git's data is: `.git` files, `gitdir`, `commondir`, `alternates`.
    Pointer,
    /// Rules that are in no commit.
    Rules,
}

impl GitFingerprint {
    /// The one of the previous checkpoint; nothing when there was none, or it cannot be read.
    ///
    /// # Errors
    /// Only for what is no plain file.
    pub fn load(place: &Place) -> Result<Option<Self>> {
        match own::read(&Self::path(place), LARGEST_BYTES) {
            Err(error @ Error::Refused { .. }) => Err(error),
            other => Ok(other.ok().flatten().and_then(|text| serde_json::from_slice(&text).ok())),
        }
    }

    /// Puts it where the next checkpoint finds it.
    pub fn store(&self, place: &Place) -> Result<()> {
        let path = Self::path(place);
        let text = serde_json::to_vec(self).map_err(|error| Error::Corrupt {
            what: format!("git's data cannot be described: {error}"),
        })?;
        own::replace(&path, &text, false)
    }

    fn path(place: &Place) -> PathBuf {
        place.feature_dir.join("git-fingerprint.json")
    }
}

/// Looks at git's data; a file whose times and size are those of `before` is not read again.
pub(crate) fn fingerprint(
    place: &Place,
    nested: &[RepoPath],
    before: Option<&GitFingerprint>,
) -> GitFingerprint {
    let mut look = Look { hash: place.hash, before, found: GitFingerprint::default(), folders: 0 };
    let dot_git = RepoPath::new(".git");
    if let Some(label) = &dot_git {
        look.pointer_file(label, &place.root.join(".git"));
        look.git_folder(label, &place.common_dir);
        look.worktrees(label, &place.common_dir.join("worktrees"));
        if let Some(label) = label.join(b"modules") {
            look.modules(&label, &place.common_dir.join("modules"), 0);
        }
        if place.git_dir != place.common_dir
            && let Some(label) = label.join(b"worktree")
        {
            look.file(&label, "config.worktree", &place.git_dir, Role::Config);
            look.file(&label, "commondir", &place.git_dir, Role::Pointer);
            look.file(&label, "gitdir", &place.git_dir, Role::Pointer);
        }
    }
    for path in nested {
        let Some(label) = path.join(b".git") else { continue };
        let at = place.root.join(super::as_os_path(label.as_bytes()));
        match at.symlink_metadata() {
            Ok(found) if found.is_dir() => look.git_folder(&label, &at),
            Ok(_) => look.pointer_file(&label, &at),
            Err(_) => {}
        }
    }
    look.found
}

/// One look at git's data.
struct Look<'a> {
    hash: gix::hash::Kind,
    before: Option<&'a GitFingerprint>,
    found: GitFingerprint,
    folders: usize,
}

impl Look<'_> {
    /// What makes a git folder execute something.
    fn git_folder(&mut self, label: &RepoPath, dir: &Path) {
        self.file(label, "config", dir, Role::Config);
        self.file(label, "config.worktree", dir, Role::Config);
        self.file(label, "info/attributes", dir, Role::Rules);
        self.file(label, "info/exclude", dir, Role::Rules);
        self.file(label, "info/sparse-checkout", dir, Role::Rules);
        self.file(label, "info/grafts", dir, Role::Pointer);
        self.file(label, "objects/info/alternates", dir, Role::Pointer);
        self.file(label, "objects/info/http-alternates", dir, Role::Pointer);
        for name in self.names(&dir.join("hooks")) {
            // Git never runs these.
            if !name.ends_with(b".sample")
                && let Some(label) = label.join(b"hooks").and_then(|label| label.join(&name))
            {
                let at = dir.join("hooks").join(super::as_os_path(&name));
                self.add(label, &at, Role::Hook);
            }
        }
    }

    fn worktrees(&mut self, label: &RepoPath, dir: &Path) {
        for name in self.names(dir) {
            let Some(label) = label.join(b"worktrees").and_then(|label| label.join(&name)) else {
                continue;
            };
            let at = dir.join(super::as_os_path(&name));
            self.file(&label, "gitdir", &at, Role::Pointer);
            self.file(&label, "commondir", &at, Role::Pointer);
            self.file(&label, "config.worktree", &at, Role::Config);
        }
    }

    /// Submodules' git folders: at any depth, because a submodule's name may hold slashes.
    fn modules(&mut self, label: &RepoPath, dir: &Path, depth: u32) {
        if depth > 8 {
            self.found.capped = true;
            return;
        }
        for name in self.names(dir) {
            let at = dir.join(super::as_os_path(&name));
            let is_folder = at.symlink_metadata().is_ok_and(|found| found.is_dir());
            let Some(label) = label.join(&name).filter(|_| is_folder) else { continue };
            if at.join("HEAD").symlink_metadata().is_ok() {
                self.git_folder(&label, &at);
                if let Some(label) = label.join(b"modules") {
                    self.modules(&label, &at.join("modules"), depth + 1);
                }
            } else {
                self.modules(&label, &at, depth + 1);
            }
        }
    }

    fn names(&mut self, dir: &Path) -> Vec<Vec<u8>> {
        if self.folders >= MAX_FOLDERS {
            self.found.capped = true;
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        self.folders += 1;
        let names = entries.flatten().map(|entry| entry.file_name().as_bytes().to_vec());
        let mut names: Vec<_> = names.take(MAX_FILES).collect();
        names.sort();
        names
    }

    fn pointer_file(&mut self, label: &RepoPath, at: &Path) {
        if at.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            self.add(label.clone(), at, Role::Pointer);
        }
    }

    fn file(&mut self, label: &RepoPath, name: &str, dir: &Path, role: Role) {
        if let Some(label) = label.join(name.as_bytes()) {
            self.add(label, &dir.join(name), role);
        }
    }

    fn add(&mut self, label: RepoPath, at: &Path, role: Role) {
        let Ok(found) = at.symlink_metadata() else { return };
        if self.found.files.len() >= MAX_FILES {
            self.found.capped = true;
            return;
        }
        let stat = Stat::of(&found);
        if let Some(known) = self.before.and_then(|before| before.files.get(&label))
            && known.role == role
            && known.stat.proves(&stat)
        {
            self.found.files.insert(label, known.clone());
            return;
        }
        // A link is what it says; what it leads to is looked at as well, because git follows it.
        let mut content = match std::fs::read_link(at) {
            Ok(target) => target.as_os_str().as_bytes().to_vec(),
            Err(_) => Vec::new(),
        };
        let followed = at.metadata().ok().filter(|found| found.is_file());
        let small = followed.as_ref().is_some_and(|found| found.len() <= MAX_BYTES);
        let bytes = if small { std::fs::read(at).unwrap_or_default() } else { Vec::new() };
        let settings = (role == Role::Config)
            .then(|| setting::read(&bytes, |value| self.hash_of(value)))
            .flatten();
        content.push(0);
        content.extend_from_slice(&bytes);
        if !small {
            content.extend(format!("{:?}{:?}", stat.bytes, stat.changed).into_bytes());
        }
        let print = FilePrint {
            role,
            executable: followed.is_some_and(|found| found.permissions().mode() & 0o111 != 0),
            hash: self.hash_of(&content),
            settings,
            stat,
        };
        self.found.files.insert(label, print);
    }

    fn hash_of(&self, bytes: &[u8]) -> String {
        gix::objs::compute_hash(self.hash, gix::objs::Kind::Blob, bytes)
            .map(|id| id.to_hex().to_string())
            .unwrap_or_default()
    }
}

impl Stat {
    fn of(found: &std::fs::Metadata) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            inode: found.ino(),
            mode: found.mode(),
            bytes: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            looked: (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos().into()),
        }
    }

    /// Whether a file that now looks so has the content it had then. A link's own times say nothing
    /// about what it leads to.
    fn proves(&self, now: &Self) -> bool {
        let ns = |time: (i64, i64)| i128::from(time.0) * 1_000_000_000 + i128::from(time.1);
        let is_link = self.mode & 0o170_000 == 0o120_000;
        let same = Self { looked: now.looked, ..*self } == *now;
        same && !is_link && ns(self.looked) - ns(self.changed) > RACY_NS
    }
}

/// What became different, as violations.
pub(crate) fn compare(before: &GitFingerprint, after: &GitFingerprint) -> Vec<Violation> {
    let labels: BTreeSet<&RepoPath> = before.files.keys().chain(after.files.keys()).collect();
    let mut found: Vec<Violation> = labels
        .into_iter()
        .filter_map(|label| {
            compare_file(label, before.files.get(label), after.files.get(label))
                .map(|(severity, message)| violation(Some(label.clone()), severity, message))
        })
        .collect();
    if after.capped && !before.capped {
        let message = "there is more of git's own data than is looked at".to_owned();
        found.push(violation(None, Severity::Warning, message));
    }
    found
}

/// What became different in the git folder that all worktrees share, as far as it matters, each with
/// a sign of what it is now; and whether git would execute something or look elsewhere by it.
pub(crate) fn differences(before: &GitFingerprint, after: &GitFingerprint) -> Vec<(String, bool)> {
    let labels: BTreeSet<&RepoPath> = before.files.keys().chain(after.files.keys()).collect();
    let found = labels.into_iter().filter(|label| !is_of_a_desk(label)).filter_map(|label| {
        let (was, is) = (before.files.get(label), after.files.get(label));
        let (severity, message) = compare_file(label, was, is)?;
        let rules = is.or(was)?.role == Role::Rules;
        let now: String = is.map(|is| is.hash.chars().take(7).collect()).unwrap_or_default();
        let now = if now.is_empty() { String::new() } else { format!(" (now {now})") };
        let critical = severity == Severity::Critical || rules;
        (severity >= Severity::Error).then(|| (format!("{message}{now}"), critical))
    });
    found.collect()
}

/// Attempts may do to their desks what they like: these are set back before each.
fn is_of_a_desk(label: &RepoPath) -> bool {
    let name = label.parts().nth(2).unwrap_or_default();
    is_bookkeeping_pointer(label) && name.windows(6).any(|part| part == b".desk-")
}

fn compare_file(
    label: &RepoPath,
    before: Option<&FilePrint>,
    after: Option<&FilePrint>,
) -> Option<(Severity, String)> {
    let same = |a: &FilePrint, b: &FilePrint| a.hash == b.hash && a.executable == b.executable;
    let became = match (before, after) {
        (Some(before), Some(after)) if same(before, after) => return None,
        (Some(_), Some(_)) => "changed",
        (None, Some(_)) => "is new",
        (Some(_), None) => "is gone",
        (None, None) => return None,
    };
    let role = after.or(before)?.role;
    Some(match role {
        Role::Config => return compare_settings(label, before, after, became),
        Role::Hook => {
            let runs = after.is_some_and(|after| after.executable);
            let severity = if runs { Severity::Critical } else { Severity::Error };
            (severity, format!("the hook {became}: `{label}`"))
        }
        // Git itself adds and removes these when a worktree or submodule comes and goes.
        Role::Pointer if before.is_none() && is_bookkeeping_pointer(label) => {
            (Severity::Info, format!("a worktree {became}: `{label}`"))
        }
        Role::Pointer if after.is_none() && is_bookkeeping_pointer(label) => {
            (Severity::Info, format!("a worktree {became}: `{label}`"))
        }
        Role::Pointer => {
            (Severity::Critical, format!("where git finds its data {became}: `{label}`"))
        }
        Role::Rules => {
            (Severity::Error, format!("rules that are in no commit: `{label}` {became}"))
        }
    })
}

fn is_bookkeeping_pointer(label: &RepoPath) -> bool {
    label.as_bytes().starts_with(b".git/worktrees/")
}

fn compare_settings(
    label: &RepoPath,
    before: Option<&FilePrint>,
    after: Option<&FilePrint>,
    became: &str,
) -> Option<(Severity, String)> {
    let empty = BTreeMap::new();
    let settings = |print: Option<&FilePrint>| match print {
        Some(print) => print.settings.clone(),
        None => Some(empty.clone()),
    };
    let (Some(before), Some(after)) = (settings(before), settings(after)) else {
        let message = format!("git's settings {became} and cannot be understood: `{label}`");
        return Some((Severity::Critical, message));
    };
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ: Vec<&String> =
        keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).collect();
    // Comments and order: git reads the same. A setting that merely went executes nothing.
    let severity = match differ.iter().map(|key| reach_of(key, &after)).max()? {
        Reach::Executes => Severity::Critical,
        Reach::Behaviour => Severity::Error,
        Reach::Bookkeeping => Severity::Info,
    };
    let mut worst: Vec<&str> = differ.iter().map(|key| key.as_str()).collect();
    worst.sort_by_key(|key| std::cmp::Reverse(reach_of(key, &after)));
    let shown: Vec<String> =
        worst.iter().take(5).map(|key| format!("`{}`", key.escape_debug())).collect();
    let more = differ.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some((severity, format!("git's settings {became}: {}{more} in `{label}`", shown.join(", "))))
}

fn reach_of(key: &str, after: &BTreeMap<String, String>) -> Reach {
    match setting::reach(key) {
        Reach::Executes if !after.contains_key(key) => Reach::Behaviour,
        reach => reach,
    }
}

fn violation(file: Option<RepoPath>, severity: Severity, message: String) -> Violation {
    let suggestion = match severity {
        Severity::Critical => {
            "look at it before you run git here again; undo it if you did not ask for it"
        }
        Severity::Error => "look at it; undo it if you did not ask for it",
        Severity::Info | Severity::Warning => "nothing, if you asked for it",
    };
    Violation {
        file,
        constraint: Constraint::GitData,
        severity,
        message,
        suggestion: suggestion.to_owned(),
    }
}
