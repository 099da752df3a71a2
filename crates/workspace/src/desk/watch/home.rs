//! What others write into the run's worktree while the run goes on.

use aurora_model::{ChangeKind, Checkpoint, CheckpointKind, RepoPath};

use super::compare::listed;
use super::{Heeded, Notice, load, save};
use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::chain::{change, tree_id};
use crate::git::private::FeatureLock;
use crate::git::tree;
use crate::request::CheckpointRequest;

/// So many notices are kept; whoever reads them knows enough.
const MOST: usize = 100;

impl GitWorkspace {
    /// Looks whether others wrote into this worktree. What they wrote is in a checkpoint afterwards.
    pub fn look_for_foreign(&self, owner: &str) -> Result<()> {
        if load::<Heeded>(&self.heed_note(owner))?.is_none() {
            return Ok(());
        }
        let lock = self.store.lock_within(&self.place, crate::desk::PATIENCE)?;
        self.heal_locked(&lock)?;
        let request = CheckpointRequest {
            kind: CheckpointKind::Safety,
            message: "what was left in the run's worktree".to_owned(),
            ..CheckpointRequest::default()
        };
        let found = self.capture(&request, &lock)?.checkpoint;
        self.heed(owner, &found, &[], &lock).map(drop)
    }

    /// Takes note of what this worktree holds, and of what others changed since the owner knew it,
    /// but for some paths. Says which these are.
    pub(in crate::desk) fn heed(
        &self,
        owner: &str,
        found: &Checkpoint,
        but: &[RepoPath],
        _: &FeatureLock,
    ) -> Result<Vec<RepoPath>> {
        let path = self.heed_note(owner);
        let is = found.tree.0.clone();
        let Some(mut heeded) = load::<Heeded>(&path)? else {
            save(&path, &Heeded { known: is, foreign: Vec::new() }, false)?;
            return Ok(Vec::new());
        };
        if heeded.known == is {
            return Ok(Vec::new());
        }
        // An adoption that a crash kept from being noted is no foreign hand.
        let chain = self.list_checkpoints()?;
        let ours =
            |one: &&Checkpoint| one.kind == CheckpointKind::Adopted || one.tree.0 == heeded.known;
        let last = chain.iter().rev().find(ours).map(|one| one.tree.clone());
        let from = last.unwrap_or_else(|| aurora_model::TreeId(heeded.known.clone()));
        let objects = self.store.objects()?;
        let deltas = tree::compare(&objects, &tree_id(&from)?, &tree_id(&found.tree)?)?;
        let changes = deltas.iter().filter_map(change);
        let changes: Vec<_> = changes.filter(|one| !but.contains(&one.path)).collect();
        if !changes.is_empty() && heeded.foreign.len() < MOST {
            let sign = |kind: ChangeKind| match kind {
                ChangeKind::Added => '+',
                ChangeKind::Deleted => '-',
                _ => '~',
            };
            let named = changes.iter().map(|one| format!("{} {}", sign(one.kind), one.path));
            let named: Vec<String> = named.collect();
            let id = &found.checkpoint_id;
            let what =
                format!("something else than a task changed the run's worktree (as in {id})");
            heeded.foreign.push(Notice::critical(listed(&what, &named)));
        }
        heeded.known = is;
        save(&path, &heeded, false)?;
        Ok(changes.into_iter().map(|one| one.path).collect())
    }

    /// Takes note of what this worktree holds because of the owner itself.
    pub(in crate::desk) fn heed_own(&self, owner: &str, made: &Checkpoint) -> Result<()> {
        let path = self.heed_note(owner);
        let Some(mut heeded) = load::<Heeded>(&path)? else { return Ok(()) };
        heeded.known.clone_from(&made.tree.0);
        save(&path, &heeded, false)
    }
}
