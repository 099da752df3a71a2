//! Keeping trees of the user's repository alive whatever its `git gc` does.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;
use gix::hash::ObjectId;
use gix::objs::Kind;

use super::PrivateStore;
use super::durable::write_durably;
use crate::error::{Error, Result};
use crate::git::own;
use crate::git::place::Place;
use crate::git::process::Git;

/// A note of more trees is none of ours.
const MOST_BYTES: u64 = 64 << 20;

/// What we know to be kept: the tree that the ref points at, its entries, and the state of the
/// user's refs in which that was last seen to be so.
struct Kept {
    tree: ObjectId,
    trees: Vec<ObjectId>,
    stamp: String,
}

impl PrivateStore {
    /// Keeps trees of the user's repository alive whatever its `git gc` does: one ref in the user's
    /// repository (`refs/aurora/keep/<feature>`) to a tree whose entries are those trees. It points at
    /// no commit, so `git log --all` shows nothing new. An empty list removes it. All trees must be in
    /// the user's repository: a ref to something that is not would break it.
    pub fn keep(&self, place: &Place, trees: &[ObjectId]) -> Result<()> {
        let mut wanted: Vec<ObjectId> = trees.to_vec();
        wanted.retain(|tree| !tree.is_empty_tree());
        wanted.sort_unstable();
        wanted.dedup();
        if self.kept(place)? == wanted && (!wanted.is_empty() || read(place)?.is_none()) {
            return Ok(());
        }
        if wanted.is_empty() {
            Git::new(&place.program, &place.common_dir, "forget what was kept")
                .args(["update-ref", "--no-deref", "-d", &ref_name(place)])
                .run()?;
            return remove(&note_path(place));
        }
        refuse_missing(place, &wanted)?;
        let tree = write_tree(place, &wanted)?;
        Git::new(&place.program, &place.common_dir, "keep what checkpoints need")
            .args(["update-ref", "--no-deref", &ref_name(place), &tree.to_string()])
            .run()?;
        write(place, &Kept { tree, trees: wanted, stamp: String::new() })
    }

    /// The trees that are kept alive for a feature; none when somebody removed or moved the ref.
    pub fn kept(&self, place: &Place) -> Result<Vec<ObjectId>> {
        let Some(kept) = read(place)? else { return Ok(Vec::new()) };
        Ok(if is_in_force(place, &kept)? { kept.trees } else { Vec::new() })
    }
}

fn ref_name(place: &Place) -> String {
    format!("refs/aurora/keep/{}", place.feature)
}

fn note_path(place: &Place) -> PathBuf {
    place.feature_dir.join("keep")
}

fn refuse_missing(place: &Place, trees: &[ObjectId]) -> Result<()> {
    let users = super::objects_at(&place.common_dir.join("objects"), place.hash)?;
    for tree in trees {
        match users.header(tree)? {
            Some((Kind::Tree, _)) => {}
            _ => {
                return Err(Error::Corrupt {
                    what: format!("tree {tree} is not in {}", place.common_dir.display()),
                });
            }
        }
    }
    Ok(())
}

/// Writes the tree whose entries are the kept trees into the user's repository. Git does it, because
/// it knows the permissions that a shared repository wants.
fn write_tree(place: &Place, trees: &[ObjectId]) -> Result<ObjectId> {
    let mut bytes = Vec::new();
    for tree in trees {
        // The names are digits of the same length, so the order of the hashes is git's order.
        bytes.extend_from_slice(format!("40000 {tree}\0").as_bytes());
        bytes.extend_from_slice(tree.as_slice());
    }
    let name = Git::new(&place.program, &place.common_dir, "store what checkpoints need")
        .args(["hash-object", "-w", "-t", "tree", "--stdin"])
        .input(bytes)
        .run()?;
    ObjectId::from_hex(name.trim_ascii_end()).map_err(|_| Error::Git {
        doing: "store what checkpoints need".to_owned(),
        detail: "it named no tree".to_owned(),
    })
}

/// Whether the ref still points at the tree. Without starting git, unless refs are in a reftable that
/// changed since we last looked.
fn is_in_force(place: &Place, kept: &Kept) -> Result<bool> {
    let name = ref_name(place);
    let loose = place.common_dir.join(&name);
    match fs::read(&loose) {
        Ok(bytes) => return Ok(bytes.trim_ascii_end() == kept.tree.to_string().as_bytes()),
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(Error::io("read", &loose)(error)),
    }
    let stamp = stamp(place);
    if !stamp.is_empty() && stamp == kept.stamp {
        return Ok(true);
    }
    let holds = if place.reftable { is_in_reftable(place, kept)? } else { is_packed(place, kept)? };
    if holds {
        let trees = kept.trees.clone();
        write(place, &Kept { tree: kept.tree, trees, stamp })?;
    }
    Ok(holds)
}

fn is_packed(place: &Place, kept: &Kept) -> Result<bool> {
    let path = place.common_dir.join("packed-refs");
    match fs::read(&path) {
        Ok(bytes) => {
            let line = format!("\n{} {}\n", kept.tree, ref_name(place));
            Ok(bytes.contains_str(line.as_bytes()))
        }
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

fn is_in_reftable(place: &Place, kept: &Kept) -> Result<bool> {
    let output = Git::new(&place.program, &place.common_dir, "see what is kept")
        .args(["rev-parse", "--verify", "--quiet", &ref_name(place)])
        .output()?;
    Ok(output.stdout.trim_ascii_end() == kept.tree.to_string().as_bytes())
}

/// Something that changes whenever packed refs do.
fn stamp(place: &Place) -> String {
    let name = if place.reftable { "reftable/tables.list" } else { "packed-refs" };
    fs::metadata(place.common_dir.join(name)).map_or_else(
        |_| String::new(),
        |meta| {
            let (changed, nanos) = (meta.ctime(), meta.ctime_nsec());
            format!("{}-{}-{changed}-{nanos}", meta.ino(), meta.size())
        },
    )
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

/// Reads our note: the tree, the stamp, then the entries, a line each.
fn read(place: &Place) -> Result<Option<Kept>> {
    let path = note_path(place);
    let Some(bytes) = own::read(&path, MOST_BYTES)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let id = |text: &str| ObjectId::from_hex(text.as_bytes()).ok();
    let tree = lines.next().and_then(id);
    let stamp = lines.next().unwrap_or_default().to_owned();
    let trees = lines.map(id).collect::<Option<Vec<_>>>();
    // A note that makes no sense is as good as none: what is needed is kept anew.
    Ok(tree.zip(trees).map(|(tree, trees)| Kept { tree, trees, stamp }))
}

fn write(place: &Place, kept: &Kept) -> Result<()> {
    let mut text = format!("{}\n{}\n", kept.tree, kept.stamp);
    for tree in &kept.trees {
        text.push_str(&format!("{tree}\n"));
    }
    write_durably(&note_path(place), text.as_bytes())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
