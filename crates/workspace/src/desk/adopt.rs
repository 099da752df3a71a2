//! Taking a desk's work over into the run's worktree: all of it or nothing, and twice is the same as
//! once.

use std::collections::BTreeMap;

use aurora_model::{Change, Checkpoint, CheckpointKind, RepoPath, TreeId};

use super::note::{Intent, Left};
use super::plan::{Plan, is_written};
use super::{Adopted, Desk};
use crate::error::{Error, Result};
use crate::git::beneath::{Fuse, Root};
use crate::git::chain::{change, tree_id};
use crate::git::objects::Objects;
use crate::git::pack::PackWriter;
use crate::git::private::FeatureLock;
use crate::git::restore::{Due, Step, Transition};
use crate::git::tree::{self, Delta};
use crate::request::{CheckpointRequest, Limits, Outcome, PathOutcome};

impl Desk {
    /// Takes what differs between two trees of this desk (see [`DeskChanges`]) over into the run's
    /// worktree, three-way: what somebody else changed there meanwhile stays. With conflicts, nothing
    /// is changed. Killed at any moment, it is completed by whoever opens the worktree next or never
    /// happened; done again, it changes nothing and says the same.
    ///
    /// [`DeskChanges`]: super::DeskChanges
    pub fn adopt(&self, base: &TreeId, result: &TreeId, message: &str) -> Result<Adopted> {
        let lock = self.lock_home()?;
        self.home.heal_locked(&lock)?;
        let objects = self.home.store.objects()?;
        let (from, to) = (tree_id(base)?, tree_id(result)?);
        if !objects.contains(&from) || !objects.contains(&to) {
            return Err(Error::NotFound {
                what: format!("what was made at desk {} is no longer there", self.number),
                hint: "let the work be done again".to_owned(),
            });
        }
        let deltas = tree::compare(&objects, &from, &to)?;
        if let Some(adopted) = self.adopted_before(&objects, base, result, &deltas)? {
            return self.known(adopted);
        }
        let left = self.note::<Left>()?;
        let left = left.filter(|left| left.base == *base && left.result == *result);
        let safety = self.safety_checkpoint(&deltas, message, &lock)?;
        let written: Vec<RepoPath> = deltas.iter().map(|delta| delta.path.clone()).collect();
        let foreign = self.heed(&safety, &written, &lock)?;
        let now = tree_id(&safety.tree)?;
        // Objects of that checkpoint are in a pack that is newer than the handle.
        let objects = self.home.store.objects()?;
        let mut pack = PackWriter::new(&self.home.store)?;
        let plan = self.plan_adoption(&objects, &deltas, &now, left.as_ref(), &mut pack)?;
        if !plan.conflicts.is_empty() {
            return Ok(Adopted { foreign, ..in_conflict(plan.conflicts) });
        }
        let made = left.as_ref().map(|left| left.made.clone()).unwrap_or_default();
        let gone = left.map(|left| left.gone).unwrap_or_default();
        let folders_stay = self.home.folders_that(&made, false)?.is_empty()
            && self.home.folders_that(&gone, true)?.is_empty();
        if plan.steps.is_empty() && folders_stay {
            return Ok(Adopted { foreign, ..done(safety, &deltas, plan.merged) });
        }
        let edits: BTreeMap<_, _> =
            plan.steps.iter().map(|step| (step.path.clone(), step.to)).collect();
        let after = tree::edit(&objects, &now, &edits, &mut pack)?;
        pack.finish()?;
        let intent = Intent {
            base: base.clone(),
            result: result.clone(),
            safety: safety.checkpoint_id.clone(),
            before: safety.tree.clone(),
            after: TreeId(after.to_string()),
            merged: plan.merged.clone(),
        };
        self.write_note(&intent, true)?;
        let adopted = self.carry_over(plan, &safety, message, (made, gone), &deltas, &lock)?;
        // With many packs, reading is slower, not wrong.
        let _ = self.home.store.repack_if_due(&self.home.place);
        self.known(Adopted { foreign, ..adopted })
    }

    /// Takes note that what the run's worktree holds now is the run's own doing.
    fn known(&self, adopted: Adopted) -> Result<Adopted> {
        if let (Some(owner), Some(made)) = (&self.owner, &adopted.checkpoint) {
            self.home.heed_own(owner, made)?;
        }
        Ok(adopted)
    }

    /// The answer of an adoption that was done before a crash, when its checkpoint tells that.
    fn adopted_before(
        &self,
        objects: &Objects,
        base: &TreeId,
        result: &TreeId,
        deltas: &[Delta],
    ) -> Result<Option<Adopted>> {
        let Some(intent) = self.note::<Intent>()? else { return Ok(None) };
        if intent.base != *base || intent.result != *result {
            return Ok(None);
        }
        let follows = |one: &Checkpoint| {
            one.kind == CheckpointKind::Adopted
                && one.previous_checkpoint_id.as_ref() == Some(&intent.safety)
        };
        let chain = self.home.list_checkpoints()?;
        let Some(made) = chain.into_iter().rev().find(follows) else { return Ok(None) };
        let after = tree_id(&intent.after)?;
        let wanted = tree::compare(objects, &tree_id(&intent.before)?, &after)?;
        let other = tree::compare(objects, &tree_id(&made.tree)?, &after)?;
        let differs = |delta: &Delta| other.iter().any(|one| one.path == delta.path);
        let whole = !wanted.iter().any(differs);
        Ok(whole.then(|| done(made, deltas, intent.merged)))
    }

    /// What the run's worktree holds before anything is changed: the latest checkpoint, where that has
    /// it. Ignored files that would be overwritten are taken too.
    fn safety_checkpoint(
        &self,
        deltas: &[Delta],
        message: &str,
        lock: &FeatureLock,
    ) -> Result<Checkpoint> {
        let written = deltas.iter().filter(|delta| is_written(delta));
        let request = CheckpointRequest {
            kind: CheckpointKind::Safety,
            message: format!("before the adoption of: {message}"),
            also: written.map(|delta| delta.path.clone()).collect(),
            ..CheckpointRequest::default()
        };
        Ok(self.home.capture(&request, lock)?.checkpoint)
    }

    /// Takes the steps. When somebody got in the way of one of them at the last moment, the others are
    /// taken back.
    fn carry_over(
        &self,
        plan: Plan,
        safety: &Checkpoint,
        message: &str,
        (made, gone): (Vec<RepoPath>, Vec<RepoPath>),
        deltas: &[Delta],
        lock: &FeatureLock,
    ) -> Result<Adopted> {
        let due = Due {
            kind: CheckpointKind::Adopted,
            message: message.to_owned(),
            safety: safety.checkpoint_id.clone(),
        };
        let what = format!("adoption of desk {}", self.number);
        let transition = Transition { what, steps: plan.steps, empty_folders: made };
        let (outcomes, made) =
            self.home.apply_then(&transition, Some(due.clone()), |outcomes| {
                if outcomes.iter().any(did_not_go) {
                    return Ok(None);
                }
                self.remove_folders(&gone)?;
                let limits = Limits::default();
                self.home.record_changed(&due, &transition, &gone, limits, lock).map(Some)
            })?;
        if let Some(checkpoint) = made {
            return Ok(done(checkpoint, deltas, plan.merged));
        }
        let went = transition.steps.iter().zip(&outcomes).filter(|(_, one)| !did_not_go(one));
        let back = went.map(|(step, _)| {
            let permissions = safety.permissions.get(&step.path).copied();
            Step { path: step.path.clone(), from: step.to, to: step.from, permissions }
        });
        let back = Transition {
            what: format!("taking back the adoption of desk {}", self.number),
            steps: back.collect(),
            empty_folders: safety.empty_folders.clone(),
        };
        self.home.apply_then(&back, None, |_| Ok(()))?;
        Ok(in_conflict(outcomes.into_iter().filter(did_not_go).collect()))
    }

    /// Removes folders that have nothing in them, the innermost first.
    fn remove_folders(&self, gone: &[RepoPath]) -> Result<()> {
        let root = Root::open(&self.home.place.root, Fuse::default())?;
        for path in gone {
            if let Ok(folder) = root.hand().parent_of(path, false) {
                // One with something in it stays.
                let _ = folder.remove_folder(path.name());
            }
        }
        Ok(())
    }
}

fn did_not_go(one: &PathOutcome) -> bool {
    matches!(one.outcome, Outcome::Kept { .. } | Outcome::Failed { .. } | Outcome::Conflict { .. })
}

fn in_conflict(conflicts: Vec<PathOutcome>) -> Adopted {
    let (changed, merged, foreign) = (Vec::new(), Vec::new(), Vec::new());
    Adopted { checkpoint: None, changed, merged, conflicts, foreign }
}

fn done(checkpoint: Checkpoint, deltas: &[Delta], merged: Vec<RepoPath>) -> Adopted {
    let changed: Vec<Change> = deltas.iter().filter_map(change).collect();
    let (conflicts, foreign) = (Vec::new(), Vec::new());
    Adopted { checkpoint: Some(checkpoint), changed, merged, conflicts, foreign }
}
