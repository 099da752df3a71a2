//! What a crash left of worktrees: completed or taken back, never anything that somebody worked in.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use aurora_model::{EntryMode, RepoPath};
use serde::Serialize;

use super::record::{self, Record, Stage};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;

/// How much of one file is compared at most; a larger one is taken for somebody's.
const MAX_COMPARED_BYTES: u64 = 256 << 20;

/// Something that a crash left, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// The worktree's short name.
    pub slug: String,
    /// Whether it was removed; otherwise it was left alone.
    pub removed: bool,
    /// What was found.
    pub because: String,
}

impl GitWorkspace {
    /// Takes back worktrees that were never finished and finishes removals that were begun, when
    /// nobody is at work on them; forgets worktrees whose folder is gone. A worktree that is whole, or
    /// that holds anything of anybody's, is left alone.
    pub fn cleanup_worktrees(&self) -> Result<Vec<Cleaned>> {
        let mut cleaned = Vec::new();
        for seen in record::all(&self.place)? {
            // Somebody who is at work holds the record; whoever died does not.
            let mut record = match Record::open(&self.place, seen.slug()) {
                Ok(Some(record)) => record,
                Ok(None) | Err(Error::Busy { .. }) => continue,
                Err(error) => return Err(error),
            };
            // Whoever died between moving it aside and deciding decided nothing.
            if record.stage() != Stage::Removing && record.aside().is_some() {
                record.bring_back()?;
            }
            cleaned.extend(self.clean_one(&record)?);
        }
        Ok(cleaned)
    }

    fn clean_one(&self, record: &Record) -> Result<Option<Cleaned>> {
        let slug = record.slug().to_owned();
        let answer = |removed: bool, because: &str| {
            Some(Cleaned { slug, removed, because: because.to_owned() })
        };
        let there = record.path().symlink_metadata().is_ok();
        Ok(match record.stage() {
            Stage::Removing => {
                self.finish_removal(record)?;
                answer(true, "its removal was not finished")
            }
            Stage::Making if there && !self.holds_only_ours(record)? => answer(
                false,
                "it was never finished, and it holds files that are not from its commit",
            ),
            Stage::Making => {
                self.finish_removal(record)?;
                answer(true, "it was never finished")
            }
            // Without the folder around it, perhaps the whole disk is not there now.
            Stage::Ready if !there && record.path().parent().is_some_and(Path::is_dir) => {
                for admin in self.admins_of(record.path()) {
                    if let Some(commit) = self.stray_commits(&admin)?.first() {
                        let because = "its folder is gone, and no branch or tag has its commit";
                        return Ok(answer(false, &format!("{because} {commit}")));
                    }
                }
                self.finish_removal(record)?;
                answer(true, "its folder is gone")
            }
            Stage::Ready | Stage::Restoring => None,
        })
    }

    /// Whether every file of a half-made worktree is, as far as it goes, the commit's.
    pub(super) fn holds_only_ours(&self, record: &Record) -> Result<bool> {
        let Some(commit) = record.commit() else { return Ok(false) };
        let objects = self.store.objects()?;
        let tree = super::fill::tree_of(self, &commit)?;
        let mut folders = vec![None::<RepoPath>];
        while let Some(folder) = folders.pop() {
            let below = folder.as_ref().map_or(&b""[..], RepoPath::as_bytes);
            let at = record.path().join(std::ffi::OsStr::from_bytes(below));
            for entry in std::fs::read_dir(&at).map_err(Error::io("read", &at))? {
                let entry = entry.map_err(Error::io("read", &at))?;
                let name = entry.file_name();
                if folder.is_none() && name == ".git" {
                    continue;
                }
                let Some(path) = RepoPath::below(folder.as_ref(), name.as_bytes()) else {
                    return Ok(false);
                };
                let kind = entry.file_type().map_err(Error::io("look at", entry.path()))?;
                if kind.is_dir() {
                    folders.push(Some(path));
                    continue;
                }
                let Some(wanted) = crate::git::tree::find(&objects, &tree, &path)? else {
                    return Ok(false);
                };
                if !is_beginning(&entry.path(), wanted.mode, &objects.blob(&wanted.id)?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn is_beginning(at: &Path, mode: EntryMode, whole: &[u8]) -> Result<bool> {
    let found = at.symlink_metadata().map_err(Error::io("look at", at))?;
    let bytes = match mode {
        EntryMode::Symlink if found.is_symlink() => {
            std::fs::read_link(at).map_err(Error::io("read", at))?.as_os_str().as_bytes().to_vec()
        }
        EntryMode::File | EntryMode::Executable
            if found.is_file() && found.len() <= MAX_COMPARED_BYTES =>
        {
            std::fs::read(at).map_err(Error::io("read", at))?
        }
        _ => return Ok(false),
    };
    Ok(whole.starts_with(&bytes))
}
