//! Three-way merges of file contents, by `git merge-file`.

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, Result};
use crate::git::own::Folder;
use crate::git::process::{Git, Program};

/// Larger files are not merged.
const LARGEST_BYTES: usize = 10 << 20;
/// Git takes a file with a zero byte this early for binary.
const BINARY_WITHIN: usize = 8000;

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Merged {
    /// Both sides' changes are in.
    Clean(Vec<u8>),
    /// Both sides changed the same lines: both are there, marked.
    Marked(String),
    /// It is nothing that can be merged by lines.
    Impossible(&'static str),
}

/// The three sides of a merge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'s> {
    /// What is there now.
    pub now: &'s [u8],
    /// What both come from.
    pub base: &'s [u8],
    /// What is restored.
    pub checkpoint: &'s [u8],
}

/// What the three sides are called where they are marked: now, base, checkpoint.
pub(crate) const LABELS: [&str; 3] = ["now", "base", "checkpoint"];

/// Merges three contents. `git_dir` is a repository of ours, so that nobody else's settings count;
/// `scratch` is a folder of ours.
pub(crate) fn merge(
    program: &Program,
    git_dir: &Path,
    scratch: &Path,
    sides: Sides<'_>,
) -> Result<Merged> {
    merge_labelled(program, git_dir, scratch, sides, LABELS)
}

/// The same, with other names for the sides.
pub(crate) fn merge_labelled(
    program: &Program,
    git_dir: &Path,
    scratch: &Path,
    sides: Sides<'_>,
    labels: [&str; 3],
) -> Result<Merged> {
    let all = [sides.now, sides.base, sides.checkpoint];
    if all.iter().any(|bytes| bytes.len() > LARGEST_BYTES) {
        return Ok(Merged::Impossible("it is too large to be merged"));
    }
    if all.iter().any(|bytes| bytes.iter().take(BINARY_WITHIN).any(|byte| *byte == 0)) {
        return Ok(Merged::Impossible("it is binary, and both sides changed it"));
    }
    let scratch = Scratch::new(scratch)?;
    let mut paths = Vec::new();
    for (name, bytes) in
        [("now", sides.now), ("base", sides.base), ("checkpoint", sides.checkpoint)]
    {
        let path = scratch.0.join(name);
        fs::write(&path, bytes).map_err(Error::io("write", &path))?;
        paths.push(path);
    }
    let output = Git::new(program, git_dir, "merge a file")
        .args(["merge-file", "-p", "--diff3", "--quiet"])
        .args(labels.iter().flat_map(|label| ["-L", label]))
        .args(&paths)
        .output()?;
    match output.status.code() {
        Some(0) => Ok(Merged::Clean(output.stdout)),
        // The number of conflicts, as far as it can be said; beyond are errors.
        Some(1..=127) => Ok(Merged::Marked(String::from_utf8_lossy(&output.stdout).into_owned())),
        _ => Err(Error::Git {
            doing: "merge a file".to_owned(),
            detail: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}

/// A folder that goes when it is no longer needed.
struct Scratch(PathBuf);

impl Scratch {
    fn new(within: &Path) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let guess = RandomState::new().hash_one(count);
        let name = format!("merge-{}-{count}-{guess:x}", std::process::id());
        let path = within.join(&name);
        Folder::make(within)?
            .create_folder(OsStr::new(&name))
            .map_err(Error::io("create", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Repo;

    fn check(now: &str, base: &str, checkpoint: &str) -> Merged {
        let repo = Repo::empty();
        let program = Program { path: std::env::var_os("PATH").unwrap(), home: None };
        let sides =
            Sides { now: now.as_bytes(), base: base.as_bytes(), checkpoint: checkpoint.as_bytes() };
        let scratch = repo.home();
        let merged = merge(&program, &repo.root().join(".git"), &scratch, sides).unwrap();
        assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "nothing is left behind");
        merged
    }

    /// WSP-4
    #[test]
    fn changes_in_different_places_are_both_kept() {
        let merged = check("A\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n");
        assert_eq!(merged, Merged::Clean(b"A\nb\nc\nd\nE\n".to_vec()));
    }

    /// WSP-4
    #[test]
    fn changes_in_the_same_place_are_marked() {
        let Merged::Marked(text) = check("mine\n", "base\n", "theirs\n") else { panic!("clean") };
        for part in ["<<<<<<< now\nmine\n", "||||||| base\nbase\n", "theirs\n>>>>>>> checkpoint\n"]
        {
            assert!(text.contains(part), "{text}");
        }
    }

    /// WSP-4
    #[test]
    fn binaries_are_not_merged() {
        assert!(matches!(check("a\0b", "a", "c"), Merged::Impossible(_)));
    }
}
