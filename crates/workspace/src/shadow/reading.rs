//! Reading what stands at a path beneath a folder, never through a symbolic link.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{EntryMode, RepoPath};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing, or nothing that can be reached without a link.
    Nothing,
    /// A folder.
    Folder,
    /// A file or a link.
    Content {
        /// Which.
        mode: EntryMode,
        /// Its bytes, or its target.
        bytes: Vec<u8>,
        /// When it last changed in any way, in nanoseconds since 1970.
        changed_ns: i128,
    },
    /// A pipe, a socket or a device.
    Special,
    /// A file that is larger than asked for.
    TooLarge(u64),
    /// A file that may not be read.
    Unreadable,
}

/// A folder beneath which paths are looked at.
pub(crate) struct Beneath {
    root: OwnedFd,
    path: PathBuf,
    /// The folder of the path before: paths come in order, so it is mostly the same.
    latest: RefCell<Option<(RepoPath, Option<OwnedFd>)>>,
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Beneath {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self> {
        let root = openat(CWD, path, FOLDER, Mode::empty())
            .map_err(|errno| Error::io("open", path)(errno.into()))?;
        Ok(Self { root, path: path.to_owned(), latest: RefCell::new(None) })
    }

    /// What stands at a path. Files of more than `max_bytes` are not read.
    pub fn look(&self, path: &RepoPath, max_bytes: u64) -> Result<Seen> {
        let failed = |errno: Errno| {
            let full = self.path.join(OsStr::from_bytes(path.as_bytes()));
            Error::io("read", full)(errno.into())
        };
        let Some(folder) = self.folder_of(path).map_err(failed)? else { return Ok(Seen::Nothing) };
        look_at(&folder, OsStr::from_bytes(path.name()), max_bytes).map_err(failed)
    }

    /// The folder that holds a path; nothing when it is none or is reached through a link.
    fn folder_of(&self, path: &RepoPath) -> rustix::io::Result<Option<OwnedFd>> {
        let Some(parent) = path.parent() else {
            return self.root.try_clone().map(Some).map_err(io);
        };
        if let Some((at, folder)) = &*self.latest.borrow()
            && *at == parent
        {
            return folder.as_ref().map(|folder| folder.try_clone().map_err(io)).transpose();
        }
        let mut folder = self.root.try_clone().map_err(io)?;
        for part in parent.parts() {
            folder = match openat(&folder, OsStr::from_bytes(part), FOLDER, Mode::empty()) {
                Ok(folder) => folder,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                    self.latest.replace(Some((parent.clone(), None)));
                    return Ok(None);
                }
                Err(errno) => return Err(errno),
            };
        }
        let kept = folder.try_clone().map_err(io)?;
        self.latest.replace(Some((parent, Some(kept))));
        Ok(Some(folder))
    }
}

fn io(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

fn look_at(folder: &OwnedFd, name: &OsStr, max_bytes: u64) -> rustix::io::Result<Seen> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Seen::Nothing),
        Err(errno) => return Err(errno),
    };
    let changed_ns = i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec);
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => return Ok(Seen::Folder),
        FileType::Symlink => {
            let bytes = readlinkat(folder, name, Vec::new())?.into_bytes();
            return Ok(Seen::Content { mode: EntryMode::Symlink, bytes, changed_ns });
        }
        FileType::RegularFile if size > max_bytes => return Ok(Seen::TooLarge(size)),
        FileType::RegularFile => {}
        _ => return Ok(Seen::Special),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match openat(folder.as_fd(), name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::ACCESS | Errno::PERM) => return Ok(Seen::Unreadable),
        Err(Errno::NOENT) => return Ok(Seen::Nothing),
        Err(errno) => return Err(errno),
    };
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
        return Ok(Seen::TooLarge(max_bytes));
    }
    let may_run = Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR);
    let mode = if may_run { EntryMode::Executable } else { EntryMode::File };
    Ok(Seen::Content { mode, bytes, changed_ns })
}
