//! Forgetting checkpoints and giving their space back.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use aurora_model::{Checkpoint, CheckpointId};
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::Objects;
use crate::git::pack::PackWriter;
use crate::git::place::Place;
use crate::git::private::{PrivateStore, PruneLock};
use crate::request::{Pruned, Retention};

mod choice;
mod cover;
mod reach;

pub(crate) use choice::doomed;
use reach::Reach;

impl GitWorkspace {
    pub(crate) fn prune_checkpoints(&self, retention: &Retention) -> Result<Pruned> {
        self.heal_all()?;
        if retention.dry_run {
            return dry_run(self, &self.list_checkpoints()?, retention);
        }
        let lock = self.store.lock_for_pruning(&self.place)?;
        prune_among(self, &self.list_checkpoints()?, retention, &lock)
    }
}

fn dry_run(workspace: &GitWorkspace, all: &[Checkpoint], retention: &Retention) -> Result<Pruned> {
    let doomed = doomed(all, retention, (workspace.settings.now)())?;
    let bytes = workspace.store.bytes()?;
    Ok(outcome(all, doomed, bytes, bytes))
}

/// Forgets what the rules name, then writes one pack of what is left.
///
/// Each step leaves every remaining checkpoint whole: first what they need is secured, then refs
/// go, then a new pack is written, then old packs go, and last the user's objects are released.
fn prune_among(
    workspace: &GitWorkspace,
    all: &[Checkpoint],
    retention: &Retention,
    _lock: &PruneLock,
) -> Result<Pruned> {
    let (store, progress) = (&workspace.store, &workspace.settings.progress);
    let doomed = doomed(all, retention, (workspace.settings.now)())?;
    let bytes_before = store.bytes()?;
    let left: Vec<&Checkpoint> =
        all.iter().filter(|one| !doomed.contains(&one.checkpoint_id)).collect();
    progress.at("pruning", 0, Some(3));
    let keep = secure(store, &workspace.place, &left)?;
    forget(store, &workspace.place, &doomed)?;
    progress.at("pruning", 1, Some(3));
    drop_unreachable(store, &workspace.place)?;
    progress.at("pruning", 2, Some(3));
    store.keep(&workspace.place, &keep)?;
    store.remove_leftovers();
    progress.at("pruning", 3, Some(3));
    Ok(outcome(all, doomed, bytes_before, store.bytes()?))
}

/// Decides which of the user's trees must be kept for the checkpoints that are left, and copies
/// what these need of the others.
fn secure(store: &PrivateStore, place: &Place, left: &[&Checkpoint]) -> Result<Vec<ObjectId>> {
    let objects = store.objects()?;
    let mut reach = Reach::new(store, &objects);
    let mut wanted = BTreeSet::new();
    for checkpoint in left {
        let trees = [Some(&checkpoint.tree), checkpoint.staged_tree.as_ref()];
        for tree in trees.into_iter().flatten() {
            reach.add_tree(parse(&tree.0)?)?;
        }
        wanted.insert(parse(&checkpoint.base_tree.0)?);
    }
    wanted.extend(left.last().and_then(|latest| head_tree(&objects, latest)));
    let kept = store.kept(place)?;
    let covered = cover::choose(&objects, &kept, &wanted, reach.foreign)?;
    let mut pack = PackWriter::new(store)?;
    for id in covered.missing {
        cover::copy(&objects, &id, &mut pack)?;
    }
    pack.finish()?;
    Ok(covered.keep)
}

/// Removes the refs of checkpoints, and the files about them that people read.
fn forget(store: &PrivateStore, place: &Place, doomed: &[CheckpointId]) -> Result<()> {
    let prefix = format!("refs/aurora/checkpoints/{}/", place.feature);
    let names: Vec<String> = doomed.iter().map(|id| format!("{prefix}{id}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    store.remove_refs(&names)?;
    for dir in [&place.feature_dir, &place.projections_dir] {
        remove_files_about(&dir.join("checkpoints"), doomed)?;
    }
    Ok(())
}

/// Writes one pack of all that any feature's refs reach, and removes the others. While somebody's
/// transition is unfinished, nothing is dropped: it may need what no ref reaches.
fn drop_unreachable(store: &PrivateStore, place: &Place) -> Result<()> {
    if has_unfinished_work(place)? {
        return Ok(());
    }
    let objects = store.objects()?;
    let mut reach = Reach::new(store, &objects);
    for (_, id) in store.refs("refs/")? {
        reach.add(id)?;
    }
    store.retain_only(place, &reach.owned)
}

fn has_unfinished_work(place: &Place) -> Result<bool> {
    let dir = place.aurora_dir.join("features");
    for entry in fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
        let feature = entry.map_err(Error::io("list", &dir))?.path();
        if fs::symlink_metadata(feature.join("journal")).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn outcome(
    all: &[Checkpoint],
    forgotten: Vec<CheckpointId>,
    bytes_before: u64,
    bytes_after: u64,
) -> Pruned {
    let kept = (all.len() - forgotten.len()) as u64;
    Pruned { forgotten, kept, bytes_before, bytes_after }
}

fn parse(hex: &str) -> Result<ObjectId> {
    ObjectId::from_hex(hex.as_bytes())
        .map_err(|_| Error::Corrupt { what: format!("`{hex}` is no name of a tree") })
}

/// The tree of the commit that was checked out, where that commit is still there.
fn head_tree(objects: &Objects, checkpoint: &Checkpoint) -> Option<ObjectId> {
    let commit = parse(checkpoint.head.commit.as_deref()?).ok()?;
    let bytes = objects.data(&commit, Kind::Commit).ok()?;
    gix::objs::CommitRefIter::from_bytes(&bytes, objects.hash).tree_id().ok()
}

/// Removes the files of a folder whose names begin with a checkpoint's.
fn remove_files_about(dir: &Path, doomed: &[CheckpointId]) -> Result<()> {
    if !fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    for entry in fs::read_dir(dir).map_err(Error::io("list", dir))? {
        let entry = entry.map_err(Error::io("list", dir))?;
        let name = entry.file_name();
        let about = name.to_str().and_then(|name| name.split('.').next()).unwrap_or_default();
        if !doomed.iter().any(|id| id.0 == about) {
            continue;
        }
        match fs::remove_file(entry.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", entry.path())(error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
