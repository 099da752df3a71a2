//! What a repository's index knows.

use std::path::Path;

use aurora_model::{EntryMode, RepoPath};
use gix::bstr::ByteSlice as _;
use gix::hash::ObjectId;
use gix::index::entry::{Flags, Mode};

use crate::error::Result;
use crate::git::objects::{Entry, Node, Objects};
use crate::git::stat_cache::FileStat;

/// The index of a repository: only ever read. Without a file, or with one that makes no sense, it is
/// empty.
pub(crate) struct Tracked {
    index: gix::index::State,
    taken_ns: i64,
}

impl Tracked {
    /// Reads the index of a worktree's git folder.
    pub fn read(git_dir: &Path, hash: gix::hash::Kind) -> Self {
        let options = gix::index::decode::Options {
            thread_limit: Some(2),
            alloc_limit_bytes: Some(2 << 30),
            ..Default::default()
        };
        let file = gix::index::File::at(git_dir.join("index"), hash, true, options);
        let index = file.map_or_else(|_| gix::index::State::new(hash), |file| file.into_parts().0);
        let taken = index.timestamp();
        let taken_ns = taken.unix_seconds().saturating_mul(1_000_000_000);
        Self { taken_ns: taken_ns.saturating_add(i64::from(taken.nanoseconds())), index }
    }

    /// Every entry with its path, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &gix::index::Entry)> {
        self.index.entries().iter().map(|entry| (entry.path(&self.index).as_bytes(), entry))
    }

    /// Whether some entries are meant to be absent from the worktree.
    pub fn is_sparse(&self) -> bool {
        self.index.is_sparse() || self.entries().any(|(_, entry)| is_left_out(entry))
    }

    /// The entry of a path, of whatever stage.
    pub fn find(&self, path: &[u8]) -> Option<&gix::index::Entry> {
        let at = self.position(path);
        self.index.entries().get(at).filter(|entry| entry.path(&self.index) == path.as_bstr())
    }

    /// Whether a path, or anything below it, is tracked.
    pub fn has_at_or_below(&self, path: &[u8]) -> bool {
        if self.find(path).is_some() {
            return true;
        }
        let mut below = path.to_vec();
        below.push(b'/');
        let at = self.position(&below);
        let next = self.index.entries().get(at);
        next.is_some_and(|entry| entry.path(&self.index).starts_with(&below))
    }

    /// The commit of a submodule.
    pub fn submodule(&self, path: &[u8]) -> Option<ObjectId> {
        self.find(path).filter(|entry| entry.mode == Mode::COMMIT).map(|entry| entry.id)
    }

    /// What the index has for a path, when that is settled and stored.
    pub fn entry(&self, path: &[u8]) -> Option<Entry> {
        self.find(path).and_then(settled)
    }

    /// What the index has for a path whose file still is what it was when the index was written.
    pub fn unchanged(&self, path: &[u8], stat: &FileStat, mode: EntryMode) -> Option<ObjectId> {
        let entry = self.find(path)?;
        let known = settled(entry)?;
        let racy = ns(entry.stat.mtime).max(ns(entry.stat.ctime)) >= self.taken_ns;
        let same = known.mode == mode
            && ns(entry.stat.mtime) == low(stat.mtime_ns)
            && ns(entry.stat.ctime) == low(stat.ctime_ns)
            && u64::from(entry.stat.size) == stat.size & 0xffff_ffff
            && u64::from(entry.stat.ino) == stat.ino & 0xffff_ffff
            && entry.stat.uid == stat.uid;
        (same && !racy).then_some(known.id)
    }

    fn position(&self, path: &[u8]) -> usize {
        self.index.entries().partition_point(|entry| entry.path(&self.index).as_bytes() < path)
    }

    /// All settled entries that a tree does not have just so. Folders that the index knows to be the
    /// tree's are not looked into, so that the cost is that of the difference.
    pub fn beyond(&self, objects: &Objects, tree: &ObjectId) -> Result<Vec<(RepoPath, Entry)>> {
        let mut out = Vec::new();
        let all = self.index.entries();
        self.beyond_in(objects, Some(tree), self.index.tree(), &[], all, &mut out)?;
        Ok(out)
    }

    fn beyond_in(
        &self,
        objects: &Objects,
        tree: Option<&ObjectId>,
        cached: Option<&gix::index::extension::Tree>,
        folder: &[u8],
        mut entries: &[gix::index::Entry],
        out: &mut Vec<(RepoPath, Entry)>,
    ) -> Result<()> {
        let valid = cached.is_some_and(|cached| cached.num_entries.is_some());
        if valid && cached.map(|cached| cached.id).as_ref() == tree {
            return Ok(());
        }
        let nodes = tree.map(|tree| objects.tree(tree)).transpose()?.unwrap_or_default();
        let nodes: std::collections::HashMap<Vec<u8>, Node> = nodes.into_iter().collect();
        while let Some(entry) = entries.first() {
            let path = entry.path(&self.index).as_bytes();
            let Some(rest) = path.get(folder.len()..) else { break };
            let Some(slash) = rest.find_byte(b'/').filter(|_| !entry.mode.is_sparse()) else {
                let name = rest;
                let here = settled(entry).filter(|_| !is_left_out(entry));
                let same = here.is_none_or(|here| nodes.get(name) == Some(&Node::Entry(here)));
                if let (false, Some(here), Some(path)) = (same, here, RepoPath::new(path)) {
                    out.push((path, here));
                }
                entries = entries.get(1..).unwrap_or_default();
                continue;
            };
            let name = rest.get(..slash).unwrap_or_default();
            let below = path.get(..=folder.len() + slash).unwrap_or_default();
            let count = entries.partition_point(|entry| entry.path(&self.index).starts_with(below));
            let (inside, after) = entries.split_at_checked(count.max(1)).unwrap_or_default();
            let subtree = match nodes.get(name) {
                Some(Node::Folder(id)) => Some(id),
                _ => None,
            };
            let cached = cached.and_then(|cached| {
                cached.children.iter().find(|child| child.name.as_slice() == name)
            });
            self.beyond_in(objects, subtree, cached, below, inside, out)?;
            entries = after;
        }
        Ok(())
    }
}

/// Whether an entry is meant to be absent from the worktree (a sparse checkout).
pub(crate) fn is_left_out(entry: &gix::index::Entry) -> bool {
    entry.flags.contains(Flags::SKIP_WORKTREE) || entry.mode.is_sparse()
}

/// What a tree would have for an entry; nothing for conflicts, promises and whole folders.
pub(crate) fn settled(entry: &gix::index::Entry) -> Option<Entry> {
    let promised = entry.flags.contains(Flags::INTENT_TO_ADD);
    if promised || entry.stage_raw() != 0 {
        return None;
    }
    let mode = match entry.mode {
        Mode::FILE => EntryMode::File,
        Mode::FILE_EXECUTABLE => EntryMode::Executable,
        Mode::SYMLINK => EntryMode::Symlink,
        Mode::COMMIT => EntryMode::Submodule,
        _ => return None,
    };
    Some(Entry { mode, id: entry.id })
}

fn ns(time: gix::index::entry::stat::Time) -> i64 {
    i64::from(time.secs) * 1_000_000_000 + i64::from(time.nsecs)
}

/// A time as an index has it, with the low half of its seconds.
fn low(ns: i64) -> i64 {
    let seconds = ns.div_euclid(1_000_000_000) & 0xffff_ffff;
    seconds * 1_000_000_000 + ns.rem_euclid(1_000_000_000)
}
