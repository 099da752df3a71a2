//! What stands at a name: its kind, its content's hash, and a stamp that tells a later change.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aurora_model::EntryMode;
use gix::hash::ObjectId;
use rustix::fs::{FileType, Stat};

use super::{Folder, kind_of};
use crate::git::objects::Entry;

/// A change within this time of the last one may leave the same time on the file.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// Which file it is and when its content changed last. The time of its last renaming is not part of
/// it, because renaming is what we do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what the kernel said.
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the fields' types differ between platforms; they are only compared"
    )]
    pub fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            size: stat.st_size as u64,
            changed: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        }
    }

    /// Whether it changed so short a time ago that another change might leave the same stamp.
    pub fn is_fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (Ok(secs), Ok(nanos)) = (u64::try_from(self.changed.0), u32::try_from(self.changed.1))
        else {
            return true;
        };
        let changed = Duration::new(secs, nanos);
        changed + COARSEST_CLOCK >= now
    }

    /// The file's permissions.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

/// A file or link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its kind and its content's name.
    pub entry: Entry,
    /// How to tell a later change.
    pub stamp: Stamp,
    /// Whose it is.
    pub owner: (u32, u32),
}

/// What stands at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    Special,
    /// Something that kept changing while it was read.
    Unsettled,
    /// A file or link.
    Item(Item),
}

impl Found {
    /// Whether it is what a tree says, where `None` means nothing.
    pub fn is(&self, expected: Option<&Entry>) -> bool {
        match (self, expected) {
            (Self::Nothing, None) => true,
            (Self::Item(item), Some(expected)) => item.entry == *expected,
            _ => false,
        }
    }
}

impl Folder {
    /// Looks at a name and reads its content for the hash.
    pub fn look(&self, name: &[u8], hash: gix::hash::Kind) -> io::Result<Found> {
        let Some(stat) = self.stat(name)? else { return Ok(Found::Nothing) };
        match kind_of(&stat) {
            FileType::Directory => Ok(Found::Folder),
            FileType::Symlink => {
                let target = match self.read_link(name) {
                    Ok(target) => target,
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                        return Ok(Found::Unsettled);
                    }
                    Err(error) => return Err(error),
                };
                let id = name_of(&target, hash)?;
                Ok(item(EntryMode::Symlink, id, &stat))
            }
            FileType::RegularFile => self.look_at_file(name, hash),
            _ => Ok(Found::Special),
        }
    }

    fn look_at_file(&self, name: &[u8], hash: gix::hash::Kind) -> io::Result<Found> {
        let mut file = self.open_file(name)?;
        let before = rustix::fs::fstat(&file)?;
        if kind_of(&before) != FileType::RegularFile {
            return Ok(Found::Unsettled);
        }
        let size = Stamp::of(&before).size;
        let Some(id) = hash_file(&mut file, size, hash)? else { return Ok(Found::Unsettled) };
        let after = rustix::fs::fstat(&file)?;
        if Stamp::of(&before) != Stamp::of(&after) {
            return Ok(Found::Unsettled);
        }
        let executable = after.st_mode & 0o100 != 0;
        let mode = if executable { EntryMode::Executable } else { EntryMode::File };
        Ok(item(mode, id, &after))
    }
}

fn item(mode: EntryMode, id: ObjectId, stat: &Stat) -> Found {
    let owner = (stat.st_uid, stat.st_gid);
    Found::Item(Item { entry: Entry { mode, id }, stamp: Stamp::of(stat), owner })
}

/// The name that git gives to these bytes as a blob.
pub(crate) fn name_of(bytes: &[u8], hash: gix::hash::Kind) -> io::Result<ObjectId> {
    gix::objs::compute_hash(hash, gix::objs::Kind::Blob, bytes).map_err(io::Error::other)
}

/// The name of a file's content as a blob; nothing when it has not the size that it should.
fn hash_file(file: &mut File, size: u64, hash: gix::hash::Kind) -> io::Result<Option<ObjectId>> {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, size));
    let mut buffer = vec![0; usize::try_from(size.clamp(512, 1 << 16)).unwrap_or(1 << 16)];
    let mut left = size;
    loop {
        let read = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let Some(rest) = left.checked_sub(read as u64) else { return Ok(None) };
        left = rest;
        if read == 0 {
            break;
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
    if left > 0 {
        return Ok(None);
    }
    hasher.try_finalize().map(Some).map_err(io::Error::other)
}
