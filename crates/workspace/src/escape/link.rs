//! Where a symbolic link leads, found without touching the file system.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use aurora_model::RepoPath;

use super::Ground;

/// How many links the kernel follows before it gives up; a longer way leads nowhere.
const MAX_LINKS: u32 = 40;

/// Where a link leads, after all links on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// To something in the worktree, or to nothing because it goes round in a circle.
    Inside,
    /// Out of the worktree; the absolute path as far as it can be told.
    Outside(Vec<u8>),
    /// Into a git folder, inside or outside.
    GitData(Vec<u8>),
}

/// Follows a link from its own folder, through other links of the worktree. The way may pass the
/// folders above the root, which are canonical; anything beside them is outside at once, because
/// nobody knows which links are there.
pub(super) fn follow(path: &RepoPath, target: &[u8], ground: &Ground<'_>) -> Destination {
    let root = parts_of(ground.root);
    let mut at: Vec<Vec<u8>> = root.clone();
    let folder = path.parent();
    at.extend(folder.iter().flat_map(RepoPath::parts).map(<[u8]>::to_vec));
    let mut ahead: Vec<Vec<u8>> = Vec::new();
    push_target(target, &mut at, &mut ahead);
    let mut links = 1;
    while let Some(part) = ahead.pop() {
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                at.pop();
                continue;
            }
            _ => at.push(part),
        }
        if is_git_data(&at, &root, ground) {
            at.extend(ahead.into_iter().rev());
            return Destination::GitData(join(&at));
        }
        if !root.starts_with(&at) && !at.starts_with(&root) {
            return beside(at, ahead, ground);
        }
        let below = at.get(root.len()..).unwrap_or_default().join(&b'/');
        let Some(next) = RepoPath::new(below).and_then(|path| (ground.link)(&path)) else {
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Destination::Inside;
        }
        at.pop();
        push_target(&next, &mut at, &mut ahead);
    }
    if at.starts_with(&root) { Destination::Inside } else { Destination::Outside(join(&at)) }
}

/// Outside nothing is known but names: the rest of the way is followed by these, to tell whether it
/// ends in a git folder. It never leads back inside, whatever the names say.
fn beside(mut at: Vec<Vec<u8>>, ahead: Vec<Vec<u8>>, ground: &Ground<'_>) -> Destination {
    let root = parts_of(ground.root);
    for part in ahead.into_iter().rev() {
        match part.as_slice() {
            b"" | b"." => {}
            b".." => {
                at.pop();
            }
            _ => at.push(part),
        }
    }
    let any_git =
        (1..=at.len()).any(|end| is_git_data(at.get(..end).unwrap_or_default(), &root, ground));
    if any_git { Destination::GitData(join(&at)) } else { Destination::Outside(join(&at)) }
}

fn push_target(target: &[u8], at: &mut Vec<Vec<u8>>, ahead: &mut Vec<Vec<u8>>) {
    if target.starts_with(b"/") {
        at.clear();
    }
    ahead.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
}

/// Whether a way has just entered a git folder: one that is called so, or one of this repository's.
/// A part of the root's own way is not meant, so that a worktree below `x/.git/` is no alarm.
fn is_git_data(at: &[Vec<u8>], root: &[Vec<u8>], ground: &Ground<'_>) -> bool {
    let called_so = at.last().is_some_and(|name| is_git_name(name)) && !root.starts_with(at);
    called_so || ground.git_dirs.iter().any(|dir| parts_of(dir) == at)
}

/// `.git`, also as file systems write it that do not tell case, or that have short names.
pub(super) fn is_git_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}

fn parts_of(path: &Path) -> Vec<Vec<u8>> {
    let bytes = path.as_os_str().as_bytes();
    bytes.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
}

fn join(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut path = vec![b'/'];
    path.extend(parts.join(&b'/'));
    path
}
