//! What a desk remembers from one call to the next, also when the process between was killed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aurora_model::{CheckpointId, RepoPath, TreeId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Desk;
use crate::error::{Error, Result};
use crate::git::own;

/// A larger note is none of ours.
const LARGEST_BYTES: u64 = 256 << 20;

/// A note: one small file beside the desk's lock.
pub(super) trait Note: Serialize + DeserializeOwned {
    /// Its name.
    const NAME: &'static str;
}

/// The desk is whole: its folder and git's entry were made to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Whole {
    /// Where.
    pub path: PathBuf,
}

/// The latest preparation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// What the run's worktree held.
    pub base: TreeId,
    /// What the desk held afterwards. The same, but for what cannot be brought over, such as a
    /// submodule that is checked out.
    pub start: TreeId,
    /// Folders without content that it had.
    pub empty_folders: Vec<RepoPath>,
    /// The commit that was checked out.
    pub commit: String,
    /// How to tell that the index is still ours.
    pub index: String,
}

/// What an attempt left, besides its tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Left {
    /// What it began with.
    pub base: TreeId,
    /// What it ended with.
    pub result: TreeId,
    /// Folders without content that came.
    pub made: Vec<RepoPath>,
    /// Folders that went and had no content, the innermost first.
    pub gone: Vec<RepoPath>,
    /// Unusual permission bits of new files.
    pub permissions: BTreeMap<RepoPath, u32>,
}

/// An adoption that is about to be done, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    /// What the attempt began with.
    pub base: TreeId,
    /// What it ended with.
    pub result: TreeId,
    /// The checkpoint of the run's worktree right before it.
    pub safety: CheckpointId,
    /// What that held.
    pub before: TreeId,
    /// What the run's worktree holds after it, unless somebody changes it meanwhile.
    pub after: TreeId,
    /// The files in which changes of both sides were put together.
    pub merged: Vec<RepoPath>,
}

impl Note for Whole {
    const NAME: &'static str = "desk.json";
}

impl Note for Begun {
    const NAME: &'static str = "begun.json";
}

impl Note for Left {
    const NAME: &'static str = "left.json";
}

impl Note for Intent {
    const NAME: &'static str = "adoption.json";
}

impl Desk {
    /// Reads a note. One that makes no sense is as good as none.
    pub(super) fn note<N: Note>(&self) -> Result<Option<N>> {
        let bytes = own::read(&self.own.place.feature_dir.join(N::NAME), LARGEST_BYTES)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Writes a note, for good where that is asked for.
    pub(super) fn write_note<N: Note>(&self, note: &N, durable: bool) -> Result<()> {
        let path = self.own.place.feature_dir.join(N::NAME);
        let text = serde_json::to_vec(note).map_err(|error| Error::Corrupt {
            what: format!("{} cannot be written: {error}", path.display()),
        })?;
        own::replace(&path, &text, durable)
    }

    /// Forgets a note.
    pub(super) fn forget_note<N: Note>(&self) -> Result<()> {
        let path = self.own.place.feature_dir.join(N::NAME);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", path)(error))
            }
            _ => Ok(()),
        }
    }
}
