//! What somebody does to git's own data or to the run's worktree while a run goes on: noticed, not
//! prevented, because the git folder is shared and nobody can tell whose hand it was.

mod compare;
mod home;
mod look;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::escape::GitFingerprint;
use crate::git::{GitWorkspace, own};

/// A larger note is none of ours.
const LARGEST_BYTES: u64 = 256 << 20;

/// Something that is not as it was when the run began, and that no task of it was let do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Notice {
    /// What, in words; another one when it changes again.
    pub what: String,
    /// Whether a person must look before anything is taken over: git would execute something, read
    /// elsewhere, or hold what no gate has judged.
    pub critical: bool,
}

impl Notice {
    pub(super) fn critical(what: impl Into<String>) -> Self {
        Self { what: what.into(), critical: true }
    }

    pub(super) fn told(what: impl Into<String>) -> Self {
        Self { what: what.into(), critical: false }
    }
}

/// Git's own data at one moment, as far as it is watched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seen {
    /// What git executes, and where it looks.
    git: GitFingerprint,
    /// Every ref but ours, with what it points at; nothing when git could not tell.
    refs: Option<BTreeMap<String, String>>,
    /// What is checked out: in the main checkout under no name, and in linked worktrees.
    heads: BTreeMap<String, String>,
    /// What is staged in the main checkout.
    index: Index,
    /// What is staged in the run's worktree.
    home_index: Index,
}

/// An index at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// What the file was like; empty when there was none.
    signature: String,
    /// What it held.
    digest: String,
}

/// What is known of the run's worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Heeded {
    /// The tree that it held last, as far as the run knows.
    known: String,
    /// What others did to it, for as long as the run goes on.
    foreign: Vec<Notice>,
}

impl GitWorkspace {
    /// Takes note of git's own data as it is now, unless that was done for this owner before. Kept on
    /// the disk, so that it outlives the process.
    pub(super) fn keep_watch(&self, owner: &str) -> Result<()> {
        let path = self.watch_note(owner);
        if load::<Seen>(&path)?.is_none() {
            save(&path, &self.seen(None)?, true)?;
            let heeded = self.heed_note(owner);
            if let Some(mut known) = load::<Heeded>(&heeded)? {
                known.foreign.push(compare::lost());
                save(&heeded, &known, false)?;
            }
        }
        Ok(())
    }

    /// What is not as it was when the owner's first desk was prepared: git's own data, refs, what is
    /// checked out and staged, and what others wrote into this worktree. Everything that stands is
    /// told each time; who asks knows what was told before.
    pub fn noticed(&self, owner: &str) -> Result<Vec<Notice>> {
        let heeded = load::<Heeded>(&self.heed_note(owner))?;
        let Some(before) = load::<Seen>(&self.watch_note(owner))? else {
            // Before the first desk there is nothing to tell.
            return Ok(heeded.map(|_| compare::lost()).into_iter().collect());
        };
        let now = self.seen(Some(&before))?;
        let mut notices = self.differences(&before, &now);
        notices.extend(heeded.unwrap_or_default().foreign);
        // The same may stand in both.
        let mut told = std::collections::BTreeSet::new();
        notices.retain(|one| told.insert(one.what.clone()));
        Ok(notices)
    }

    /// Forgets what was noted for an owner.
    pub(super) fn forget_watch(&self, owner: &str) -> Result<()> {
        for path in [self.watch_note(owner), self.heed_note(owner)] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn watch_note(&self, owner: &str) -> PathBuf {
        self.place.feature_dir.join(format!("watch-{owner}.json"))
    }

    fn heed_note(&self, owner: &str) -> PathBuf {
        self.place.feature_dir.join(format!("heed-{owner}.json"))
    }
}

fn load<N: DeserializeOwned>(path: &Path) -> Result<Option<N>> {
    let bytes = own::read(path, LARGEST_BYTES)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn save<N: Serialize>(path: &Path, note: &N, durable: bool) -> Result<()> {
    let text = serde_json::to_vec(note).map_err(|error| Error::Corrupt {
        what: format!("{} cannot be written: {error}", path.display()),
    })?;
    own::replace(path, &text, durable)
}
