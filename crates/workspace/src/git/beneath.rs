//! Opening, replacing and removing files beneath a root, never through a symbolic link.
//!
//! Every call names one part in a folder that is held open; nothing here hands a path with slashes to
//! the kernel apart from the root's own.

mod fuse;
mod look;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use aurora_model::RepoPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};

pub(crate) use fuse::Fuse;
pub(crate) use look::{Found, Item, Stamp, name_of};

/// How many folders one hand keeps open.
const MOST_OPEN_FOLDERS: usize = 32;

/// Why a folder could not be reached.
#[derive(Debug)]
pub(crate) enum NoWay {
    /// It is not there.
    Missing,
    /// This part of the way is a symbolic link, which is not followed.
    Link(RepoPath),
    /// This part of the way is no folder.
    NoFolder(RepoPath),
    /// The kernel said no.
    Failed(io::Error),
}

/// A way to a folder.
pub(crate) type Way<T> = std::result::Result<T, NoWay>;

/// A worktree's root, held open. Shared by threads; each has its own [`Hand`].
pub(crate) struct Root {
    fd: Arc<OwnedFd>,
    fuse: Fuse,
}

impl Root {
    /// Opens a root. The path is the caller's own and trusted.
    pub fn open(path: &Path, fuse: Fuse) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::io("open", path)(errno.into()))?;
        Ok(Self { fd: Arc::new(fd), fuse })
    }

    /// The fuse that is asked before every change.
    pub fn fuse(&self) -> &Fuse {
        &self.fuse
    }

    /// A hand for one thread.
    pub fn hand(&self) -> Hand<'_> {
        Hand { root: self, near: Vec::new() }
    }

    /// Makes everything on the root's file system durable.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&*self.fd)?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::fsync(&*self.fd)?;
        Ok(())
    }
}

/// One thread's way around beneath a root: it remembers the folders that it opened last.
pub(crate) struct Hand<'r> {
    root: &'r Root,
    near: Vec<(RepoPath, Folder)>,
}

impl Hand<'_> {
    /// The folder that holds a path, made when asked for.
    pub fn parent_of(&mut self, path: &RepoPath, make: bool) -> Way<Folder> {
        self.folder(path.parent().as_ref(), make)
    }

    /// A folder, opened part by part; `None` is the root.
    pub fn folder(&mut self, path: Option<&RepoPath>, make: bool) -> Way<Folder> {
        let top = || Folder {
            fd: Rc::new(Holder::Root(self.root.fd.clone())),
            fuse: self.root.fuse.clone(),
        };
        let Some(path) = path else { return Ok(top()) };
        if let Some(folder) = self.remembered(path) {
            return Ok(folder);
        }
        let mut missing: Vec<RepoPath> = vec![path.clone()];
        let mut at = None;
        for above in path.parents() {
            at = self.remembered(&above);
            if at.is_some() {
                break;
            }
            missing.push(above);
        }
        let mut at = at.unwrap_or_else(top);
        for part in missing.into_iter().rev() {
            at = at.enter(&part, make)?;
            if self.near.len() >= MOST_OPEN_FOLDERS {
                self.near.remove(0);
            }
            self.near.push((part, at.clone()));
        }
        Ok(at)
    }

    /// Forgets the folders that are held open, because some of them went.
    pub fn forget(&mut self) {
        self.near.clear();
    }

    fn remembered(&self, path: &RepoPath) -> Option<Folder> {
        self.near.iter().rev().find(|(known, _)| known == path).map(|(_, folder)| folder.clone())
    }
}

enum Holder {
    Root(Arc<OwnedFd>),
    Own(OwnedFd),
}

/// A name in a folder.
type Inside = (Folder, Vec<u8>);

/// A folder that is held open. Names are single parts.
#[derive(Clone)]
pub(crate) struct Folder {
    fd: Rc<Holder>,
    fuse: Fuse,
}

impl Folder {
    fn fd(&self) -> &OwnedFd {
        match &*self.fd {
            Holder::Root(fd) => fd,
            Holder::Own(fd) => fd,
        }
    }

    /// The folder itself, for who removes everything at a name.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd().as_fd()
    }

    fn enter(&self, path: &RepoPath, make: bool) -> Way<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(self.fd(), path.name(), flags, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if make => {
                // Somebody else may make it at the same time; opening tells.
                match self.make_folder(path.name()) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(NoWay::Failed(error));
                    }
                    _ => open(),
                }
            }
            other => other,
        };
        match opened {
            Ok(fd) => Ok(Self { fd: Rc::new(Holder::Own(fd)), fuse: self.fuse.clone() }),
            Err(Errno::NOENT) => Err(NoWay::Missing),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let stat = self.stat(path.name()).map_err(NoWay::Failed)?;
                let link = stat.is_some_and(|stat| kind_of(&stat) == FileType::Symlink);
                Err(if link { NoWay::Link(path.clone()) } else { NoWay::NoFolder(path.clone()) })
            }
            Err(errno) => Err(NoWay::Failed(errno.into())),
        }
    }

    /// What the kernel knows about a name, without following it; nothing when nothing is there.
    pub fn stat(&self, name: &[u8]) -> io::Result<Option<rustix::fs::Stat>> {
        match rustix::fs::statat(self.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a file for reading, without following it and without waiting at a pipe.
    pub fn open_file(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(rustix::fs::openat(self.fd(), name, flags | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    /// A link's target.
    pub fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(self.fd(), name, Vec::new())?.into_bytes())
    }

    /// Makes a new file; the process's mask takes its part of the permissions.
    pub fn create(&self, name: &[u8], permissions: u32) -> io::Result<File> {
        self.fuse.burn()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(permissions);
        Ok(rustix::fs::openat(self.fd(), name, flags | OFlags::CLOEXEC, mode)?.into())
    }

    /// Writes a file's bytes.
    pub fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.fuse.burn() {
            // A crash in the middle leaves a part.
            file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
            return Err(error);
        }
        file.write_all(bytes)
    }

    /// Makes a new symbolic link.
    pub fn link(&self, target: &[u8], name: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::symlinkat(target, self.fd(), name)?)
    }

    /// Makes a new folder.
    pub fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::mkdirat(self.fd(), name, Mode::from_raw_mode(0o777))?)
    }

    /// Swaps two names in one step, so that no moment has neither.
    ///
    /// # Errors
    /// `Unsupported` where the file system cannot; then nothing happened.
    pub fn exchange(&self, one: &[u8], other: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        if self.fuse.cannot_swap() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        #[cfg(target_os = "linux")]
        {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            rustix::fs::renameat_with(self.fd(), one, self.fd(), other, flags).map_err(lacking)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (one, other);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Gives something another name, which nothing may have. Where the file system cannot promise
    /// that in one step, it is looked at just before.
    pub fn rename_new(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        #[cfg(target_os = "linux")]
        {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(self.fd(), from, self.fd(), to, flags).map_err(lacking)
            {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                other => return other,
            }
        }
        if self.stat(to)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(rustix::fs::renameat(self.fd(), from, self.fd(), to)?)
    }

    /// Gives something another name, in place of what has it.
    pub fn replace(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::renameat(self.fd(), from, self.fd(), to)?)
    }

    /// Removes what is no folder.
    pub fn unlink(&self, name: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::unlinkat(self.fd(), name, AtFlags::empty())?)
    }

    /// Removes a folder that has nothing in it.
    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::unlinkat(self.fd(), name, AtFlags::REMOVEDIR)?)
    }

    /// Changes what may be done with a file that is held open.
    pub fn set_permissions(&self, file: &File, permissions: u32) -> io::Result<()> {
        self.fuse.burn()?;
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(permissions))?)
    }

    /// Removes a folder and the folders in it, when there is nothing else in any of them.
    pub fn remove_hollow_folder(&self, path: &RepoPath) -> io::Result<bool> {
        let Ok(inside) = self.enter(path, false) else { return Ok(false) };
        let Some(names) = inside.hollow(0)? else { return Ok(false) };
        for (depth_first, name) in names {
            depth_first.remove_folder(&name)?;
        }
        self.remove_folder(path.name())?;
        Ok(true)
    }

    /// The folders below this one, innermost first; nothing when something else is there too.
    fn hollow(&self, depth: usize) -> io::Result<Option<Vec<Inside>>> {
        const DEEPEST: usize = 64;
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(self.fd())? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            let path = RepoPath::new(name.clone()).filter(|_| depth < DEEPEST);
            let Some(Ok(inside)) = path.map(|path| self.enter(&path, false)) else {
                return Ok(None);
            };
            let Some(below) = inside.hollow(depth + 1)? else { return Ok(None) };
            found.extend(below);
            found.push((self.clone(), name));
        }
        Ok(Some(found))
    }

    /// Makes the names in this folder durable.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.fd())?)
    }
}

/// File systems that lack a way of renaming say so in three ways.
#[cfg(target_os = "linux")]
fn lacking(errno: Errno) -> io::Error {
    match errno {
        Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => io::ErrorKind::Unsupported.into(),
        errno => errno.into(),
    }
}

/// Of which kind something is.
pub(crate) fn kind_of(stat: &rustix::fs::Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

#[cfg(test)]
mod tests;
