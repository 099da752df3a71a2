//! What is staged and in no file: kept beside the worktree's tree, so that it is not lost either.

use std::collections::BTreeMap;

use aurora_model::{EntryMode, RepoPath};
use gix::hash::ObjectId;
use gix::objs::Kind;

use crate::error::Result;
use crate::git::objects::{Entry, Objects};
use crate::git::pack::PackWriter;
use crate::git::scan::content::{self, Read};
use crate::git::scan::convert::{Conversion, Conversions};
use crate::git::scan::open::Root;
use crate::git::scan::repository::Repository;
use crate::git::scan::{Looked, joined};
use crate::git::{private::PrivateStore, stat_cache, tree};

/// Where staged things are compared with files.
pub(super) struct Staging<'a> {
    /// For reading objects.
    pub objects: &'a Objects,
    /// Where what must be kept goes.
    pub store: &'a PrivateStore,
    /// The outermost repository.
    pub outer: &'a Repository,
    /// The worktree's root.
    pub root: &'a Root,
    /// The tree that the scan was compared with.
    pub previous: &'a ObjectId,
    /// What the scan found.
    pub looked: &'a Looked,
}

impl Staging<'_> {
    /// The tree of all staged entries that no file has just so; nothing when every one is in a file.
    pub fn tree(
        &self,
        staged: &[(RepoPath, Entry)],
        pack: &mut PackWriter,
    ) -> Result<Option<ObjectId>> {
        let deltas: BTreeMap<&RepoPath, Option<Entry>> =
            self.looked.deltas.iter().map(|delta| (&delta.path, delta.after)).collect();
        let mut candidates = Vec::new();
        for (path, entry) in staged {
            let file = match (deltas.get(path), &self.looked.listing) {
                (Some(after), _) => *after,
                (None, Some(listing)) => listing.at(path.as_bytes()).map(|record| record.entry),
                (None, None) => tree::find(self.objects, self.previous, path)?,
            };
            if file.map(|file| file.id) != Some(entry.id) && entry.mode != EntryMode::Submodule {
                candidates.push((path.clone(), *entry, file));
            }
        }
        if candidates.is_empty() {
            return Ok(None);
        }
        let conversions = self.conversions(&candidates);
        let mut listing = Vec::new();
        for (path, entry, file) in candidates {
            let Ok(bytes) = self.objects.blob(&entry.id) else { continue };
            let only_converted = match conversions.of_path(path.as_bytes()) {
                Conversion::None => false,
                Conversion::LineEnds => file.is_some() && self.same_lines(&path, &bytes),
                Conversion::Any => file.is_some(),
            };
            if only_converted {
                continue;
            }
            if !pack.has(&entry.id) && !self.store.owns(&entry.id)? {
                pack.add_named(entry.id, Kind::Blob, &bytes)?;
            }
            listing.push((path, entry));
        }
        if listing.is_empty() {
            return Ok(None);
        }
        let known = |id: &ObjectId| self.store.owns(id).unwrap_or_default();
        tree::build(self.objects.hash, &listing, &known, pack).map(Some)
    }

    /// Whether a file and a blob differ in their line ends only.
    fn same_lines(&self, path: &RepoPath, blob: &[u8]) -> bool {
        let unix = |bytes: &[u8]| {
            let mut out = Vec::with_capacity(bytes.len());
            for (at, byte) in bytes.iter().enumerate() {
                if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
                    out.push(*byte);
                }
            }
            out
        };
        match content::read(self.root, path.as_bytes(), 64 << 20) {
            Read::Content { bytes, .. } => unix(&bytes) == unix(blob),
            _ => false,
        }
    }

    /// What may convert these paths: the attributes of all folders above them.
    fn conversions(&self, paths: &[(RepoPath, Entry, Option<Entry>)]) -> Conversions {
        let mut all = Conversions::of(self.outer);
        let mut folders: Vec<Vec<u8>> = vec![Vec::new()];
        for (path, ..) in paths {
            folders.extend(path.parents().map(|parent| parent.as_bytes().to_vec()));
        }
        folders.sort();
        folders.dedup();
        for folder in folders {
            let path = joined(&folder, b".gitattributes");
            if let Read::Content { bytes, .. } = content::read(self.root, &path, 1 << 24) {
                all.add(&folder, &bytes);
            }
            if let Some(entry) = self.outer.tracked().entry(&path)
                && let Ok(bytes) = self.objects.blob(&entry.id)
            {
                all.add(stat_cache::split(&path).0, &bytes);
            }
        }
        all
    }
}
