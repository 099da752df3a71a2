//! The chain of a feature's checkpoints: stored as commits, found by name.

pub(crate) mod commit;
mod whole;

use aurora_model::{Change, Checkpoint, CheckpointId, EntryMode, RepoPath, TreeId};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::objects::Objects;
use crate::git::tree;
use crate::request::Content;
use commit::Stored;

/// A checkpoint with the commit that stores it.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// The commit.
    pub commit: ObjectId,
    /// What it says.
    pub stored: Stored,
}

/// A checkpoint's name and its commit, before that is read.
#[derive(Debug, Clone)]
struct Named {
    number: u64,
    id: String,
    commit: ObjectId,
}

impl GitWorkspace {
    pub(crate) fn list_checkpoints(&self) -> Result<Vec<Checkpoint>> {
        self.checkpoints_of(&self.place.feature)
    }

    pub(crate) fn find_checkpoint(&self, name: &str) -> Result<Checkpoint> {
        self.find_of(&self.place.feature, name)
    }

    /// The features that have checkpoints in this repository: those of worktrees, removed ones among
    /// them, and of shadows.
    pub fn features(&self) -> Result<Vec<String>> {
        let refs = self.store.refs(CHAINS)?.into_iter();
        let mut features: Vec<String> = refs
            .filter_map(|(name, _)| {
                let (feature, id) = name.strip_prefix(CHAINS)?.rsplit_once('/')?;
                number_of(id).map(|_| feature.to_owned())
            })
            .collect();
        features.sort();
        features.dedup();
        Ok(features)
    }

    /// All checkpoints of a feature, the oldest first.
    pub fn checkpoints_of(&self, feature: &str) -> Result<Vec<Checkpoint>> {
        let links = self.links_of(feature)?.0.into_iter();
        Ok(links.map(|link| link.stored.checkpoint).collect())
    }

    /// The checkpoint of a feature that a name means, as [`Workspace::find`] reads names.
    ///
    /// [`Workspace::find`]: crate::Workspace::find
    pub fn find_of(&self, feature: &str, name: &str) -> Result<Checkpoint> {
        let all = self.named(feature)?;
        let id = pick(&all, name)?.commit;
        Ok(commit::read(&self.store.objects()?, &id)?.checkpoint)
    }

    pub(crate) fn changes_between(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>> {
        let objects = self.store.objects()?;
        let (from, to) = (tree_id(from)?, tree_id(to)?);
        let deltas = tree::compare(&objects, &from, &to)?;
        Ok(deltas.into_iter().filter_map(|delta| change(&delta)).collect())
    }

    /// How many files a tree has.
    pub fn count_files(&self, tree: &TreeId) -> Result<usize> {
        Ok(tree::list(&self.store.objects()?, &tree_id(tree)?)?.len())
    }

    pub(crate) fn read_entry(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Content>> {
        let objects = self.store.objects()?;
        let Some(entry) = tree::find(&objects, &tree_id(tree)?, path)? else { return Ok(None) };
        let bytes = match entry.mode {
            EntryMode::Submodule => entry.id.to_string().into_bytes(),
            _ => objects.blob(&entry.id)?,
        };
        Ok(Some(Content { mode: entry.mode, bytes }))
    }

    /// What is wrong with the chain, in words: commits that cannot be read, links that do not hold,
    /// names that are not their content's, objects that are missing, packs that are damaged.
    pub fn verify_chain(&self) -> Result<Vec<String>> {
        let (links, mut problems) = self.links()?;
        for link in &links {
            let checkpoint = &link.stored.checkpoint;
            let id = &checkpoint.checkpoint_id;
            if commit::name_of(&link.stored, self.place.hash)? != *id {
                problems.push(format!("{id} is not what it was when it got its name"));
            }
            let Some(before) = &checkpoint.previous_checkpoint_id else { continue };
            let before =
                links.iter().find(|other| other.stored.checkpoint.checkpoint_id == *before);
            // One that was pruned leaves no trace but its name.
            let Some(before) = before else { continue };
            if link.stored.previous_commit.as_deref() != Some(before.commit.to_string().as_str()) {
                problems.push(format!(
                    "{id} follows another {} than the one that is there",
                    before.stored.checkpoint.checkpoint_id
                ));
            }
        }
        problems.extend(self.verify_objects(&links)?);
        Ok(problems)
    }

    /// The refs of this feature's checkpoints begin with this.
    pub(crate) fn chain_prefix(&self) -> String {
        prefix_of(&self.place.feature)
    }

    /// All checkpoints that can be read, the oldest first, and what is wrong with the others.
    pub(crate) fn links(&self) -> Result<(Vec<Link>, Vec<String>)> {
        self.links_of(&self.place.feature)
    }

    fn links_of(&self, feature: &str) -> Result<(Vec<Link>, Vec<String>)> {
        let objects = self.store.objects()?;
        let (mut links, mut problems) = (Vec::new(), Vec::new());
        for named in self.named(feature)? {
            match commit::read(&objects, &named.commit) {
                Ok(stored) => links.push(Link { commit: named.commit, stored }),
                Err(error) => problems.push(format!("{} cannot be read: {error}", named.id)),
            }
        }
        Ok((links, problems))
    }

    /// The latest checkpoint that can be read, and the highest number that was given.
    pub(crate) fn latest_link(&self, objects: &Objects) -> Result<(Option<Link>, u64)> {
        let all = self.named(&self.place.feature)?;
        let highest = all.last().map_or(0, |named| named.number);
        for named in all.iter().rev() {
            if let Ok(stored) = commit::read(objects, &named.commit) {
                return Ok((Some(Link { commit: named.commit, stored }), highest));
            }
        }
        Ok((None, highest))
    }

    /// All names, by number.
    fn named(&self, feature: &str) -> Result<Vec<Named>> {
        let prefix = prefix_of(feature);
        let refs = self.store.refs(&prefix)?.into_iter();
        let mut all: Vec<Named> = refs
            .filter_map(|(name, commit)| {
                let id = name.strip_prefix(&prefix)?.to_owned();
                Some(Named { number: number_of(&id)?, id, commit })
            })
            .collect();
        all.sort_by(|a, b| a.number.cmp(&b.number).then_with(|| a.id.cmp(&b.id)));
        Ok(all)
    }
}

/// The refs of all checkpoints begin with this.
const CHAINS: &str = "refs/aurora/checkpoints/";

fn prefix_of(feature: &str) -> String {
    format!("{CHAINS}{feature}/")
}

/// The number in a checkpoint's name.
pub(crate) fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix("ckpt-")?.split_once('-')?.0.parse().ok()
}

/// The change that a difference of trees is.
pub(crate) fn change(delta: &tree::Delta) -> Option<Change> {
    let state = |entry: crate::git::objects::Entry| (entry.mode, entry.id);
    Change::between(delta.path.clone(), delta.before.map(state), delta.after.map(state))
}

/// The object that a tree's name means.
pub(crate) fn tree_id(tree: &TreeId) -> Result<ObjectId> {
    ObjectId::from_hex(tree.0.as_bytes())
        .map_err(|_| Error::NotFound { what: format!("no tree `{tree}`"), hint: String::new() })
}

/// The name that is meant.
fn pick<'a>(all: &'a [Named], name: &str) -> Result<&'a Named> {
    let none = |hint: String| Error::NotFound { what: format!("no checkpoint `{name}`"), hint };
    let Some(latest) = all.last() else {
        return Err(none("there is none yet; make one with `aur checkpoint`".to_owned()));
    };
    if name == "latest" {
        return Ok(latest);
    }
    if let Some(exact) = all.iter().find(|named| named.id == name) {
        return Ok(exact);
    }
    let digits = name.strip_prefix('#').unwrap_or(name);
    if let Ok(number) = digits.parse::<u64>()
        && (digits.len() < 8 || name.starts_with('#'))
        && let Some(numbered) = all.iter().rev().find(|named| named.number == number)
    {
        return Ok(numbered);
    }
    let begins = |named: &&Named| {
        let hash = named.id.rsplit_once('-').map_or("", |(_, hash)| hash);
        named.id.starts_with(name) || (name.len() >= 4 && hash.starts_with(name))
    };
    let found: Vec<&Named> = all.iter().filter(begins).filter(|_| !name.is_empty()).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(none(nearest(all, name))),
        several => {
            let names: Vec<&str> = several.iter().take(5).map(|named| named.id.as_str()).collect();
            Err(Error::NotFound {
                what: format!("`{name}` could be {} checkpoints", several.len()),
                hint: format!("say more of its name, such as {}", names.join(", ")),
            })
        }
    }
}

/// Names that somebody may have meant.
fn nearest(all: &[Named], name: &str) -> String {
    let shared = |id: &str| id.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let mut close: Vec<&Named> = all.iter().collect();
    close.sort_by_key(|named| {
        (std::cmp::Reverse(shared(&named.id)), std::cmp::Reverse(named.number))
    });
    let close: Vec<&str> = close.iter().take(3).map(|named| named.id.as_str()).collect();
    match all.len() {
        1 => format!("there is only {}", close.join(", ")),
        number => format!("there are {number} of them, such as {}", close.join(", ")),
    }
}

/// The name of the checkpoint with that number and content.
pub(crate) fn id_for(number: u64, digits: &str) -> CheckpointId {
    CheckpointId(format!("ckpt-{number:03}-{digits}"))
}

#[cfg(test)]
mod tests;
