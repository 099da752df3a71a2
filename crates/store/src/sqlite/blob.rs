//! What is large, beside the log: one file for each content, named by its SHA-256.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use aurora_model::Digest;
use rustix::fs::OFlags;

use super::trouble::io;
use crate::chain;
use crate::error::{Error, Result};

/// Tells apart files that threads of this process are writing at the same time.
static WRITING: AtomicU64 = AtomicU64::new(0);

/// The folder.
pub(super) struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    /// What is in this folder.
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// `ab/cdef…`: few enough in one folder for every file system. A digest that came from elsewhere
    /// is no path until it was looked at.
    fn place(&self, digest: &Digest) -> Result<(PathBuf, PathBuf)> {
        let refused = || Error::Refused { what: format!("{digest:?} is no digest") };
        let digest = Digest::parse(digest.as_str()).ok_or_else(refused)?;
        let (room, name) = digest.as_str().split_at_checked(2).ok_or_else(refused)?;
        let room = self.folder.join(room);
        let file = room.join(name);
        Ok((room, file))
    }

    /// Keeps bytes. They are whole and on the disk before they have their name.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<Digest> {
        let digest = chain::digest(bytes);
        let (room, file) = self.place(&digest)?;
        if is_there(&file, bytes) {
            // Whoever put it there may not have come to this.
            return sync_folder(&room).map(|()| digest);
        }
        make_folder(&self.folder)?;
        make_folder(&room)?;
        let number = WRITING.fetch_add(1, Ordering::Relaxed);
        let draft = room.join(format!(".draft-{}-{number}", std::process::id()));
        let written = write(&draft, bytes).and_then(|()| {
            fs::rename(&draft, &file).map_err(io("rename", &draft))?;
            sync_folder(&room)
        });
        if written.is_err() {
            // What is half-written has no name that anybody would look for.
            let _ = fs::remove_file(&draft);
        }
        written.map(|()| digest)
    }

    /// The bytes, if they are still what they were.
    pub(super) fn get(&self, digest: &Digest) -> Result<Vec<u8>> {
        let (_, file) = self.place(digest)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(no_links());
        let mut bytes = Vec::new();
        match options.open(&file) {
            Ok(mut open) => open.read_to_end(&mut bytes).map_err(io("read", &file))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::NotFound { what: digest.to_string() });
            }
            Err(error) => return Err(io("open", &file)(error)),
        };
        if chain::digest(&bytes) != *digest {
            let what = format!("{} is not what was kept there", file.display());
            return Err(Error::Corrupt { what });
        }
        Ok(bytes)
    }
}

/// Whether the content is there already. What is damaged is replaced.
fn is_there(file: &Path, bytes: &[u8]) -> bool {
    let found = fs::symlink_metadata(file);
    let same_size = found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    same_size && fs::read(file).is_ok_and(|there| there == bytes)
}

fn write(draft: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(no_links());
    let mut file = options.open(draft).map_err(io("create", draft))?;
    file.write_all(bytes).map_err(io("write", draft))?;
    file.sync_all().map_err(io("sync", draft))
}

/// Makes a folder that only its owner may enter, and makes sure that it stays.
fn make_folder(folder: &Path) -> Result<()> {
    if fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("create", folder))?;
    folder.parent().map_or(Ok(()), sync_folder)
}

fn sync_folder(folder: &Path) -> Result<()> {
    let open = File::open(folder).map_err(io("open", folder))?;
    open.sync_all().map_err(io("sync", folder))
}

fn no_links() -> i32 {
    i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0)
}
