//! What is remembered from one checkpoint to the next, so that the next need not look at everything.
//! All of it can be lost without harm.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use aurora_model::RepoPath;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::objects::Entry;
use crate::git::own;
use crate::watchdog::Mark;

/// Lists longer than this are not remembered.
const LONGEST: usize = 5000;
/// A larger file is none of ours.
const LARGEST_BYTES: u64 = 256 << 20;

/// What is remembered. It belongs to one checkpoint; with any other as the latest, it is void.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The commit of the checkpoint that this is about.
    pub commit: String,
    /// The highest number that was ever given.
    pub highest: u64,
    /// How far the watchdog had seen.
    pub mark: Option<Mark>,
    /// How the files were taken: with which limits and options.
    pub options: String,
    /// The files whose change may change the rules, and what they were like.
    pub inputs: Vec<(PathBuf, String)>,
    /// What the user's index was like.
    pub index: String,
    /// HEAD's tree.
    pub head_tree: String,
    /// What is staged and differs from HEAD: path, mode and blob; nothing when that is too much.
    pub staged: Option<Vec<(RepoPath, aurora_model::EntryMode, String)>>,
    /// Paths that are tracked and not in the checkpoint; nothing when these are too many.
    pub absent: Option<Vec<RepoPath>>,
    /// Whether the checkout is sparse.
    pub sparse: bool,
    /// How many files the checkpoint has.
    pub files: u64,
    /// At most so many bytes are in files that differ from where the feature began.
    pub used_bytes: u64,
}

impl State {
    /// Reads what was remembered; of what cannot be read, nothing was.
    ///
    /// # Errors
    /// Only for what is no plain file.
    pub fn load(feature_dir: &Path) -> Result<Self> {
        let bytes = match own::read(&path(feature_dir), LARGEST_BYTES) {
            Err(error @ Error::Refused { .. }) => return Err(error),
            other => other.ok().flatten().unwrap_or_default(),
        };
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Remembers it.
    pub fn save(&self, feature_dir: &Path) -> Result<()> {
        let path = path(feature_dir);
        let bytes = serde_json::to_vec(self).map_err(|error| Error::Corrupt {
            what: format!("state cannot be written: {error}"),
        })?;
        own::replace(&path, &bytes, false)
    }

    /// Whether all files that make the rules are what they were.
    pub fn same_rules(&self) -> bool {
        self.inputs.iter().all(|(path, was)| signature(path) == *was)
    }

    /// Remembers what is staged, unless that is too much.
    pub fn set_staged(&mut self, staged: &[(RepoPath, Entry)]) {
        self.staged = (staged.len() <= LONGEST).then(|| {
            let staged = staged.iter();
            staged.map(|(path, entry)| (path.clone(), entry.mode, entry.id.to_string())).collect()
        });
    }

    /// What is staged; nothing when that is not remembered.
    pub fn staged(&self) -> Option<Vec<(RepoPath, Entry)>> {
        let staged = self.staged.as_ref()?.iter();
        staged
            .map(|(path, mode, id)| {
                let id = gix::hash::ObjectId::from_hex(id.as_bytes()).ok()?;
                Some((path.clone(), Entry { mode: *mode, id }))
            })
            .collect()
    }

    /// Remembers which tracked paths are absent, unless these are too many.
    pub fn set_absent(&mut self, absent: Vec<RepoPath>) {
        self.absent = (absent.len() <= LONGEST).then_some(absent);
    }
}

/// Whether digits name an object.
pub(crate) fn names(digits: &str, id: &gix::hash::ObjectId) -> bool {
    gix::hash::ObjectId::from_hex(digits.as_bytes()).is_ok_and(|named| named == *id)
}

fn path(feature_dir: &Path) -> PathBuf {
    feature_dir.join("state.json")
}

/// What a file is like: another whenever its content may be another.
pub(crate) fn signature(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(about) => format!(
            "{}-{}-{}.{:09}-{}.{:09}",
            about.ino(),
            about.size(),
            about.mtime(),
            about.mtime_nsec(),
            about.ctime(),
            about.ctime_nsec()
        ),
        Err(_) => String::new(),
    }
}
