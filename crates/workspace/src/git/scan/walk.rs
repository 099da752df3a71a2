//! Walking through folders: what is there, what of it counts, and what is known already.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use aurora_model::{EntryMode, Nested, RepoPath, SkipReason, Skipped};
use rustix::fs::{Dir, FileType};

use super::names::{MAX_SECRET_BYTES, is_secrets_like};
use super::open::{Root, is_gone, stat_in};
use super::repository::Repository;
use crate::git::Settings;
use crate::git::ignore::Rules;
use crate::git::objects::Entry;
use crate::git::stat_cache::{FileStat, Folder, StatCache, entry_mode};
use crate::request::{CheckpointRequest, IgnoredFiles};

/// A folder to look at, and what holds in it.
pub(crate) struct Task {
    /// Its path; empty for the root.
    pub path: Vec<u8>,
    /// The repository that it is in.
    pub repository: Arc<Repository>,
    /// The rules of the folders above it.
    pub rules: Arc<Rules>,
    /// Whether the rules leave it out, so that only what is known counts.
    pub ignored: bool,
    /// The only names to look at, and whether all below them counts; nothing for all names.
    pub only: Option<BTreeMap<Vec<u8>, bool>>,
}

/// What is known about a file's content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// It is this, because the file is as it was then.
    Known(Entry),
    /// It must be read.
    Unread(EntryMode),
    /// It could not be taken, and what was known before stays.
    Stays(Entry),
}

/// A file that counts.
pub(crate) struct SeenFile {
    /// Its name.
    pub name: Vec<u8>,
    /// What the file system said; nothing when there is no file.
    pub stat: Option<FileStat>,
    /// What is known about its content.
    pub content: Content,
}

/// A folder that was looked at.
pub(crate) struct SeenFolder {
    /// Its path.
    pub path: Vec<u8>,
    /// The only names that were looked at; nothing for all.
    pub only: Option<BTreeMap<Vec<u8>, bool>>,
    /// Its files, by name.
    pub files: Vec<SeenFile>,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Found {
    /// The folders that were looked at.
    pub folders: Vec<SeenFolder>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Folders without anything in them.
    pub empty: Vec<RepoPath>,
    /// Repositories inside.
    pub nested: Vec<(Nested, Arc<Repository>)>,
    /// Submodules that are not checked out.
    pub submodules: Vec<(Vec<u8>, Entry)>,
    /// Folders that could not be read: what was known below them stays.
    pub closed: Vec<Vec<u8>>,
}

/// Walks through folders.
pub(crate) struct Walker<'a> {
    /// What the caller knows.
    pub settings: &'a Settings,
    /// The root, open.
    pub root: &'a Root,
    /// The root's path.
    pub root_path: &'a Path,
    /// What the previous tree has.
    pub old: &'a StatCache,
    /// Whether that is only the part of it that is looked at, and the index is as it was then.
    pub partial: bool,
    /// Whether that is a checkpoint's tree: what was captured once is captured until it is deleted.
    pub captured: bool,
    /// What is asked for.
    pub request: &'a CheckpointRequest,
    /// Which hash the repository's objects are named by.
    pub hash: gix::hash::Kind,
    /// How many files were seen.
    pub seen: AtomicU64,
}

/// The names in a folder, and what stands there as far as the folder says.
type Names = Vec<(Vec<u8>, FileType)>;

struct Queue {
    tasks: Vec<Task>,
    busy: usize,
}

/// What holds in a folder: its own rules, its repository, whether it is left out.
struct Holds {
    rules: Arc<Rules>,
    repository: Arc<Repository>,
    ignored: bool,
}

impl Walker<'_> {
    /// Looks at folders and all that is below them, on as many threads as given.
    pub fn walk(&self, tasks: Vec<Task>, threads: usize) -> Found {
        let queue = (Mutex::new(Queue { tasks, busy: 0 }), Condvar::new());
        if threads < 2 {
            return self.work(&queue);
        }
        std::thread::scope(|scope| {
            let other = scope.spawn(|| self.work(&queue));
            let mut found = self.work(&queue);
            if let Ok(other) = other.join() {
                found.folders.extend(other.folders);
                found.skipped.extend(other.skipped);
                found.empty.extend(other.empty);
                found.nested.extend(other.nested);
                found.submodules.extend(other.submodules);
                found.closed.extend(other.closed);
            }
            found
        })
    }

    fn work(&self, (queue, changed): &(Mutex<Queue>, Condvar)) -> Found {
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Found::default();
        let mut own = Vec::new();
        loop {
            let task = own.pop().or_else(|| {
                let mut queue = lock();
                loop {
                    if let Some(task) = queue.tasks.pop() {
                        queue.busy += 1;
                        return Some(task);
                    }
                    if queue.busy == 0 {
                        changed.notify_all();
                        return None;
                    }
                    queue = changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
            });
            let Some(task) = task else { return found };
            self.look(task, &mut found, &mut own);
            // Half of what was found is for the other thread, as soon as that has nothing.
            let mut queue = lock();
            if queue.tasks.is_empty() && own.len() > 1 {
                queue.tasks.extend(own.drain(..own.len() / 2));
                changed.notify_all();
            }
            if own.is_empty() {
                queue.busy -= 1;
                if queue.busy == 0 && queue.tasks.is_empty() {
                    changed.notify_all();
                }
            }
        }
    }

    /// Looks at one folder; the folders in it become tasks.
    fn look(&self, task: Task, found: &mut Found, tasks: &mut Vec<Task>) {
        let folder = match self.root.folder(&task.path) {
            Ok(folder) => folder,
            Err(error) if is_gone(error) => return,
            Err(_) => return self.note_closed(&task.path, found),
        };
        let Ok((folder, mut names)) = list(folder, task.only.as_ref()) else {
            return self.note_closed(&task.path, found);
        };
        let Ok(folder) = folder.fd() else { return self.note_closed(&task.path, found) };
        if names.is_empty() && !task.path.is_empty() {
            return self.note_empty(&task, found);
        }
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let holds = self.enter(&task, &names, folder, found);
        let mut files = Vec::with_capacity(names.len());
        let old = self.old.folder(&task.path).map(|(_, folder)| folder);
        let mut path = task.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        let base = path.len();
        for (name, kind) in names {
            path.truncate(base);
            path.extend_from_slice(&name);
            if name == b".git" {
                if !task.path.is_empty() && task.only.is_none() {
                    note(found, &path, SkipReason::GitData, kind == FileType::Directory, None);
                }
                continue;
            }
            let stat = match kind {
                FileType::Directory => None,
                _ => match stat_in(folder, &name) {
                    Ok(stat) => Some(FileStat::from(&stat)),
                    Err(error) if is_gone(error) => continue,
                    Err(_) => {
                        self.note_unreadable(&holds, old, &path, name, found, &mut files);
                        continue;
                    }
                },
            };
            match stat.filter(|stat| stat.mode & 0o170_000 != 0o040_000) {
                Some(stat) => {
                    let file = self.judge(&holds, old, &path, &name, stat, found);
                    files.extend(file.map(|content| SeenFile { name, stat: Some(stat), content }));
                }
                None if self.descends(&task, &path, &name) => {
                    tasks.extend(self.folder_task(&holds, &path, found));
                }
                None => {}
            }
        }
        let seen = self.seen.fetch_add(files.len() as u64, Ordering::Relaxed) + files.len() as u64;
        self.settings.progress.at("scanning", seen, None);
        found.folders.push(SeenFolder { path: task.path, only: task.only, files });
    }

    /// What holds in a folder: a repository inside starts afresh.
    fn enter(
        &self,
        task: &Task,
        names: &[(Vec<u8>, FileType)],
        folder: BorrowedFd<'_>,
        found: &mut Found,
    ) -> Holds {
        let has = |name: &[u8]| names.binary_search_by(|have| have.0.as_slice().cmp(name)).is_ok();
        let base = if task.path.is_empty() { 0 } else { task.path.len() + 1 };
        let mut holds = Holds {
            rules: Arc::clone(&task.rules),
            repository: Arc::clone(&task.repository),
            ignored: task.ignored,
        };
        if task.only.is_none() && !task.path.is_empty() && has(b".git") {
            let inside = Repository::inside(self.settings, self.root_path, &task.path, self.hash);
            if let Some(inside) = inside {
                let submodule = task.repository.submodule(&task.path).is_some();
                holds.ignored = task.ignored && !submodule;
                holds.rules = Arc::clone(&inside.rules);
                if let Some(path) = RepoPath::new(task.path.clone()) {
                    let head = inside.head().commit;
                    found.nested.push((Nested { path, head, submodule }, Arc::clone(&inside)));
                }
                holds.repository = inside;
            }
        }
        if task.only.is_some() || has(b".gitignore") {
            holds.rules = holds.rules.enter(folder, base);
        }
        holds
    }

    /// Whether a file counts, and what is known about its content.
    fn judge(
        &self,
        holds: &Holds,
        old: Option<&Folder>,
        path: &[u8],
        name: &[u8],
        stat: FileStat,
        found: &mut Found,
    ) -> Option<Content> {
        let before = old.and_then(|folder| self.old.find(folder, name));
        let captured = self.captured && before.is_some();
        if !captured && !self.is_asked_for(path) {
            let ignored = holds.ignored || holds.rules.ignores(path, false);
            let tracked = || holds.repository.tracks(path);
            if ignored && !tracked() && !self.is_secret(holds, name, &stat) {
                note(found, path, SkipReason::Ignored, false, None);
                return None;
            }
        }
        let Some(mode) = entry_mode(stat.mode) else {
            note(found, path, SkipReason::SpecialFile, false, None);
            return None;
        };
        if mode != EntryMode::Symlink && stat.size > self.request.limits.max_file_bytes {
            note(found, path, SkipReason::TooLarge, false, Some(stat.size));
            return self.before(holds, old, path, name).map(Content::Stays);
        }
        match before {
            Some(record) if record.stat == Some(stat) && record.entry.mode == mode => {
                Some(Content::Known(record.entry))
            }
            _ => Some(Content::Unread(mode)),
        }
    }

    /// What was known at a path before: by the previous checkpoint, or by the index.
    fn before(
        &self,
        holds: &Holds,
        old: Option<&Folder>,
        path: &[u8],
        name: &[u8],
    ) -> Option<Entry> {
        let before = old.and_then(|folder| self.old.find(folder, name));
        let before = before.filter(|_| self.captured).map(|record| record.entry);
        before.or_else(|| holds.repository.tracked().entry(holds.repository.inner(path)))
    }

    fn is_secret(&self, holds: &Holds, name: &[u8], stat: &FileStat) -> bool {
        self.request.ignored == IgnoredFiles::SecretsLike
            && !holds.ignored
            && stat.size <= MAX_SECRET_BYTES
            && is_secrets_like(name)
    }

    /// Whether a path is, or lies below, one that is taken whatever the rules say.
    fn is_asked_for(&self, path: &[u8]) -> bool {
        self.request.also.iter().any(|also| is_within(path, also.as_bytes()))
    }

    /// Whether a folder's content is looked at: always, unless only some names are and it was there
    /// before.
    fn descends(&self, task: &Task, path: &[u8], name: &[u8]) -> bool {
        let Some(only) = &task.only else { return true };
        only.get(name).copied().unwrap_or_default() || !self.old.has_below(path)
    }

    fn folder_task(&self, holds: &Holds, path: &[u8], found: &mut Found) -> Option<Task> {
        let asked = self.is_asked_for(path);
        let ignored = !asked && (holds.ignored || holds.rules.ignores(path, true));
        let known = || {
            (self.captured && self.old.has_below(path))
                || self.request.also.iter().any(|also| is_within(also.as_bytes(), path))
                || holds.repository.tracks_below(path)
        };
        if ignored && !known() {
            note(found, path, SkipReason::Ignored, true, None);
            return None;
        }
        Some(Task {
            path: path.to_vec(),
            repository: Arc::clone(&holds.repository),
            rules: Arc::clone(&holds.rules),
            ignored,
            only: None,
        })
    }

    /// A folder without anything in it is noted, or is a submodule that is not checked out.
    fn note_empty(&self, task: &Task, found: &mut Found) {
        let before = self.old.at(&task.path).map(|record| record.entry);
        let before = before.filter(|entry| self.captured && entry.mode == EntryMode::Submodule);
        let indexed = task.repository.submodule(&task.path);
        if let Some(id) = indexed.or(before.map(|entry| entry.id).filter(|_| self.partial)) {
            let entry = Entry { mode: EntryMode::Submodule, id };
            found.submodules.push((task.path.clone(), entry));
        } else if !task.ignored {
            found.empty.extend(RepoPath::new(task.path.clone()));
        }
        found.folders.push(SeenFolder { path: task.path.clone(), only: None, files: Vec::new() });
    }

    fn note_closed(&self, path: &[u8], found: &mut Found) {
        note(found, path, SkipReason::Unreadable, true, None);
        found.closed.push(path.to_vec());
    }

    fn note_unreadable(
        &self,
        holds: &Holds,
        old: Option<&Folder>,
        path: &[u8],
        name: Vec<u8>,
        found: &mut Found,
        files: &mut Vec<SeenFile>,
    ) {
        note(found, path, SkipReason::Unreadable, false, None);
        if let Some(entry) = self.before(holds, old, path, &name) {
            files.push(SeenFile { name, stat: None, content: Content::Stays(entry) });
        }
    }
}

/// The names in a folder without `.` and `..`, or those that are asked for; and the folder itself.
fn list(
    folder: OwnedFd,
    only: Option<&BTreeMap<Vec<u8>, bool>>,
) -> rustix::io::Result<(Dir, Names)> {
    let mut folder = Dir::new(folder)?;
    if let Some(only) = only {
        let names = only.keys().map(|name| (name.clone(), FileType::Unknown)).collect();
        return Ok((folder, names));
    }
    let mut names = Vec::new();
    while let Some(entry) = folder.read() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push((name.to_vec(), entry.file_type()));
        }
    }
    Ok((folder, names))
}

fn note(found: &mut Found, path: &[u8], reason: SkipReason, folder: bool, bytes: Option<u64>) {
    let path = RepoPath::new(path);
    found.skipped.extend(path.map(|path| Skipped { path, reason, folder, bytes }));
}

/// Whether a path is a folder's or lies below it.
pub(crate) fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || folder.is_empty())
}
