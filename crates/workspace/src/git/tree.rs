//! Trees: comparing them by hash, editing only the folders that changed, building them whole.

use std::collections::BTreeMap;

use aurora_model::RepoPath;
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::objects::{Entry, Objects};
use crate::git::pack::PackWriter;

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delta {
    /// The path.
    pub path: RepoPath,
    /// What the first tree has.
    pub before: Option<Entry>,
    /// What the second tree has.
    pub after: Option<Entry>,
}

/// All paths that differ, in order; folders with the same hash are not opened. A file that became a
/// folder is a deletion and additions. `None` is the empty tree.
pub(crate) fn compare(
    objects: &Objects,
    before: &ObjectId,
    after: &ObjectId,
) -> Result<Vec<Delta>> {
    let _ = (objects, before, after);
    Ok(Vec::new())
}

/// What stands at a path that is no folder; nothing when nothing does.
pub(crate) fn find(objects: &Objects, tree: &ObjectId, path: &RepoPath) -> Result<Option<Entry>> {
    let _ = (objects, tree, path);
    Ok(None)
}

/// Every entry of a tree, in order.
pub(crate) fn list(objects: &Objects, tree: &ObjectId) -> Result<Vec<(RepoPath, Entry)>> {
    let _ = (objects, tree);
    Ok(Vec::new())
}

/// The tree that results from setting (`Some`) and removing (`None`) entries. Setting a path removes
/// whatever stood in its way (a file where a folder must be, or a folder where the file must be);
/// removing one removes also what is below it. Folders that become empty go. Only folders on the way
/// to a change are read and written; new trees go into the pack.
pub(crate) fn edit(
    objects: &Objects,
    base: &ObjectId,
    edits: &BTreeMap<RepoPath, Option<Entry>>,
    pack: &mut PackWriter,
) -> Result<ObjectId> {
    let _ = (objects, base, edits, pack);
    Err(Error::Corrupt { what: "a tree cannot be written".to_owned() })
}

/// The tree of a whole listing (ordered by path, without duplicates). A tree that `known` says to be
/// stored for good already is not written again.
pub(crate) fn build(
    hash: gix::hash::Kind,
    listing: &[(RepoPath, Entry)],
    known: &dyn Fn(&ObjectId) -> bool,
    pack: &mut PackWriter,
) -> Result<ObjectId> {
    let _ = (hash, listing, known, pack);
    Err(Error::Corrupt { what: "a tree cannot be written".to_owned() })
}
