//! What goes with a worktree because no checkpoint holds it and no branch has it.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{Checkpoint, SkipReason, Skipped};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::process::Git;

/// So many are named; of the others, only how many there are is said.
const MOST_NAMED: usize = 20;

/// What of a worktree its checkpoint does not hold, in words.
pub(super) fn left_out(root: &Path, checkpoint: &Checkpoint) -> Vec<String> {
    let feature = &checkpoint.feature;
    let lost = checkpoint.skipped.iter().filter(|one| !is_ours(root, feature, one));
    let mut lost: Vec<&Skipped> = lost.collect();
    // Whoever reads only the beginning reads of what nobody can make again.
    lost.sort_by_key(|one| (one.reason != SkipReason::GitData, one.reason == SkipReason::Ignored));
    lost.into_iter().map(in_words).collect()
}

/// At most so many of them in one line.
pub(super) fn named(all: &[String]) -> String {
    let first: Vec<&str> = all.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match all.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", first.join(", "))
}

fn in_words(one: &Skipped) -> String {
    let why = match one.reason {
        SkipReason::Ignored => "ignored",
        SkipReason::TooLarge => "too large",
        SkipReason::Unreadable => "unreadable",
        SkipReason::SpecialFile => "a pipe, a socket or a device",
        SkipReason::Unsettled => "being written",
        SkipReason::GitData => "the commits of a repository inside",
    };
    format!("`{}{}` ({why})", one.path, if one.folder { "/" } else { "" })
}

/// Whether it is nothing but what we write for people, which can be made again at any time.
fn is_ours(root: &Path, feature: &str, one: &Skipped) -> bool {
    let path = Path::new(std::ffi::OsStr::from_bytes(one.path.as_bytes()));
    if !path.starts_with(".aurora") {
        return false;
    }
    let own = Path::new(".aurora/features").join(feature).join("checkpoints");
    let mut next: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = next.pop() {
        let at = root.join(&path);
        let Ok(found) = at.symlink_metadata() else { return false };
        let made_by_us = path == Path::new(".aurora/.gitignore")
            || (path.starts_with(&own) && path.extension().is_some_and(|end| end == "diff"));
        if !found.is_dir() && !made_by_us {
            return false;
        }
        if found.is_dir() {
            let Ok(entries) = std::fs::read_dir(&at) else { return false };
            next.extend(entries.flatten().map(|entry| path.join(entry.file_name())));
        }
    }
    true
}

impl GitWorkspace {
    /// Commits that a worktree's HEAD stands or stood at and that no branch or tag has.
    pub(super) fn stray_commits(&self, admin: &Path) -> Result<Vec<String>> {
        let head = Git::new(&self.place.program, admin, "read HEAD")
            .args(["rev-parse", "--verify", "--quiet", "HEAD"])
            .output()?;
        let head = ObjectId::from_hex(head.stdout.trim_ascii()).ok();
        let log = admin.join("logs/HEAD");
        let log = match std::fs::read(&log) {
            Ok(log) => log,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("read", log)(error)),
        };
        let (mut stood, mut replaced) = places(&log);
        if let Some(head) = head {
            stood.insert(head);
            replaced.remove(&head);
        }
        if stood.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = String::new();
        for id in &stood {
            input.push_str(&format!("{}\n", id.to_hex()));
        }
        for id in &replaced {
            input.push_str(&format!("^{}\n", id.to_hex()));
        }
        // The second `--not` is for a git that lets the first one hold for what it reads.
        let said = Git::new(&self.place.program, &self.place.common_dir, "look for lost commits")
            .args(["rev-list", "--ignore-missing", "--abbrev-commit", "--stdin"])
            .args(["--not", "--branches", "--remotes", "--tags", "--not"])
            .input(input)
            .run()?;
        Ok(String::from_utf8_lossy(&said).lines().map(ToOwned::to_owned).collect())
    }
}

/// Where HEAD stood, by its log, and which of these somebody replaced by amending or rebasing. What
/// was replaced on purpose is no loss, unless somebody went back to it.
fn places(log: &[u8]) -> (BTreeSet<ObjectId>, BTreeSet<ObjectId>) {
    let (mut stood, mut replaced) = (BTreeSet::new(), BTreeSet::new());
    for line in log.split(|byte| *byte == b'\n') {
        let mut sides = line.splitn(2, |byte| *byte == b'\t');
        let ids = sides.next().unwrap_or_default();
        let said = sides.next().unwrap_or_default();
        let mut ids = ids.split(|byte| *byte == b' ').map(|hex| ObjectId::from_hex(hex).ok());
        let (Some(Some(old)), Some(Some(new))) = (ids.next(), ids.next()) else { continue };
        let rebases = said.starts_with(b"rebase");
        let between = rebases && !said.starts_with(b"rebase (finish)");
        if !new.is_null() && (!between || said.starts_with(b"rebase (abort)")) {
            replaced.remove(&new);
            stood.insert(new);
        }
        let begins = said.starts_with(b"rebase (start)") || said.starts_with(b"rebase -i (start)");
        if !old.is_null() && (begins || said.starts_with(b"commit (amend)")) {
            replaced.insert(old);
        }
    }
    (stood, replaced)
}
