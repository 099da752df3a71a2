//! What refs reach: which objects of ours, and where they lead into the user's.

use std::collections::HashSet;

use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::{Error, Result};
use crate::git::chain;
use crate::git::objects::{Node, Objects};
use crate::git::private::PrivateStore;

/// A walk over all that is reachable, and what it found.
pub(super) struct Reach<'a> {
    store: &'a PrivateStore,
    objects: &'a Objects,
    seen: HashSet<ObjectId>,
    /// Objects in our store, each with a name that it has in some tree.
    pub owned: Vec<(ObjectId, Vec<u8>)>,
    /// Objects of the user's that ours lead to; what these lead to is the user's too.
    pub foreign: HashSet<ObjectId>,
}

impl<'a> Reach<'a> {
    pub fn new(store: &'a PrivateStore, objects: &'a Objects) -> Self {
        let (owned, foreign) = (Vec::new(), HashSet::new());
        Self { store, objects, seen: HashSet::new(), owned, foreign }
    }

    /// Adds what a ref points at. One whose object is gone has nothing that could be kept.
    pub fn add(&mut self, id: ObjectId) -> Result<()> {
        match self.objects.header(&id)? {
            Some((Kind::Commit, _)) => self.add_commit(id),
            Some((Kind::Tree, _)) => self.add_tree(id),
            Some((Kind::Blob | Kind::Tag, _)) => self.visit(id, b"").map(|_| ()),
            None => Ok(()),
        }
    }

    /// Adds a checkpoint's commit, its tree, and what was staged then, of which only the message knows.
    fn add_commit(&mut self, id: ObjectId) -> Result<()> {
        if !self.visit(id, b"")? {
            return Ok(());
        }
        let bytes = self.objects.data(&id, Kind::Commit)?;
        let tree = gix::objs::CommitRefIter::from_bytes(&bytes, self.objects.hash).tree_id();
        let broken = |_| Error::Corrupt { what: format!("commit {id} cannot be read") };
        self.add_tree(tree.map_err(broken)?)?;
        let stored = chain::commit::read(self.objects, &id).ok();
        if let Some(staged) = stored.and_then(|stored| stored.checkpoint.staged_tree) {
            self.add_tree(super::parse(&staged.0)?)?;
        }
        Ok(())
    }

    /// Adds a tree and all below it.
    pub fn add_tree(&mut self, id: ObjectId) -> Result<()> {
        let mut next = vec![(id, Vec::new())];
        while let Some((tree, name)) = next.pop() {
            if !self.visit(tree, &name)? {
                continue;
            }
            for (name, node) in self.objects.tree(&tree)? {
                match node {
                    Node::Folder(id) => next.push((id, name)),
                    Node::Entry(entry) if entry.mode == aurora_model::EntryMode::Submodule => {}
                    Node::Entry(entry) => {
                        self.visit(entry.id, &name)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes an object; says whether it is ours and was not seen before.
    fn visit(&mut self, id: ObjectId, name: &[u8]) -> Result<bool> {
        if !self.seen.insert(id) {
            return Ok(false);
        }
        if self.store.owns(&id)? {
            self.owned.push((id, name.to_owned()));
            return Ok(true);
        }
        if !id.is_empty_tree() {
            self.foreign.insert(id);
        }
        Ok(false)
    }
}
