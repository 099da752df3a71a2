//! Unified diffs as `git diff --binary` writes them, from two trees.

mod binary;
pub(crate) mod lines;
mod name;
mod ordered;
pub(crate) mod patch;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;

use aurora_model::{EntryMode, RepoPath, TreeId};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::{Entry, Objects};
use crate::git::tree::{self, Delta};

pub use patch::FileStat;

use patch::{Side, patch_of, stat_of};

impl GitWorkspace {
    pub(crate) fn write_diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        only: &[RepoPath],
        out: &mut dyn io::Write,
    ) -> Result<()> {
        let objects = self.store.objects()?;
        let deltas = deltas(&objects, from, to, only)?;
        ordered::for_each(
            &deltas,
            &objects,
            |objects, delta| {
                let sides = Sides::read(objects, delta)?;
                patch_of(&delta.path, sides.before(), sides.after())
                    .map_err(|error| compressing(&error))
            },
            Vec::len,
            |patch| out.write_all(&patch).map_err(Error::io("write", "the diff")),
        )
    }

    /// How many lines of each file differ between two trees, as `git diff --numstat` counts them.
    pub fn stat(&self, from: &TreeId, to: &TreeId, only: &[RepoPath]) -> Result<Vec<FileStat>> {
        let objects = self.store.objects()?;
        let deltas = deltas(&objects, from, to, only)?;
        let mut stats = Vec::with_capacity(deltas.len());
        ordered::for_each(
            &deltas,
            &objects,
            |objects, delta| {
                let sides = Sides::read(objects, delta)?;
                Ok(stat_of(&delta.path, sides.before(), sides.after()))
            },
            |_| 0,
            |stat| {
                stats.push(stat);
                Ok(())
            },
        )?;
        Ok(stats)
    }
}

fn compressing(error: &io::Error) -> Error {
    Error::Corrupt { what: format!("could not compress binary content for a diff: {error}") }
}

/// What differs, by path, in git's order.
fn deltas(objects: &Objects, from: &TreeId, to: &TreeId, only: &[RepoPath]) -> Result<Vec<Delta>> {
    let mut deltas = tree::compare(objects, &object_id(from)?, &object_id(to)?)?;
    if !only.is_empty() {
        let only: BTreeSet<&RepoPath> = only.iter().collect();
        deltas.retain(|delta| {
            only.contains(&delta.path) || delta.path.parents().any(|above| only.contains(&above))
        });
    }
    deltas.sort_by(|one, next| one.path.cmp(&next.path));
    Ok(deltas)
}

fn object_id(tree: &TreeId) -> Result<ObjectId> {
    ObjectId::from_hex(tree.0.as_bytes()).map_err(|_| Error::NotFound {
        what: format!("`{tree}` is no name of a tree"),
        hint: "give all its hexadecimal digits".to_owned(),
    })
}

/// Both sides of a delta with their content.
struct Sides {
    before: Option<(Entry, Vec<u8>)>,
    after: Option<(Entry, Vec<u8>)>,
}

impl Sides {
    fn read(objects: &Objects, delta: &Delta) -> Result<Self> {
        // Where only the mode differs the content is not needed.
        let same = delta.before.map(|entry| entry.id) == delta.after.map(|entry| entry.id);
        let content = |entry: Option<Entry>| -> Result<Option<(Entry, Vec<u8>)>> {
            let Some(entry) = entry else { return Ok(None) };
            let needed = !same && entry.mode != EntryMode::Submodule;
            let bytes = if needed { objects.blob(&entry.id)? } else { Vec::new() };
            Ok(Some((entry, bytes)))
        };
        Ok(Self { before: content(delta.before)?, after: content(delta.after)? })
    }

    fn before(&self) -> Option<Side<'_>> {
        self.before.as_ref().map(side)
    }

    fn after(&self) -> Option<Side<'_>> {
        self.after.as_ref().map(side)
    }
}

fn side((entry, bytes): &(Entry, Vec<u8>)) -> Side<'_> {
    Side { mode: entry.mode, id: entry.id, bytes }
}
