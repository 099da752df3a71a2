//! Rollback in memory: what it would do, doing it, and undoing it.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::{Checkpoint, CheckpointKind, EntryMode, RepoPath};

use super::merge::merge;
use super::state::{Seen, State, Undoable};
use super::tree::{self, Files};
use crate::error::{Error, Result};
use crate::request::{
    CheckpointRequest, Content, Edits, IgnoredFiles, MovedHead, OnUnchanged, Outcome, PathOutcome,
    PlannedStep, RollbackPlan, RollbackReport, RollbackRequest, Scope, StepAction,
};

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
    /// What a rollback would do.
    pub fn plan_rollback(
        &self,
        to: &Checkpoint,
        request: &RollbackRequest,
    ) -> Result<RollbackPlan> {
        let plan = self.plan(to, request)?;
        let moved = to.head != self.head;
        Ok(RollbackPlan {
            to: to.checkpoint_id.clone(),
            now: plan.seen.tree,
            moved_head: moved.then(|| (to.head.clone(), self.head.clone())),
            steps: plan.steps.into_iter().map(|step| step.planned).collect(),
        })
    }

    /// Takes the files back to a checkpoint.
    pub fn rollback(
        &mut self,
        to: &Checkpoint,
        request: &RollbackRequest,
    ) -> Result<RollbackReport> {
        if to.head != self.head && request.moved_head == MovedHead::Refuse {
            return Err(Error::Refused {
                what: format!("HEAD moved since {} was made", to.checkpoint_id),
                hint: "restore the files all the same with `--moved-head`".to_owned(),
            });
        }
        let plan = self.plan(to, request)?;
        if request.seen.as_ref().is_some_and(|seen| *seen != plan.seen.tree) {
            return Err(Error::Refused {
                what: "the files changed since the preview was made".to_owned(),
                hint: "look at a new preview first".to_owned(),
            });
        }
        let record = |kind, also: &[RepoPath]| CheckpointRequest {
            kind,
            limits: request.limits,
            also: also.to_vec(),
            ..CheckpointRequest::default()
        };
        let safety = self.checkpoint(&record(CheckpointKind::Safety, &plan.also))?;
        let safety = safety.checkpoint.checkpoint_id;
        let paths = self.apply(&plan.steps);
        let changed = plan.steps.iter().filter(|step| step.changes_something());
        let changed: Vec<RepoPath> = changed.map(|step| step.planned.path.clone()).collect();
        let mut restored = safety.clone();
        if !changed.is_empty() {
            let mut left = record(CheckpointKind::Restored, &plan.also);
            // What came back from the checkpoint is in the new one, ignored or not.
            left.also.extend(changed.iter().cloned());
            left.on_unchanged = OnUnchanged::Record;
            restored = self.checkpoint(&left)?.checkpoint.checkpoint_id;
            self.last_undoable = Some(Undoable { safety: safety.clone(), paths: changed });
        }
        Ok(RollbackReport { to: to.checkpoint_id.clone(), safety, restored, paths })
    }

    fn plan(&self, to: &Checkpoint, request: &RollbackRequest) -> Result<Plan> {
        let target = self.files_of(&to.tree)?;
        // What would be overwritten must be in the safety checkpoint, ignored or not.
        let overwritten = target.keys().filter(|path| self.files.contains_key(*path));
        let also: Vec<RepoPath> = overwritten.cloned().collect();
        let seen = self.look(&request.limits, IgnoredFiles::Leave, &also)?;
        let mut steps = Vec::new();
        for path in tree::paths_of(&seen.files, target) {
            if !in_scope(path, &request.scope) {
                continue;
            }
            let Some(decision) = self.decide(path, &seen, target, to, request.edits) else {
                continue;
            };
            let edited = self.latest_files().get(path) != self.files.get(path);
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
        to: &Checkpoint,
        edits: Edits,
    ) -> Option<Decision> {
        let (now, then) = (seen.files.get(path), target.get(path));
        if now == then {
            return None;
        }
        if now.is_none() && self.files.contains_key(path) {
            return Some(Decision::keep("it is too large for the safety checkpoint"));
        }
        let skipped = |path: &RepoPath| {
            let covers = |left: &aurora_model::Skipped| path.is_within(&left.path);
            to.skipped.iter().any(covers)
        };
        if then.is_none() && skipped(path) {
            return Some(Decision::keep("it was there and left out of the checkpoint"));
        }
        let base = self.latest_files().get(path);
        if edits == Edits::Merge && now != base {
            return (then != base).then(|| merged(base, now, then));
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

/// What becomes of a path that somebody edited and that the checkpoints changed too.
fn merged(base: Option<&Content>, now: Option<&Content>, then: Option<&Content>) -> Decision {
    let conflict =
        |note: String| Decision { action: StepAction::Conflict, result: None, note: Some(note) };
    let (Some(now), Some(then)) = (now, then) else {
        return conflict("one side deleted it and the other changed it".to_owned());
    };
    let text = |content: &Content| is_file(content) && !content.bytes.contains(&0);
    let base_is_text = base.is_none_or(text);
    if !(text(now) && text(then) && base_is_text) {
        return conflict("it cannot be merged by lines".to_owned());
    }
    // Where nobody had it before, both sides begin from nothing.
    let (base_mode, base_bytes) = base.map_or((now.mode, &[][..]), |base| (base.mode, &base.bytes));
    match merge(base_bytes, &now.bytes, &then.bytes) {
        Ok(bytes) => {
            let mode = if now.mode == base_mode { then.mode } else { now.mode };
            let result = Some(Content { mode, bytes });
            Decision { action: StepAction::Merge, result, note: None }
        }
        Err(marked) => conflict(String::from_utf8_lossy(&marked).into_owned()),
    }
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
