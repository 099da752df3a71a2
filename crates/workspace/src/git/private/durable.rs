//! Small files that are there whole or not at all, whatever happens to the machine.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::git::pack::UNFINISHED;

/// Replaces a file by these bytes: a temporary file, synced, renamed, and its folder synced. Its
/// folders are made, readable by nobody else.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(dir) = path.parent() else {
        return Err(Error::Corrupt { what: format!("{} has no folder", path.display()) });
    };
    if !dir.is_dir() {
        make_folders(dir)?;
    }
    let temporary = Temporary::create(dir)?;
    (&temporary.file).write_all(bytes).map_err(Error::io("write", &temporary.path))?;
    temporary.file.sync_data().map_err(Error::io("sync", &temporary.path))?;
    fs::rename(&temporary.path, path).map_err(Error::io("create", path))?;
    crate::git::pack::sync_folder(dir)
}

/// Makes a folder and those above it, each durably and readable by nobody else.
pub(super) fn make_folders(dir: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
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
    dir.parent().map_or(Ok(()), crate::git::pack::sync_folder)
}

/// A name that no other writer has.
pub(super) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{UNFINISHED}{}_{number}", process::id())
}

/// A file that goes when it is dropped; after it was renamed there is nothing left to go.
struct Temporary {
    file: File,
    path: PathBuf,
}

impl Temporary {
    fn create(dir: &Path) -> Result<Self> {
        // Git passes over names that end so, where it would take a half-written ref for a broken one.
        let path = dir.join(format!("{}.lock", temporary_name()));
        // What a process of the same number left behind is in the way.
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(Error::io("create", &path))?;
        Ok(Self { file, path })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
