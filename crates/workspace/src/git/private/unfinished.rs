//! Files and folders that are being written under a name that means nothing yet. Whoever writes one
//! holds a lock on it, so that what a crash left behind can be told from what is alive.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::PrivateStore;
use crate::error::{Error, Result};

/// How the names begin: git's own housekeeping knows such names as rubbish, too.
const NAME: &str = "tmp_aurora_";

/// How git's begin, which hold no lock.
const OF_GIT: &[&str] = &["tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_obj_"];

/// Nobody writes one file for so long.
const LONG_AGO: Duration = Duration::from_secs(3600);

/// A file or folder that goes when it is dropped, unless it was published under its final name.
pub(crate) struct Unfinished {
    /// The open file, or folder.
    pub file: File,
    /// Where it is.
    pub path: PathBuf,
    published: bool,
}

impl Unfinished {
    /// A new file with these permissions.
    pub fn create(dir: &Path, mode: u32) -> Result<Self> {
        Self::claim(dir, &|path| {
            OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
        })
    }

    /// A new folder that nobody else can read.
    pub fn create_folder(dir: &Path) -> Result<Self> {
        Self::claim(dir, &|path| {
            fs::DirBuilder::new().mode(0o700).create(path)?;
            File::open(path)
        })
    }

    fn claim(dir: &Path, make: &dyn Fn(&Path) -> io::Result<File>) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        const TRIES: u32 = 100;
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            // Git passes over names that end so, where it would take a half-written ref for a broken one.
            let path = dir.join(format!("{NAME}{}_{number}.lock", process::id()));
            match make(&path) {
                Ok(file) => {
                    // Somebody who cleans up may take it before it is locked; then it has no name.
                    let claimed = file.try_lock().is_ok()
                        && file.metadata().is_ok_and(|meta| meta.nlink() > 0);
                    if claimed {
                        return Ok(Self { file, path, published: false });
                    }
                }
                // A process of the same number was here before.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                // Somebody who cleans up took a folder before it was open.
                Err(error) if error.kind() == io::ErrorKind::NotFound && dir.is_dir() => {
                    last = error;
                }
                Err(error) => return Err(Error::io("create", path)(error)),
            }
        }
        Err(Error::io("create a file in", dir)(last))
    }

    /// Makes the content durable.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }

    /// Gives it its final name.
    pub fn publish(mut self, name: &Path) -> Result<()> {
        fs::rename(&self.path, name).map_err(Error::io("create", name))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.published {
            let _ = remove(&self.path);
        }
    }
}

impl PrivateStore {
    /// Removes what crashes left behind. It is only space, so that what cannot be removed or looked
    /// at is left for the next time. Folders that hold files of the user's are not looked into.
    pub fn remove_leftovers(&self) {
        for entry in entries(&self.aurora_dir) {
            is_leftover(&entry);
        }
        let mut next = vec![self.dir.clone()];
        while let Some(dir) = next.pop() {
            for entry in entries(&dir) {
                let kept = !is_leftover(&entry);
                if kept && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                }
            }
        }
        for feature in entries(&self.aurora_dir.join("features")) {
            let dir = feature.path();
            for entry in entries(&dir).chain(entries(&dir.join("checkpoints"))) {
                let replacing = entry.file_name().as_bytes().ends_with(b".new");
                if !is_leftover(&entry) && replacing {
                    remove_if_old(&entry);
                }
            }
        }
    }
}

/// What is in a folder, as far as that can be seen.
fn entries(dir: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

/// Removes what nobody can be writing any more.
fn remove_if_old(entry: &fs::DirEntry) {
    let changed = entry.metadata().and_then(|meta| meta.modified());
    if changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LONG_AGO)) {
        let _ = remove(&entry.path());
    }
}

/// Whether an entry of a folder is or was unfinished; one that nobody writes any more is removed.
pub(super) fn is_leftover(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let begins = |start: &str| name.as_bytes().starts_with(start.as_bytes());
    if begins(NAME) {
        let path = entry.path();
        // The lock is held until the file is gone, so that its writer notices.
        let lock =
            File::open(&path).and_then(|file| file.try_lock().map(|()| file).map_err(Into::into));
        if lock.is_ok() {
            let _ = remove(&path);
        }
        return true;
    }
    if OF_GIT.iter().any(|start| begins(start)) {
        remove_if_old(entry);
        return true;
    }
    false
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
