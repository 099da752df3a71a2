//! Writing many new objects as one pack: one file, one sync, however many objects.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;
use gix::hashtable::HashSet;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::private::{PrivateStore, Unfinished};

mod entry;
mod index;

use entry::Encoder;
use index::Indexed;

/// A pack is kept in memory up to this size, then goes to its file piece by piece.
const IN_MEMORY: usize = 64 << 20;

/// Signature, version and number of objects.
const HEADER_LEN: usize = 12;

/// A pack that is being written. Dropped without `finish`, it leaves nothing behind.
pub(crate) struct PackWriter {
    dir: PathBuf,
    hash: gix::hash::Kind,
    encoder: Encoder,
    /// What is not in the file yet. It begins with room for the header when there is no file.
    buffer: Vec<u8>,
    /// How much is in the file already.
    spilled: u64,
    file: Option<Unfinished>,
    entries: Vec<Indexed>,
    names: HashSet<ObjectId>,
}

impl PackWriter {
    /// A new pack in the private store.
    pub fn new(store: &PrivateStore) -> Result<Self> {
        Ok(Self::new_in(&store.dir.join("objects").join("pack"), store.hash))
    }

    /// A new pack in a folder of packs.
    pub fn new_in(dir: &Path, hash: gix::hash::Kind) -> Self {
        Self {
            dir: dir.to_owned(),
            hash,
            encoder: Encoder::default(),
            buffer: vec![0; HEADER_LEN],
            spilled: 0,
            file: None,
            entries: Vec::new(),
            names: HashSet::default(),
        }
    }

    /// Adds an object, once, and says its name.
    pub fn add(&mut self, kind: Kind, data: &[u8]) -> Result<ObjectId> {
        let id = name(self.hash, kind, data)?;
        self.add_named(id, kind, data)?;
        Ok(id)
    }

    /// Adds an object whose name was computed already (by another thread).
    pub fn add_named(&mut self, id: ObjectId, kind: Kind, data: &[u8]) -> Result<()> {
        if !self.names.insert(id) {
            return Ok(());
        }
        let start = self.buffer.len();
        let offset = self.spilled + start as u64;
        self.encoder.encode(kind, data, &mut self.buffer)?;
        let crc32 = crc32fast::hash(self.buffer.get(start..).unwrap_or_default());
        self.entries.push(Indexed { id, crc32, offset });
        if self.buffer.len() > IN_MEMORY {
            self.spill()?;
        }
        Ok(())
    }

    /// Whether this pack has the object.
    pub fn has(&self, id: &ObjectId) -> bool {
        self.names.contains(id)
    }

    /// Makes everything durable and visible. Without objects, no file is made.
    pub fn finish(mut self) -> Result<()> {
        let Ok(count) = u32::try_from(self.entries.len()) else {
            return Err(Error::TooLarge {
                what: format!("{} objects do not fit into one pack", self.entries.len()),
                hint: "make a checkpoint of fewer files at once".to_owned(),
            });
        };
        if count == 0 {
            return Ok(());
        }
        let [a, b, c, d] = count.to_be_bytes();
        let header = [b'P', b'A', b'C', b'K', 0, 0, 0, 2, a, b, c, d];
        let checksum = if self.file.is_some() {
            self.seal_spilled(&header)?
        } else {
            self.seal_in_memory(&header)?
        };
        let pack = self.file.take().map_or_else(|| Unfinished::create(&self.dir, 0o444), Ok)?;
        let index = Unfinished::create(&self.dir, 0o444)?;
        let bytes = index::encode(self.hash, &mut self.entries, &checksum)?;
        (&index.file).write_all(&bytes).map_err(Error::io("write", &index.path))?;
        sync_both(&pack, &index)?;
        // The index makes the pack visible, so it comes last.
        pack.publish(&self.dir.join(format!("pack-{checksum}.pack")))?;
        index.publish(&self.dir.join(format!("pack-{checksum}.idx")))?.sync()
    }

    /// Moves what is in memory to the file.
    fn spill(&mut self) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => Unfinished::create(&self.dir, 0o444)?,
        };
        (&file.file).write_all(&self.buffer).map_err(Error::io("write", &file.path))?;
        self.spilled += self.buffer.len() as u64;
        self.buffer.clear();
        self.file = Some(file);
        Ok(())
    }

    fn seal_in_memory(&mut self, header: &[u8; HEADER_LEN]) -> Result<ObjectId> {
        if let Some(place) = self.buffer.get_mut(..HEADER_LEN) {
            place.copy_from_slice(header);
        }
        let mut hasher = gix::hash::hasher(self.hash);
        hasher.update(&self.buffer);
        let checksum = finalized(hasher)?;
        self.buffer.extend_from_slice(checksum.as_slice());
        self.spill()?;
        Ok(checksum)
    }

    /// The number of objects comes first and is known last, so the file is read once more.
    fn seal_spilled(&mut self, header: &[u8; HEADER_LEN]) -> Result<ObjectId> {
        self.spill()?;
        let Some(Unfinished { file, path, .. }) = &mut self.file else {
            return Err(Error::Corrupt { what: "a pack lost its file".to_owned() });
        };
        file.write_all_at(header, 0).map_err(Error::io("write", &*path))?;
        file.seek(SeekFrom::Start(0)).map_err(Error::io("read", &*path))?;
        let mut hasher = gix::hash::hasher(self.hash);
        let mut piece = vec![0; 1 << 20];
        loop {
            let len = file.read(&mut piece).map_err(Error::io("read", &*path))?;
            if len == 0 {
                break;
            }
            hasher.update(piece.get(..len).unwrap_or_default());
        }
        let checksum = finalized(hasher)?;
        file.write_all(checksum.as_slice()).map_err(Error::io("write", &*path))?;
        Ok(checksum)
    }
}

/// The name of an object.
pub(crate) fn name(hash: gix::hash::Kind, kind: Kind, data: &[u8]) -> Result<ObjectId> {
    gix::objs::compute_hash(hash, kind, data)
        .map_err(|error| Error::Corrupt { what: format!("a {kind} cannot be named: {error}") })
}

fn finalized(hasher: gix::hash::Hasher) -> Result<ObjectId> {
    hasher
        .try_finalize()
        .map_err(|error| Error::Corrupt { what: format!("a pack cannot be named: {error}") })
}

/// Syncs two files at once: the file system writes its own journal once for both.
fn sync_both(first: &Unfinished, second: &Unfinished) -> Result<()> {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.sync());
        let synced = first.sync();
        match other.join() {
            Ok(also) => synced.and(also),
            Err(_) => Err(Error::Corrupt { what: "a thread that syncs a file failed".to_owned() }),
        }
    })
}

#[cfg(test)]
mod tests;
