//! The right to drive a stream, as a lock of the kernel: it ends with the process that has it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};

use super::trouble::io;
use crate::chain;
use crate::error::{Error, Result};
use crate::record::StreamId;
use crate::store::Claim;

/// How long a look at somebody's lock takes, about.
const LOOK: Duration = Duration::from_micros(200);

/// A locked file. Its name says which stream; its content nothing.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Claim for Lock {}

impl Drop for Lock {
    fn drop(&mut self) {
        // Taken away while it is still locked: whoever waits for it sees that it is another file
        // now. If it stays, it is only litter.
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes the right to a stream, or says that somebody has it.
pub(super) fn take(folder: &Path, stream: &StreamId) -> Result<Box<dyn Claim>> {
    let mut make = DirBuilder::new();
    make.recursive(true).mode(0o700).create(folder).map_err(io("create", folder))?;
    let path = path_of(folder, stream);
    loop {
        let file = options().create(true).open(&path).map_err(io("open", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_still(&path, &file) => return Ok(Box::new(Lock { path, _file: file })),
            // The one before us took its file away between our opening and our locking.
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                if is_held(&path, &file)? {
                    return Err(Error::Held { what: stream.to_string() });
                }
                // Somebody only looks whether it is taken, which is over at once.
                drop(file);
                std::thread::sleep(LOOK);
            }
            Err(errno) => return Err(io("lock", &path)(errno.into())),
        }
    }
}

/// Whether somebody has the right to a stream.
pub(super) fn is_taken(folder: &Path, stream: &StreamId) -> Result<bool> {
    let path = path_of(folder, stream);
    match options().open(&path) {
        Ok(file) => is_held(&path, &file),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io("open", &path)(error)),
    }
}

/// Whether somebody holds the lock for themselves. Those who only look share it, so that whoever is
/// refused by one of them can tell the difference and tries again.
fn is_held(path: &Path, file: &File) -> Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(errno) => Err(io("lock", path)(errno.into())),
    }
}

/// A stream's name may hold anything; its digest is a file's name everywhere.
fn path_of(folder: &Path, stream: &StreamId) -> PathBuf {
    folder.join(chain::digest(stream.0.as_bytes()).as_str())
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false).mode(0o600);
    options.custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0));
    options
}

/// Whether the file that was locked is the one that others will find.
fn is_still(path: &Path, file: &File) -> bool {
    let (Ok(found), Ok(held)) = (fs::symlink_metadata(path), file.metadata()) else {
        return false;
    };
    (found.dev(), found.ino()) == (held.dev(), held.ino())
}
