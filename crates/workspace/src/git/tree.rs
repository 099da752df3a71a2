//! Trees: comparing them by hash, editing only the folders that changed, building them whole.

use std::cmp::Ordering;

use aurora_model::{EntryMode, RepoPath};
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::objects::{Entry, Node, Objects};
use crate::git::pack::PackWriter;

mod edit;
mod walk;

pub(crate) use edit::edit;

/// Folders deeper than this are refused, as git does: nobody has them, and they would exhaust us.
const DEEPEST: usize = 2048;

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
/// folder is a deletion and additions.
pub(crate) fn compare(
    objects: &Objects,
    before: &ObjectId,
    after: &ObjectId,
) -> Result<Vec<Delta>> {
    let mut walk = walk::Walk::new(objects);
    walk.compare(Some(before), Some(after))?;
    Ok(walk.deltas)
}

/// What stands at a path that is no folder; nothing when nothing does.
pub(crate) fn find(objects: &Objects, tree: &ObjectId, path: &RepoPath) -> Result<Option<Entry>> {
    let mut at = *tree;
    let mut parts = path.parts().peekable();
    while let Some(part) = parts.next() {
        let node = objects.tree(&at)?.into_iter().find(|(name, _)| name == part);
        match node {
            Some((_, Node::Folder(id))) => at = id,
            Some((_, Node::Entry(entry))) => {
                return Ok(parts.peek().is_none().then_some(entry));
            }
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Every entry of a tree, in order.
pub(crate) fn list(objects: &Objects, tree: &ObjectId) -> Result<Vec<(RepoPath, Entry)>> {
    let mut walk = walk::Walk::new(objects);
    walk.list(tree)?;
    Ok(walk.listed)
}

/// The tree of a whole listing (ordered by path, without duplicates). A tree that `known` says to be
/// stored for good already is not written again.
pub(crate) fn build(
    hash: gix::hash::Kind,
    listing: &[(RepoPath, Entry)],
    known: &dyn Fn(&ObjectId) -> bool,
    pack: &mut PackWriter,
) -> Result<ObjectId> {
    let mut builder = Builder { hash, known, pack };
    builder.folder(listing, 0, 0)
}

struct Builder<'a> {
    hash: gix::hash::Kind,
    known: &'a dyn Fn(&ObjectId) -> bool,
    pack: &'a mut PackWriter,
}

impl Builder<'_> {
    /// The tree of the listed paths, which all begin with the same `prefix` bytes.
    fn folder(
        &mut self,
        listing: &[(RepoPath, Entry)],
        prefix: usize,
        depth: usize,
    ) -> Result<ObjectId> {
        check_depth(depth)?;
        // The order of whole paths is the order that git has within a folder, where a folder counts
        // as if its name ended with a slash.
        let mut nodes: Vec<(&[u8], Node)> = Vec::new();
        let mut rest = listing;
        while let Some((path, entry)) = rest.first() {
            let below = path.as_bytes().get(prefix..).unwrap_or_default();
            let Some(slash) = below.iter().position(|byte| *byte == b'/') else {
                push(&mut nodes, below, Node::Entry(*entry), path)?;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            };
            let name = below.get(..slash).unwrap_or_default();
            let start = path.as_bytes().get(..=prefix + slash).unwrap_or_default();
            let len = rest.partition_point(|(path, _)| path.as_bytes().starts_with(start));
            let (inside, after) = rest.split_at(len.max(1));
            rest = after;
            let id = self.folder(inside, start.len(), depth + 1)?;
            push(&mut nodes, name, Node::Folder(id), path)?;
        }
        let bytes = encode(nodes.iter().map(|(name, node)| (*name, node)));
        let id = crate::git::pack::name(self.hash, Kind::Tree, &bytes)?;
        if !(self.known)(&id) {
            self.pack.add_named(id, Kind::Tree, &bytes)?;
        }
        Ok(id)
    }
}

/// Appends an entry after having looked that order and names are as they must be.
fn push<'a>(
    nodes: &mut Vec<(&'a [u8], Node)>,
    name: &'a [u8],
    node: Node,
    path: &RepoPath,
) -> Result<()> {
    let disorder = |why: &str| Error::Corrupt {
        what: format!("a listing cannot become a tree: {path} {why}"),
    };
    if let Some((last, last_node)) = nodes.last()
        && order(last, last_node, name, &node) != Ordering::Less
    {
        return Err(disorder("comes twice or too late"));
    }
    // Between a file and a folder of the same name there can only be names that begin with it.
    let mut near = nodes.iter().rev().take_while(|(other, _)| other.starts_with(name));
    if near.any(|(other, _)| *other == name) {
        return Err(disorder("is below something that is no folder"));
    }
    nodes.push((name, node));
    Ok(())
}

/// Git's order within a folder: by name, where a folder's name ends with a slash.
fn order(a: &[u8], a_node: &Node, b: &[u8], b_node: &Node) -> Ordering {
    let slash = |node: &Node| matches!(node, Node::Folder(_)).then_some(&b'/');
    a.iter().chain(slash(a_node)).cmp(b.iter().chain(slash(b_node)))
}

/// The bytes of a tree whose entries are in git's order.
fn encode<'a>(nodes: impl Iterator<Item = (&'a [u8], &'a Node)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, node) in nodes {
        let (mode, id): (&[u8], &ObjectId) = match node {
            Node::Folder(id) => (b"40000", id),
            Node::Entry(Entry { mode: EntryMode::File, id }) => (b"100644", id),
            Node::Entry(Entry { mode: EntryMode::Executable, id }) => (b"100755", id),
            Node::Entry(Entry { mode: EntryMode::Symlink, id }) => (b"120000", id),
            Node::Entry(Entry { mode: EntryMode::Submodule, id }) => (b"160000", id),
        };
        out.extend_from_slice(mode);
        out.push(b' ');
        out.extend_from_slice(name);
        out.push(0);
        out.extend_from_slice(id.as_slice());
    }
    out
}

fn check_depth(depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(Error::TooLarge {
            what: format!("folders are nested more than {DEEPEST} deep"),
            hint: "remove the deepest of them".to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
