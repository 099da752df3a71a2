//! What of git's own data only a shadow has: commits, branches, tags, stashes, repositories inside.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use aurora_model::{Head, RepoPath};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::shadow::Strategy;
use crate::shadow::git_data::View;
use crate::shadow::layers::Walked;
use crate::shadow::meta::Shadow;

/// What refs point at, by name.
type Refs = BTreeMap<Vec<u8>, Vec<u8>>;

/// Folders below refs that are deeper than this are none of git's.
const MAX_DEPTH: u32 = 64;
/// What we keep in the user's repository ourselves.
const OURS: &[u8] = b"refs/aurora/";

/// The names of the tables that refs are in.
const TABLES: &str = "reftable/tables.list";
/// The same as they were when a copy was made, in the shadow's folder.
const NOTED: &str = "tables.list";

/// Notes which tables a copy began with.
pub(crate) fn note_tables(dir: &Path, git: &Path) -> Result<()> {
    let (from, to) = (git.join(TABLES), dir.join(NOTED));
    std::fs::copy(&from, &to).map(drop).map_err(Error::io("write", &to))
}

impl GitWorkspace {
    /// What of git's own data goes when the shadow goes, in words. An object that the real repository
    /// has too is not lost, so a branch that only stands elsewhere among these is none.
    pub(crate) fn only_in_shadow(
        &self,
        shadow: &Shadow,
        view: &View,
        head: Option<&Head>,
        walked: &Walked,
    ) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        if let Some(first) = view.common.first() {
            if self.place.reftable {
                lost.extend(self.moved_tables(shadow, first));
            } else {
                lost.extend(self.lost_refs(first, head)?);
            }
        }
        for (name, mine, real) in self.repositories_inside(shadow, view, walked) {
            if real.symlink_metadata().is_err() {
                lost.push(format!("the repository {name}"));
            } else if has_more(&with_head(&mine), &with_head(&real)) {
                lost.push(format!("what was done in the repository {name}"));
            }
        }
        Ok(lost)
    }

    fn lost_refs(&self, first: &Path, head: Option<&Head>) -> Result<Vec<String>> {
        let (mine, real) = (refs_of(first), refs_of(&self.place.common_dir));
        let objects = self.store.objects()?;
        let is_known = |value: &[u8]| {
            // What is no object's name leads to another ref, which is looked at by itself.
            ObjectId::from_hex(value).map_or(true, |id| objects.contains(&id))
        };
        let mut lost = Vec::new();
        let mut named = Vec::new();
        for (name, value) in mine.iter().filter(|(name, _)| !name.starts_with(OURS)) {
            let there = real.get(name);
            if there != Some(value) && (there.is_none() || !is_known(value)) {
                lost.push(in_words(name));
                named.push(value);
            }
        }
        if let Some(commit) = head.and_then(|head| head.commit.as_ref())
            && !is_known(commit.as_bytes())
            && !named.iter().any(|value| value.as_slice() == commit.as_bytes())
        {
            lost.push(format!("commit {}", commit.get(..12).unwrap_or(commit)));
        }
        Ok(lost)
    }

    /// Refs in tables are not read here; whether anything was written to them can be told.
    fn moved_tables(&self, shadow: &Shadow, first: &Path) -> Option<String> {
        let mine = std::fs::read(first.join(TABLES)).ok();
        let then = match shadow.meta.strategy {
            // An upper layer has only what was written.
            Strategy::Overlay => None,
            // The real ones change with what we keep ourselves.
            Strategy::Reflink | Strategy::Copy => std::fs::read(shadow.dir.join(NOTED)).ok(),
        };
        let same = mine == then;
        let words = "perhaps commits, branches or stashes (its refs are in tables, which cannot be \
                     compared)";
        (!same).then(|| words.to_owned())
    }

    /// The git folders inside that the shadow's files name: what it is called, the shadow's, the
    /// real one.
    fn repositories_inside(
        &self,
        shadow: &Shadow,
        view: &View,
        walked: &Walked,
    ) -> Vec<(String, PathBuf, PathBuf)> {
        let below = |root: &Path, path: &RepoPath| root.join(OsStr::from_bytes(path.as_bytes()));
        let mut found = Vec::new();
        for path in &walked.git {
            let Some(parent) = path.parent() else { continue };
            let (mine, real) = (below(&shadow.files(), path), below(&self.place.root, path));
            if mine.is_dir() {
                found.push((parent.to_string(), mine, real));
            }
        }
        if let Some(first) = view.common.first() {
            let real = self.place.common_dir.join("modules");
            modules(&first.join("modules"), &real, 0, &mut found);
        }
        let own = [&self.place.root, &self.place.git_dir, &self.place.common_dir];
        for layer in shadow.meta.layers.iter().filter(|layer| !own.contains(&&layer.lower)) {
            let name = layer.lower.display().to_string();
            found.push((name, shadow.dir.join(&layer.upper), layer.lower.clone()));
        }
        found
    }
}

/// The git folders of submodules, which may lie in each other.
fn modules(mine: &Path, real: &Path, depth: u32, found: &mut Vec<(String, PathBuf, PathBuf)>) {
    for entry in std::fs::read_dir(mine).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if !is_folder || depth >= MAX_DEPTH || name == "objects" || name == "refs" {
            continue;
        }
        let (mine, real) = (entry.path(), real.join(&name));
        if ["HEAD", "refs", "packed-refs"].iter().any(|name| mine.join(name).exists()) {
            found.push((name.to_string_lossy().into_owned(), mine.clone(), real.clone()));
        }
        modules(&mine, &real, depth + 1, found);
    }
}

fn with_head(git: &Path) -> Refs {
    let mut refs = refs_of(git);
    let head = std::fs::read(git.join("HEAD")).ok();
    refs.extend(head.map(|head| (b"HEAD".to_vec(), head.trim_ascii().to_vec())));
    refs
}

fn has_more(mine: &Refs, real: &Refs) -> bool {
    mine.iter().any(|(name, value)| real.get(name) != Some(value))
}

/// The refs of a git folder, packed and loose.
fn refs_of(git: &Path) -> Refs {
    let mut refs = Refs::new();
    let packed = std::fs::read(git.join("packed-refs")).unwrap_or_default();
    for line in packed.split(|byte| *byte == b'\n') {
        let Some(at) = line.iter().position(|byte| *byte == b' ') else { continue };
        if let Some((value, name)) = line.split_at_checked(at)
            && matches!(value.len(), 40 | 64)
        {
            refs.insert(name.trim_ascii().to_vec(), value.to_vec());
        }
    }
    loose(&git.join("refs"), b"refs", 0, &mut refs);
    refs
}

fn loose(folder: &Path, at: &[u8], depth: u32, refs: &mut Refs) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = [at, b"/", entry.file_name().as_bytes()].concat();
        if kind.is_dir() && depth < MAX_DEPTH {
            loose(&entry.path(), &name, depth + 1, refs);
        } else if kind.is_file() && !name.ends_with(b".lock") {
            let value = std::fs::read(entry.path()).unwrap_or_default().trim_ascii().to_vec();
            // An empty one is what an overlay puts where something was deleted.
            if !value.is_empty() {
                refs.insert(name, value);
            }
        }
    }
}

fn in_words(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if name == "refs/stash" {
        return "the stash".to_owned();
    }
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag")];
    let named = kinds.iter().find_map(|(prefix, kind)| Some((kind, name.strip_prefix(prefix)?)));
    named.map_or_else(|| name.to_string(), |(kind, short)| format!("{kind} {short}"))
}
