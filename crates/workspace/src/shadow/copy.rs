//! A copy of the worktree, with what each file was when it was copied.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use aurora_model::RepoPath;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, ioctl_ficlone, utimensat};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::shadow::Strategy;
use crate::shadow::layers::is_git;

/// Enough of a file's metadata to tell that nobody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    mode: u32,
    size: u64,
    inode: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(meta: &Metadata) -> Self {
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            mode: meta.mode(),
            size: meta.len(),
            inode: meta.ino(),
            modified_ns: ns(meta.mtime(), meta.mtime_nsec()),
            changed_ns: ns(meta.ctime(), meta.ctime_nsec()),
        }
    }

    fn is_folder(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.mode) == rustix::fs::FileType::Directory
    }
}

/// What each file of a copy was when it was copied.
#[derive(Debug, Default)]
pub(crate) struct Manifest(HashMap<RepoPath, Stamp>);

const MANIFEST: &str = "manifest";

impl Manifest {
    /// Reads the manifest of a shadow.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(MANIFEST);
        let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
        let broken =
            || Error::Corrupt { what: format!("{} is not what was written", path.display()) };
        let mut found = HashMap::new();
        for record in bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let (path, stamp) = parse(record).ok_or_else(broken)?;
            found.insert(path, stamp);
        }
        Ok(Self(found))
    }

    fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(MANIFEST);
        let mut bytes = Vec::new();
        for (path, Stamp { mode, size, inode, modified_ns, changed_ns }) in &self.0 {
            let fields = format!("{mode} {size} {inode} {modified_ns} {changed_ns} ");
            bytes.extend_from_slice(fields.as_bytes());
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        std::fs::write(&path, bytes).map_err(Error::io("write", &path))
    }

    /// All paths, folders too.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.keys()
    }

    /// Whether something was copied to this path.
    pub fn has(&self, path: &RepoPath) -> bool {
        self.0.contains_key(path)
    }

    /// Whether something that is no folder was copied to this path.
    pub fn is_other_than_folder(&self, path: &RepoPath) -> bool {
        self.0.get(path).is_some_and(|stamp| !stamp.is_folder())
    }

    /// Whether a file is as it was copied.
    pub fn is_unchanged(&self, path: &RepoPath, now: &Stamp) -> bool {
        self.0.get(path) == Some(now)
    }
}

fn parse(record: &[u8]) -> Option<(RepoPath, Stamp)> {
    let mut fields = record.splitn(6, |byte| *byte == b' ');
    let mut text = || fields.next().and_then(|field| std::str::from_utf8(field).ok());
    let stamp = Stamp {
        mode: text()?.parse().ok()?,
        size: text()?.parse().ok()?,
        inode: text()?.parse().ok()?,
        modified_ns: text()?.parse().ok()?,
        changed_ns: text()?.parse().ok()?,
    };
    Some((RepoPath::new(fields.next()?)?, stamp))
}

/// What was found in the worktree, in the order in which it must be made.
#[derive(Default)]
struct Found {
    folders: Vec<(RepoPath, Metadata)>,
    files: Vec<(RepoPath, Metadata)>,
    notes: Vec<String>,
}

/// Copies a worktree into a shadow, without its git folder. Returns what was left out and why.
pub(crate) fn copy_worktree(
    root: &Path,
    dir: &Path,
    strategy: Strategy,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let mut found = Found::default();
    look(root, None, &mut found)?;
    let tree = dir.join("tree");
    for (path, _) in &found.folders {
        let to = tree.join(OsStr::from_bytes(path.as_bytes()));
        std::fs::DirBuilder::new().mode(0o700).create(&to).map_err(Error::io("create", &to))?;
    }
    let total = u64::try_from(found.files.len()).ok();
    let half = found.files.len().div_ceil(2);
    let (first, second) = found.files.split_at_checked(half).unwrap_or((&found.files, &[]));
    let copy_all = |files: &[(RepoPath, Metadata)], told: bool| {
        let mut left_out = Vec::new();
        for (number, (path, meta)) in files.iter().enumerate() {
            if told && number % 512 == 0 {
                progress.at("copying", u64::try_from(number * 2).unwrap_or(0), total);
            }
            left_out.extend(copy_one(root, &tree, path, meta, strategy)?);
        }
        Ok::<_, Error>(left_out)
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| copy_all(second, false));
        (copy_all(first, true), other.join())
    });
    let other = other.map_err(|_| Error::Corrupt { what: "a copying thread died".to_owned() })?;
    found.notes.extend(one?);
    found.notes.extend(other?);
    // Modes and times of folders come last, the innermost first: writing into them changes both.
    for (path, meta) in found.folders.iter().rev() {
        let to = tree.join(OsStr::from_bytes(path.as_bytes()));
        std::fs::set_permissions(&to, meta.permissions()).map_err(Error::io("change", &to))?;
        set_times(&to, meta)?;
    }
    record(dir, &tree, found.folders.iter().chain(&found.files))?;
    Ok(found.notes)
}

/// Writes down what every file of the copy is now.
fn record<'a>(
    dir: &Path,
    tree: &Path,
    copied: impl Iterator<Item = &'a (RepoPath, Metadata)>,
) -> Result<()> {
    let mut manifest = Manifest::default();
    for (path, _) in copied {
        let full = tree.join(OsStr::from_bytes(path.as_bytes()));
        // What was left out is not in the copy.
        if let Ok(meta) = full.symlink_metadata() {
            manifest.0.insert(path.clone(), Stamp::of(&meta));
        }
    }
    manifest.write(dir)
}

fn look(folder: &Path, at: Option<&RepoPath>, found: &mut Found) -> Result<()> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if at.is_some() && error.kind() == std::io::ErrorKind::PermissionDenied => {
            found.notes.push(format!("{} is left out: it may not be read", folder.display()));
            return Ok(());
        }
        Err(error) => return Err(Error::io("list", folder)(error)),
    };
    for entry in listing {
        let entry = entry.map_err(Error::io("list", folder))?;
        let Ok(meta) = entry.metadata() else { continue };
        let name = entry.file_name();
        let (Some(name), Some(path)) =
            (RepoPath::new(name.as_bytes()), RepoPath::below(at, name.as_bytes()))
        else {
            continue;
        };
        if is_git(&name) && at.is_none() {
            continue;
        }
        if is_git(&name) && !meta.is_dir() {
            found.notes.push(format!(
                "{path} is left out: it leads to the real git folder of a repository inside"
            ));
            continue;
        }
        if meta.is_dir() {
            found.folders.push((path.clone(), meta));
            look(&entry.path(), Some(&path), found)?;
        } else if meta.is_file() || meta.is_symlink() {
            found.files.push((path, meta));
        } else {
            found.notes.push(format!("{path} is left out: it is a pipe, a socket or a device"));
        }
    }
    Ok(())
}

/// Copies one file or link; says so when it had to be left out.
fn copy_one(
    root: &Path,
    tree: &Path,
    path: &RepoPath,
    meta: &Metadata,
    strategy: Strategy,
) -> Result<Option<String>> {
    let name = OsStr::from_bytes(path.as_bytes());
    let (from, to) = (root.join(name), tree.join(name));
    if meta.is_symlink() {
        let Ok(target) = std::fs::read_link(&from) else { return Ok(None) };
        std::os::unix::fs::symlink(target, &to).map_err(Error::io("create", &to))?;
        set_times(&to, meta)?;
        return Ok(None);
    }
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut source = match OpenOptions::new().read(true).custom_flags(flags).open(&from) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Ok(Some(format!("{path} is left out: it may not be read")));
        }
        Err(error) => return Err(Error::io("open", &from)(error)),
    };
    let mut target = File::create_new(&to).map_err(Error::io("create", &to))?;
    let shared = strategy == Strategy::Reflink && ioctl_ficlone(&target, &source).is_ok();
    if !shared {
        std::io::copy(&mut source, &mut target).map_err(Error::io("copy", &from))?;
    }
    target.flush().map_err(Error::io("write", &to))?;
    target.set_permissions(meta.permissions()).map_err(Error::io("change", &to))?;
    set_times(&to, meta)?;
    Ok(None)
}

fn set_times(path: &Path, meta: &Metadata) -> Result<()> {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(meta.atime(), meta.atime_nsec()),
        last_modification: time(meta.mtime(), meta.mtime_nsec()),
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| Error::io("set the times of", path)(errno.into()))
}
