//! Rollback in memory: what it would do, doing it, and undoing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aurora_model::{Checkpoint, CheckpointId, CheckpointKind, EntryMode, RepoPath, Skipped};

use super::merge::merge;
use super::state::{Seen, State};
use super::tree::{self, Files};
use crate::error::{Error, Result};
use crate::request::{
    CheckpointRequest, Content, Edits, IgnoredFiles, MovedHead, Outcome, PathOutcome, PlannedStep,
    RollbackPlan, RollbackReport, RollbackRequest, Scope, StepAction,
};

/// Where a rollback or its undoing goes.
pub(super) struct Aim {
    to: Checkpoint,
    /// The files from which edits are told.
    base: Arc<Files>,
    /// Only these paths, where an earlier rollback is undone.
    only: Option<BTreeSet<RepoPath>>,
    /// Folders without content that go again, where an earlier rollback made them.
    hollow: Vec<RepoPath>,
}

impl Aim {
    /// The checkpoint whose state is restored.
    pub fn to(&self) -> &CheckpointId {
        &self.to.checkpoint_id
    }
}

/// A step, and what stands there afterwards.
struct Step {
    planned: PlannedStep,
    result: Option<Content>,
}

/// What a rollback would do, and what it was made from.
struct Plan {
    seen: Seen,
    also: Vec<RepoPath>,
    steps: Vec<Step>,
}

/// What is decided about one path.
struct Decision {
    action: StepAction,
    result: Option<Content>,
    note: Option<String>,
}

impl State {
    /// A rollback's aim: the checkpoint that was asked for.
    pub fn aim_at(&self, to: &Checkpoint) -> Aim {
        let base = Arc::new(self.latest_files().clone());
        Aim { to: to.clone(), base, only: None, hollow: Vec::new() }
    }

    /// Undoing's aim: what was there before the latest rollback, at the paths that it changed.
    pub fn aim_of_undo(&self) -> Result<Aim> {
        let undone = self.chain.iter().rev().find(|one| one.kind == CheckpointKind::Restored);
        let hint = || "see what there is to go back to with `aur checkpoints list`".to_owned();
        let Some(restored) = undone else {
            return Err(Error::NotFound {
                what: "there is no rollback to undo".to_owned(),
                hint: hint(),
            });
        };
        // The safety checkpoint is always the one right before.
        let before = restored.previous_checkpoint_id.as_ref();
        let before = self.chain.iter().find(|one| Some(&one.checkpoint_id) == before);
        let Some(safety) = before else {
            return Err(Error::NotFound {
                what: format!("the checkpoint before {} was pruned", restored.checkpoint_id),
                hint: hint(),
            });
        };
        let (before, after) = (self.files_of(&safety.tree)?, self.files_of(&restored.tree)?);
        let changed = tree::changes(before, after).into_iter().map(|change| change.path);
        let (only, base) = (Some(changed.collect()), Arc::new(after.clone()));
        let made = |path: &&RepoPath| !safety.empty_folders.contains(path);
        let hollow = restored.empty_folders.iter().filter(made).cloned().collect();
        Ok(Aim { to: safety.clone(), base, only, hollow })
    }

    /// What a rollback would do.
    pub fn plan_rollback(&self, aim: &Aim, request: &RollbackRequest) -> Result<RollbackPlan> {
        let plan = self.plan(aim, request)?;
        let moved = aim.to.head != self.head;
        Ok(RollbackPlan {
            to: aim.to.checkpoint_id.clone(),
            now: plan.seen.tree,
            moved_head: moved.then(|| (aim.to.head.clone(), self.head.clone())),
            empty_folders: self.folders_due(aim, request, &plan.steps),
            steps: plan.steps.into_iter().map(|step| step.planned).collect(),
            notes: request.scope.notes(),
        })
    }

    /// Takes the files back to a checkpoint.
    pub fn rollback(&mut self, aim: &Aim, request: &RollbackRequest) -> Result<RollbackReport> {
        let to = aim.to.checkpoint_id.clone();
        if aim.to.head != self.head && request.moved_head == MovedHead::Refuse {
            return Err(Error::Refused {
                what: format!("HEAD has moved since {to}"),
                hint: "restore the files all the same with `--allow-moved-head`".to_owned(),
            });
        }
        let plan = self.plan(aim, request)?;
        if request.seen.as_ref().is_some_and(|seen| *seen != plan.seen.tree) {
            return Err(Error::Refused {
                what: "the files changed since the preview was made".to_owned(),
                hint: "look at a new preview first".to_owned(),
            });
        }
        let record = |kind, also: Vec<RepoPath>| CheckpointRequest {
            kind,
            limits: request.limits,
            also,
            ..CheckpointRequest::default()
        };
        let safety = self.checkpoint(&record(CheckpointKind::Safety, plan.also))?;
        let safety = safety.checkpoint.checkpoint_id;
        let paths = self.apply(&plan.steps);
        self.restore_folders(aim, request, &plan.steps);
        // What came back from the checkpoint is in the new one, ignored or not. Where nothing changed
        // there is none, so that the next undo is about the rollback before.
        let done = plan.steps.iter().filter(|step| step.changes_something());
        let there = done.filter(|step| step.result.is_some());
        let there = there.map(|step| step.planned.path.clone()).collect();
        let restored = self.checkpoint(&record(CheckpointKind::Restored, there))?;
        let restored = restored.checkpoint.checkpoint_id;
        let notes = request.scope.notes();
        Ok(RollbackReport { to, safety, restored, paths, notes })
    }

    /// Folders without content that come back, or go with an undo.
    fn folders_due(&self, aim: &Aim, request: &RollbackRequest, steps: &[Step]) -> Vec<RepoPath> {
        let touched = |path: &RepoPath| steps.iter().any(|step| step.planned.path.is_within(path));
        let due = |path: &RepoPath| in_scope(path, &request.scope) || touched(path);
        let come = aim.to.empty_folders.iter().filter(|path| due(path) && !self.is_folder(path));
        let go = aim.hollow.iter().filter(|path| self.is_folder(path));
        come.chain(go).cloned().collect()
    }

    /// Folders without content come back where nothing stands, and go again with an undo.
    fn restore_folders(&mut self, aim: &Aim, request: &RollbackRequest, steps: &[Step]) {
        let touched = |path: &RepoPath| steps.iter().any(|step| step.planned.path.is_within(path));
        for path in &aim.to.empty_folders {
            if in_scope(path, &request.scope) || touched(path) {
                self.make_folder(path);
            }
        }
        self.folders.retain(|path| !aim.hollow.contains(path));
    }

    fn plan(&self, aim: &Aim, request: &RollbackRequest) -> Result<Plan> {
        let target = self.files_of(&aim.to.tree)?;
        // What would be overwritten must be in the safety checkpoint, ignored or not.
        let overwritten = tree::changes(&aim.base, target).into_iter();
        let overwritten = overwritten.filter(|change| change.after.is_some());
        let also: Vec<RepoPath> = overwritten.map(|change| change.path).collect();
        let seen = self.look(&request.limits, IgnoredFiles::Leave, &also)?;
        check_scope(&request.scope, [&seen.files, target])?;
        let mut steps = Vec::new();
        for path in tree::paths_of(&seen.files, target) {
            let about = aim.only.as_ref().is_none_or(|only| only.contains(path));
            if !about || !in_scope(path, &request.scope) {
                continue;
            }
            let Some(decision) = self.decide(path, &seen, target, aim, request.edits) else {
                continue;
            };
            let edited = aim.base.get(path) != seen.files.get(path);
            let planned = PlannedStep {
                path: path.clone(),
                action: decision.action,
                edited_since_last: edited,
                note: decision.note,
            };
            steps.push(Step { planned, result: decision.result });
        }
        self.keep_what_something_is_in_the_way_of(&mut steps);
        Ok(Plan { seen, also, steps })
    }

    /// What happens to one path; nothing where nothing differs.
    fn decide(
        &self,
        path: &RepoPath,
        seen: &Seen,
        target: &Files,
        aim: &Aim,
        edits: Edits,
    ) -> Option<Decision> {
        let (now, then) = (seen.files.get(path), target.get(path));
        if now == then {
            return None;
        }
        if now.is_none() && self.files.contains_key(path) {
            return Some(Decision::keep("it is too large for the safety checkpoint"));
        }
        let skipped = |left: &Skipped| path.is_within(&left.path);
        if then.is_none() && aim.to.skipped.iter().any(skipped) {
            return Some(Decision::keep("it was there and left out of the checkpoint"));
        }
        let base = aim.base.get(path);
        if edits == Edits::Merge && now != base {
            return Some(merged(base, now, then));
        }
        Some(Decision::replace(now, then))
    }

    /// A file cannot be created above or below one that stays.
    fn keep_what_something_is_in_the_way_of(&self, steps: &mut [Step]) {
        let gone = |step: &&Step| step.planned.action == StepAction::Delete;
        let gone: BTreeSet<RepoPath> =
            steps.iter().filter(gone).map(|step| step.planned.path.clone()).collect();
        let stays = |path: &RepoPath| self.files.contains_key(path) && !gone.contains(path);
        for step in steps.iter_mut().filter(|step| step.planned.action == StepAction::Create) {
            let path = &step.planned.path;
            let below = self
                .files
                .keys()
                .any(|other| other != path && other.is_within(path) && stays(other));
            if below || path.parents().any(|above| stays(&above)) {
                step.planned.action = StepAction::Keep;
                step.planned.note = Some("something that stays is in its way".to_owned());
            }
        }
    }

    fn apply(&mut self, steps: &[Step]) -> Vec<PathOutcome> {
        let mut outcomes = BTreeMap::new();
        // What goes makes room for what comes.
        let (going, others): (Vec<&Step>, Vec<&Step>) =
            steps.iter().partition(|step| step.planned.action == StepAction::Delete);
        for step in going.into_iter().chain(others) {
            let path = &step.planned.path;
            match (&step.result, step.changes_something()) {
                (_, false) => {}
                (Some(content), true) => self.put(path, content.clone()),
                (None, true) => drop(self.files.remove(path)),
            }
            outcomes.insert(path.clone(), step.outcome());
        }
        outcomes.into_iter().map(|(path, outcome)| PathOutcome { path, outcome }).collect()
    }
}

impl Step {
    fn changes_something(&self) -> bool {
        !matches!(self.planned.action, StepAction::Keep | StepAction::Conflict)
    }

    fn outcome(&self) -> Outcome {
        let note = || self.planned.note.clone().unwrap_or_default();
        match self.planned.action {
            StepAction::Create => Outcome::Created,
            StepAction::Overwrite => Outcome::Overwritten,
            StepAction::ChangeMode => Outcome::ModeChanged,
            StepAction::Delete => Outcome::Deleted,
            StepAction::Merge => Outcome::Merged,
            StepAction::Conflict => Outcome::Conflict { marked: note() },
            StepAction::Keep => Outcome::Kept { because: note() },
        }
    }
}

impl Decision {
    fn keep(why: &str) -> Self {
        Self { action: StepAction::Keep, result: None, note: Some(why.to_owned()) }
    }

    fn replace(now: Option<&Content>, then: Option<&Content>) -> Self {
        let action = match (now, then) {
            (None, _) => StepAction::Create,
            (Some(_), None) => StepAction::Delete,
            (Some(now), Some(then)) if now.bytes == then.bytes && is_file(now) && is_file(then) => {
                StepAction::ChangeMode
            }
            (Some(_), Some(_)) => StepAction::Overwrite,
        };
        Self { action, result: then.cloned(), note: None }
    }
}

/// What becomes of a path that somebody edited.
fn merged(base: Option<&Content>, now: Option<&Content>, then: Option<&Content>) -> Decision {
    let conflict = |note: &str| Decision {
        action: StepAction::Conflict,
        result: None,
        note: Some(note.to_owned()),
    };
    if base == then {
        return Decision::keep("it was edited since the last checkpoint");
    }
    let (Some(now), Some(then)) = (now, then) else {
        return conflict("one side deleted it and the other changed it");
    };
    if ![Some(now), Some(then), base].into_iter().flatten().all(is_file) {
        return conflict("it is a link or a submodule on one side, and both sides changed it");
    }
    let mode = match base {
        Some(base) if base.mode == now.mode => then.mode,
        None if now.mode != then.mode => {
            return conflict("both sides made it, and only one of them lets it be executed");
        }
        _ => now.mode,
    };
    // Where nobody had it before, both sides begin from nothing.
    let base = base.map_or(&[][..], |base| &base.bytes);
    let text = |bytes: &[u8]| !bytes.contains(&0);
    if now.bytes != then.bytes && !(text(base) && text(&now.bytes) && text(&then.bytes)) {
        return conflict("it is binary, and both sides changed it");
    }
    match merge(base, &now.bytes, &then.bytes) {
        Ok(bytes) => {
            let result = Some(Content { mode, bytes });
            Decision { action: StepAction::Merge, result, note: None }
        }
        Err(marked) => conflict(&String::from_utf8_lossy(&marked)),
    }
}

/// Refuses names that nothing has: they are mistyped.
fn check_scope(scope: &Scope, trees: [&Files; 2]) -> Result<()> {
    let (what, hint) = match scope {
        Scope::Paths(paths) => {
            let there = |path: &&RepoPath| {
                trees.iter().any(|files| files.keys().any(|other| other.is_within(path)))
            };
            let missing = paths.iter().filter(|path| !there(path)).map(ToString::to_string);
            let missing = missing.collect::<Vec<_>>().join(", ");
            if missing.is_empty() {
                return Ok(());
            }
            let what = format!("neither the checkpoint nor the worktree has {missing}");
            (what, "paths are told from the root; what is ignored is not captured")
        }
        Scope::Violations(found)
            if !found.is_empty() && found.iter().all(|one| one.file.is_none()) =>
        {
            ("none of the violations names a file".to_owned(), "name the files yourself")
        }
        _ => return Ok(()),
    };
    Err(Error::NotFound { what, hint: hint.to_owned() })
}

fn is_file(content: &Content) -> bool {
    matches!(content.mode, EntryMode::File | EntryMode::Executable)
}

fn in_scope(path: &RepoPath, scope: &Scope) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::Paths(paths) => paths.iter().any(|within| path.is_within(within)),
        Scope::Violations(found) => {
            found.iter().filter_map(|one| one.file.as_ref()).any(|within| path.is_within(within))
        }
    }
}
