//! Which watch stands for which folder: names with parents shared, and nothing about files.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A folder that is watched, or was about to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FolderId(usize);

/// The worktree's root.
pub(super) const ROOT: FolderId = FolderId(0);

#[derive(Debug, Default)]
struct Folder {
    name: Arc<[u8]>,
    /// Nothing for the root, and for a folder that was moved and has not arrived yet.
    parent: Option<FolderId>,
    watch: Option<i32>,
    below: BTreeMap<Arc<[u8]>, FolderId>,
    round: u32,
}

/// All watched folders of a worktree.
#[derive(Debug)]
pub(super) struct Folders {
    all: Vec<Folder>,
    free: Vec<usize>,
    by_watch: HashMap<i32, FolderId>,
    round: u32,
}

impl Folders {
    /// The root alone, not watched yet.
    pub fn new() -> Self {
        let all = vec![Folder::default()];
        Self { all, free: Vec::new(), by_watch: HashMap::new(), round: 0 }
    }

    /// How many watches there are.
    pub fn watches(&self) -> usize {
        self.by_watch.len()
    }

    /// The folder that a watch stands for.
    pub fn of_watch(&self, watch: i32) -> Option<FolderId> {
        self.by_watch.get(&watch).copied()
    }

    /// Whether a folder is watched.
    pub fn is_watched(&self, id: FolderId) -> bool {
        self.get(id).is_some_and(|folder| folder.watch.is_some())
    }

    /// A folder below another, by name.
    pub fn below(&self, parent: FolderId, name: &[u8]) -> Option<FolderId> {
        self.get(parent)?.below.get(name).copied()
    }

    /// The path of a folder, empty for the root; nothing while it is on the move.
    pub fn path(&self, id: FolderId) -> Option<Vec<u8>> {
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut at = id;
        while at != ROOT {
            let folder = self.get(at)?;
            parts.push(&folder.name);
            at = folder.parent?;
        }
        parts.reverse();
        Some(parts.join(&b'/'))
    }

    /// The folder of a name below another; made when it is not known yet.
    pub fn ensure(&mut self, parent: FolderId, name: &[u8]) -> FolderId {
        if let Some(known) = self.below(parent, name) {
            return known;
        }
        let name: Arc<[u8]> = name.into();
        let folder = Folder { name: Arc::clone(&name), parent: Some(parent), ..Folder::default() };
        let id = self.place(folder);
        if let Some(parent) = self.all.get_mut(parent.0) {
            parent.below.insert(name, id);
        }
        id
    }

    /// Notes that a watch stands for a folder, and that it was met in this round. A watch belongs to
    /// one folder only: the one that was looked up last.
    pub fn watched(&mut self, id: FolderId, watch: i32) {
        if let Some(other) = self.by_watch.insert(watch, id).filter(|other| *other != id)
            && let Some(other) = self.all.get_mut(other.0)
        {
            other.watch = None;
        }
        let round = self.round;
        let Some(folder) = self.all.get_mut(id.0) else { return };
        folder.round = round;
        if let Some(old) = folder.watch.replace(watch).filter(|old| *old != watch)
            && self.by_watch.get(&old) == Some(&id)
        {
            self.by_watch.remove(&old);
        }
    }

    /// The kernel has ended a watch.
    pub fn unwatched(&mut self, watch: i32) {
        let Some(id) = self.by_watch.remove(&watch) else { return };
        if let Some(folder) = self.all.get_mut(id.0) {
            folder.watch = None;
        }
    }

    /// Takes a folder out of its place with all below it, for `attach` or `forget`.
    pub fn detach(&mut self, parent: FolderId, name: &[u8]) -> Option<FolderId> {
        let id = self.all.get_mut(parent.0)?.below.remove(name)?;
        self.all.get_mut(id.0)?.parent = None;
        Some(id)
    }

    /// Puts a detached folder to a new place. Whatever was known of that name must be gone already.
    pub fn attach(&mut self, id: FolderId, parent: FolderId, name: &[u8]) {
        let name: Arc<[u8]> = name.into();
        if let Some(folder) = self.all.get_mut(id.0) {
            folder.parent = Some(parent);
            folder.name = Arc::clone(&name);
        }
        if let Some(parent) = self.all.get_mut(parent.0) {
            parent.below.insert(name, id);
        }
    }

    /// Forgets a detached folder and all below it; says which watches that ends.
    pub fn forget(&mut self, id: FolderId) -> Vec<i32> {
        let mut ended = Vec::new();
        let mut rest = vec![id];
        while let Some(id) = rest.pop().filter(|id| *id != ROOT) {
            let Some(folder) = self.all.get_mut(id.0).map(std::mem::take) else { continue };
            rest.extend(folder.below.into_values());
            if let Some(watch) = folder.watch {
                self.by_watch.remove(&watch);
                ended.push(watch);
            }
            self.free.push(id.0);
        }
        ended
    }

    /// Begins a round in which every folder that is still there is met again.
    pub fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Forgets every folder that this round has not met; says which watches that ends.
    pub fn end_round(&mut self) -> Vec<i32> {
        let mut ended = Vec::new();
        let mut rest = vec![ROOT];
        while let Some(id) = rest.pop() {
            let Some(folder) = self.get(id) else { continue };
            let (met, gone): (Vec<FolderId>, Vec<FolderId>) = folder
                .below
                .values()
                .partition(|id| self.get(**id).is_some_and(|folder| folder.round == self.round));
            rest.extend(met);
            for gone in gone {
                let name = self.get(gone).map(|folder| Arc::clone(&folder.name));
                let gone = name.and_then(|name| self.detach(id, &name));
                ended.extend(gone.map(|gone| self.forget(gone)).unwrap_or_default());
            }
        }
        ended
    }

    fn get(&self, id: FolderId) -> Option<&Folder> {
        self.all.get(id.0)
    }

    fn place(&mut self, folder: Folder) -> FolderId {
        if let Some(free) = self.free.pop()
            && let Some(slot) = self.all.get_mut(free)
        {
            *slot = folder;
            return FolderId(free);
        }
        self.all.push(folder);
        FolderId(self.all.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_move_with_all_below_them_and_watches_change_hands() {
        let mut folders = Folders::new();
        folders.watched(ROOT, 1);
        let a = folders.ensure(ROOT, b"a");
        let b = folders.ensure(a, b"b");
        folders.watched(a, 2);
        folders.watched(b, 3);
        assert_eq!(folders.path(b).as_deref(), Some(&b"a/b"[..]));
        assert_eq!(folders.detach(ROOT, b"a"), Some(a));
        assert_eq!(folders.path(b), None, "it is on the move");
        folders.attach(a, ROOT, b"z");
        assert_eq!(folders.path(b).as_deref(), Some(&b"z/b"[..]));
        let other = folders.ensure(ROOT, b"other");
        folders.watched(other, 3);
        assert!(!folders.is_watched(b));
        assert_eq!(folders.of_watch(3), Some(other));
        folders.begin_round();
        folders.watched(ROOT, 1);
        folders.watched(other, 3);
        assert_eq!(folders.end_round(), [2]);
        assert_eq!((folders.watches(), folders.below(ROOT, b"z")), (2, None));
        assert_eq!(folders.ensure(other, b"new").0.max(2), 2, "places are used again");
    }
}
