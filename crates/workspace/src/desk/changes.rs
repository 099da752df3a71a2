//! What an attempt changed at its desk, whichever way it did that.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use aurora_model::{Change, CheckpointKind, EntryMode, RepoPath, SkipReason, TreeId};
use gix::hash::ObjectId;

use super::note::{Begun, Left};
use super::{Desk, DeskChanges, MAX_PATCH_BYTES};
use crate::error::Result;
use crate::escape::{Asked, Facts};
use crate::git::chain::{change, tree_id};
use crate::git::pack::PackWriter;
use crate::git::scan::ScanNotes;
use crate::git::tree::{self, Delta};
use crate::request::{CheckpointRequest, Scan};

impl Desk {
    /// What is at the desk now and was not when it was prepared with `base`: told from the files, so
    /// that it does not matter what was committed, staged or renamed. Asked again, it says the same.
    pub fn changes(&self, base: &TreeId) -> Result<DeskChanges> {
        let lock = self.lock()?;
        let begun = self.begun_with(base)?;
        let request = CheckpointRequest {
            kind: CheckpointKind::Desk,
            scan: Scan::Full,
            ..CheckpointRequest::default()
        };
        let (now, notes) = self.own.current_tree(&request, &lock)?;
        let (result, changes) = self.result_of(&begun, now)?;
        let left = self.remember_left(&begun, &result, &changes, &notes)?;
        let mut out = Capped::default();
        self.own.write_diff(base, &result, &[], &mut out)?;
        let stats = self.own.stat(base, &result, &[])?;
        let nested: Vec<RepoPath> = notes.nested.iter().map(|one| one.path.clone()).collect();
        let violations = self.own.find_violations(&Asked {
            tree: &result,
            base_tree: Some(base),
            changes: &changes,
            skipped: &notes.skipped,
            nested: &nested,
            facts: &|path| Facts::of(self.path(), path),
        })?;
        let left_out = notes.skipped.into_iter();
        Ok(DeskChanges {
            base: base.clone(),
            result,
            lines_added: stats.iter().map(|stat| stat.added).sum(),
            lines_removed: stats.iter().map(|stat| stat.removed).sum(),
            changes,
            empty_folders: left.made,
            patch_is_whole: !out.is_cut,
            patch: out.bytes,
            violations: violations.violations,
            left_out: left_out.filter(|one| one.reason != SkipReason::Ignored).collect(),
        })
    }

    /// The tree that adopting takes: the base with what differs between the beginning and now.
    fn result_of(&self, begun: &Begun, now: ObjectId) -> Result<(TreeId, Vec<Change>)> {
        let objects = self.own.store.objects()?;
        let (base, start) = (tree_id(&begun.base)?, tree_id(&begun.start)?);
        let mut deltas = tree::compare(&objects, &start, &now)?;
        let whole = deltas.len();
        leave_submodules(&mut deltas);
        let mut result = now;
        if base != start || deltas.len() != whole {
            let edits: BTreeMap<_, _> =
                deltas.iter().map(|delta| (delta.path.clone(), delta.after)).collect();
            let mut pack = PackWriter::new(&self.own.store)?;
            result = tree::edit(&objects, &base, &edits, &mut pack)?;
            pack.finish()?;
        }
        let objects = self.own.store.objects()?;
        let deltas = tree::compare(&objects, &base, &result)?;
        // Whoever prunes must leave it until it is adopted.
        self.own.store.set_ref(&self.ref_to("result"), &result)?;
        Ok((TreeId(result.to_string()), deltas.iter().filter_map(change).collect()))
    }

    /// Writes down what a tree cannot hold.
    fn remember_left(
        &self,
        begun: &Begun,
        result: &TreeId,
        changes: &[Change],
        notes: &ScanNotes,
    ) -> Result<Left> {
        let is_there = |path: &RepoPath| {
            self.path().join(OsStr::from_bytes(path.as_bytes())).symlink_metadata().is_ok()
        };
        let had = |path: &&RepoPath| !begun.empty_folders.contains(path);
        let gone = begun.empty_folders.iter().filter(|path| !is_there(path));
        // Those above went with it.
        let gone = gone.flat_map(|path| {
            let above: Vec<RepoPath> = path.parents().filter(|above| !is_there(above)).collect();
            std::iter::once(path.clone()).chain(above)
        });
        let gone: BTreeSet<RepoPath> = gone.collect();
        let new = |path: &&RepoPath| {
            changes.iter().any(|change| change.path == **path && change.before.is_none())
        };
        let unusual = notes.permissions.iter().filter(|(path, _)| new(path));
        let left = Left {
            base: begun.base.clone(),
            result: result.clone(),
            made: notes.empty_folders.iter().filter(had).cloned().collect(),
            gone: gone.into_iter().rev().collect(),
            permissions: unusual.map(|(path, bits)| (path.clone(), *bits)).collect(),
        };
        self.write_note(&left, true)?;
        Ok(left)
    }
}

/// Submodules are never changed: what an attempt checked out below one stays at the desk.
fn leave_submodules(deltas: &mut Vec<Delta>) {
    let is_submodule = |delta: &&Delta| {
        let modes = [delta.before, delta.after].into_iter().flatten();
        modes.into_iter().any(|entry| entry.mode == EntryMode::Submodule)
    };
    let submodules: Vec<RepoPath> =
        deltas.iter().filter(is_submodule).map(|delta| delta.path.clone()).collect();
    deltas.retain(|delta| !submodules.iter().any(|path| delta.path.is_within(path)));
}

/// Takes whole files of a patch until there is no more room.
#[derive(Default)]
struct Capped {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_cut |= self.bytes.len() + bytes.len() > MAX_PATCH_BYTES;
        if !self.is_cut {
            self.bytes.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
