//! Bringing a desk to what the run's worktree holds now, exactly, whatever the former attempt left.

use std::collections::BTreeSet;

use aurora_model::{Checkpoint, CheckpointKind, RepoPath};
use gix::hash::ObjectId;

use super::exact::Due;
use super::note::Begun;
use super::{Desk, Prepared};
use crate::error::{Error, Result};
use crate::escape::{Asked, Facts};
use crate::git::chain::tree_id;
use crate::git::private::FeatureLock;
use crate::git::snapshot::state::signature;
use crate::git::tree;
use crate::request::{CheckpointRequest, Scan};

/// How often a desk is looked at and changed before it is made anew. More than once, because new ignore
/// rules can show what older ones hid.
const ROUNDS: u32 = 4;

/// What came of bringing a desk to a state.
struct Brought {
    /// What it holds now.
    found: Checkpoint,
    /// How many paths were changed.
    paths: usize,
    /// Whether it is exactly the state.
    exact: bool,
}

impl Desk {
    /// Brings the desk to the state of the run's worktree: its files with their modes, links and empty
    /// folders, its commit and a clean index. What a former attempt left goes (the desk's own chain
    /// has it), apart from ignored files, which are often caches. No process is ended.
    pub fn prepare(&self) -> Result<Prepared> {
        let lock = self.lock()?;
        if let Some(owner) = &self.owner {
            self.home.keep_watch(owner)?;
        }
        let (base, commit) = self.state_of_home()?;
        self.ensure(&commit, &lock)?;
        let brought = match self.bring_to(&base, &commit, &lock) {
            Ok(brought) if brought.exact => brought,
            // Whatever is in the way, all of it is ours: a new desk has none of it.
            Ok(_) | Err(_) => {
                self.make(&commit, &lock)?;
                self.bring_to(&base, &commit, &lock)?
            }
        };
        self.forget_violations(&brought.found)?;
        let begun = Begun {
            base: base.tree.clone(),
            start: brought.found.tree.clone(),
            empty_folders: brought.found.empty_folders.clone(),
            commit: commit.to_string(),
            index: signature(&self.own.place.git_dir.join("index")),
        };
        if begun.start != begun.base {
            self.own.store.set_ref(&self.ref_to("base"), &tree_id(&begun.base)?)?;
        }
        self.write_note(&begun, true)?;
        // With many packs, reading is slower, not wrong.
        let _ = self.own.store.repack_if_due(&self.own.place);
        Ok(Prepared {
            base: begun.base,
            checkpoint: base.checkpoint_id,
            commit: begun.commit,
            paths: u64::try_from(brought.paths).unwrap_or(u64::MAX),
        })
    }

    /// A checkpoint of what the run's worktree holds now, and the commit that it has checked out.
    fn state_of_home(&self) -> Result<(Checkpoint, ObjectId)> {
        let lock = self.lock_home()?;
        self.home.heal_locked(&lock)?;
        let request = CheckpointRequest {
            kind: CheckpointKind::Desk,
            message: "what an attempt begins with".to_owned(),
            ..CheckpointRequest::default()
        };
        let base = self.home.capture(&request, &lock)?.checkpoint;
        self.heed(&base, &[], &lock)?;
        Ok((base, self.commit_of_home()?))
    }

    /// Takes note of what others did to the run's worktree.
    pub(super) fn heed(
        &self,
        found: &Checkpoint,
        but: &[RepoPath],
        lock: &FeatureLock,
    ) -> Result<Vec<RepoPath>> {
        let heeded = self.owner.as_ref().map(|owner| self.home.heed(owner, found, but, lock));
        Ok(heeded.transpose()?.unwrap_or_default())
    }

    fn bring_to(
        &self,
        wanted: &Checkpoint,
        commit: &ObjectId,
        lock: &FeatureLock,
    ) -> Result<Brought> {
        let begun = self.note::<Begun>()?;
        self.forget_note::<Begun>()?;
        let new_index = self.reset_git(commit, begun.as_ref())?;
        let differing = self.differing(wanted, commit)?;
        let request = CheckpointRequest {
            kind: CheckpointKind::Desk,
            message: format!("what an attempt left at desk {}", self.number),
            scan: Scan::Full,
            also: differing.iter().cloned().collect(),
            ..CheckpointRequest::default()
        };
        let mut found = self.own.capture(&request, lock)?.checkpoint;
        let request = CheckpointRequest {
            message: format!("what an attempt begins with at desk {}", self.number),
            scan: Scan::Auto,
            ..request
        };
        let (mut paths, mut exact, mut stale_index) = (0, false, new_index);
        for _ in 0..ROUNDS {
            let due = self.due(&found, wanted)?;
            exact = due.is_empty();
            if exact {
                break;
            }
            paths += due.len();
            self.make_exact(&due, wanted)?;
            stale_index = stale_index || self.is_any_committed(&due, commit)?;
            found = self.own.capture_only(&request, due.touched(), lock)?.checkpoint;
        }
        if stale_index {
            self.write_index(commit, Some(&differing))?;
        }
        Ok(Brought { found, paths, exact })
    }

    /// Whether a file was written that the commit has too, so that the index tells it wrongly.
    fn is_any_committed(&self, due: &Due, commit: &ObjectId) -> Result<bool> {
        let (objects, tree) = (self.own.store.objects()?, self.tree_of(commit)?);
        for (path, _) in &due.put {
            if tree::find(&objects, &tree, path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Paths at which the run's worktree differs from its commit.
    fn differing(&self, wanted: &Checkpoint, commit: &ObjectId) -> Result<BTreeSet<RepoPath>> {
        let objects = self.own.store.objects()?;
        let deltas = tree::compare(&objects, &self.tree_of(commit)?, &tree_id(&wanted.tree)?)?;
        Ok(deltas.into_iter().map(|delta| delta.path).collect())
    }

    /// What is wrong with git's data by now is not the next attempt's doing.
    fn forget_violations(&self, found: &Checkpoint) -> Result<()> {
        let asked = Asked {
            tree: &found.tree,
            base_tree: None,
            changes: &[],
            skipped: &[],
            nested: &[],
            facts: &|_| None::<Facts>,
        };
        self.own.find_violations(&asked)?.remember(&self.own)
    }

    /// The latest preparation, which must be the one that the caller means.
    pub(super) fn begun_with(&self, base: &aurora_model::TreeId) -> Result<Begun> {
        let begun = self.note::<Begun>()?.filter(|begun| begun.base == *base);
        begun.ok_or_else(|| Error::Refused {
            what: format!("desk {} was not prepared with that state, or is no more", self.number),
            hint: "prepare it and work there anew".to_owned(),
        })
    }
}
