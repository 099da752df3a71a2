//! Following events: from what the kernel tells to which paths may have changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_model::RepoPath;
use rustix::fs::inotify::ReadFlags;

use super::dirty::DirtySet;
use super::folders::{FolderId, Folders, ROOT};
use super::kernel::{Event, Kernel, Listing, NoWatch};
use super::settle::Settling;
use super::{Options, Unwatched};

/// The first half of a rename, until the second half arrives.
struct Moving {
    path: RepoPath,
    folder: Option<FolderId>,
    sequence: u64,
    round: u64,
}

/// How long the second half of a rename may take after the first.
const HALF_A_RENAME: Duration = Duration::from_millis(10);

/// Everything that is known about a watched worktree.
pub(super) struct Follower {
    pub kernel: Arc<Kernel>,
    pub dirty: DirtySet,
    pub settling: Settling,
    folders: Folders,
    moving: HashMap<u32, Moving>,
    unwatched: Unwatched,
    /// Whether what need not be watched depends on the repository's rules, which can change.
    by_rules: bool,
    round: u64,
    /// Why not every folder is watched; tried again each time somebody asks.
    blind: Option<String>,
    /// Why nothing will ever be seen again.
    gone: Option<String>,
    overflowed: bool,
    #[cfg(test)]
    limit: Option<usize>,
}

impl Follower {
    /// Watches every folder below a root.
    pub fn start(kernel: Arc<Kernel>, unwatched: Unwatched, options: &Options) -> Self {
        let settle = Duration::from_millis(options.settle_ms);
        let mut follower = Self {
            kernel,
            dirty: DirtySet::new(options.max_dirty_paths),
            settling: Settling::new(settle, options.max_dirty_paths),
            folders: Folders::new(),
            moving: HashMap::new(),
            unwatched,
            by_rules: options.unwatched.is_some(),
            round: 0,
            blind: None,
            gone: None,
            overflowed: false,
            #[cfg(test)]
            limit: None,
        };
        follower.watch_all();
        follower
    }

    /// How many folders are watched.
    pub fn watches(&self) -> usize {
        self.folders.watches()
    }

    /// Why it cannot tell what changes, if it cannot.
    pub fn trouble(&self) -> Option<&str> {
        self.gone.as_deref().or(self.blind.as_deref())
    }

    /// Whether nothing will ever be seen again.
    pub fn is_lost(&self) -> bool {
        self.gone.is_some()
    }

    /// When this must be called again, whether something happens or not.
    pub fn next_due(&self) -> Option<Instant> {
        let half = (!self.moving.is_empty()).then(|| Instant::now() + HALF_A_RENAME);
        [half, self.settling.next_due()].into_iter().flatten().min()
    }

    /// Takes in all that has happened before this call. What happens meanwhile may be taken in too,
    /// but is not waited for, so that somebody who never stops writing cannot hold us here.
    pub fn catch_up(&mut self) {
        let mut left = self.kernel.waiting();
        let mut events = Vec::new();
        self.round += 1;
        while left > 0 {
            match self.kernel.read(&mut events) {
                Ok(0) => break,
                Ok(bytes) => left = left.saturating_sub(bytes),
                Err(error) => {
                    self.blind = Some(format!("the queue of events cannot be read: {error}"));
                    break;
                }
            }
            let now = Instant::now();
            for event in events.drain(..) {
                self.take(event, now);
            }
        }
        self.end_moves();
        if std::mem::take(&mut self.overflowed) {
            self.look_again("the kernel's queue of events overflowed");
        }
    }

    /// What somebody must know who asks: makes good what can be, and says why nothing can be told.
    pub fn ready(&mut self) -> Option<String> {
        if self.gone.is_none() && !self.kernel.root_is_there() {
            self.gone = Some("the worktree's folder is another one by now".to_owned());
        }
        if let Some(gone) = &self.gone {
            return Some(gone.clone());
        }
        let blind = self.blind.take()?;
        self.look_again(&blind);
        Some(blind)
    }

    /// Watches whatever is there by now and forgets what is not; anything may have changed.
    fn look_again(&mut self, because: &str) {
        self.dirty.everything(because);
        for (_, moving) in std::mem::take(&mut self.moving) {
            self.forget(moving.folder);
        }
        self.watch_all();
    }

    fn watch_all(&mut self) {
        self.blind = None;
        self.folders.begin_round();
        self.walk(ROOT, &[], &mut |_, _| {});
        if self.blind.is_none() {
            for watch in self.folders.end_round() {
                self.kernel.unwatch(watch);
            }
        }
    }

    /// Watches a folder and all below it. `found` is told every file that is there already.
    fn walk(&mut self, id: FolderId, path: &[u8], found: &mut dyn FnMut(&mut Self, RepoPath)) {
        let mut rest = vec![(id, path.to_vec())];
        while let Some((id, path)) = rest.pop().filter(|_| self.blind.is_none()) {
            let Some(listing) = self.watch(id, &path) else { continue };
            let folder = RepoPath::new(path);
            for name in listing.folders {
                let Some(below) = RepoPath::below(folder.as_ref(), &name) else { continue };
                if name != b".git" && !(self.unwatched)(&below) {
                    let id = self.folders.ensure(id, &name);
                    rest.push((id, below.as_bytes().to_vec()));
                }
            }
            for name in listing.files {
                if let Some(path) = RepoPath::below(folder.as_ref(), &name) {
                    found(self, path);
                }
            }
        }
    }

    fn watch(&mut self, id: FolderId, path: &[u8]) -> Option<Listing> {
        #[cfg(test)]
        if self.limit.is_some_and(|limit| self.folders.watches() >= limit) {
            self.blind = Some(super::kernel::too_many_folders());
            return None;
        }
        match self.kernel.watch(path) {
            Ok((watch, listing)) => {
                self.folders.watched(id, watch);
                return Some(listing);
            }
            Err(NoWatch::Gone | NoWatch::Unreadable) if id == ROOT => {
                self.gone = Some("the worktree's folder cannot be read".to_owned());
            }
            Err(NoWatch::Gone | NoWatch::Unreadable) => {}
            Err(NoWatch::Blind(because)) => self.blind = Some(because),
        }
        None
    }

    fn forget(&mut self, folder: Option<FolderId>) {
        for watch in folder.map(|id| self.folders.forget(id)).unwrap_or_default() {
            self.kernel.unwatch(watch);
        }
    }

    fn take(&mut self, event: Event, now: Instant) {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.overflowed = true;
            return;
        }
        let Some(folder) = self.folders.of_watch(event.watch) else { return };
        let Some(name) = event.name.as_deref() else {
            return self.take_of_folder(folder, &event);
        };
        let Some(at) = self.folders.path(folder) else { return };
        let at = RepoPath::new(at);
        let Some(path) = RepoPath::below(at.as_ref(), name) else { return };
        if name == b".git" {
            // What happens inside git's data is not ours to follow, but whether a folder is a
            // repository of its own changes how all of it is read.
            if let Some(at) = at.filter(|_| !event.flags.contains(ReadFlags::ATTRIB)) {
                self.dirty.insert(at.as_bytes(), true);
            }
        } else if event.flags.contains(ReadFlags::ISDIR) {
            self.take_folder(folder, path, &event, now);
        } else {
            self.take_file(path, &event, now);
            if self.by_rules && name == b".gitignore" {
                self.rules_changed(folder, at);
            }
        }
    }

    /// A folder's rules are others: what need not be watched before may have to be now.
    fn rules_changed(&mut self, folder: FolderId, at: Option<RepoPath>) {
        match at {
            Some(at) => {
                self.dirty.insert(at.as_bytes(), true);
                self.walk(folder, at.as_bytes(), &mut |_, _| {});
            }
            None => self.look_again("the rules for ignored files changed"),
        }
    }

    /// Something happened to a watched folder itself.
    fn take_of_folder(&mut self, folder: FolderId, event: &Event) {
        let lost = ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT;
        if folder == ROOT && event.flags.intersects(lost | ReadFlags::IGNORED) {
            self.gone = Some("the worktree's folder was moved, deleted or unmounted".to_owned());
        }
        if event.flags.contains(ReadFlags::UNMOUNT)
            && let Some(path) = self.folders.path(folder)
        {
            self.dirty.insert(&path, true);
        }
        if event.flags.contains(ReadFlags::IGNORED) {
            self.folders.unwatched(event.watch);
        }
    }

    /// Something happened to a folder inside a watched one.
    fn take_folder(&mut self, parent: FolderId, path: RepoPath, event: &Event, now: Instant) {
        let flags = event.flags;
        if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            let sequence = self.dirty.insert(path.as_bytes(), true);
            let folder = self.folders.detach(parent, path.name());
            if flags.contains(ReadFlags::MOVED_FROM) {
                let round = self.round;
                self.moving.insert(event.cookie, Moving { path, folder, sequence, round });
            } else {
                self.forget(folder);
            }
        } else if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            let moved = self.moving.remove(&event.cookie);
            self.folder_arrived(parent, path, moved, now);
        } else {
            self.dirty.insert(path.as_bytes(), false);
            let known = self.folders.below(parent, path.name());
            if !known.is_some_and(|id| self.folders.is_watched(id)) {
                // It may have become readable.
                self.folder_arrived(parent, path, None, now);
            }
        }
    }

    /// A folder is there that was not: whatever is in it was written before we watched it.
    fn folder_arrived(
        &mut self,
        parent: FolderId,
        path: RepoPath,
        moved: Option<Moving>,
        now: Instant,
    ) {
        let sequence = self.dirty.insert(path.as_bytes(), true);
        let from = moved.as_ref().map(|moved| moved.path.clone());
        if let Some(known) = moved.and_then(|moved| moved.folder) {
            let replaced = self.folders.detach(parent, path.name());
            self.forget(replaced);
            self.folders.attach(known, parent, path.name());
        }
        if (self.unwatched)(&path) {
            let excluded = self.folders.detach(parent, path.name());
            return self.forget(excluded);
        }
        let id = self.folders.ensure(parent, path.name());
        match from {
            Some(from) => {
                self.settling.folder_renamed(&from, &path, sequence, now);
                self.walk(id, path.as_bytes(), &mut |_, _| {});
            }
            None => self.walk(id, path.as_bytes(), &mut |me: &mut Self, file| {
                me.settling.created(file, sequence, now);
            }),
        }
    }

    /// Something happened to a file, a link, or whatever else is no folder.
    fn take_file(&mut self, path: RepoPath, event: &Event, now: Instant) {
        let sequence = self.dirty.insert(path.as_bytes(), false);
        let flags = event.flags;
        if flags.contains(ReadFlags::MOVED_FROM) {
            let (folder, round) = (None, self.round);
            self.moving.insert(event.cookie, Moving { path, folder, sequence, round });
        } else if flags.contains(ReadFlags::MOVED_TO) {
            match self.moving.remove(&event.cookie) {
                Some(moved) => self.settling.renamed(moved.path, path, sequence, now),
                None => self.settling.created(path, sequence, now),
            }
        } else if flags.contains(ReadFlags::CREATE) {
            self.settling.created(path, sequence, now);
        } else {
            self.settling.changed(path, sequence, now);
        }
    }

    /// What left and has not arrived by the next time we look has left the worktree.
    fn end_moves(&mut self) {
        let round = self.round;
        let ended = self.moving.extract_if(|_, moving| moving.round < round);
        for (_, moving) in ended.collect::<Vec<_>>() {
            self.forget(moving.folder);
            self.settling.changed(moving.path, moving.sequence, Instant::now());
        }
    }

    #[cfg(test)]
    pub fn lose_events(&mut self) {
        self.overflowed = true;
    }

    #[cfg(test)]
    pub fn set_limit(&mut self, limit: Option<usize>) {
        self.limit = limit;
    }
}
