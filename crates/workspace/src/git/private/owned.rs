//! Which objects are in the store itself, as opposed to the user's repository.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use gix::hash::ObjectId;
use gix::odb::pack::index::File as Index;

use super::unfinished::is_leftover;
use crate::error::{Error, Result};
use crate::git::own::foreign;

/// The indices of our packs, read again when the folder changed.
pub(super) struct Owned {
    objects: PathBuf,
    pack_dir: PathBuf,
    hash: gix::hash::Kind,
    listing: Mutex<Listing>,
}

#[derive(Default)]
struct Listing {
    /// When the folder was changed and when it was read.
    stamp: Option<(SystemTime, SystemTime)>,
    indices: HashMap<OsString, Index>,
}

/// A folder that changed less than this before it was read may change again without a trace, because
/// the file system's clock is coarse.
const COARSE: Duration = Duration::from_millis(50);

impl Owned {
    pub fn new(objects: &Path, hash: gix::hash::Kind) -> Self {
        Self {
            objects: objects.to_owned(),
            pack_dir: objects.join("pack"),
            hash,
            listing: Mutex::new(Listing::default()),
        }
    }

    /// Whether a pack of ours, or a file of its own, has the object.
    pub fn has(&self, id: &ObjectId) -> Result<bool> {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if listing.stamp.is_some() && listing.has(id) {
            return Ok(true);
        }
        self.refresh(&mut listing)?;
        Ok(listing.has(id) || self.is_loose(id))
    }

    /// How many packs there are.
    pub fn packs(&self) -> Result<usize> {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut listing)?;
        Ok(listing.indices.len())
    }

    /// Reads the folder again before anything is answered.
    pub fn forget(&self) {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner).stamp = None;
    }

    fn is_loose(&self, id: &ObjectId) -> bool {
        let hex = id.to_hex().to_string();
        let (folder, name) = hex.split_at_checked(2).unwrap_or(("", &hex));
        self.objects.join(folder).join(name).is_file()
    }

    fn refresh(&self, listing: &mut Listing) -> Result<()> {
        let changed = fs::metadata(&self.pack_dir).and_then(|meta| meta.modified());
        let changed = changed.map_err(Error::io("read", &self.pack_dir))?;
        let settled = |(was, read): (SystemTime, SystemTime)| {
            was == changed && read.duration_since(was).is_ok_and(|since| since > COARSE)
        };
        if listing.stamp.is_some_and(settled) {
            return Ok(());
        }
        let mut indices = std::mem::take(&mut listing.indices);
        for entry in fs::read_dir(&self.pack_dir).map_err(Error::io("list", &self.pack_dir))? {
            let entry = entry.map_err(Error::io("list", &self.pack_dir))?;
            let name = entry.file_name();
            if is_leftover(&entry) {
                continue;
            }
            let extension = Path::new(&name).extension().unwrap_or_default();
            if extension != "idx" && extension != "pack" {
                continue;
            }
            let kind = entry.file_type().map_err(Error::io("read", entry.path()))?;
            if !kind.is_file() {
                return Err(foreign(&entry.path()));
            }
            if extension == "pack" {
                continue;
            }
            if let Some(index) = indices.remove(&name) {
                listing.indices.insert(name, index);
                continue;
            }
            let path = self.pack_dir.join(&name);
            match Index::at(&path, self.hash) {
                Ok(index) => {
                    listing.indices.insert(name, index);
                }
                // It went between being listed and being opened.
                Err(_) if !path.exists() => {}
                Err(error) => {
                    let source = io::Error::other(error.to_string());
                    return Err(Error::io("read", path)(source));
                }
            }
        }
        listing.stamp = Some((changed, SystemTime::now()));
        Ok(())
    }
}

impl Listing {
    fn has(&self, id: &ObjectId) -> bool {
        self.indices.values().any(|index| index.lookup(id).is_some())
    }
}
