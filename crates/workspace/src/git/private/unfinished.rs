//! Files and folders that are being written under a name that means nothing yet. Whoever writes one
//! holds a lock on it, so that what a crash left behind can be told from what is alive.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::PrivateStore;
use crate::error::{Error, Result};
use crate::git::own::{self, Folder};

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
    /// What it is in; nothing once it was published.
    within: Option<Folder>,
}

impl Unfinished {
    /// A new file with these permissions.
    pub fn create(dir: &Path, mode: u32) -> Result<Self> {
        Self::create_in(existing(dir)?, mode)
    }

    /// The same in a folder that is held open.
    pub fn create_in(within: Folder, mode: u32) -> Result<Self> {
        Self::claim(within, &|within, name| within.create(name, mode))
    }

    /// A new folder that nobody else can read.
    pub fn create_folder(dir: &Path) -> Result<Self> {
        Self::claim(existing(dir)?, &Folder::create_folder)
    }

    fn claim(within: Folder, make: &dyn Fn(&Folder, &OsStr) -> io::Result<File>) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        const TRIES: u32 = 100;
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            // Nobody can have taken all names beforehand when they cannot be guessed.
            let guess = RandomState::new().hash_one(number);
            // Git passes over names that end so, where it would take a half-written ref for a broken one.
            let name = format!("{NAME}{}_{number}_{guess:x}.lock", process::id());
            let path = within.path.join(&name);
            match make(&within, OsStr::new(&name)) {
                Ok(file) => {
                    // Somebody who cleans up may take it before it is locked; then it has no name.
                    let claimed = file.try_lock().is_ok()
                        && file.metadata().is_ok_and(|meta| meta.nlink() > 0);
                    if claimed {
                        return Ok(Self { file, path, within: Some(within) });
                    }
                }
                // Something of that name is here already.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                // Somebody who cleans up took a folder before it was open.
                Err(error) if error.kind() == io::ErrorKind::NotFound && within.path.is_dir() => {
                    last = error;
                }
                Err(error) => return Err(Error::io("create", path)(error)),
            }
        }
        Err(Error::io("create a file in", within.path)(last))
    }

    /// Makes the content durable.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }

    /// Gives it its final name in the same folder, which is given back.
    pub fn publish(mut self, path: &Path) -> Result<Folder> {
        let lost = || Error::Corrupt { what: format!("{} lost its folder", path.display()) };
        let (_, to) = own::split(path)?;
        let (_, from) = own::split(&self.path)?;
        let within = self.within.as_ref().ok_or_else(lost)?;
        within.rename(from, to).map_err(Error::io("create", path))?;
        self.within.take().ok_or_else(lost)
    }
}

fn existing(dir: &Path) -> Result<Folder> {
    let gone = || Error::io("open", dir)(io::ErrorKind::NotFound.into());
    Folder::open(dir)?.ok_or_else(gone)
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(within) = &self.within else { return };
        let name = self.path.file_name().unwrap_or_default();
        if within.unlink(name).is_err() {
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
    // What a link leads to is not ours to clean up.
    let ours = matches!(Folder::open(dir), Ok(Some(_)));
    ours.then(|| fs::read_dir(dir)).into_iter().flatten().flatten().flatten()
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
            open_entry(&path).and_then(|file| file.try_lock().map(|()| file).map_err(Into::into));
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

/// Opens a file or folder without following it and without waiting at a pipe.
fn open_entry(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?.into())
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
