//! What reaches out of a worktree, or into git's own data: found and reported, never removed.

pub(crate) mod git_data;
mod link;
mod setting;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{
    Change, Constraint, EntryMode, RepoPath, Severity, SkipReason, Skipped, TreeId, Violation,
};

use crate::error::Result;
use crate::git::GitWorkspace;

pub(crate) use git_data::GitFingerprint;
pub use link::Destination;

/// How much a feature may hold in files that it changed, unless something else is said.
pub const DEFAULT_QUOTA_BYTES: u64 = 1 << 30;

/// How many violations one checkpoint tells in detail; the rest is counted.
const MAX_TOLD: usize = 10_000;

/// What `lstat` says of a path, as far as escapes are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// Device and inode: the same for all names of one content.
    pub inode: (u64, u64),
    /// How many names the content has.
    pub names: u64,
    /// Its size.
    pub bytes: u64,
}

impl Facts {
    /// Asks the file system, not following a link at the end.
    #[must_use]
    pub fn of(root: &Path, path: &RepoPath) -> Option<Self> {
        let found = root.join(as_os_path(path.as_bytes())).symlink_metadata().ok()?;
        let inode = (found.dev(), found.ino());
        Some(Self { inode, names: found.nlink(), bytes: found.size() })
    }
}

/// What the check needs to know of the worktree, as questions, so that nothing is asked that no
/// change calls for.
pub struct Ground<'a> {
    /// The worktree's root, canonical.
    pub root: &'a Path,
    /// The git folders of the repository, canonical: its own and the common one.
    pub git_dirs: &'a [PathBuf],
    /// The target of the symbolic link at a path; nothing when there is none.
    pub link: &'a dyn Fn(&RepoPath) -> Option<Vec<u8>>,
    /// The symbolic links that did not change. Asked only when one did, because a new link can turn
    /// an old one elsewhere.
    pub other_links: &'a dyn Fn() -> Vec<RepoPath>,
    /// What `lstat` says of a path; nothing when that is not known.
    pub facts: &'a dyn Fn(&RepoPath) -> Option<Facts>,
    /// How many bytes the files have that the feature changed since it began; nothing when nobody
    /// counted.
    pub used_bytes: Option<u64>,
    /// How many it may have.
    pub quota_bytes: u64,
}

/// What is wrong with the changes of a checkpoint: links that leave the worktree or lead into git's
/// data, hard links, new executables, special files, and too much of everything. In order of path.
#[must_use]
pub fn check(changes: &[Change], skipped: &[Skipped], ground: &Ground<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut link_changed = false;
    for change in changes {
        match change.after {
            Some(EntryMode::Symlink) => {
                link_changed = true;
                found.extend(check_link(&change.path, ground));
            }
            Some(EntryMode::Executable) if change.before != Some(EntryMode::Executable) => {
                found.push(new_executable(change));
            }
            _ => {}
        }
    }
    if link_changed {
        let changed: std::collections::BTreeSet<&RepoPath> =
            changes.iter().map(|change| &change.path).collect();
        let others = (ground.other_links)();
        let others = others.iter().filter(|path| !changed.contains(path));
        found.extend(others.filter_map(|path| check_link(path, ground)));
    }
    found.extend(hard_links(changes, ground));
    found.extend(skipped.iter().filter(|one| one.reason == SkipReason::SpecialFile).map(special));
    found.extend(quota(ground));
    found.sort();
    limit(found)
}

/// A path as somebody wrote it, when it leads out of the worktree.
#[must_use]
pub fn path_escapes(text: &str) -> Option<Violation> {
    let absolute = text.starts_with('/') || text.starts_with('~') || has_drive(text);
    let mut depth = 0_i64;
    let mut climbs = false;
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        climbs |= depth < 0;
    }
    let what = match (absolute, climbs, text.contains('\0')) {
        (true, _, _) => "is absolute",
        (_, true, _) => "climbs out of the worktree with `..`",
        (_, _, true) => "holds a NUL byte",
        _ => return None,
    };
    Some(Violation {
        file: None,
        constraint: Constraint::PathEscape,
        severity: Severity::Error,
        message: format!("the path `{}` {what}", text.escape_debug()),
        suggestion: "name the path relative to the worktree's root".to_owned(),
    })
}

/// `C:` and the like, which are absolute where the file system is Windows'.
fn has_drive(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.next() == Some(b':')
}

fn check_link(path: &RepoPath, ground: &Ground<'_>) -> Option<Violation> {
    let target = (ground.link)(path)?;
    let shown = RepoPath::new(target.clone()).map_or_else(
        || String::from_utf8_lossy(&target).escape_debug().to_string(),
        |target| target.to_string(),
    );
    let (constraint, severity, message, suggestion) = match link::follow(path, &target, ground) {
        Destination::Inside => return None,
        Destination::Outside(_) => (
            Constraint::SymlinkEscape,
            Severity::Error,
            format!("the link leads out of the worktree, to `{shown}`"),
            "point it at something inside the worktree, or copy what it points at",
        ),
        Destination::GitData(_) => (
            Constraint::SymlinkIntoGit,
            Severity::Critical,
            format!("the link leads into git's own data, by `{shown}`"),
            "remove the link: whoever writes through it changes what git executes",
        ),
    };
    let suggestion = suggestion.to_owned();
    Some(Violation { file: Some(path.clone()), constraint, severity, message, suggestion })
}

fn new_executable(change: &Change) -> Violation {
    let message = match change.before {
        Some(EntryMode::File) => "the file may now be executed".to_owned(),
        _ => "a file that may be executed is new".to_owned(),
    };
    Violation {
        file: Some(change.path.clone()),
        constraint: Constraint::NewExecutable,
        severity: Severity::Warning,
        message,
        suggestion: "look at it before anything runs it; `chmod -x` if it need not run".to_owned(),
    }
}

/// Files with more names than there are among the changes: the others may be anywhere.
fn hard_links(changes: &[Change], ground: &Ground<'_>) -> Vec<Violation> {
    let mut by_inode: BTreeMap<(u64, u64), (u64, Vec<&RepoPath>)> = BTreeMap::new();
    let files =
        |mode: Option<EntryMode>| matches!(mode, Some(EntryMode::File | EntryMode::Executable));
    for change in changes.iter().filter(|change| files(change.after)) {
        let Some(facts) = (ground.facts)(&change.path).filter(|facts| facts.names > 1) else {
            continue;
        };
        by_inode.entry(facts.inode).or_insert((facts.names, Vec::new())).1.push(&change.path);
    }
    let unseen = by_inode.into_values().filter(|(names, paths)| (paths.len() as u64) < *names);
    unseen
        .flat_map(|(names, paths)| {
            let seen = paths.len() as u64;
            paths.into_iter().map(move |path| hard_link(path, names, seen))
        })
        .collect()
}

fn hard_link(path: &RepoPath, names: u64, seen: u64) -> Violation {
    Violation {
        file: Some(path.clone()),
        constraint: Constraint::HardLink,
        severity: Severity::Warning,
        message: format!(
            "the file's content has {names} names, of which {seen} are among the changes: writing \
             it also writes the others, perhaps outside"
        ),
        suggestion: "make it a file of its own: copy it and rename the copy over it".to_owned(),
    }
}

fn special(skipped: &Skipped) -> Violation {
    Violation {
        file: Some(skipped.path.clone()),
        constraint: Constraint::SpecialFile,
        severity: Severity::Error,
        message: "a pipe, a socket or a device is in the worktree".to_owned(),
        suggestion: "remove it, or have it made outside the worktree".to_owned(),
    }
}

fn quota(ground: &Ground<'_>) -> Option<Violation> {
    let used = ground.used_bytes.filter(|used| *used > ground.quota_bytes)?;
    Some(Violation {
        file: None,
        constraint: Constraint::Quota,
        severity: Severity::Error,
        message: format!(
            "the changed files have {used} bytes, of {} that are allowed",
            ground.quota_bytes
        ),
        suggestion: "remove what was generated, or have git ignore it".to_owned(),
    })
}

/// The worst are told, so that a flood of small ones cannot hide them.
fn limit(mut found: Vec<Violation>) -> Vec<Violation> {
    if found.len() > MAX_TOLD {
        found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
        found.truncate(MAX_TOLD);
        found.sort();
    }
    found
}

fn as_os_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// What a checkpoint is asked about, once its tree is known.
pub(crate) struct Asked<'a> {
    /// The tree that the checkpoint holds.
    pub tree: &'a TreeId,
    /// The tree that the feature began with, for the quota; nothing when it is not to be counted.
    pub base_tree: Option<&'a TreeId>,
    /// What differs from the previous checkpoint.
    pub changes: &'a [Change],
    /// What was left out.
    pub skipped: &'a [Skipped],
    /// Repositories inside the worktree, whose git data is looked at too.
    pub nested: &'a [RepoPath],
    /// What `lstat` said of a path while it was read; nothing when that was not kept.
    pub facts: &'a dyn Fn(&RepoPath) -> Option<Facts>,
}

/// What was found, and git's data as it is now.
pub(crate) struct Findings {
    /// What is wrong, in order of path.
    pub violations: Vec<Violation>,
    git: GitFingerprint,
}

impl Findings {
    /// Remembers git's data for the next comparison. Called once the checkpoint that carries these
    /// violations is stored; before that, a crash must leave them to be found again.
    pub fn remember(&self, workspace: &GitWorkspace) -> Result<()> {
        self.git.store(&workspace.place)
    }
}

impl GitWorkspace {
    /// Everything that is wrong with a state. `create_checkpoint` calls it when the tree is written,
    /// puts `violations` into the checkpoint, and calls `remember` after the chain's ref is set. When
    /// an unchanged tree makes it answer with the previous checkpoint, it does not `remember`, so
    /// that what happened to git's data is told by the next one.
    pub(crate) fn find_violations(&self, asked: &Asked<'_>) -> Result<Findings> {
        let objects = OnceCell::new();
        let objects = || match objects.get() {
            Some(known) => Some(known),
            None => self.store.objects().ok().map(|opened| objects.get_or_init(|| opened)),
        };
        let tree = parse_tree(asked.tree);
        let link = |path: &RepoPath| {
            let (objects, tree) = (objects()?, tree.as_ref()?);
            let entry = crate::git::tree::find(objects, tree, path).ok()??;
            (entry.mode == EntryMode::Symlink).then(|| objects.blob(&entry.id).ok()).flatten()
        };
        let other_links = || {
            let listing = objects()
                .zip(tree.as_ref())
                .map(|(objects, tree)| crate::git::tree::list(objects, tree).unwrap_or_default());
            let listing = listing.unwrap_or_default().into_iter();
            let links = listing.filter(|(_, entry)| entry.mode == EntryMode::Symlink);
            links.map(|(path, _)| path).collect()
        };
        let git_dirs = [self.place.git_dir.clone(), self.place.common_dir.clone()];
        let ground = Ground {
            root: &self.place.root,
            git_dirs: &git_dirs,
            link: &link,
            other_links: &other_links,
            facts: asked.facts,
            used_bytes: self.used_bytes(asked)?,
            quota_bytes: DEFAULT_QUOTA_BYTES,
        };
        let mut violations = check(asked.changes, asked.skipped, &ground);
        let before = GitFingerprint::load(&self.place)?;
        let git = git_data::fingerprint(&self.place, asked.nested, before.as_ref());
        if let Some(before) = &before {
            violations.extend(git_data::compare(before, &git));
        }
        violations.sort();
        violations.dedup();
        Ok(Findings { violations, git })
    }

    /// How many bytes the files have that differ from what the feature began with.
    fn used_bytes(&self, asked: &Asked<'_>) -> Result<Option<u64>> {
        let trees = asked.base_tree.and_then(parse_tree).zip(parse_tree(asked.tree));
        let Some((base, tree)) = trees else { return Ok(None) };
        let objects = self.store.objects()?;
        let mut used = 0_u64;
        for delta in crate::git::tree::compare(&objects, &base, &tree)? {
            let Some(after) = delta.after else { continue };
            if after.mode != EntryMode::Submodule {
                used += objects.header(&after.id)?.map_or(0, |(_, bytes)| bytes);
            }
        }
        Ok(Some(used))
    }
}

fn parse_tree(tree: &TreeId) -> Option<gix::hash::ObjectId> {
    gix::hash::ObjectId::from_hex(tree.0.as_bytes()).ok()
}
