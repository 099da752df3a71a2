//! Reading a file's content so that it is of one moment.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd as _, OwnedFd};

use aurora_model::{EntryMode, SkipReason};

use super::open::{Root, is_gone};
use crate::git::stat_cache::{FileStat, entry_mode};

/// How often a file that changes while it is read is read again.
const TRIES: usize = 3;

/// What reading a path gave.
pub(crate) enum Read {
    /// Its content.
    Content {
        /// What it is.
        mode: EntryMode,
        /// What the file system said about it before and after; nothing when that was not the same.
        stat: Option<FileStat>,
        /// The bytes, or the link's target.
        bytes: Vec<u8>,
    },
    /// It is not there any more.
    Gone,
    /// It is there and could not be taken.
    Skipped {
        /// Why.
        reason: SkipReason,
        /// Its size, where that is the reason.
        bytes: Option<u64>,
    },
}

/// Reads a file or a link.
pub(crate) fn read(root: &Root, path: &[u8], max_bytes: u64) -> Read {
    for _ in 0..TRIES {
        let stat = match root.stat(path) {
            Ok(stat) => FileStat::from(&stat),
            Err(error) if is_gone(error) => return Read::Gone,
            Err(_) => return unreadable(),
        };
        match entry_mode(stat.mode) {
            Some(EntryMode::Symlink) => match root.link(path) {
                Ok(bytes) => {
                    return Read::Content { mode: EntryMode::Symlink, stat: Some(stat), bytes };
                }
                Err(_) => continue,
            },
            Some(_) => match root.file(path) {
                Ok(file) => {
                    if let Some(read) = read_file(file, max_bytes) {
                        return read;
                    }
                }
                Err(error) if is_gone(error) => {}
                Err(_) => return unreadable(),
            },
            None if stat.mode & 0o170_000 == 0o040_000 => return Read::Gone,
            None => return Read::Skipped { reason: SkipReason::SpecialFile, bytes: None },
        }
    }
    Read::Skipped { reason: SkipReason::Unsettled, bytes: None }
}

/// Reads a file that is open; nothing when it is no file any more.
fn read_file(file: OwnedFd, max_bytes: u64) -> Option<Read> {
    let mut file = File::from(file);
    let mut before = FileStat::from(&rustix::fs::fstat(file.as_fd()).ok()?);
    for again in (0..TRIES).rev() {
        let mode = entry_mode(before.mode)?;
        if before.size > max_bytes {
            return Some(too_large(before.size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
        if (&file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).is_err() {
            return Some(unreadable());
        }
        let Ok(after) = rustix::fs::fstat(file.as_fd()) else { return Some(unreadable()) };
        let after = FileStat::from(&after);
        let whole = bytes.len() as u64 == after.size;
        if before == after && whole {
            return Some(Read::Content { mode, stat: Some(after), bytes });
        }
        if again == 0 {
            return Some(match whole {
                true => Read::Content { mode, stat: None, bytes },
                false => Read::Skipped { reason: SkipReason::Unsettled, bytes: None },
            });
        }
        before = after;
        file.rewind().ok()?;
    }
    None
}

fn unreadable() -> Read {
    Read::Skipped { reason: SkipReason::Unreadable, bytes: None }
}

fn too_large(bytes: u64) -> Read {
    Read::Skipped { reason: SkipReason::TooLarge, bytes: Some(bytes) }
}
