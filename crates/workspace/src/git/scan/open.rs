//! Opening folders and files of the worktree for reading, never through a symbolic link.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// The root of a worktree, open.
pub(crate) struct Root {
    fd: OwnedFd,
}

impl Root {
    /// Opens the root.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| Error::io("open", path)(error.into()))?;
        Ok(Self { fd })
    }

    /// Opens a folder; the empty path is the root itself.
    pub fn folder(&self, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        let path = if path.is_empty() { b".".as_slice() } else { path };
        self.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens a file for reading. What is no file must not make us wait.
    pub fn file(&self, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        self.beneath(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    /// What stands at a path, the link itself where it is one.
    pub fn stat(&self, path: &[u8]) -> rustix::io::Result<rustix::fs::Stat> {
        let (folder, name) = crate::git::stat_cache::split(path);
        stat_in(self.folder(folder)?.as_fd(), name)
    }

    /// A symbolic link's target.
    pub fn link(&self, path: &[u8]) -> rustix::io::Result<Vec<u8>> {
        let (folder, name) = crate::git::stat_cache::split(path);
        let folder = self.folder(folder)?;
        let target = rustix::fs::readlinkat(folder, OsStr::from_bytes(name), Vec::new())?;
        Ok(target.into_bytes())
    }

    #[cfg(target_os = "linux")]
    fn beneath(&self, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let path = OsStr::from_bytes(path);
        match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
            // Old kernels and some sandboxes have no such call.
            Err(Errno::NOSYS | Errno::PERM) => self.by_parts(path.as_bytes(), flags),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn beneath(&self, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.by_parts(path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC)
    }

    /// The same with one call for each part of the path.
    fn by_parts(&self, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at: Option<OwnedFd> = None;
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            if part == b".." {
                return Err(Errno::XDEV);
            }
            let from = at.as_ref().map_or(self.fd.as_fd(), |fd| fd.as_fd());
            let flags = if parts.peek().is_some() { step } else { flags };
            at = Some(rustix::fs::openat(from, OsStr::from_bytes(part), flags, Mode::empty())?);
        }
        at.ok_or(Errno::NOENT)
    }
}

/// What stands at a name in a folder, the link itself where it is one.
pub(crate) fn stat_in(folder: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<rustix::fs::Stat> {
    rustix::fs::statat(folder, OsStr::from_bytes(name), rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
}

/// Whether an error says that there is nothing of that kind at the path any more.
pub(crate) fn is_gone(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)
}
