//! Reading objects: ours first, then the user's, through one handle.

use aurora_model::EntryMode;
use gix::bstr::ByteSlice as _;
use gix::hash::ObjectId;
use gix::objs::{Exists as _, Find as _, Kind};
use gix::odb::Header as _;

use crate::error::{Error, Result};

/// One entry of a tree that is not a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// What it is.
    pub mode: EntryMode,
    /// The blob, or the submodule's commit.
    pub id: ObjectId,
}

/// One entry of a tree, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// A folder with its tree.
    Folder(ObjectId),
    /// Anything else.
    Entry(Entry),
}

/// A handle for reading objects. Cheap to clone; each thread has its own.
#[derive(Clone)]
pub(crate) struct Objects {
    pub(crate) odb: gix::odb::Handle,
    pub(crate) hash: gix::hash::Kind,
}

impl Objects {
    /// A tree's entries by name, in git's order. The empty tree need not be stored.
    pub fn tree(&self, id: &ObjectId) -> Result<Vec<(Vec<u8>, Node)>> {
        if id.is_empty_tree() {
            return Ok(Vec::new());
        }
        let bytes = self.data(id, Kind::Tree)?;
        let broken = |why: &str| Error::Corrupt { what: format!("tree {id} {why}") };
        let mut entries = Vec::with_capacity(bytes.len() / 36);
        for entry in gix::objs::TreeRefIter::from_bytes(&bytes, self.hash) {
            let entry = entry.map_err(|_| broken("cannot be read"))?;
            let name = entry.filename.as_bytes();
            if name.is_empty() || name.contains(&b'/') {
                return Err(broken("has an entry that is no name"));
            }
            entries.push((name.to_owned(), node(entry.mode, entry.oid.to_owned())));
        }
        Ok(entries)
    }

    /// A blob's bytes. The empty blob need not be stored.
    pub fn blob(&self, id: &ObjectId) -> Result<Vec<u8>> {
        if id.is_empty_blob() {
            return Ok(Vec::new());
        }
        self.data(id, Kind::Blob)
    }

    /// The bytes of an object that must be of a kind.
    pub fn data(&self, id: &ObjectId, kind: Kind) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let found = match self.odb.try_find(id, &mut bytes) {
            Ok(Some(object)) => object.kind,
            Ok(None) => return Err(Error::Corrupt { what: format!("{kind} {id} is missing") }),
            Err(error) => {
                return Err(Error::Corrupt {
                    what: format!("{kind} {id} cannot be read: {error}"),
                });
            }
        };
        if found != kind {
            return Err(Error::Corrupt { what: format!("{id} is a {found}, not a {kind}") });
        }
        Ok(bytes)
    }

    /// Whether an object is there (ours or the user's). The empty tree always is.
    pub fn contains(&self, id: &ObjectId) -> bool {
        id.is_empty_tree() || self.odb.exists(id)
    }

    /// Like `contains`, but does not look for packs that came since somebody last did: a miss is
    /// cheap, and may be one because the object is very new.
    pub fn contains_at_once(&self, id: &ObjectId) -> bool {
        id.is_empty_tree() || self.odb.exists_without_refresh(id)
    }

    /// An object's kind and size without its content; nothing when it is missing.
    pub fn header(&self, id: &ObjectId) -> Result<Option<(Kind, u64)>> {
        if id.is_empty_tree() {
            return Ok(Some((Kind::Tree, 0)));
        }
        match self.odb.try_header(id) {
            Ok(Some(header)) => Ok(Some((header.kind(), header.size()))),
            Ok(None) if id.is_empty_blob() => Ok(Some((Kind::Blob, 0))),
            Ok(None) => Ok(None),
            Err(error) => {
                Err(Error::Corrupt { what: format!("object {id} cannot be read: {error}") })
            }
        }
    }

    /// The empty tree's name.
    pub fn empty_tree(&self) -> ObjectId {
        ObjectId::empty_tree(self.hash)
    }
}

fn node(mode: gix::objs::tree::EntryMode, id: ObjectId) -> Node {
    use gix::objs::tree::EntryKind;
    let mode = match mode.kind() {
        EntryKind::Tree => return Node::Folder(id),
        EntryKind::Blob => EntryMode::File,
        EntryKind::BlobExecutable => EntryMode::Executable,
        EntryKind::Link => EntryMode::Symlink,
        EntryKind::Commit => EntryMode::Submodule,
    };
    Node::Entry(Entry { mode, id })
}
