//! Trees in memory, named by the hashes that git would give them.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::{Change, EntryMode, RepoPath, TreeId};
use gix::hash::{Kind, ObjectId};

use crate::error::{Error, Result};
use crate::request::Content;

/// What stands at each path that is no folder.
pub(super) type Files = BTreeMap<RepoPath, Content>;

/// The name that git gives a content.
pub(super) fn id_of(content: &Content) -> Result<ObjectId> {
    match content.mode {
        EntryMode::Submodule => ObjectId::from_hex(&content.bytes)
            .map_err(|_| Error::Corrupt { what: "a submodule without a commit".to_owned() }),
        _ => hash(gix::objs::Kind::Blob, &content.bytes),
    }
}

/// The name that git gives the whole.
pub(super) fn tree_of(files: &Files) -> Result<TreeId> {
    let mut listing = Vec::with_capacity(files.len());
    for (path, content) in files {
        listing.push((path.as_bytes(), content.mode, id_of(content)?));
    }
    folder(&listing).map(|id| TreeId(id.to_string()))
}

/// Hashes data as an object of git's.
pub(super) fn hash(kind: gix::objs::Kind, data: &[u8]) -> Result<ObjectId> {
    gix::objs::compute_hash(Kind::Sha1, kind, data)
        .map_err(|error| Error::Corrupt { what: format!("could not hash an object: {error}") })
}

type Listed<'a> = (&'a [u8], EntryMode, ObjectId);

/// A folder's tree. Paths in the order of their bytes are in git's order, which sorts a folder as if
/// its name ended with a slash.
fn folder(listing: &[Listed<'_>]) -> Result<ObjectId> {
    let mut tree = Vec::new();
    let same_folder = |one: &Listed<'_>, next: &Listed<'_>| {
        let (one, next) = (first_part(one.0), first_part(next.0));
        one.1.is_some() && next.1.is_some() && one.0 == next.0
    };
    for group in listing.chunk_by(same_folder) {
        let Some((path, mode, id)) = group.first() else { continue };
        let (digits, name, id) = match first_part(path) {
            (name, None) => (digits(*mode), name, *id),
            (name, Some(_)) => {
                let rest = |&(path, mode, id)| Some((first_part(path).1?, mode, id));
                let below: Vec<Listed<'_>> = group.iter().filter_map(rest).collect();
                ("40000", name, folder(&below)?)
            }
        };
        tree.extend_from_slice(digits.as_bytes());
        tree.push(b' ');
        tree.extend_from_slice(name);
        tree.push(0);
        tree.extend_from_slice(id.as_bytes());
    }
    hash(gix::objs::Kind::Tree, &tree)
}

fn first_part(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut parts = path.splitn(2, |byte| *byte == b'/');
    (parts.next().unwrap_or_default(), parts.next())
}

fn digits(mode: EntryMode) -> &'static str {
    match mode {
        EntryMode::File => "100644",
        EntryMode::Executable => "100755",
        EntryMode::Symlink => "120000",
        EntryMode::Submodule => "160000",
    }
}

/// All paths of two trees, in order.
pub(super) fn paths_of<'a>(one: &'a Files, other: &'a Files) -> BTreeSet<&'a RepoPath> {
    one.keys().chain(other.keys()).collect()
}

/// What differs between two trees.
pub(super) fn changes(from: &Files, to: &Files) -> Vec<Change> {
    let state = |files: &Files, path: &RepoPath| {
        files.get(path).map(|content| (content.mode, content.bytes.clone()))
    };
    let change =
        |path: &RepoPath| Change::between(path.clone(), state(from, path), state(to, path));
    paths_of(from, to).into_iter().filter_map(change).collect()
}
