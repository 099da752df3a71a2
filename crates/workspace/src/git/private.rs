//! The private git folder: our objects and refs, with the user's objects as alternate.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::objects::Objects;
use crate::git::place::Place;

mod create;
mod durable;
mod keep;
mod lock;
mod owned;
mod refs;
mod repack;
mod unfinished;

pub(crate) use durable::sync_folder;
pub(crate) use lock::{FeatureLock, PruneLock};
use owned::Owned;
pub(crate) use unfinished::Unfinished;

/// `<common git folder>/aurora/git`: a bare repository of ours. Plain git can look at it with
/// `git --git-dir=.git/aurora/git log --all`.
pub(crate) struct PrivateStore {
    /// The folder.
    pub dir: PathBuf,
    /// Which hash objects are named by.
    pub hash: gix::hash::Kind,
    /// `<common git folder>/aurora`.
    aurora_dir: PathBuf,
    /// What handles for reading share, and how many packs we had when it was opened.
    shared: Mutex<Option<(Arc<gix::odb::Store>, usize)>>,
    /// Which packs are ours.
    owned: Owned,
}

impl PrivateStore {
    /// Opens the store, and makes it when there is none.
    pub fn open(place: &Place) -> Result<Self> {
        let dir = place.aurora_dir.join("git");
        create::ensure(place, &dir)?;
        let owned = Owned::new(&dir.join("objects"), place.hash);
        let aurora_dir = place.aurora_dir.clone();
        Ok(Self { dir, hash: place.hash, aurora_dir, shared: Mutex::new(None), owned })
    }

    /// A handle for reading. Packs that are written later are found too.
    pub fn objects(&self) -> Result<Objects> {
        // A store has room for a fixed number of packs; long before that runs out, a new one is made.
        const MORE: usize = 128;
        let packs = self.owned.packs()?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (store, at_first) = match shared.take() {
            Some((store, at_first)) if packs < at_first + MORE => (store, at_first),
            _ => (Arc::new(open_store(&self.dir.join("objects"), self.hash)?), packs),
        };
        *shared = Some((Arc::clone(&store), at_first));
        Ok(Objects { odb: store.to_cache(), hash: self.hash })
    }

    /// Whether an object is in the store itself, so that no `git gc` of the user's can take it. Only
    /// certain while a lock is held.
    pub fn owns(&self, id: &ObjectId) -> Result<bool> {
        self.owned.has(id)
    }
}

/// A handle for reading the objects of a folder and its alternates, without ours.
pub(crate) fn objects_at(objects_dir: &Path, hash: gix::hash::Kind) -> Result<Objects> {
    let store = Arc::new(open_store(objects_dir, hash)?);
    Ok(Objects { odb: store.to_cache(), hash })
}

fn open_store(dir: &Path, hash: gix::hash::Kind) -> Result<gix::odb::Store> {
    let options = gix::odb::store::init::Options {
        slots: gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 512 },
        // Alternates are relative to their own folder, never to where somebody stands.
        current_dir: Some(dir.to_owned()),
        ..Default::default()
    };
    gix::odb::Store::at_opts(dir.to_owned(), hash, &mut std::iter::empty(), options)
        .map_err(Error::io("open", dir))
}

#[cfg(test)]
mod tests;
