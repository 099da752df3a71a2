//! Small files that are there whole or not at all, whatever happens to the machine.

use std::path::Path;

use crate::error::{Error, Result};
use crate::git::own::{self, Folder};

/// Replaces a file by these bytes: a temporary file, synced, renamed, and its folder synced. Its
/// folders are made, readable by nobody else.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    own::replace(path, bytes, true)
}

/// Makes a folder and those above it, each durably and readable by nobody else.
pub(super) fn make_folders(dir: &Path) -> Result<()> {
    Folder::make(dir).map(drop)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(dir: &Path) -> Result<()> {
    let gone = || Error::io("sync", dir)(std::io::ErrorKind::NotFound.into());
    Folder::open(dir)?.ok_or_else(gone)?.sync()
}
