//! What a shadow changes: its files compared by content with what the worktree held and holds.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use aurora_model::{Change, EntryMode, RepoPath, TreeId};
use gix::hash::ObjectId;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::{Entry, Node, Objects};
use crate::shadow::layers::{self, Trace, Walked, is_git};
use crate::shadow::meta::{Meta, Settled, Shadow};
use crate::shadow::reading::{Beneath, Seen};

/// What stands at a path on the three sides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sides {
    /// In the worktree, when the shadow was made.
    pub then: Option<Entry>,
    /// In the shadow.
    pub mine: Option<Entry>,
    /// In the worktree, now.
    pub now: Option<Entry>,
}

/// One path that a shadow changes.
#[derive(Debug, Clone, Serialize)]
pub struct ShadowChange {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Whether the repository's rules ignore it: it stays in the shadow unless asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Whether the real worktree changed it too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    #[serde(skip)]
    pub(crate) sides: Sides,
    /// Whether the checkpoint that the shadow began from has it.
    #[serde(skip)]
    pub(crate) recorded: bool,
}

/// A path that cannot be compared, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The path.
    pub path: RepoPath,
    /// Why.
    pub because: String,
    /// Whether it is a pipe, a socket or a device.
    pub special: bool,
}

/// All that a shadow changes.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// Path by path, in order.
    pub changes: Vec<ShadowChange>,
    /// Folders that are new and empty.
    pub empty_folders: Vec<RepoPath>,
    /// What cannot be compared.
    pub problems: Vec<Problem>,
    /// What the shadow's files say.
    pub walked: Walked,
}

/// The entries of a folder by name.
type Folder = HashMap<Vec<u8>, Node>;

/// The tree of the checkpoint that a shadow began from; each folder is read once.
struct BaseTree<'a> {
    objects: &'a Objects,
    root: ObjectId,
    read: RefCell<HashMap<Option<RepoPath>, Folder>>,
}

impl BaseTree<'_> {
    fn at(&self, path: &RepoPath) -> Result<Option<Node>> {
        let parent = path.parent();
        if let Some(folder) = self.read.borrow().get(&parent) {
            return Ok(folder.get(path.name()).cloned());
        }
        let tree = match &parent {
            None => Some(self.root),
            Some(parent) => match self.at(parent)? {
                Some(Node::Folder(tree)) => Some(tree),
                _ => None,
            },
        };
        let listing = tree.map(|tree| self.objects.tree(&tree)).transpose()?.unwrap_or_default();
        let folder: HashMap<_, _> = listing.into_iter().collect();
        let found = folder.get(path.name()).cloned();
        self.read.borrow_mut().insert(parent, folder);
        Ok(found)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>> {
        Ok(match self.at(path)? {
            Some(Node::Entry(entry)) => Some(entry),
            _ => None,
        })
    }

    /// All entries below a folder.
    fn below(&self, path: &RepoPath, found: &mut BTreeSet<RepoPath>) -> Result<()> {
        let mut open = match self.at(path)? {
            Some(Node::Folder(tree)) => vec![(path.clone(), tree)],
            _ => Vec::new(),
        };
        while let Some((at, tree)) = open.pop() {
            for (name, node) in self.objects.tree(&tree)? {
                let Some(path) = at.join(&name) else { continue };
                match node {
                    Node::Folder(tree) => open.push((path, tree)),
                    Node::Entry(_) => drop(found.insert(path)),
                }
            }
        }
        Ok(())
    }
}

/// Everything that a comparison needs.
struct Comparison<'a> {
    hash: gix::hash::Kind,
    meta: &'a Meta,
    base: Option<BaseTree<'a>>,
    real: Beneath,
    files: Beneath,
    max_file_bytes: u64,
}

/// A blob's name.
pub(crate) fn blob_id(hash: gix::hash::Kind, bytes: &[u8]) -> Result<ObjectId> {
    gix::objs::compute_hash(hash, gix::objs::Kind::Blob, bytes)
        .map_err(|error| Error::Corrupt { what: format!("a hash cannot be computed: {error}") })
}

/// A tree's name, from its digits.
pub(crate) fn tree_id(tree: &TreeId) -> Result<ObjectId> {
    ObjectId::from_hex(tree.0.as_bytes())
        .map_err(|error| Error::Corrupt { what: format!("`{tree}` is no tree: {error}") })
}

impl GitWorkspace {
    /// Compares a shadow with the worktree. Only the paths that the shadow's files name are looked at.
    pub(crate) fn compare_shadow(&self, shadow: &Shadow, max_file_bytes: u64) -> Result<Compared> {
        let walked = layers::walk(shadow)?;
        let objects = self.store.objects()?;
        let base = match &shadow.meta.base_tree {
            Some(tree) => {
                let root = tree_id(tree)?;
                Some(BaseTree { objects: &objects, root, read: RefCell::default() })
            }
            None => None,
        };
        let comparison = Comparison {
            hash: self.place.hash,
            meta: &shadow.meta,
            base,
            real: Beneath::open(&self.place.root)?,
            files: Beneath::open(&shadow.files())?,
            max_file_bytes,
        };
        let mut compared = Compared::default();
        let mine = comparison.mine(&walked, &self.place.root, &mut compared)?;
        for (path, mine) in mine {
            let changed = comparison.change(path, mine, &mut compared.problems)?;
            compared.changes.extend(changed);
        }
        compared.walked = walked;
        self.mark_ignored(shadow, &mut compared.changes);
        Ok(compared)
    }
}

impl Comparison<'_> {
    /// What the shadow holds at every path that may differ.
    fn mine(
        &self,
        walked: &Walked,
        root: &Path,
        compared: &mut Compared,
    ) -> Result<BTreeMap<RepoPath, Option<Entry>>> {
        let mut mine = BTreeMap::new();
        let problem = |path: &RepoPath, because: String, special| Problem {
            path: path.clone(),
            because,
            special,
        };
        for (path, trace) in &walked.traces {
            match trace {
                Trace::Written => {
                    for below in self.before_below(path, root)? {
                        mine.insert(below, None);
                    }
                    match self.entry_of(self.files.look(path, self.max_file_bytes)?)? {
                        Ok(entry) => drop(mine.insert(path.clone(), entry)),
                        Err(because) => compared.problems.push(problem(path, because, false)),
                    }
                }
                Trace::Gone => {
                    for below in self.before_below(path, root)? {
                        mine.insert(below, None);
                    }
                    mine.insert(path.clone(), None);
                }
                Trace::Folder { opaque, empty } => {
                    if self.was_entry(path)? {
                        mine.insert(path.clone(), None);
                    }
                    let before = if *opaque || *empty {
                        self.before_below(path, root)?
                    } else {
                        BTreeSet::new()
                    };
                    let is_new = !self.was_folder(path)?;
                    if *empty && (*opaque || is_new) {
                        compared.empty_folders.push(path.clone());
                    }
                    if *opaque {
                        mine.extend(before.into_iter().map(|below| (below, None)));
                    }
                }
                Trace::Special => {
                    let because = "it is a pipe, a socket or a device".to_owned();
                    compared.problems.push(problem(path, because, true));
                }
                Trace::Unreadable => {
                    let because = "the folder may not be read".to_owned();
                    compared.problems.push(problem(path, because, false));
                }
            }
        }
        Ok(mine)
    }

    /// What content is as an entry; words when it cannot be one.
    fn entry_of(&self, seen: Seen) -> Result<std::result::Result<Option<Entry>, String>> {
        Ok(match seen {
            Seen::Nothing | Seen::Folder => Ok(None),
            Seen::Content { mode, bytes, .. } => {
                Ok(Some(Entry { mode, id: blob_id(self.hash, &bytes)? }))
            }
            Seen::Special => Err("it is a pipe, a socket or a device".to_owned()),
            Seen::TooLarge(size) => Err(format!(
                "it has {size} bytes, which is more than the {} that one file may have",
                self.max_file_bytes
            )),
            Seen::Unreadable => Err("it may not be read".to_owned()),
        })
    }

    /// Every file that was or is below a path in the worktree, without git's own data.
    fn before_below(&self, path: &RepoPath, root: &Path) -> Result<BTreeSet<RepoPath>> {
        let mut found = BTreeSet::new();
        if let Some(base) = &self.base {
            base.below(path, &mut found)?;
        }
        if self.real.look(path, 0)? == Seen::Folder {
            let mut open = vec![path.clone()];
            while let Some(at) = open.pop() {
                let folder = root.join(OsStr::from_bytes(at.as_bytes()));
                for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                    let Some(name) = RepoPath::new(entry.file_name().as_bytes()) else { continue };
                    let Some(path) = at.join(name.as_bytes()).filter(|_| !is_git(&name)) else {
                        continue;
                    };
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => open.push(path),
                        Ok(kind) if kind.is_file() || kind.is_symlink() => {
                            found.insert(path);
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(found)
    }

    fn was_entry(&self, path: &RepoPath) -> Result<bool> {
        match &self.base {
            Some(base) => {
                let entry = base.entry(path)?;
                Ok(entry.is_some_and(|entry| entry.mode != EntryMode::Submodule))
            }
            None => Ok(matches!(
                self.real.look(path, 0)?,
                Seen::Content { .. } | Seen::TooLarge(_) | Seen::Unreadable
            )),
        }
    }

    fn was_folder(&self, path: &RepoPath) -> Result<bool> {
        let based = match &self.base {
            Some(base) => matches!(base.at(path)?, Some(Node::Folder(_))),
            None => false,
        };
        Ok(based || self.real.look(path, 0)? == Seen::Folder)
    }

    /// The change at a path; nothing when the shadow holds there what was there before.
    fn change(
        &self,
        path: RepoPath,
        mine: Option<Entry>,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<ShadowChange>> {
        let seen = self.real.look(&path, self.max_file_bytes)?;
        let is_newer = match &seen {
            Seen::Content { changed_ns, .. } => *changed_ns > i128::from(self.meta.epoch_ns),
            _ => false,
        };
        let now = match self.entry_of(seen)? {
            Ok(now) => now,
            Err(because) => {
                problems.push(Problem {
                    path,
                    because: format!("in the worktree {because}"),
                    special: false,
                });
                return Ok(None);
            }
        };
        if now == mine {
            return Ok(None);
        }
        let based = self.base.as_ref().map(|base| base.entry(&path)).transpose()?.flatten();
        let based = based.filter(|entry| entry.mode != EntryMode::Submodule);
        let settled = self.meta.settled.get(&path);
        // What the base does not have was ignored then, or came later, which its times tell.
        let (then, moved) = match (settled, based, &self.base) {
            (Some(settled), _, _) => {
                let settled = settled.as_ref().map(entry_of_settled).transpose()?;
                (settled, now != settled)
            }
            (None, Some(based), _) => (Some(based), now != Some(based)),
            (None, None, Some(_)) if is_newer => (None, true),
            (None, None, _) => (now, is_newer),
        };
        let state = |entry: Option<Entry>| entry.map(|entry| (entry.mode, entry.id));
        let Some(change) = Change::between(path, state(then), state(mine)) else { return Ok(None) };
        let sides = Sides { then, mine, now };
        let recorded = based.is_some();
        Ok(Some(ShadowChange { change, ignored: false, moved, sides, recorded }))
    }
}

fn entry_of_settled(settled: &Settled) -> Result<Entry> {
    Ok(Entry { mode: settled.mode, id: tree_id(&TreeId(settled.id.clone()))? })
}
