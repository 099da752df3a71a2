//! Planning a rollback, doing it, and undoing it.

mod plan;

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::{Checkpoint, CheckpointId, CheckpointKind, Head, RepoPath, TreeId};
use gix::hash::ObjectId;

use self::plan::{Aim, Planned, State};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::beneath::{Fuse, Root};
use crate::git::chain::tree_id;
use crate::git::objects::Objects;
use crate::git::own;
use crate::git::pack::PackWriter;
use crate::git::private::FeatureLock;
use crate::git::restore::{Due, Step, Transition};
use crate::git::snapshot::head::head;
use crate::git::tree;
use crate::request::{
    CheckpointRequest, Limits, MovedHead, OnUnchanged, Outcome, PathOutcome, RollbackPlan,
    RollbackReport, RollbackRequest, StepAction, UndoRequest,
};
use crate::watchdog::DirtyPath;

impl GitWorkspace {
    pub(crate) fn rollback_plan(&self, request: &RollbackRequest) -> Result<RollbackPlan> {
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        let aim = self.aim_at(request)?;
        self.plan_for(&aim, request, &lock)
    }

    pub(crate) fn undo_plan(&self, request: &UndoRequest) -> Result<RollbackPlan> {
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        let aim = self.aim_of_undo()?;
        self.plan_for(&aim, &request.going_to(&aim.target.checkpoint_id), &lock)
    }

    fn plan_for(
        &self,
        aim: &Aim,
        request: &RollbackRequest,
        lock: &FeatureLock,
    ) -> Result<RollbackPlan> {
        let objects = self.store.objects()?;
        let safety = self.safety_request(&objects, aim, request)?;
        let (tree, notes) = self.current_tree(&safety, lock)?;
        let now = State { tree, skipped: notes.skipped };
        // What the scan wrote is in a pack that is newer than the handle.
        let objects = self.store.objects()?;
        let planned = self.plan_paths(&objects, aim, request, &now)?;
        let steps: Vec<Step> = planned.iter().filter_map(|planned| planned.step.clone()).collect();
        let mut empty_folders = self.folders_that(&folders_due(aim, request, &steps), false)?;
        empty_folders.extend(self.folders_that(&aim.hollow, true)?);
        Ok(RollbackPlan {
            to: aim.target.checkpoint_id.clone(),
            now: TreeId(now.tree.to_string()),
            moved_head: moved(&aim.target.head, &head(&self.place)),
            steps: planned.into_iter().map(|planned| planned.shown).collect(),
            empty_folders,
            notes: request.scope.notes(),
        })
    }

    pub(crate) fn roll_back(&self, request: &RollbackRequest) -> Result<RollbackReport> {
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        let aim = self.aim_at(request)?;
        self.go_to(&aim, request, &lock)
    }

    pub(crate) fn undo_latest(&self, request: &UndoRequest) -> Result<RollbackReport> {
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        let aim = self.aim_of_undo()?;
        self.go_to(&aim, &request.going_to(&aim.target.checkpoint_id), &lock)
    }

    /// Undoing's aim: what was there before the latest rollback or promotion, at its paths only.
    fn aim_of_undo(&self) -> Result<Aim> {
        let chain = self.list_checkpoints()?;
        let undone = chain.iter().rev().find(|checkpoint| {
            use CheckpointKind::{Adopted, Promoted, Restored};
            matches!(checkpoint.kind, Restored | Promoted | Adopted)
        });
        let Some(undone) = undone else {
            return Err(Error::NotFound {
                what: "there is no rollback or promotion to undo".to_owned(),
                hint: "`aur checkpoints list` shows what there is to go back to".to_owned(),
            });
        };
        // The safety checkpoint is always the one right before.
        let before = undone.previous_checkpoint_id.as_ref();
        let before = chain.iter().find(|checkpoint| Some(&checkpoint.checkpoint_id) == before);
        let Some(before) = before else {
            return Err(Error::NotFound {
                what: format!("the checkpoint before {} was pruned", undone.checkpoint_id),
                hint: "`aur checkpoints list` shows what there is to go back to".to_owned(),
            });
        };
        let objects = self.store.objects()?;
        let restored = tree_id(&undone.tree)?;
        let changed = tree::compare(&objects, &tree_id(&before.tree)?, &restored)?;
        let has = |path: &RepoPath| before.empty_folders.contains(path);
        let had = |path: &RepoPath| undone.empty_folders.contains(path);
        Ok(Aim {
            target: before.clone(),
            base: restored,
            only: Some(changed.into_iter().map(|delta| delta.path).collect()),
            empty_folders: before.empty_folders.iter().filter(|path| !had(path)).cloned().collect(),
            hollow: undone.empty_folders.iter().filter(|path| !has(path)).cloned().collect(),
            message: format!("undo of {}", undone.checkpoint_id),
        })
    }

    /// A rollback's aim: the checkpoint that was asked for.
    fn aim_at(&self, request: &RollbackRequest) -> Result<Aim> {
        let target = self.find_checkpoint(&request.to.0)?;
        let latest = self.find_checkpoint("latest")?;
        Ok(Aim {
            base: tree_id(&latest.tree)?,
            only: None,
            empty_folders: target.empty_folders.clone(),
            hollow: Vec::new(),
            message: format!("rollback to {}", target.checkpoint_id),
            target,
        })
    }

    fn go_to(
        &self,
        aim: &Aim,
        request: &RollbackRequest,
        lock: &FeatureLock,
    ) -> Result<RollbackReport> {
        self.refuse_moved_head(&aim.target, request)?;
        let objects = self.store.objects()?;
        let safety = self.safety_request(&objects, aim, request)?;
        let safety = self.capture_if(&safety, lock, |now| refuse_unseen(request, now))?.checkpoint;
        let now = State::of(&safety)?;
        // Objects of the safety checkpoint are in a pack that is newer than the handle.
        let objects = self.store.objects()?;
        let mut planned = self.plan_paths(&objects, aim, request, &now)?;
        self.store_merged(&mut planned)?;
        self.save_conflicts(&planned, &safety.checkpoint_id)?;
        let steps: Vec<Step> = planned.iter().filter_map(|planned| planned.step.clone()).collect();
        let empty_folders = folders_due(aim, request, &steps);
        let report = |restored: CheckpointId, paths: Vec<PathOutcome>| RollbackReport {
            to: aim.target.checkpoint_id.clone(),
            safety: safety.checkpoint_id.clone(),
            restored,
            paths,
            notes: request.scope.notes(),
        };
        let folders_stay = self.folders_that(&empty_folders, false)?.is_empty()
            && self.folders_that(&aim.hollow, true)?.is_empty();
        if steps.is_empty() && folders_stay {
            return Ok(report(safety.checkpoint_id.clone(), ended(&planned, Vec::new())));
        }
        let due = Due {
            kind: CheckpointKind::Restored,
            message: aim.message.clone(),
            safety: safety.checkpoint_id.clone(),
        };
        let transition = Transition { what: aim.message.clone(), steps, empty_folders };
        let (outcomes, restored) = self.apply_then(&transition, Some(due.clone()), |_| {
            self.remove_hollow(aim)?;
            self.record_changed(&due, &transition, &aim.hollow, request.limits, lock)
        })?;
        Ok(report(restored.checkpoint_id, ended(&planned, outcomes)))
    }

    /// Records the checkpoint that a transition ends with, unless that was done before a crash.
    pub(crate) fn record_due(
        &self,
        due: &Due,
        transition: &Transition,
        limits: Limits,
        lock: &FeatureLock,
    ) -> Result<Checkpoint> {
        self.record_changed(due, transition, &[], limits, lock)
    }

    /// The same where folders may have gone, too. Where nothing changed there is nothing to undo, so
    /// the safety checkpoint is the answer.
    pub(crate) fn record_changed(
        &self,
        due: &Due,
        transition: &Transition,
        hollow: &[RepoPath],
        limits: Limits,
        lock: &FeatureLock,
    ) -> Result<Checkpoint> {
        if let Ok(latest) = self.find_checkpoint("latest")
            && latest.kind == due.kind
            && latest.previous_checkpoint_id.as_ref() == Some(&due.safety)
        {
            return Ok(latest);
        }
        let steps = &transition.steps;
        let restored = steps.iter().filter(|step| step.to.is_some());
        let request = CheckpointRequest {
            kind: due.kind,
            message: due.message.clone(),
            on_unchanged: OnUnchanged::Reuse,
            also: restored.map(|step| step.path.clone()).collect(),
            limits,
            ..CheckpointRequest::default()
        };
        // The safety checkpoint has all else, so only what was changed is looked at, as a watchdog
        // would have named it: folders came and went with the files in them.
        let mut paths = BTreeMap::new();
        let folders = || transition.empty_folders.iter().chain(hollow);
        for path in steps.iter().map(|step| &step.path).chain(folders()) {
            paths.extend(path.parents().map(|folder| (folder, false)));
        }
        paths.extend(steps.iter().map(|step| (step.path.clone(), true)));
        paths.extend(folders().map(|folder| (folder.clone(), false)));
        let paths = paths.into_iter().map(|(path, whole)| DirtyPath { path, whole }).collect();
        Ok(self.capture_only(&request, paths, lock)?.checkpoint)
    }

    /// What to record before anything is changed. Files that the rules ignore by now and that the
    /// rollback would overwrite are recorded all the same.
    fn safety_request(
        &self,
        objects: &Objects,
        aim: &Aim,
        request: &RollbackRequest,
    ) -> Result<CheckpointRequest> {
        let target = tree_id(&aim.target.tree)?;
        let differing = tree::compare(objects, &aim.base, &target)?;
        let overwritten = differing.into_iter().filter(|delta| delta.after.is_some());
        Ok(CheckpointRequest {
            kind: CheckpointKind::Safety,
            message: format!("before {}", aim.message),
            also: overwritten.map(|delta| delta.path).collect(),
            limits: request.limits,
            ..CheckpointRequest::default()
        })
    }

    fn refuse_moved_head(&self, target: &Checkpoint, request: &RollbackRequest) -> Result<()> {
        if request.moved_head == MovedHead::Accept {
            return Ok(());
        }
        let Some((then, now)) = moved(&target.head, &head(&self.place)) else { return Ok(()) };
        Err(Error::Refused {
            what: format!(
                "HEAD was {} at {} and is {} now",
                shown(&then),
                target.checkpoint_id,
                shown(&now)
            ),
            hint: "switch back first, or insist with --allow-moved-head: HEAD stays where it is"
                .to_owned(),
        })
    }

    /// Puts merged contents into the store, so that they can be restored like any other.
    fn store_merged(&self, planned: &mut [Planned]) -> Result<()> {
        let mut pack = PackWriter::new(&self.store)?;
        for planned in planned {
            if let (Some(bytes), Some(step)) = (planned.merged.take(), &mut planned.step)
                && let Some(to) = &mut step.to
            {
                to.id = pack.add(gix::objs::Kind::Blob, &bytes)?;
            }
        }
        pack.finish()
    }

    /// Writes conflicts down beside the journal, so that they can be looked at later.
    fn save_conflicts(&self, planned: &[Planned], safety: &CheckpointId) -> Result<()> {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = self.place.feature_dir.join("conflicts").join(&safety.0);
        for planned in planned.iter().filter(|planned| planned.shown.action == StepAction::Conflict)
        {
            let path = dir.join(std::ffi::OsStr::from_bytes(planned.shown.path.as_bytes()));
            let text = planned.shown.note.as_deref().unwrap_or_default();
            own::replace(&path, text.as_bytes(), false)?;
        }
        Ok(())
    }

    /// Those of these folders that are there, or are not.
    pub(crate) fn folders_that(&self, folders: &[RepoPath], there: bool) -> Result<Vec<RepoPath>> {
        let root = Root::open(&self.place.root, Fuse::default())?;
        let mut hand = root.hand();
        let matches = |path: &&RepoPath| hand.folder(Some(path), false).is_ok() == there;
        Ok(folders.iter().filter(matches).cloned().collect())
    }

    /// Removes the folders that an earlier rollback made, and those above that it made for them. One
    /// that has something in it stays.
    fn remove_hollow(&self, aim: &Aim) -> Result<()> {
        let root = Root::open(&self.place.root, Fuse::default())?;
        let had: BTreeSet<&RepoPath> = aim.target.empty_folders.iter().collect();
        let mut hollow: BTreeSet<RepoPath> = aim.hollow.iter().cloned().collect();
        // The last in order is always below, never above, the others that it is related to.
        while let Some(path) = hollow.pop_last() {
            let mut hand = root.hand();
            let Ok(folder) = hand.parent_of(&path, false) else { continue };
            if !had.contains(&path) && folder.remove_folder(path.name()).is_ok() {
                hollow.extend(path.parent());
            }
        }
        Ok(())
    }
}

/// Folders without content that the aim has and the rollback is about, or may empty. Those that are
/// there now are among them, because they go when the last file in them does.
fn folders_due(aim: &Aim, request: &RollbackRequest, steps: &[Step]) -> Vec<RepoPath> {
    let touched: BTreeSet<RepoPath> = steps.iter().flat_map(|step| step.path.parents()).collect();
    let due = |path: &&RepoPath| plan::in_scope(&request.scope, path) || touched.contains(*path);
    aim.empty_folders.iter().filter(due).cloned().collect()
}

fn refuse_unseen(request: &RollbackRequest, now: &ObjectId) -> Result<()> {
    let now = TreeId(now.to_string());
    match &request.seen {
        Some(seen) if *seen != now => Err(Error::Refused {
            what: "the worktree changed since the preview".to_owned(),
            hint: "look at the preview again, then confirm".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// How it ended path by path: what was carried out, and what was planned to stay.
fn ended(planned: &[Planned], outcomes: Vec<PathOutcome>) -> Vec<PathOutcome> {
    let mut outcomes = outcomes.into_iter();
    let mut all = Vec::with_capacity(planned.len());
    for planned in planned {
        let path = planned.shown.path.clone();
        let note = || planned.shown.note.clone().unwrap_or_default();
        let outcome = match planned.shown.action {
            StepAction::Keep => Outcome::Kept { because: note() },
            StepAction::Conflict => Outcome::Conflict { marked: note() },
            action => match (action, outcomes.next().map(|ended| ended.outcome)) {
                (
                    StepAction::Merge,
                    Some(Outcome::Overwritten | Outcome::Created | Outcome::ModeChanged),
                ) => Outcome::Merged,
                (_, Some(outcome)) => outcome,
                (_, None) => Outcome::Failed { because: "it was not tried".to_owned() },
            },
        };
        all.push(PathOutcome { path, outcome });
    }
    all
}

/// Where HEAD was then and is now, when these differ.
fn moved(then: &Head, now: &Head) -> Option<(Head, Head)> {
    (then != now).then(|| (then.clone(), now.clone()))
}

fn shown(head: &Head) -> String {
    let commit = head.commit.as_deref().and_then(|commit| commit.get(..10));
    let branch =
        head.branch.as_deref().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
    let branch = branch.unwrap_or("detached");
    match commit {
        Some(commit) => format!("{branch} at {commit}"),
        None => format!("{branch}, without a commit"),
    }
}

#[cfg(test)]
mod tests;
