//! What each file's content was when it was last looked at, so that unchanged ones are not read.

mod encoding;

use std::path::Path;

use aurora_model::{EntryMode, RepoPath};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::objects::Entry;
use crate::git::own;
use crate::git::tree::Delta;

/// A larger file is none of ours: no worktree has as many files.
const LARGEST_BYTES: u64 = 4 << 30;

/// What the file system says about a file. As long as all of it is the same, so is the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// When the content was changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When anything about it was changed.
    pub ctime_ns: i64,
    /// Which file of its device it is.
    pub ino: u64,
    /// Which device it is on.
    pub dev: u64,
    /// How many bytes it has.
    pub size: u64,
    /// What it is and who may do what.
    pub mode: u32,
    /// Who owns it.
    pub uid: u32,
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the fields' types differ from one platform to the next"
)]
impl From<&rustix::fs::Stat> for FileStat {
    fn from(stat: &rustix::fs::Stat) -> Self {
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Self {
            mtime_ns: ns(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: ns(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            ino: stat.st_ino as u64,
            dev: stat.st_dev as u64,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: stat.st_mode as u32,
            uid: stat.st_uid,
        }
    }
}

impl FileStat {
    /// Whether a later change could leave all of this as it is, because it was taken within the
    /// clock's grain of the change before. File systems that count in seconds have a coarse grain.
    pub fn is_racy(&self, taken_ns: i64) -> bool {
        let latest = self.mtime_ns.max(self.ctime_ns);
        let whole = self.mtime_ns % 1_000_000_000 == 0 && self.ctime_ns % 1_000_000_000 == 0;
        let grain = if whole { 2_100_000_000 } else { 30_000_000 };
        latest >= taken_ns.saturating_sub(grain)
    }
}

/// One file of a folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    start: u32,
    length: u32,
    /// What the checkpoint has at this path.
    pub entry: Entry,
    /// What the file was like when its content was that; nothing when that is not known for sure.
    pub stat: Option<FileStat>,
}

/// The files of one folder, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folder {
    /// The folder's path; empty for the root.
    pub path: Vec<u8>,
    /// Its files, ordered by name.
    pub records: Vec<Record>,
}

/// All entries of one tree, with what the files were like then.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatCache {
    folders: Vec<Folder>,
    names: Vec<u8>,
}

impl StatCache {
    /// The entries of a tree, of whose files nothing is known.
    pub fn of_listing(listing: &[(RepoPath, Entry)]) -> Self {
        let mut cache = Self::default();
        let mut folders = std::collections::BTreeMap::<&[u8], Vec<Record>>::new();
        for (path, entry) in listing {
            let (folder, name) = split(path.as_bytes());
            let record = cache.record(name, *entry, None);
            folders.entry(folder).or_default().push(record);
        }
        let folders = folders.into_iter();
        cache.folders =
            folders.map(|(path, records)| Folder { path: path.to_vec(), records }).collect();
        for folder in &mut cache.folders {
            folder.records.sort_by(|a, b| name_in(&cache.names, a).cmp(name_in(&cache.names, b)));
        }
        cache
    }

    /// A record whose name is kept here; it still has to be put into a folder.
    pub fn record(&mut self, name: &[u8], entry: Entry, stat: Option<FileStat>) -> Record {
        let start = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let length = u32::try_from(name.len()).unwrap_or_default();
        self.names.extend_from_slice(name);
        Record { start, length, entry, stat }
    }

    /// Adds a folder, whose records are ordered by name. Folders come in order.
    pub fn push(&mut self, folder: Folder) {
        if !folder.records.is_empty() {
            self.folders.push(folder);
        }
    }

    /// All folders, by path.
    pub fn folders(&self) -> &[Folder] {
        &self.folders
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.folders.iter().map(|folder| folder.records.len()).sum()
    }

    /// A record's name.
    pub fn name(&self, record: &Record) -> &[u8] {
        name_in(&self.names, record)
    }

    /// Which folder has that path.
    pub fn folder(&self, path: &[u8]) -> Option<(usize, &Folder)> {
        let at = self.folders.binary_search_by(|folder| folder.path.as_slice().cmp(path)).ok()?;
        self.folders.get(at).map(|folder| (at, folder))
    }

    /// The record of a name in a folder.
    pub fn find<'a>(&self, folder: &'a Folder, name: &[u8]) -> Option<&'a Record> {
        let at = folder.records.binary_search_by(|record| self.name(record).cmp(name)).ok()?;
        folder.records.get(at)
    }

    /// The record of a path.
    pub fn at(&self, path: &[u8]) -> Option<&Record> {
        let (folder, name) = split(path);
        self.find(self.folder(folder)?.1, name)
    }

    /// Whether there is anything below a folder.
    pub fn has_below(&self, path: &[u8]) -> bool {
        let from = self.folders.partition_point(|folder| folder.path.as_slice() < path);
        // Between a folder and what is below it, names such as `folder-2` may come.
        let rest = self.folders.get(from..).unwrap_or_default();
        rest.iter().take_while(|folder| folder.path.starts_with(path)).any(|folder| {
            matches!(folder.path.get(path.len()), None | Some(b'/')) || path.is_empty()
        })
    }

    /// Makes it the listing of another tree, given how that one differs.
    pub fn apply(&mut self, deltas: &[Delta]) {
        for delta in deltas {
            let (folder, name) = split(delta.path.as_bytes());
            let found = self.folders.binary_search_by(|have| have.path.as_slice().cmp(folder));
            let record = delta.after.map(|entry| self.record(name, entry, None));
            let at = match (found, &record) {
                (Ok(at), _) => at,
                (Err(_), None) => continue,
                (Err(at), Some(_)) => {
                    self.folders.insert(at, Folder { path: folder.to_vec(), records: Vec::new() });
                    at
                }
            };
            let Some(folder) = self.folders.get_mut(at) else { continue };
            let names = &self.names;
            let place = folder.records.binary_search_by(|have| name_in(names, have).cmp(name));
            match (place, record) {
                (Ok(place), Some(record)) => {
                    if let Some(old) = folder.records.get_mut(place) {
                        *old = record;
                    }
                }
                (Ok(place), None) => drop(folder.records.remove(place)),
                (Err(place), Some(record)) => folder.records.insert(place, record),
                (Err(_), None) => {}
            }
        }
        self.folders.retain(|folder| !folder.records.is_empty());
    }

    /// Reads what was saved for a tree; nothing when there is any doubt about it.
    ///
    /// # Errors
    /// Only for what is no plain file.
    pub fn load(path: &Path, hash: gix::hash::Kind) -> Result<Option<(ObjectId, Self)>> {
        match own::read(path, LARGEST_BYTES) {
            Err(error @ Error::Refused { .. }) => Err(error),
            other => Ok(other.ok().flatten().and_then(|bytes| encoding::decode(&bytes, hash))),
        }
    }

    /// Saves it as the listing of a tree. Losing it only costs time, so it is not synced.
    pub fn save(&self, path: &Path, tree: &ObjectId) -> Result<()> {
        own::replace(path, &encoding::encode(tree, self), false)
    }
}

fn name_in<'a>(names: &'a [u8], record: &Record) -> &'a [u8] {
    let start = record.start as usize;
    names.get(start..start + record.length as usize).unwrap_or_default()
}

/// A path's folder and its name in there.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}

/// The mode that a tree has for a file of this kind; nothing for folders and special files.
pub(crate) fn entry_mode(mode: u32) -> Option<EntryMode> {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => Some(EntryMode::Executable),
        0o100_000 => Some(EntryMode::File),
        0o120_000 => Some(EntryMode::Symlink),
        _ => None,
    }
}
