//! Our own files, in places where others can put things too: never through a link, never waiting at a
//! pipe.
//!
//! Paths are canonical down to the git folder or the worktree, so that no part of them may be a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::git::beneath::kind_of;
use crate::git::private::Unfinished;

/// How a folder is opened that is stayed in.
const STAY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How a folder is opened that is only passed through: it need not be readable.
#[cfg(target_os = "linux")]
const PASS: OFlags = STAY.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = STAY;

/// How every file is opened: neither followed nor waited for.
const PLAIN: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// What nobody else needs to read.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A folder of ours, held open.
pub(crate) struct Folder {
    fd: OwnedFd,
    /// Where it was when it was opened.
    pub path: PathBuf,
}

impl Folder {
    /// Opens a folder; nothing when it is not there. Refuses when a link is on the way.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        Self::reach(path, false)
    }

    /// Opens a folder. It and those above it are made when missing, durably and for nobody else.
    pub fn make(path: &Path) -> Result<Self> {
        Self::reach(path, true)?.ok_or_else(|| Error::io("open", path)(Errno::NOENT.into()))
    }

    fn reach(path: &Path, make: bool) -> Result<Option<Self>> {
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(foreign(path));
        }
        #[cfg(target_os = "linux")]
        {
            // One call where it works; the long way finds out why it does not, and makes folders.
            let strict = rustix::fs::ResolveFlags::NO_SYMLINKS;
            if let Ok(fd) = rustix::fs::openat2(CWD, path, STAY, Mode::empty(), strict) {
                return Ok(Some(Self { fd, path: path.to_owned() }));
            }
        }
        let mut at: Option<OwnedFd> = None;
        let mut so_far = PathBuf::new();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            so_far.push(part);
            let flags = if parts.peek().is_some() { PASS } else { STAY };
            let above = at.as_ref().map_or(CWD, AsFd::as_fd);
            match enter(above, part.as_os_str(), flags, make) {
                Ok(fd) => at = Some(fd),
                Err(Errno::NOENT) if !make => return Ok(None),
                Err(Errno::NOTDIR | Errno::LOOP) => return Err(foreign(&so_far)),
                Err(errno) => return Err(Error::io("open", so_far)(errno.into())),
            }
        }
        Ok(at.map(|fd| Self { fd, path: path.to_owned() }))
    }

    /// Reads a file; nothing when there is none. Refuses what is no plain file.
    pub fn read(&self, name: &OsStr, most: u64) -> Result<Option<Vec<u8>>> {
        let path = || self.path.join(name);
        let file = match self.open_plain(name, OFlags::RDONLY, Mode::empty()) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            other => other?,
        };
        let mut bytes = Vec::new();
        let len = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        if len.map_err(Error::io("read", path()))? as u64 > most {
            return Err(Error::Corrupt { what: format!("{} is far too large", path().display()) });
        }
        Ok(Some(bytes))
    }

    /// Opens a file that is written in place, and makes it when there is none. Nothing is cut off.
    fn open_shared(&self, name: &OsStr, how: OFlags) -> Result<File> {
        let file = self.open_plain(name, OFlags::RDWR | OFlags::CREATE | how, PRIVATE)?;
        let about = file.metadata().map_err(Error::io("read", self.path.join(name)))?;
        // What has another name as well may be somebody else's file.
        if about.nlink() > 1 { Err(foreign(&self.path.join(name))) } else { Ok(file) }
    }

    fn open_plain(&self, name: &OsStr, flags: OFlags, mode: Mode) -> Result<File> {
        let path = || self.path.join(name);
        let file: File = match rustix::fs::openat(&self.fd, name, flags | PLAIN, mode) {
            Ok(fd) => fd.into(),
            // A link, a folder, a pipe without a reader or a socket.
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(foreign(&path())),
            Err(errno) => return Err(Error::io("open", path())(errno.into())),
        };
        let about = file.metadata().map_err(Error::io("read", path()))?;
        if about.is_file() { Ok(file) } else { Err(foreign(&path())) }
    }

    /// Refuses a name that something else than a plain file has.
    pub fn refuse_foreign(&self, name: &OsStr) -> Result<()> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind_of(&stat) != FileType::RegularFile => {
                Err(foreign(&self.path.join(name)))
            }
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(Error::io("read", self.path.join(name))(errno.into())),
        }
    }

    /// Makes a file that nothing has the name of.
    pub fn create(&self, name: &OsStr, permissions: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | PLAIN;
        let mode = Mode::from_raw_mode(permissions);
        Ok(rustix::fs::openat(&self.fd, name, flags, mode)?.into())
    }

    /// Makes a folder that nothing has the name of.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<File> {
        rustix::fs::mkdirat(&self.fd, name, Mode::RWXU)?;
        Ok(rustix::fs::openat(&self.fd, name, STAY, Mode::empty())?.into())
    }

    /// Gives something in here another name in here.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Removes what is no folder.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Makes a new symbolic link.
    pub fn link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.fd, name)?)
    }

    /// Lets nobody else in.
    pub fn close_to_others(&self) -> Result<()> {
        rustix::fs::fchmod(&self.fd, Mode::RWXU)
            .map_err(|errno| Error::io("close", &self.path)(errno.into()))
    }

    /// Makes the names in here durable.
    pub fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.fd).map_err(|errno| Error::io("sync", &self.path)(errno.into()))
    }
}

/// A file that is written and not yet under its name. Dropped, it goes.
pub(crate) struct Prepared {
    unfinished: Unfinished,
    path: PathBuf,
    durable: bool,
}

impl Prepared {
    /// Writes what shall replace a file; its folders are made.
    pub fn new(path: &Path, bytes: &[u8], durable: bool) -> Result<Self> {
        let (dir, name) = split(path)?;
        let folder = Folder::make(dir)?;
        folder.refuse_foreign(name)?;
        let unfinished = Unfinished::create_in(folder, 0o600)?;
        (&unfinished.file).write_all(bytes).map_err(Error::io("write", path))?;
        if durable {
            unfinished.sync()?;
        }
        Ok(Self { unfinished, path: path.to_owned(), durable })
    }

    /// Gives it its name.
    pub fn publish(self) -> Result<()> {
        let folder = self.unfinished.publish(&self.path)?;
        if self.durable { folder.sync() } else { Ok(()) }
    }
}

/// Replaces a file by these bytes: there whole or not at all, and where asked for, for good.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
    Prepared::new(path, bytes, durable)?.publish()
}

/// Reads a file of ours; nothing when there is none. Refuses what is no plain file.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let (dir, name) = split(path)?;
    Folder::open(dir)?.map_or(Ok(None), |folder| folder.read(name, most))
}

/// Opens a file to be locked, and makes it when there is none. Nothing in it is touched.
pub(crate) fn open_lock(path: &Path) -> Result<File> {
    let (dir, name) = split(path)?;
    Folder::make(dir)?.open_shared(name, OFlags::empty())
}

/// Opens a file that only grows, and makes it when there is none.
pub(crate) fn open_append(path: &Path) -> Result<File> {
    let (dir, name) = split(path)?;
    Folder::make(dir)?.open_shared(name, OFlags::APPEND)
}

/// A path's folder and its name in there.
pub(crate) fn split(path: &Path) -> Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| foreign(path))
}

/// What we did not put here, or not so.
pub(crate) fn foreign(path: &Path) -> Error {
    Error::Refused {
        what: format!("{} is a link or something else that does not belong there", path.display()),
        hint: "find out who put it there, then remove it".to_owned(),
    }
}

fn enter(
    above: BorrowedFd<'_>,
    name: &OsStr,
    flags: OFlags,
    make: bool,
) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::openat(above, name, flags, Mode::empty()) {
        Err(Errno::NOENT) if make => {
            match rustix::fs::mkdirat(above, name, Mode::RWXU) {
                // Somebody else may make it at the same time; opening tells.
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            let around = rustix::fs::openat(above, ".", STAY, Mode::empty())?;
            rustix::fs::fsync(around)?;
            rustix::fs::openat(above, name, flags, Mode::empty())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
