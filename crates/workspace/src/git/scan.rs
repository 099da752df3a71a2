//! Looking at the worktree: everything, or what the watchdog named.

mod assemble;
pub(crate) mod content;
pub(crate) mod convert;
mod hash;
mod names;
pub(crate) mod open;
pub(crate) mod permissions;
pub(crate) mod repository;
pub(crate) mod tracked;
pub(crate) mod walk;
mod watched;

pub(crate) use assemble::largest;
pub(crate) use watched::Watching;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use aurora_model::{Nested, RepoPath, SkipReason, Skipped};
use gix::hash::ObjectId;

use crate::error::Result;
use crate::git::Settings;
use crate::git::objects::{Entry, Objects};
use crate::git::place::Place;
use crate::git::stat_cache::{FileStat, StatCache};
use crate::git::tree::Delta;
use crate::request::{CheckpointRequest, Scanned};

use convert::{Conversion, Conversions};
pub(crate) use hash::Sink;
use hash::{Job, Outcome, Reader};
use open::Root;
use repository::Repository;
use walk::{Content, Found, Task, Walker};

/// What was found besides files.
#[derive(Debug, Clone)]
pub(crate) struct ScanNotes {
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Folders without anything in them.
    pub empty_folders: Vec<RepoPath>,
    /// The permission bits of files that have unusual ones.
    pub permissions: BTreeMap<RepoPath, u32>,
    /// Repositories inside.
    pub nested: Vec<Nested>,
    /// Which paths were looked at.
    pub scanned: Scanned,
}

/// What a scan found.
pub(crate) struct Looked {
    /// How the worktree differs from the previous tree, by path.
    pub deltas: Vec<Delta>,
    /// What was found besides files.
    pub notes: ScanNotes,
    /// The whole listing, when everything was looked at.
    pub listing: Option<StatCache>,
    /// Of how many files more is known now than the listing knew before.
    pub learnt: usize,
}

/// What a scan is told.
pub(crate) struct Scanner<'a> {
    /// What the caller knows.
    pub settings: &'a Settings,
    /// Where everything is.
    pub place: &'a Place,
    /// What is asked for.
    pub request: &'a CheckpointRequest,
    /// For reading trees.
    pub objects: &'a Objects,
    /// The outermost repository.
    pub outer: &'a Arc<Repository>,
    /// The tree that changes are told against; all of it is stored for good.
    pub tree: ObjectId,
    /// Whether that is a checkpoint's tree, and not HEAD's.
    pub captured: bool,
    /// The unusual permission bits that the previous checkpoint has.
    pub permissions: Option<&'a BTreeMap<RepoPath, u32>>,
}

/// A file that counts, and all that is known about it by now.
struct Settled {
    name: Vec<u8>,
    entry: Entry,
    stat: Option<FileStat>,
}

/// The files of a folder, when only some names were looked at with these.
#[derive(Default)]
struct SettledFolder {
    files: Vec<Settled>,
    only: Option<BTreeMap<Vec<u8>, bool>>,
}

impl Scanner<'_> {
    /// Looks at everything. New contents go to the sink.
    pub fn everything(
        &self,
        old: &StatCache,
        because: &str,
        sink: &mut Sink<'_>,
    ) -> Result<Looked> {
        let root = Root::open(&self.place.root)?;
        let taken_ns = now_ns();
        let walker = self.walker(&root, old, false);
        let first = Task {
            path: Vec::new(),
            repository: Arc::clone(self.outer),
            rules: Arc::clone(&self.outer.rules),
            ignored: false,
            only: None,
        };
        let mut found = std::thread::scope(|scope| {
            // The index is needed for almost every repository, so it is read meanwhile.
            scope.spawn(|| self.outer.tracked());
            walker.walk(vec![first], 2)
        });
        self.trust_index(&root, old, &mut found)?;
        let mut folders = self.settle(&root, old, &mut found, sink)?;
        self.add_left_out(&mut folders)?;
        let notes = self.notes(found, because);
        Ok(self.assemble(old, folders, notes, taken_ns, true))
    }

    fn walker<'b>(&'b self, root: &'b Root, old: &'b StatCache, partial: bool) -> Walker<'b> {
        Walker {
            settings: self.settings,
            root,
            root_path: &self.place.root,
            old,
            partial,
            captured: self.captured,
            request: self.request,
            hash: self.place.hash,
            seen: AtomicU64::new(0),
        }
    }

    /// Spares reading files that are what the user's index says: only where nothing converts them,
    /// the blob is there and the previous tree has it at the same path, so that it is kept.
    fn trust_index(&self, root: &Root, old: &StatCache, found: &mut Found) -> Result<()> {
        let unread = found.folders.iter().flat_map(|folder| &folder.files);
        let unread = unread.filter(|file| matches!(file.content, Content::Unread(_))).count();
        if unread < 200 {
            return Ok(());
        }
        let conversions = self.conversions(root, found);
        let half = found.folders.len() / 2;
        let (front, back) = found.folders.split_at_mut(half);
        let nested: Vec<Vec<u8>> =
            found.nested.iter().map(|(nested, _)| nested.path.as_bytes().to_vec()).collect();
        let trust = Trust { old, tracked: self.outer.tracked(), conversions: &conversions };
        let run = |folders: &mut [walk::SeenFolder], objects: Objects| {
            for folder in folders {
                if !nested.iter().any(|nested| walk::is_within(&folder.path, nested)) {
                    trust.folder(folder, &objects);
                }
            }
        };
        let (here, there) = (self.objects.clone(), self.objects.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| run(front, there));
            run(back, here);
        });
        Ok(())
    }

    /// What the attributes on the disk and in the index may convert.
    pub(crate) fn conversions(&self, root: &Root, found: &Found) -> Conversions {
        let mut all = Conversions::of(self.outer);
        let seen = found.folders.iter().flat_map(|folder| {
            let files = folder.files.iter().filter(|file| file.name == b".gitattributes");
            files.map(|_| folder.path.clone())
        });
        let skipped =
            found.skipped.iter().filter(|skipped| skipped.path.name() == b".gitattributes");
        let skipped = skipped.map(|skipped| {
            skipped.path.parent().map(|folder| folder.as_bytes().to_vec()).unwrap_or_default()
        });
        for folder in seen.chain(skipped) {
            let mut path = folder.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(b".gitattributes");
            match content::read(root, &path, 1 << 24) {
                content::Read::Content { bytes, .. } => all.add(&folder, &bytes),
                content::Read::Gone => {}
                content::Read::Skipped { .. } => all.doubt(),
            }
        }
        for (path, entry) in self.outer.tracked().entries() {
            let (folder, name) = crate::git::stat_cache::split(path);
            if name == b".gitattributes" && tracked::settled(entry).is_some() {
                match self.objects.blob(&entry.id) {
                    Ok(text) => all.add(folder, &text),
                    Err(_) => all.doubt(),
                }
            }
        }
        all
    }

    /// Reads what must be read, and says what every file is.
    fn settle(
        &self,
        root: &Root,
        old: &StatCache,
        found: &mut Found,
        sink: &mut Sink<'_>,
    ) -> Result<BTreeMap<Vec<u8>, SettledFolder>> {
        let mut jobs = Vec::new();
        for folder in &found.folders {
            for file in &folder.files {
                if let Content::Unread(_) = file.content {
                    let path = joined(&folder.path, &file.name);
                    let before = old.at(&path).map(|record| record.entry);
                    let size = file.stat.map_or(0, |stat| stat.size);
                    jobs.push(Job { path, size, before });
                }
            }
        }
        let reader = Reader {
            root,
            hash: self.place.hash,
            max_file_bytes: self.request.limits.max_file_bytes,
            progress: &*self.settings.progress,
        };
        let mut outcomes = reader.read(&jobs, sink)?.into_iter().zip(jobs);
        let mut folders = BTreeMap::<Vec<u8>, SettledFolder>::new();
        for folder in std::mem::take(&mut found.folders) {
            let files = folder.files.into_iter().filter_map(|file| {
                let (entry, stat) = match file.content {
                    Content::Known(entry) => (entry, file.stat),
                    Content::Stays(entry) => {
                        (self.borrow(old, &folder.path, &file, entry, sink)?, None)
                    }
                    Content::Unread(_) => match outcomes.next()? {
                        (Outcome::Taken(entry, stat), _) => (entry, stat),
                        (Outcome::Gone, _) => return None,
                        (Outcome::Skipped(reason, bytes), job) => {
                            let path = RepoPath::new(job.path.clone())?;
                            found.skipped.push(Skipped { path, reason, folder: false, bytes });
                            let stays = reason != SkipReason::SpecialFile;
                            let indexed = || self.outer.tracked().entry(&job.path);
                            let before = job.before.filter(|_| self.captured).or_else(indexed);
                            let before = before.filter(|_| stays)?;
                            (self.borrow(old, &folder.path, &file, before, sink)?, None)
                        }
                    },
                };
                Some(Settled { name: file.name, entry, stat })
            });
            let files = files.collect();
            folders.insert(folder.path, SettledFolder { files, only: folder.only });
        }
        for (path, entry) in std::mem::take(&mut found.submodules) {
            insert(&mut folders, &path, entry);
        }
        self.keep_closed(old, found, &mut folders);
        Ok(folders)
    }

    /// An entry that the previous tree may lack: its content is stored too, or it is not taken.
    fn borrow(
        &self,
        old: &StatCache,
        folder: &[u8],
        file: &walk::SeenFile,
        entry: Entry,
        sink: &mut Sink<'_>,
    ) -> Option<Entry> {
        let path = joined(folder, &file.name);
        if old.at(&path).is_some_and(|record| record.entry.id == entry.id) {
            return Some(entry);
        }
        let bytes = self.objects.blob(&entry.id).ok()?;
        sink(&path, entry.id, &bytes).ok().map(|()| entry)
    }

    /// Below folders that could not be read, everything stays as it was.
    fn keep_closed(
        &self,
        old: &StatCache,
        found: &Found,
        folders: &mut BTreeMap<Vec<u8>, SettledFolder>,
    ) {
        for closed in &found.closed {
            let inside = old.folders().iter();
            for folder in inside.filter(|folder| walk::is_within(&folder.path, closed)) {
                let files = folder.records.iter().map(|record| Settled {
                    name: old.name(record).to_vec(),
                    entry: record.entry,
                    stat: None,
                });
                let files = files.collect();
                folders.insert(folder.path.clone(), SettledFolder { files, only: None });
            }
        }
    }

    /// Entries that a sparse checkout leaves out of the worktree stay in the tree.
    fn add_left_out(&self, folders: &mut BTreeMap<Vec<u8>, SettledFolder>) -> Result<()> {
        for (path, entry) in self.outer.tracked().entries() {
            if !tracked::is_left_out(entry) {
                continue;
            }
            if !entry.mode.is_sparse() {
                if let Some(entry) = tracked::settled(entry) {
                    insert(folders, path, entry);
                }
                continue;
            }
            let folder = path.strip_suffix(b"/").unwrap_or(path);
            for (inner, entry) in crate::git::tree::list(self.objects, &entry.id)? {
                insert(folders, &joined(folder, inner.as_bytes()), entry);
            }
        }
        Ok(())
    }

    fn notes(&self, found: Found, because: &str) -> ScanNotes {
        let mut notes = ScanNotes {
            skipped: found.skipped,
            empty_folders: found.empty,
            permissions: BTreeMap::new(),
            nested: found.nested.into_iter().map(|(nested, _)| nested).collect(),
            scanned: Scanned::Everything { because: because.to_owned() },
        };
        notes.order();
        notes
    }
}

/// What is needed to believe the index about a file.
struct Trust<'a> {
    old: &'a StatCache,
    tracked: &'a tracked::Tracked,
    conversions: &'a Conversions,
}

impl Trust<'_> {
    fn folder(&self, folder: &mut walk::SeenFolder, objects: &Objects) {
        let Some((_, before)) = self.old.folder(&folder.path) else { return };
        let mut path = folder.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        let base = path.len();
        for file in &mut folder.files {
            let (Content::Unread(mode), Some(stat)) = (file.content, file.stat) else { continue };
            let Some(before) = self.old.find(before, &file.name) else { continue };
            path.truncate(base);
            path.extend_from_slice(&file.name);
            let id = self.tracked.unchanged(&path, &stat, mode);
            let Some(id) = id.filter(|id| *id == before.entry.id) else { continue };
            if self.conversions.of_path(&path) == Conversion::Any {
                continue;
            }
            // Line ends show in the size, and a blob that a partial clone lacks has none.
            if objects.header(&id).is_ok_and(|header| header.map(|h| h.1) == Some(stat.size)) {
                file.content = Content::Known(Entry { mode, id });
            }
        }
    }
}

impl ScanNotes {
    /// Puts everything in order, each thing once.
    fn order(&mut self) {
        self.skipped.sort();
        self.skipped.dedup();
        self.empty_folders.sort();
        self.empty_folders.dedup();
        self.nested.sort_by(|a, b| a.path.cmp(&b.path));
        self.nested.dedup_by(|a, b| a.path == b.path);
    }
}

/// Adds an entry where nothing stands; what is on the disk counts more.
fn insert(folders: &mut BTreeMap<Vec<u8>, SettledFolder>, path: &[u8], entry: Entry) {
    let (folder, name) = crate::git::stat_cache::split(path);
    let in_the_way = RepoPath::new(path).is_some_and(|path| {
        path.parents().any(|parent| {
            let (folder, name) = crate::git::stat_cache::split(parent.as_bytes());
            folders.get(folder).is_some_and(|folder| {
                folder.files.binary_search_by(|file| file.name.as_slice().cmp(name)).is_ok()
            })
        })
    });
    if in_the_way {
        return;
    }
    let folder = folders.entry(folder.to_vec()).or_default();
    if let Err(at) = folder.files.binary_search_by(|file| file.name.as_slice().cmp(name)) {
        folder.files.insert(at, Settled { name: name.to_vec(), entry, stat: None });
    }
}

/// A name in a folder; the root's path is empty.
pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + name.len() + 1);
    path.extend_from_slice(folder);
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// The file system's idea of now, whatever clock the caller gives us for its own purposes.
fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
