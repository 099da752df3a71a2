//! Making files of a desk be exactly what they should be, whatever an attempt left in the way. Nothing
//! here needs to survive a crash, because the next preparation looks at everything again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use aurora_model::{Checkpoint, EntryMode, RepoPath, SkipReason};
use gix::hash::ObjectId;

use super::Desk;
use crate::error::{Error, Result};
use crate::git::beneath::{Folder, Fuse, Hand, NoWay, Root};
use crate::git::chain::tree_id;
use crate::git::objects::{Entry, Objects};
use crate::git::scan::permissions::unusual;
use crate::git::tree;
use crate::shadow::removal;
use crate::watchdog::DirtyPath;

/// What a desk has to be changed in.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// What shall stand at a path.
    pub put: Vec<(RepoPath, Entry)>,
    /// What goes.
    pub remove: Vec<RepoPath>,
    /// Folders without content that shall be there.
    pub make: Vec<RepoPath>,
    /// Folders without content that shall not.
    pub hollow: Vec<RepoPath>,
}

impl Due {
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.put.len() + self.remove.len() + self.make.len() + self.hollow.len()
    }

    /// What has to be looked at again afterwards: folders came and went with the files in them.
    pub fn touched(&self) -> Vec<DirtyPath> {
        let files = || self.put.iter().map(|(path, _)| path).chain(&self.remove);
        let folders = || self.make.iter().chain(&self.hollow);
        let mut paths = std::collections::BTreeMap::new();
        for path in files().chain(folders()) {
            paths.extend(path.parents().map(|folder| (folder, false)));
        }
        paths.extend(files().map(|path| (path.clone(), true)));
        paths.extend(folders().map(|path| (path.clone(), false)));
        paths.into_iter().map(|(path, whole)| DirtyPath { path, whole }).collect()
    }
}

impl Desk {
    /// How a desk differs from what it shall be, by what was just found in it.
    pub(super) fn due(&self, found: &Checkpoint, wanted: &Checkpoint) -> Result<Due> {
        let objects = self.own.store.objects()?;
        let (now, then) = (tree_id(&found.tree)?, tree_id(&wanted.tree)?);
        let mut due = Due::default();
        for delta in tree::compare(&objects, &now, &then)? {
            match delta.after {
                Some(after) => due.put.push((delta.path, after)),
                None => due.remove.push(delta.path),
            }
        }
        self.add_skipped(&objects, &then, found, &mut due)?;
        let paths = found.permissions.keys().chain(wanted.permissions.keys());
        for path in paths.collect::<BTreeSet<_>>() {
            if found.permissions.get(path) != wanted.permissions.get(path)
                && !due.put.iter().any(|(put, _)| put == path)
                && let Some(entry) = tree::find(&objects, &then, path)?
            {
                due.put.push((path.clone(), entry));
            }
        }
        let has = |folders: &[RepoPath], path: &RepoPath| folders.binary_search(path).is_ok();
        let (here, there) = (&found.empty_folders, &wanted.empty_folders);
        due.hollow.extend(here.iter().filter(|path| !has(there, path)).cloned());
        due.make.extend(there.iter().filter(|path| !has(here, path)).cloned());
        Ok(due)
    }

    /// What stands in a desk and is in no tree goes, or becomes what it should be. Ignored files stay.
    fn add_skipped(
        &self,
        objects: &Objects,
        wanted: &ObjectId,
        found: &Checkpoint,
        due: &mut Due,
    ) -> Result<()> {
        let root = Root::open(self.path(), Fuse::default())?;
        let mut hand = root.hand();
        for skipped in found.skipped.iter().filter(|one| one.reason != SkipReason::Ignored) {
            let path = &skipped.path;
            let Some(entry) = tree::find(objects, wanted, path)? else {
                due.remove.push(path.clone());
                continue;
            };
            let seen = hand.parent_of(path, false).ok();
            let seen = seen.and_then(|folder| folder.look(path.name(), self.own.place.hash).ok());
            if !seen.is_some_and(|seen| seen.is(Some(&entry))) {
                due.put.push((path.clone(), entry));
            }
        }
        Ok(())
    }

    /// Changes the files.
    pub(super) fn make_exact(&self, due: &Due, wanted: &Checkpoint) -> Result<()> {
        let root = Root::open(self.path(), Fuse::default())?;
        let objects = self.own.store.objects()?;
        let stays: BTreeSet<&RepoPath> = wanted.empty_folders.iter().collect();
        let mut hand = root.hand();
        for path in &due.remove {
            self.remove_one(&mut hand, path, &stays)?;
        }
        // The innermost come last in order.
        for path in due.hollow.iter().rev() {
            self.remove_hollow(&mut hand, path, &stays);
        }
        hand.forget();
        for (path, entry) in &due.put {
            self.put_one(&mut hand, &objects, path, entry, wanted)?;
        }
        for path in &due.make {
            let folder = self.way_to(&mut hand, path)?;
            make_folder(&folder, path).map_err(|error| self.failed("create", path, error))?;
        }
        Ok(())
    }

    fn remove_one(
        &self,
        hand: &mut Hand<'_>,
        path: &RepoPath,
        stays: &BTreeSet<&RepoPath>,
    ) -> Result<()> {
        let folder = match hand.parent_of(path, false) {
            Ok(folder) => folder,
            Err(NoWay::Failed(error)) => return Err(self.failed("open", path, error)),
            // Nothing is there, or only behind a link that goes by itself.
            Err(_) => return Ok(()),
        };
        clear(&folder, path.name()).map_err(|error| self.failed("remove", path, error))?;
        if let Some(above) = path.parent() {
            self.remove_hollow(hand, &above, stays);
        }
        Ok(())
    }

    /// Removes a folder that has nothing in it, and those above that have nothing else.
    fn remove_hollow(&self, hand: &mut Hand<'_>, path: &RepoPath, stays: &BTreeSet<&RepoPath>) {
        let mut at = Some(path.clone());
        while let Some(path) = at.filter(|path| !stays.contains(path)) {
            let Ok(folder) = hand.parent_of(&path, false) else { return };
            if folder.remove_folder(path.name()).is_err() {
                return;
            }
            hand.forget();
            at = path.parent();
        }
    }

    fn put_one(
        &self,
        hand: &mut Hand<'_>,
        objects: &Objects,
        path: &RepoPath,
        entry: &Entry,
        wanted: &Checkpoint,
    ) -> Result<()> {
        let folder = self.way_to(hand, path)?;
        let name = path.name();
        let failed = |error| self.failed("write", path, error);
        if entry.mode == EntryMode::Submodule {
            return make_folder(&folder, path).map_err(failed);
        }
        let bytes = objects.blob(&entry.id)?;
        clear(&folder, name).map_err(failed)?;
        if entry.mode == EntryMode::Symlink {
            return folder.link(&bytes, name).map_err(failed);
        }
        let executable = entry.mode == EntryMode::Executable;
        let mut file =
            folder.create(name, if executable { 0o777 } else { 0o666 }).map_err(failed)?;
        folder.write(&mut file, &bytes).map_err(failed)?;
        let has = unusual(file.metadata().map_err(failed)?.mode());
        let wants = wanted.permissions.get(path).copied();
        if has != wants {
            let usual = if executable { 0o755 } else { 0o644 };
            folder.set_permissions(&file, wants.unwrap_or(usual)).map_err(failed)?;
        }
        Ok(())
    }

    /// The folder of a path. What stands in the way and is no folder goes.
    fn way_to(&self, hand: &mut Hand<'_>, path: &RepoPath) -> Result<Folder> {
        for _ in path.parts() {
            let in_the_way = match hand.parent_of(path, true) {
                Ok(folder) => return Ok(folder),
                Err(NoWay::Link(at) | NoWay::NoFolder(at)) => at,
                Err(NoWay::Missing) => continue,
                Err(NoWay::Failed(error)) => return Err(self.failed("open", path, error)),
            };
            hand.forget();
            if let Ok(folder) = hand.parent_of(&in_the_way, false) {
                clear(&folder, in_the_way.name())
                    .map_err(|error| self.failed("remove", &in_the_way, error))?;
            }
        }
        Err(Error::Busy { what: format!("somebody is at work in {}", self.path().display()) })
    }

    fn failed(&self, doing: &'static str, path: &RepoPath, source: std::io::Error) -> Error {
        let path = self.path().join(OsStr::from_bytes(path.as_bytes()));
        Error::Io { doing, path, source }
    }
}

/// Removes whatever stands at a name.
fn clear(folder: &Folder, name: &[u8]) -> std::io::Result<()> {
    Ok(removal::remove_at(folder.as_fd(), OsStr::from_bytes(name))?)
}

/// Makes a folder at a path where something else may stand.
fn make_folder(folder: &Folder, path: &RepoPath) -> std::io::Result<()> {
    match folder.make_folder(path.name()) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let stat = folder.stat(path.name())?;
            let is_folder = stat.is_some_and(|stat| {
                crate::git::beneath::kind_of(&stat) == rustix::fs::FileType::Directory
            });
            if is_folder {
                return Ok(());
            }
            clear(folder, path.name())?;
            folder.make_folder(path.name())
        }
        made => made,
    }
}
