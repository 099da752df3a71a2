//! Small files that are there whole or not at all, whatever happens to the machine.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use super::unfinished::Unfinished;
use crate::error::{Error, Result};

/// Replaces a file by these bytes: a temporary file, synced, renamed, and its folder synced. Its
/// folders are made, readable by nobody else.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(dir) = path.parent() else {
        return Err(Error::Corrupt { what: format!("{} has no folder", path.display()) });
    };
    if !dir.is_dir() {
        make_folders(dir)?;
    }
    let unfinished = Unfinished::create(dir, 0o600)?;
    (&unfinished.file).write_all(bytes).map_err(Error::io("write", &unfinished.path))?;
    unfinished.sync()?;
    unfinished.publish(path)?;
    sync_folder(dir)
}

/// Makes a folder and those above it, each durably and readable by nobody else.
pub(super) fn make_folders(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(above) = dir.parent() {
        make_folders(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => {}
        Err(_) if dir.is_dir() => return Ok(()),
        Err(error) => return Err(Error::io("create", dir)(error)),
    }
    dir.parent().map_or(Ok(()), sync_folder)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io("sync", dir))
}
