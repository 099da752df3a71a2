//! What was swapped out and turned out to be somebody's work, when it cannot go back.

use std::io;
use std::path::{Path, PathBuf};

use aurora_model::RepoPath;
use rustix::fs::FileType;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::git::beneath::{Folder, kind_of};
use crate::git::own;

/// Moves a file or link out of the worktree into a folder of ours, and says where it is now.
pub(super) fn rescue(
    folder: &Folder,
    name: &[u8],
    path: &RepoPath,
    into: &Path,
) -> io::Result<PathBuf> {
    let Some(stat) = folder.stat(name)? else { return Err(io::ErrorKind::NotFound.into()) };
    let mut place = into.join(OsStr::from_bytes(path.as_bytes()));
    let mut attempt = 0;
    while place.symlink_metadata().is_ok() {
        attempt += 1;
        let mut bytes = path.as_bytes().to_vec();
        bytes.extend_from_slice(format!(".{attempt}").as_bytes());
        place = into.join(OsStr::from_bytes(&bytes));
    }
    let (parent, last) = own::split(&place).map_err(io::Error::other)?;
    let saved = own::Folder::make(parent).map_err(io::Error::other)?;
    match kind_of(&stat) {
        FileType::RegularFile => {
            let mut from = folder.open_file(name)?;
            let mut to = saved.create(last, 0o600)?;
            io::copy(&mut from, &mut to)?;
            to.sync_all()?;
        }
        FileType::Symlink => {
            let target = folder.read_link(name)?;
            saved.link(OsStr::from_bytes(&target), last)?;
        }
        _ => return Err(io::ErrorKind::Unsupported.into()),
    }
    saved.sync().map_err(io::Error::other)?;
    folder.unlink(name)?;
    Ok(place)
}
