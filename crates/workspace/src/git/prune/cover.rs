//! Which trees of the user's repository must be kept, and what is better copied.

use std::collections::{BTreeSet, HashSet};

use aurora_model::EntryMode;
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::objects::{Node, Objects};
use crate::git::pack::PackWriter;

/// A kept tree that is needed for fewer objects than this is let go, and these are copied.
const WORTH_KEEPING: usize = 256;

/// How what is needed of the user's objects stays alive.
pub(super) struct Covered {
    /// Trees that are kept in the user's repository.
    pub keep: Vec<ObjectId>,
    /// Objects that none of them reaches.
    pub missing: Vec<ObjectId>,
}

/// Chooses among the trees that are kept now: those that are wanted themselves, then those that
/// reach the most of what is needed.
pub(super) fn choose(
    objects: &Objects,
    kept: &[ObjectId],
    wanted: &BTreeSet<ObjectId>,
    mut needed: HashSet<ObjectId>,
) -> Result<Covered> {
    let (mut keep, others): (Vec<_>, Vec<_>) = kept.iter().partition(|tree| wanted.contains(*tree));
    for tree in &keep {
        let reached = reached(objects, tree)?;
        needed.retain(|id| !reached.contains(id));
    }
    let mut rest = Vec::new();
    for tree in others {
        if needed.is_empty() {
            break;
        }
        let reached = reached(objects, &tree)?;
        let useful: HashSet<ObjectId> = needed.intersection(&reached).copied().collect();
        rest.push((tree, useful));
    }
    loop {
        rest.sort_by_key(|(_, useful)| useful.len());
        let Some((tree, useful)) = rest.pop() else { break };
        if useful.len() < WORTH_KEEPING {
            break;
        }
        keep.push(tree);
        needed.retain(|id| !useful.contains(id));
        for (_, others) in &mut rest {
            others.retain(|id| needed.contains(id));
        }
    }
    let mut missing: Vec<ObjectId> = needed.into_iter().collect();
    missing.sort_unstable();
    Ok(Covered { keep, missing })
}

/// A tree and all that is below it.
fn reached(objects: &Objects, tree: &ObjectId) -> Result<HashSet<ObjectId>> {
    let mut reached = HashSet::from([*tree]);
    let mut next = vec![*tree];
    while let Some(tree) = next.pop() {
        for (_, node) in objects.tree(&tree)? {
            match node {
                Node::Folder(id) => {
                    if reached.insert(id) {
                        next.push(id);
                    }
                }
                Node::Entry(entry) if entry.mode == EntryMode::Submodule => {}
                Node::Entry(entry) => {
                    reached.insert(entry.id);
                }
            }
        }
    }
    Ok(reached)
}

/// Copies an object and all below it.
pub(super) fn copy(objects: &Objects, id: &ObjectId, pack: &mut PackWriter) -> Result<()> {
    let mut next = vec![*id];
    while let Some(id) = next.pop() {
        if pack.has(&id) {
            continue;
        }
        let Some((kind, _)) = objects.header(&id)? else {
            return Err(Error::Corrupt { what: format!("object {id} is missing") });
        };
        let bytes = if id.is_empty_blob() { Vec::new() } else { objects.data(&id, kind)? };
        pack.add_named(id, kind, &bytes)?;
        if kind != Kind::Tree {
            continue;
        }
        for (_, node) in objects.tree(&id)? {
            match node {
                Node::Folder(id) if !id.is_empty_tree() => next.push(id),
                Node::Entry(entry) if entry.mode != EntryMode::Submodule => next.push(entry.id),
                _ => {}
            }
        }
    }
    Ok(())
}
