//! Going through trees: two at once, skipping what is the same, or one whole.

use std::cmp::Ordering;

use aurora_model::RepoPath;
use gix::hash::ObjectId;

use super::{Delta, check_depth, order};
use crate::error::{Error, Result};
use crate::git::objects::{Entry, Node, Objects};

/// A walk and what it found.
pub(super) struct Walk<'a> {
    objects: &'a Objects,
    /// The folder where we are, with a slash at its end.
    prefix: Vec<u8>,
    depth: usize,
    pub deltas: Vec<Delta>,
    pub listed: Vec<(RepoPath, Entry)>,
}

impl<'a> Walk<'a> {
    pub fn new(objects: &'a Objects) -> Self {
        let (deltas, listed) = (Vec::new(), Vec::new());
        Self { objects, prefix: Vec::new(), depth: 0, deltas, listed }
    }

    /// Notes all that differs between two trees; nothing stands for a tree without entries.
    pub fn compare(&mut self, before: Option<&ObjectId>, after: Option<&ObjectId>) -> Result<()> {
        if before == after {
            return Ok(());
        }
        check_depth(self.depth)?;
        let mut before = self.nodes(before)?.into_iter().peekable();
        let mut after = self.nodes(after)?.into_iter().peekable();
        loop {
            let side = match (before.peek(), after.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, a_node)), Some((b, b_node))) => order(a, a_node, b, b_node),
            };
            let was = if side.is_le() { before.next() } else { None };
            let is = if side.is_ge() { after.next() } else { None };
            self.differ(was, is)?;
        }
    }

    fn nodes(&self, tree: Option<&ObjectId>) -> Result<Vec<(Vec<u8>, Node)>> {
        tree.map_or_else(|| Ok(Vec::new()), |id| self.objects.tree(id))
    }

    /// Two entries of the same name, which are both folders or both none.
    fn differ(&mut self, was: Option<(Vec<u8>, Node)>, is: Option<(Vec<u8>, Node)>) -> Result<()> {
        let (was_node, is_node) = (was.as_ref().map(|was| &was.1), is.as_ref().map(|is| &is.1));
        if was_node == is_node {
            return Ok(());
        }
        let Some((name, _)) = was.as_ref().or(is.as_ref()) else { return Ok(()) };
        if matches!(was_node.or(is_node), Some(Node::Folder(_))) {
            let outer = self.enter(name);
            self.compare(folder(was_node), folder(is_node))?;
            self.leave(outer);
            return Ok(());
        }
        let path = self.path(name)?;
        self.deltas.push(Delta { path, before: entry(was_node), after: entry(is_node) });
        Ok(())
    }

    /// Notes every entry of a tree.
    pub fn list(&mut self, tree: &ObjectId) -> Result<()> {
        check_depth(self.depth)?;
        for (name, node) in self.objects.tree(tree)? {
            match node {
                Node::Folder(id) => {
                    let outer = self.enter(&name);
                    self.list(&id)?;
                    self.leave(outer);
                }
                Node::Entry(entry) => {
                    let path = self.path(&name)?;
                    self.listed.push((path, entry));
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, name: &[u8]) -> usize {
        let outer = self.prefix.len();
        self.prefix.extend_from_slice(name);
        self.prefix.push(b'/');
        self.depth += 1;
        outer
    }

    fn leave(&mut self, outer: usize) {
        self.prefix.truncate(outer);
        self.depth -= 1;
    }

    fn path(&self, name: &[u8]) -> Result<RepoPath> {
        let mut bytes = Vec::with_capacity(self.prefix.len() + name.len());
        bytes.extend_from_slice(&self.prefix);
        bytes.extend_from_slice(name);
        RepoPath::new(bytes).ok_or_else(|| Error::Corrupt {
            what: format!("a tree has the entry `{}`", String::from_utf8_lossy(name)),
        })
    }
}

fn folder(node: Option<&Node>) -> Option<&ObjectId> {
    match node {
        Some(Node::Folder(id)) => Some(id),
        _ => None,
    }
}

fn entry(node: Option<&Node>) -> Option<Entry> {
    match node {
        Some(Node::Entry(entry)) => Some(*entry),
        _ => None,
    }
}
