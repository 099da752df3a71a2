//! Whether everything that checkpoints consist of is there and can be read.

use std::collections::HashSet;
use std::path::PathBuf;

use aurora_model::EntryMode;
use gix::hash::ObjectId;
use gix::objs::Kind;

use super::{Link, tree_id};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::{Node, Objects};
use crate::git::process::Git;

/// So many packs are looked at by one run of git.
const PACKS_AT_ONCE: usize = 64;

/// So many objects are named for one checkpoint.
const MOST_NAMED: usize = 3;

impl GitWorkspace {
    /// Which objects of checkpoints are missing and which of our packs are damaged, in words.
    pub(super) fn verify_objects(&self, links: &[Link]) -> Result<Vec<String>> {
        let mut problems = self.damaged_packs()?;
        let mut look = Look {
            objects: self.store.objects()?,
            // An index names also what its pack no longer holds, so then only reading tells.
            read: !problems.is_empty(),
            partial: self.is_partial_clone(),
            blobs: HashSet::new(),
            folders: HashSet::new(),
        };
        for (done, link) in links.iter().enumerate() {
            self.settings.progress.at("verifying", done as u64, Some(links.len() as u64));
            let checkpoint = &link.stored.checkpoint;
            let mut broken = Vec::new();
            for tree in [Some(&checkpoint.tree), checkpoint.staged_tree.as_ref()] {
                let Some(tree) = tree else { continue };
                broken.extend(look.at(tree_id(tree)?));
            }
            if let Some(more) = broken.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
                broken.truncate(MOST_NAMED);
                broken.push(format!("and {more} more"));
            }
            if !broken.is_empty() {
                let id = &checkpoint.checkpoint_id;
                problems.push(format!("{id} is not whole: {}", broken.join("; ")));
            }
        }
        Ok(problems)
    }

    /// Our packs that git finds damaged.
    fn damaged_packs(&self) -> Result<Vec<String>> {
        let dir = self.store.dir.join("objects/pack");
        let mut packs: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&dir).map_err(Error::io("list", &dir))? {
            let path = entry.map_err(Error::io("list", &dir))?.path();
            if path.extension().is_some_and(|end| end == "idx") {
                packs.push(path);
            }
        }
        packs.sort_unstable();
        let sound = |packs: &[PathBuf]| -> Result<bool> {
            let git = Git::new(&self.place.program, &self.store.dir, "verify packs");
            let git = git.args(["verify-pack", "--"]).args(packs);
            Ok(git.output()?.status.success())
        };
        let mut problems = Vec::new();
        for some in packs.chunks(PACKS_AT_ONCE) {
            if sound(some)? {
                continue;
            }
            for one in some {
                // One that somebody pruned meanwhile is not damaged.
                if !sound(std::slice::from_ref(one))? && one.exists() {
                    problems.push(format!("the pack {} is damaged", one.display()));
                }
            }
        }
        Ok(problems)
    }

    /// Whether the user's repository lacks objects that its remote has.
    fn is_partial_clone(&self) -> bool {
        let packs = std::fs::read_dir(self.place.common_dir.join("objects/pack"));
        let mut packs = packs.into_iter().flatten().flatten().map(|entry| entry.path());
        packs.any(|path| path.extension().is_some_and(|end| end == "promisor"))
    }
}

/// What was looked at.
struct Look {
    objects: Objects,
    /// Whether objects are read, and not only looked for.
    read: bool,
    /// Whether a content may be missing because it was never fetched.
    partial: bool,
    /// Contents that are there.
    blobs: HashSet<ObjectId>,
    /// Folders that are whole with all below them.
    folders: HashSet<ObjectId>,
}

impl Look {
    /// What is wrong with a tree.
    fn at(&mut self, tree: ObjectId) -> Vec<String> {
        let mut problems = Vec::new();
        let mut seen = HashSet::new();
        let mut next = vec![tree];
        while let Some(folder) = next.pop() {
            if self.folders.contains(&folder) || !seen.insert(folder) {
                continue;
            }
            let nodes = match self.objects.tree(&folder) {
                Ok(nodes) => nodes,
                Err(error) => {
                    problems.push(error.to_string());
                    continue;
                }
            };
            for (name, node) in nodes {
                match node {
                    Node::Folder(id) => next.push(id),
                    Node::Entry(entry) if entry.mode == EntryMode::Submodule => {}
                    Node::Entry(entry) => {
                        if let Some(problem) = self.blob(&entry.id) {
                            let name = String::from_utf8_lossy(&name);
                            problems.push(format!("`{name}`: {problem}"));
                        }
                    }
                }
            }
        }
        // Of a tree that is not whole, each checkpoint that has it tells.
        if problems.is_empty() {
            self.folders.extend(seen);
        }
        problems
    }

    /// What is wrong with a content.
    fn blob(&mut self, id: &ObjectId) -> Option<String> {
        if id.is_empty_blob() || self.blobs.contains(id) {
            return None;
        }
        if !self.objects.contains(id) {
            return (!self.partial).then(|| format!("blob {id} is missing"));
        }
        if self.read
            && let Err(problem) = self.content(id)
        {
            return Some(problem);
        }
        self.blobs.insert(*id);
        None
    }

    /// Reads a content and compares it with its name.
    fn content(&self, id: &ObjectId) -> std::result::Result<(), String> {
        let bytes = self.objects.blob(id).map_err(|error| error.to_string())?;
        let found = gix::objs::compute_hash(self.objects.hash, Kind::Blob, &bytes);
        match found {
            Ok(found) if found == *id => Ok(()),
            _ => Err(format!("blob {id} is not what it was")),
        }
    }
}
