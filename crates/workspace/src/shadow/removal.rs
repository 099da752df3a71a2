//! Removing a shadow's files: never through a symbolic link, and whatever modes they were given.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::error::{Error, Result};

/// Removes a file, or a folder and all below it. What is not there is fine.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::Corrupt { what: format!("{} cannot be removed", path.display()) });
    };
    let folder = match open_folder(CWD, folder.as_os_str()) {
        Ok(folder) => folder,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(Error::io("open", folder)(errno.into())),
    };
    remove_at(folder.as_fd(), name).map_err(|errno| Error::io("remove", path)(errno.into()))
}

fn open_folder(at: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Removes an entry of a folder. Levels are as deep as the shadow's own folders, which the kernel's
/// limit on paths bounds only loosely, so the folders in hand are on the heap.
pub(crate) fn remove_at(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let kind = FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
    if kind != FileType::Directory {
        return Err(Errno::PERM);
    }
    empty(folder, name)?;
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Removes all below a folder.
fn empty(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    let mut open = vec![(open_in_spite_of_mode(folder, name)?, name.to_owned())];
    while let Some((dir, _)) = open.last() {
        let mut below = None;
        for entry in Dir::read_from(dir)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            match unlinkat(dir, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(Errno::ISDIR | Errno::PERM) => {}
                Err(errno) => return Err(errno),
            }
            match unlinkat(dir, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::ACCESS) => {
                    below = Some((open_in_spite_of_mode(dir.as_fd(), name)?, name.to_owned()));
                    break;
                }
                Err(errno) => return Err(errno),
            }
        }
        match below {
            Some(below) => open.push(below),
            None => {
                let done = open.pop();
                if let (Some((parent, _)), Some((_, name))) = (open.last(), done) {
                    unlinkat(parent, &*name, AtFlags::REMOVEDIR)?;
                }
            }
        }
    }
    Ok(())
}

/// Opens a folder; one that its owner locked is unlocked first. The kernel leaves such a one behind
/// in an overlay's working folder.
fn open_in_spite_of_mode(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let usable = Mode::RWXU;
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    if is_folder && !Mode::from_raw_mode(stat.st_mode).contains(usable) {
        // A link cannot take its place here: nobody else may enter the shadow's folder.
        chmodat(folder, name, usable, AtFlags::empty())?;
    }
    open_folder(folder, name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    // WSP-5
    #[test]
    fn removing_follows_no_link_and_opens_what_was_shut() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, inside) = (dir.path().join("outside"), dir.path().join("inside"));
        std::fs::create_dir_all(inside.join("a/b")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("kept"), "x").unwrap();
        std::fs::write(inside.join("a/b/c"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("a/link")).unwrap();
        std::fs::set_permissions(inside.join("a/b"), std::fs::Permissions::from_mode(0o000))
            .unwrap();
        remove(&inside).unwrap();
        assert!(!inside.exists() && outside.join("kept").exists());
        remove(&inside).unwrap();
        remove(&dir.path().join("no/such")).unwrap();
    }
}
