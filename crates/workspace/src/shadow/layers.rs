//! What a shadow's own files say was changed, without looking at anything else: the upper layer of
//! an overlay, or the files of a copy that are not as they were copied.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use aurora_model::RepoPath;

use crate::error::{Error, Result};
use crate::shadow::Strategy;
use crate::shadow::copy::{self, Manifest};
use crate::shadow::meta::Shadow;

/// What a shadow's files say about one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    /// A file or a link was written.
    Written,
    /// It was deleted, and all below it.
    Gone,
    /// A folder was made or changed.
    Folder {
        /// Whether nothing that was below it before is there.
        opaque: bool,
        /// Whether the shadow's own files put nothing into it.
        empty: bool,
    },
    /// It is a pipe, a socket or a device.
    Special,
    /// A folder that may not be read.
    Unreadable,
}

/// All that a shadow's files say.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Path by path, in order.
    pub traces: Vec<(RepoPath, Trace)>,
    /// Git folders and files (`.git`) that were touched.
    pub git: Vec<RepoPath>,
    /// Files that have another name, in the shadow or elsewhere.
    pub hard_links: Vec<RepoPath>,
    /// How many bytes of disk it takes.
    pub bytes: u64,
}

/// Reads what a shadow's files say.
pub(crate) fn walk(shadow: &Shadow) -> Result<Walked> {
    let mut walked = Walked::default();
    let files = shadow.files();
    match shadow.meta.strategy {
        Strategy::Overlay => walk_upper(&files, None, &mut walked)?,
        Strategy::Reflink | Strategy::Copy => {
            let manifest = Manifest::read(&shadow.dir)?;
            let mut met = HashSet::new();
            walk_copy(&files, None, &manifest, &mut met, &mut walked)?;
            let gone = manifest.paths().filter(|path| !met.contains(*path));
            walked.traces.extend(gone.map(|path| (path.clone(), Trace::Gone)));
        }
    }
    walked.traces.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(walked)
}

/// The entries of a folder by name; nothing when it may not be read.
fn entries(folder: &Path) -> Result<Option<Vec<(RepoPath, Metadata)>>> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(Error::io("list", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(Error::io("list", folder))?;
        // One that went away meanwhile is not there.
        let Ok(meta) = entry.metadata() else { continue };
        if let Some(name) = RepoPath::new(entry.file_name().as_bytes()) {
            found.push((name, meta));
        }
    }
    Ok(Some(found))
}

fn walk_upper(folder: &Path, at: Option<&RepoPath>, walked: &mut Walked) -> Result<()> {
    let Some(listing) = entries(folder)? else {
        walked.traces.extend(at.map(|at| (at.clone(), Trace::Unreadable)));
        return Ok(());
    };
    if let Some(at) = at {
        let trace = Trace::Folder { opaque: is_opaque(folder), empty: listing.is_empty() };
        walked.traces.push((at.clone(), trace));
    }
    for (name, meta) in listing {
        let full = folder.join(OsStr::from_bytes(name.as_bytes()));
        let Some(path) = RepoPath::below(at, name.as_bytes()) else { continue };
        if is_git(&name) {
            walked.bytes = walked.bytes.saturating_add(crate::shadow::quota::bytes_below(&full));
            walked.git.push(path);
            continue;
        }
        let kind = meta.file_type();
        if kind.is_dir() {
            walk_upper(&full, Some(&path), walked)?;
            continue;
        }
        let is_device_of_none = kind.is_char_device() && meta.rdev() == 0;
        let trace = if is_device_of_none || (kind.is_file() && is_whiteout(&full, &meta)) {
            Trace::Gone
        } else {
            note(&path, &meta, walked)
        };
        walked.traces.push((path, trace));
    }
    Ok(())
}

fn walk_copy(
    folder: &Path,
    at: Option<&RepoPath>,
    manifest: &Manifest,
    met: &mut HashSet<RepoPath>,
    walked: &mut Walked,
) -> Result<()> {
    let Some(listing) = entries(folder)? else {
        walked.traces.extend(at.map(|at| (at.clone(), Trace::Unreadable)));
        // What cannot be looked at is not known to be gone.
        met.extend(manifest.paths().filter(|path| at.is_none_or(|at| path.is_within(at))).cloned());
        return Ok(());
    };
    if let Some(at) = at.filter(|at| !manifest.has(at)) {
        let trace = Trace::Folder { opaque: false, empty: listing.is_empty() };
        walked.traces.push((at.clone(), trace));
    }
    for (name, meta) in listing {
        let full = folder.join(OsStr::from_bytes(name.as_bytes()));
        let Some(path) = RepoPath::below(at, name.as_bytes()) else { continue };
        if is_git(&name) {
            walked.git.push(path);
            continue;
        }
        met.insert(path.clone());
        if meta.is_dir() {
            if manifest.is_other_than_folder(&path) {
                walked.traces.push((path.clone(), Trace::Gone));
            }
            walk_copy(&full, Some(&path), manifest, met, walked)?;
        } else if !manifest.is_unchanged(&path, &copy::Stamp::of(&meta)) {
            let trace = note(&path, &meta, walked);
            walked.traces.push((path, trace));
        }
    }
    Ok(())
}

/// Counts a file and says what it is.
fn note(path: &RepoPath, meta: &Metadata, walked: &mut Walked) -> Trace {
    walked.bytes = walked.bytes.saturating_add(meta.blocks().saturating_mul(512));
    let kind = meta.file_type();
    if kind.is_file() && meta.nlink() > 1 {
        walked.hard_links.push(path.clone());
    }
    if kind.is_file() || kind.is_symlink() { Trace::Written } else { Trace::Special }
}

/// Whether a name is git's own; some file systems take capital letters for small ones.
pub(crate) fn is_git(name: &RepoPath) -> bool {
    name.as_bytes().eq_ignore_ascii_case(b".git")
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = [0_u8; 8];
    let length = rustix::fs::lgetxattr(path, name, &mut value).ok()?;
    value.get(..length).map(<[u8]>::to_vec)
}

fn is_opaque(folder: &Path) -> bool {
    ["user.overlay.opaque", "trusted.overlay.opaque"]
        .iter()
        .any(|name| attribute(folder, name).is_some_and(|value| value == b"y"))
}

fn is_whiteout(path: &Path, meta: &Metadata) -> bool {
    meta.len() == 0
        && ["user.overlay.whiteout", "trusted.overlay.whiteout"]
            .iter()
            .any(|name| attribute(path, name).is_some())
}
