//! Looking only at what the watchdog named: the cost is that of the changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use aurora_model::{Checkpoint, EntryMode, Nested, RepoPath, SkipReason};

use super::open::Root;
use super::repository::{Repository, head_inside};
use super::walk::Task;
use super::{Looked, ScanNotes, Scanner, Sink, joined, now_ns};
use crate::error::Result;
use crate::git::ignore::Rules;
use crate::git::objects::{Entry, Node};
use crate::git::stat_cache::{StatCache, split};
use crate::git::tree;
use crate::request::Scanned;
use crate::watchdog::DirtyPath;

/// What a watched scan came to.
pub(crate) enum Watching {
    /// This was found.
    Looked(Box<Looked>),
    /// Everything has to be looked at.
    Everything(&'static str),
}

/// What holds in a folder.
#[derive(Clone)]
struct Place {
    above: Arc<Rules>,
    own: Arc<Rules>,
    repository: Arc<Repository>,
    ignored: bool,
}

/// The entries of one folder of the previous tree.
type Nodes = Arc<Vec<(Vec<u8>, Node)>>;

/// What is known about folders while paths are sorted out.
struct Sorting<'a, 'b> {
    scanner: &'a Scanner<'b>,
    root: &'a Root,
    nodes: HashMap<Vec<u8>, Option<Nodes>>,
    exists: HashMap<Vec<u8>, bool>,
    places: HashMap<Vec<u8>, Place>,
    listed: BTreeSet<Vec<u8>>,
    listing: BTreeMap<RepoPath, Entry>,
}

impl Scanner<'_> {
    /// Looks at these paths only.
    pub fn named(
        &self,
        paths: &[DirtyPath],
        previous: &Checkpoint,
        sink: &mut Sink<'_>,
    ) -> Result<Watching> {
        let root = Root::open(&self.place.root)?;
        let taken_ns = now_ns();
        let mut sorting = Sorting {
            scanner: self,
            root: &root,
            nodes: HashMap::new(),
            exists: HashMap::new(),
            places: HashMap::new(),
            listed: BTreeSet::new(),
            listing: BTreeMap::new(),
        };
        let retried = previous.skipped.iter().filter(|skipped| {
            matches!(skipped.reason, SkipReason::Unsettled | SkipReason::Unreadable)
        });
        let retried = retried.map(|skipped| (skipped.path.clone(), skipped.folder));
        let also = self.request.also.iter().map(|path| (path.clone(), true));
        let named = paths.iter().map(|dirty| (dirty.path.clone(), dirty.whole));
        let Some(mut dirty) = sorting.settle(named.chain(also).chain(retried)) else {
            return Ok(Watching::Everything("the rules of the whole worktree changed"));
        };
        let touched: BTreeSet<RepoPath> = dirty.keys().cloned().collect();
        let tasks = sorting.tasks(&mut dirty)?;
        let listing: Vec<_> = std::mem::take(&mut sorting.listing).into_iter().collect();
        let old = StatCache::of_listing(&listing);
        let mut found = self.walker(&root, &old, true).walk(tasks, 1);
        let folders = self.settle(&root, &old, &mut found, sink)?;
        let mut notes = self.notes(found, "");
        sorting.carry_over(&mut notes, previous, &dirty, &touched);
        notes.scanned = Scanned::Watched { paths: paths.len() as u64 };
        notes.order();
        Ok(Watching::Looked(Box::new(self.assemble(&old, folders, notes, taken_ns, false))))
    }
}

impl Sorting<'_, '_> {
    /// The paths to look at, each once; nothing when that is everything.
    fn settle(
        &mut self,
        paths: impl Iterator<Item = (RepoPath, bool)>,
    ) -> Option<BTreeMap<RepoPath, bool>> {
        let mut dirty = BTreeMap::<RepoPath, bool>::new();
        for (path, whole) in paths {
            let (mut path, mut whole) = (path, whole);
            if path.parents().any(|parent| parent.name() == b".git") {
                continue;
            }
            if path.name() == b".git" {
                // Becoming a repository, or no longer being one, concerns the whole folder.
                let Some(parent) = path.parent() else { continue };
                (path, whole) = (parent, true);
            }
            if path.name() == b".gitignore" {
                (path, whole) = (path.parent()?, true);
            }
            while let Some(parent) = path.parent().filter(|parent| !self.is_folder(parent)) {
                (path, whole) = (parent, true);
            }
            *dirty.entry(path).or_default() |= whole;
        }
        let below_whole = |path: &RepoPath| {
            path.parents().any(|parent| dirty.get(&parent).copied().unwrap_or_default())
        };
        let keep: BTreeSet<RepoPath> =
            dirty.keys().filter(|path| !below_whole(path)).cloned().collect();
        dirty.retain(|path, _| keep.contains(path));
        Some(dirty)
    }

    /// Whether there is a folder at a path, reached through folders only.
    fn is_folder(&mut self, path: &RepoPath) -> bool {
        if let Some(known) = self.exists.get(path.as_bytes()) {
            return *known;
        }
        let is = self.root.folder(path.as_bytes()).is_ok()
            || self.root.stat(path.as_bytes()).is_ok_and(|stat| is_directory(&stat));
        self.exists.insert(path.as_bytes().to_vec(), is);
        is
    }

    /// One task for each folder with paths to look at. What the previous tree has there is listed.
    /// A folder that was there before is not looked into, unless as a whole: it leaves the list.
    fn tasks(&mut self, dirty: &mut BTreeMap<RepoPath, bool>) -> Result<Vec<Task>> {
        let mut folders = BTreeMap::<Vec<u8>, BTreeMap<Vec<u8>, bool>>::new();
        let mut passed = Vec::new();
        for (path, whole) in dirty.iter() {
            let (folder, name) = split(path.as_bytes());
            let nodes = self.nodes(folder)?;
            let before = nodes.as_ref().and_then(|nodes| {
                nodes.iter().find(|(have, _)| have == name).map(|(_, node)| node.clone())
            });
            if let Some(Node::Folder(id)) = before {
                let stat = self.root.stat(path.as_bytes());
                if !whole && stat.is_ok_and(|stat| is_directory(&stat)) {
                    passed.push(path.clone());
                    continue;
                }
                for (inner, entry) in tree::list(self.scanner.objects, &id)? {
                    self.listing.extend(path.join(inner.as_bytes()).map(|path| (path, entry)));
                }
            }
            // Of a folder that is not looked into nothing may be listed, or its files would be gone.
            self.list_folder(folder, nodes.as_ref());
            folders.entry(folder.to_vec()).or_default().insert(name.to_vec(), *whole);
        }
        dirty.retain(|path, _| !passed.contains(path));
        let mut tasks = Vec::with_capacity(folders.len());
        for (path, only) in folders {
            let place = self.place(&path);
            tasks.push(Task {
                path,
                repository: place.repository,
                rules: place.above,
                ignored: place.ignored,
                only: Some(only),
            });
        }
        Ok(tasks)
    }

    /// Lists what the previous tree has directly in a folder.
    fn list_folder(&mut self, folder: &[u8], nodes: Option<&Nodes>) {
        if !self.listed.insert(folder.to_vec()) {
            return;
        }
        for (name, node) in nodes.map(|nodes| nodes.as_slice()).unwrap_or_default() {
            if let (Node::Entry(entry), Some(path)) = (node, RepoPath::new(joined(folder, name))) {
                self.listing.insert(path, *entry);
            }
        }
    }

    /// The entries of a folder of the previous tree; nothing when it has no such folder.
    fn nodes(&mut self, folder: &[u8]) -> Result<Option<Nodes>> {
        if let Some(known) = self.nodes.get(folder) {
            return Ok(known.clone());
        }
        let id = if folder.is_empty() {
            Some(self.scanner.tree)
        } else {
            let (parent, name) = split(folder);
            let nodes = self.nodes(parent)?;
            let nodes = nodes.as_ref().map(|nodes| nodes.as_slice()).unwrap_or_default();
            nodes.iter().find_map(|(have, node)| match node {
                Node::Folder(id) if have == name => Some(*id),
                _ => None,
            })
        };
        let nodes = id.map(|id| self.scanner.objects.tree(&id)).transpose()?.map(Arc::new);
        self.nodes.insert(folder.to_vec(), nodes.clone());
        Ok(nodes)
    }

    /// What holds in a folder.
    fn place(&mut self, folder: &[u8]) -> Place {
        if let Some(known) = self.places.get(folder) {
            return known.clone();
        }
        let scanner = self.scanner;
        let place = if folder.is_empty() {
            let outer = scanner.outer;
            let own = self.own_rules(&outer.rules, folder);
            let (above, repository) = (Arc::clone(&outer.rules), Arc::clone(outer));
            Place { above, own, repository, ignored: false }
        } else {
            let parent = self.place(split(folder).0);
            let ignored = parent.ignored || parent.own.ignores(folder, true);
            let inside = self.root.stat(&joined(folder, b".git")).ok().and_then(|_| {
                let root = &scanner.place.root;
                Repository::inside(scanner.settings, root, folder, scanner.place.hash)
            });
            let (above, repository, ignored) = match inside {
                Some(inside) => {
                    let submodule = parent.repository.submodule(folder).is_some();
                    (Arc::clone(&inside.rules), inside, ignored && !submodule)
                }
                None => (parent.own, parent.repository, ignored),
            };
            Place { own: self.own_rules(&above, folder), above, repository, ignored }
        };
        self.places.insert(folder.to_vec(), place.clone());
        place
    }

    fn own_rules(&self, above: &Arc<Rules>, folder: &[u8]) -> Arc<Rules> {
        let base = if folder.is_empty() { 0 } else { folder.len() + 1 };
        match self.root.folder(folder) {
            Ok(open) => above.enter(open, base),
            Err(_) => Arc::clone(above),
        }
    }

    /// Adds what the previous checkpoint noted about all that was not looked at.
    fn carry_over(
        &mut self,
        notes: &mut ScanNotes,
        previous: &Checkpoint,
        looked_at: &BTreeMap<RepoPath, bool>,
        touched: &BTreeSet<RepoPath>,
    ) {
        let untouched = |path: &RepoPath| {
            !looked_at.contains_key(path)
                && !path.parents().any(|parent| looked_at.contains_key(&parent))
        };
        let kept = previous.skipped.iter().filter(|skipped| untouched(&skipped.path));
        let kept: Vec<_> = kept.cloned().collect();
        let folders: BTreeSet<&RepoPath> =
            kept.iter().filter(|skipped| skipped.folder).map(|skipped| &skipped.path).collect();
        notes
            .skipped
            .retain(|skipped| !skipped.path.parents().any(|parent| folders.contains(&parent)));
        notes.skipped.extend(kept);
        for nested in previous.nested.iter().filter(|nested| untouched(&nested.path)) {
            let head = head_inside(&self.scanner.place.root, nested.path.as_bytes());
            notes.nested.extend(head.map(|head| Nested { head: head.commit, ..nested.clone() }));
        }
        // A folder is full or empty anew when it, or something below it, was touched: folders on the
        // way to a new file may be new themselves.
        let mut doubtful = touched.clone();
        doubtful.extend(touched.iter().flat_map(RepoPath::parents));
        let empty = previous.empty_folders.iter();
        let empty = empty.filter(|path| untouched(path) && !doubtful.contains(path));
        notes.empty_folders.extend(empty.cloned());
        for path in doubtful {
            if self.is_empty_folder(&path) {
                notes.empty_folders.push(path);
            }
        }
    }

    /// Whether a folder counts and has nothing in it.
    fn is_empty_folder(&mut self, path: &RepoPath) -> bool {
        let Ok(folder) = self.root.folder(path.as_bytes()) else { return false };
        if !is_empty(folder) || self.place(path.as_bytes()).ignored {
            return false;
        }
        let (folder, name) = split(path.as_bytes());
        let submodule = |(have, node): &(Vec<u8>, Node)| {
            let is = |entry: &Entry| entry.mode == EntryMode::Submodule;
            have == name && matches!(node, Node::Entry(entry) if is(entry))
        };
        let before = self.nodes(folder).ok().flatten();
        !before.is_some_and(|nodes| nodes.iter().any(submodule))
            && self.place(folder).repository.submodule(path.as_bytes()).is_none()
    }
}

fn is_directory(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
}

fn is_empty(folder: std::os::fd::OwnedFd) -> bool {
    let Ok(folder) = rustix::fs::Dir::new(folder) else { return false };
    let mut entries = folder.filter_map(|entry| entry.ok());
    !entries.any(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
}
