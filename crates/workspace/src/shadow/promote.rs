//! Promoting a shadow: its changes reach the real worktree, all of them or one by one.

use std::collections::BTreeSet;

use aurora_model::{
    ChangeKind, CheckpointId, CheckpointKind, EntryMode, RepoPath, Severity, Violation,
};

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::merge::{self, Merged};
use crate::git::objects::Entry;
use crate::git::pack::PackWriter;
use crate::git::private::FeatureLock;
use crate::git::restore::{Due, Step, Transition};
use crate::git::scan::open::Root;
use crate::git::scan::permissions::unusual;
use crate::request::{CheckpointRequest, OnUnchanged, Outcome, PathOutcome};
use crate::shadow::changes::{Compared, ShadowChange};
use crate::shadow::meta::{Promotion, Settled, Shadow, Status};
use crate::shadow::{
    PromotionMode, PromotionReport, PromotionRequest, Strategy, WhenMoved, quota, removal,
};

/// What a promotion is going to do.
struct Plan<'a> {
    steps: Vec<Step>,
    /// The changes behind the steps, in the same order.
    changes: Vec<&'a ShadowChange>,
    /// Which of the steps are merges.
    merged: BTreeSet<RepoPath>,
    /// What does not go, and how that is told.
    stays: Vec<PathOutcome>,
    empty_folders: Vec<RepoPath>,
    /// How many changes were not asked for.
    left: u64,
    /// What of git's own data only the shadow has.
    git_data: Vec<String>,
    violations: Vec<Violation>,
    notes: Vec<String>,
}

impl GitWorkspace {
    /// Brings a shadow's changes into the worktree, after a safety checkpoint.
    pub fn promote_shadow(
        &self,
        shadow: &Shadow,
        request: &PromotionRequest,
    ) -> Result<PromotionReport> {
        if shadow.meta.status != Status::Open {
            return Err(Error::Refused {
                what: format!("{} is over: it was promoted or discarded", shadow.meta.id),
                hint: "`aur shadow list` shows the open ones".to_owned(),
            });
        }
        let _shadow_lock = self.lock_shadow(shadow)?;
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)?;
        let compared = self.compare_shadow(shadow, request.limits.max_file_bytes)?;
        let judged = self.judge_shadow(shadow, &compared, quota::bytes_held(shadow))?;
        refuse_violations(shadow, &judged.violations, request)?;
        let mut pack = PackWriter::new(&self.store)?;
        let mut plan = self.plan_promotion(shadow, &compared, request, &mut pack)?;
        plan.notes.extend(judged.notes);
        plan.git_data = judged.git_data;
        plan.violations = judged.violations;
        refuse_conflicts(&plan, request)?;
        if request.dry_run {
            return Ok(would_do(shadow, request, plan));
        }
        if plan.steps.is_empty() && plan.empty_folders.is_empty() {
            return self.end_promotion(shadow, request, &plan, None, Vec::new());
        }
        self.store_shadow_blobs(shadow, plan.changes.iter().copied(), &mut pack)?;
        pack.finish()?;
        let safety = self.safety_checkpoint(shadow, &plan, request, &lock)?;
        let (outcomes, promoted) = self.carry_over(shadow, &plan, request, &safety, &lock)?;
        self.end_promotion(shadow, request, &plan, Some((safety, promoted)), outcomes)
    }

    fn plan_promotion<'a>(
        &self,
        shadow: &Shadow,
        compared: &'a Compared,
        request: &PromotionRequest,
        pack: &mut PackWriter,
    ) -> Result<Plan<'a>> {
        let wanted = |path: &RepoPath| {
            request.only.is_empty() || request.only.iter().any(|only| path.is_within(only))
        };
        let mut plan = Plan {
            steps: Vec::new(),
            changes: Vec::new(),
            merged: BTreeSet::new(),
            stays: Vec::new(),
            empty_folders: compared
                .empty_folders
                .iter()
                .filter(|path| wanted(path))
                .cloned()
                .collect(),
            left: 0,
            git_data: Vec::new(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        let mut ignored: u64 = 0;
        let files = Root::open(&shadow.files()).ok();
        for change in &compared.changes {
            let path = &change.change.path;
            if !wanted(path) {
                plan.left += 1;
                continue;
            }
            if change.ignored && !request.ignored {
                ignored += 1;
                continue;
            }
            let mut to = change.sides.mine;
            if change.moved {
                match self.merge_change(shadow, change, request, pack)? {
                    Ok(merged) => {
                        to = Some(merged);
                        plan.merged.insert(path.clone());
                    }
                    Err(outcome) => {
                        plan.stays.push(PathOutcome { path: path.clone(), outcome });
                        continue;
                    }
                }
            }
            // A new file has the permissions that it was given; an old one keeps its own.
            let made = change.sides.now.is_none() && to.is_some();
            let stat = made.then(|| files.as_ref()?.stat(path.as_bytes()).ok()).flatten();
            let permissions = stat.and_then(|stat| unusual(stat.st_mode));
            plan.steps.push(Step { path: path.clone(), from: change.sides.now, to, permissions });
            plan.changes.push(change);
        }
        for problem in compared.problems.iter().filter(|problem| wanted(&problem.path)) {
            let outcome = Outcome::Kept { because: problem.because.clone() };
            plan.stays.push(PathOutcome { path: problem.path.clone(), outcome });
        }
        let found = plan.steps.len() + plan.stays.len() + plan.empty_folders.len();
        if !request.only.is_empty() && found == 0 {
            return Err(Error::NotFound {
                what: format!("{} changes nothing at these paths", shadow.meta.id),
                hint: format!("`aur shadow inspect {}` lists what it changes", shadow.meta.id),
            });
        }
        if ignored > 0 {
            plan.left += ignored;
            let (files, stay, them) = match ignored {
                1 => ("file is", "stays", "it"),
                _ => ("files are", "stay", "them"),
            };
            plan.notes.push(format!(
                "{ignored} changed {files} ignored by the repository's rules and {stay} in the \
                 shadow (`--ignored` takes {them} too)"
            ));
        }
        Ok(plan)
    }

    /// What becomes of a file that both sides changed.
    fn merge_change(
        &self,
        shadow: &Shadow,
        change: &ShadowChange,
        request: &PromotionRequest,
        pack: &mut PackWriter,
    ) -> Result<std::result::Result<Entry, Outcome>> {
        let kept = |because: &str| Ok(Err(Outcome::Kept { because: because.to_owned() }));
        if request.when_moved == WhenMoved::Refuse {
            return kept("the real worktree changed it too (`--merge` merges both)");
        }
        let is_file = |entry: &Entry| matches!(entry.mode, EntryMode::File | EntryMode::Executable);
        let sides = (change.sides.then, change.sides.mine, change.sides.now);
        let (Some(then), Some(mine), Some(now)) = sides else {
            return kept("one side deleted or made it, so that there is nothing to merge");
        };
        if ![&then, &mine, &now].into_iter().all(is_file) {
            return kept("it is no file on one side, so that there is nothing to merge");
        }
        let objects = self.store.objects()?;
        if !objects.contains(&then.id) {
            return kept("what it was before is not recorded, so that there is nothing to merge");
        }
        let texts = (
            objects.blob(&then.id)?,
            self.shadow_bytes(&shadow.files(), &change.change.path)?,
            self.shadow_bytes(&self.place.root, &change.change.path)?,
        );
        let sides = merge::Sides { base: &texts.0, checkpoint: &texts.1, now: &texts.2 };
        let scratch = self.place.feature_dir.join("tmp");
        let labels = ["worktree", "base", "shadow"];
        let program = &self.place.program;
        match merge::merge_labelled(program, &self.store.dir, &scratch, sides, labels)? {
            Merged::Clean(merged) => {
                let id = pack.add(gix::objs::Kind::Blob, &merged)?;
                let mode = if mine.mode == then.mode { now.mode } else { mine.mode };
                Ok(Ok(Entry { mode, id }))
            }
            Merged::Marked(marked) => Ok(Err(Outcome::Conflict { marked })),
            Merged::Impossible(because) => kept(because),
        }
    }

    fn safety_checkpoint(
        &self,
        shadow: &Shadow,
        plan: &Plan<'_>,
        request: &PromotionRequest,
        lock: &FeatureLock,
    ) -> Result<CheckpointId> {
        let asked = CheckpointRequest {
            kind: CheckpointKind::Safety,
            message: format!("before the promotion of {}", shadow.meta.id),
            on_unchanged: OnUnchanged::Record,
            limits: request.limits,
            // Files that the rules ignore must come back too when the promotion is undone.
            also: plan
                .changes
                .iter()
                .filter(|one| one.ignored)
                .map(|one| one.change.path.clone())
                .collect(),
            ..CheckpointRequest::default()
        };
        Ok(self.capture(&asked, lock)?.checkpoint.checkpoint_id)
    }

    /// Takes the steps and records what they left before the journal ends, also when somebody got in
    /// the way of some of them: what went is then never there without a record, and can be undone.
    fn carry_over(
        &self,
        shadow: &Shadow,
        plan: &Plan<'_>,
        request: &PromotionRequest,
        safety: &CheckpointId,
        lock: &FeatureLock,
    ) -> Result<(Vec<PathOutcome>, CheckpointId)> {
        let what = format!("promotion of {}", shadow.meta.id);
        let transition = Transition {
            what: what.clone(),
            steps: plan.steps.clone(),
            empty_folders: plan.empty_folders.clone(),
        };
        let due = Due { kind: CheckpointKind::Promoted, message: what, safety: safety.clone() };
        let record = |_: &[PathOutcome]| {
            let recorded = self.record_due(&due, &transition, request.limits, lock)?;
            Ok(recorded.checkpoint_id)
        };
        self.apply_then(&transition, Some(due.clone()), record)
    }

    /// What is taken out of a shadow that stays open. In a copy what went is as in the worktree
    /// already, but for what was merged.
    fn taken_out<'a>(
        &self,
        shadow: &Shadow,
        plan: &Plan<'a>,
        went: &BTreeSet<RepoPath>,
    ) -> Vec<&'a ShadowChange> {
        let differs = |path: &RepoPath| {
            shadow.meta.strategy == Strategy::Overlay || plan.merged.contains(path)
        };
        let changes = plan.changes.iter().copied();
        changes.filter(|one| went.contains(&one.change.path) && differs(&one.change.path)).collect()
    }

    /// Writes the history and says what happened.
    fn end_promotion(
        &self,
        shadow: &Shadow,
        request: &PromotionRequest,
        plan: &Plan<'_>,
        checkpoints: Option<(CheckpointId, CheckpointId)>,
        mut outcomes: Vec<PathOutcome>,
    ) -> Result<PromotionReport> {
        let mut shadow = shadow.clone();
        let went: BTreeSet<RepoPath> =
            outcomes.iter().filter(|one| !did_not_go(one)).map(|one| one.path.clone()).collect();
        for one in &mut outcomes {
            if plan.merged.contains(&one.path) && one.outcome == Outcome::Overwritten {
                one.outcome = Outcome::Merged;
            }
        }
        let failed = u64::try_from(outcomes.iter().filter(|one| did_not_go(one)).count());
        let failed = failed.unwrap_or(u64::MAX);
        let left = plan.left.saturating_add(count(&plan.stays)).saturating_add(failed);
        let mut notes = plan.notes.clone();
        if request.mode == PromotionMode::Atomic && failed > 0 {
            notes.push(
                "the worktree was changed at the same moment, so that not all of it went: \
                 `aur rollback --undo` takes back what did, or promote again"
                    .to_owned(),
            );
        }
        if let Some((safety, promoted)) = &checkpoints {
            shadow.meta.promotions.push(Promotion {
                at: (self.settings.now)(),
                mode: request.mode,
                paths: went.iter().cloned().collect(),
                safety: safety.clone(),
                promoted: promoted.clone(),
            });
        }
        for step in &plan.steps {
            if went.contains(&step.path) {
                let settled = step.to.map(|to| Settled { mode: to.mode, id: to.id.to_string() });
                shadow.meta.settled.insert(step.path.clone(), settled);
            }
        }
        let stays_open = left > 0 || !plan.git_data.is_empty();
        if !stays_open {
            shadow.meta.status = Status::Promoted;
            shadow.meta.settled.clear();
        }
        if stays_open {
            // Taken out before it is said to be settled: a crash in between leaves nothing that
            // would be promoted a second time.
            self.drop_promoted(&shadow, &self.taken_out(&shadow, plan, &went))?;
            shadow.save()?;
        } else {
            shadow.save()?;
            self.let_base_go(&shadow.meta.id)?;
            empty_out(&shadow)?;
        }
        outcomes.extend(plan.stays.iter().cloned());
        outcomes.sort_by(|one, other| one.path.cmp(&other.path));
        let (safety, promoted) = checkpoints.unzip();
        Ok(PromotionReport {
            shadow: shadow.meta.id.clone(),
            mode: request.mode,
            safety,
            promoted,
            paths: outcomes,
            notes,
            left,
            git_data: plan.git_data.clone(),
            open: stays_open,
            violations: plan.violations.clone(),
            dry_run: false,
        })
    }
}

fn count<T>(of: &[T]) -> u64 {
    u64::try_from(of.len()).unwrap_or(u64::MAX)
}

fn did_not_go(one: &PathOutcome) -> bool {
    matches!(one.outcome, Outcome::Kept { .. } | Outcome::Failed { .. } | Outcome::Conflict { .. })
}

fn refuse_violations(
    shadow: &Shadow,
    violations: &[Violation],
    request: &PromotionRequest,
) -> Result<()> {
    let wanted = |violation: &&Violation| {
        violation.severity >= Severity::Error
            && violation.file.as_ref().is_none_or(|file| {
                request.only.is_empty() || request.only.iter().any(|only| file.is_within(only))
            })
    };
    let bad: Vec<String> = violations
        .iter()
        .filter(wanted)
        .map(|one| match &one.file {
            Some(file) => format!("{file}: {}", one.message),
            None => one.message.clone(),
        })
        .collect();
    if bad.is_empty() || request.accept_violations || request.dry_run {
        return Ok(());
    }
    let more = bad.len().saturating_sub(5);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    let few: Vec<String> = bad.into_iter().take(5).collect();
    Err(Error::Refused {
        what: format!("{} must not be promoted: {}{rest}", shadow.meta.id, few.join("; ")),
        hint: "put it right in the shadow, or promote all the same with `--accept-violations`"
            .to_owned(),
    })
}

/// An atomic promotion goes whole or not at all.
fn refuse_conflicts(plan: &Plan<'_>, request: &PromotionRequest) -> Result<()> {
    if request.mode == PromotionMode::Incremental || request.dry_run || plan.stays.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = plan
        .stays
        .iter()
        .take(10)
        .map(|one| match &one.outcome {
            Outcome::Kept { because } => format!("{} ({because})", one.path),
            _ => format!("{} (both changed the same lines)", one.path),
        })
        .collect();
    let more = plan.stays.len().saturating_sub(told.len());
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    Err(Error::Refused {
        what: format!(
            "nothing was promoted, because some paths cannot go: {}{rest}",
            told.join("; ")
        ),
        hint: match request.when_moved {
            WhenMoved::Refuse => {
                "`--merge` merges what both sides changed, `--incremental` promotes the rest"
            }
            WhenMoved::Merge => "`--incremental` promotes the rest",
        }
        .to_owned(),
    })
}

/// What a promotion would do, as it would be told.
fn would_do(shadow: &Shadow, request: &PromotionRequest, plan: Plan<'_>) -> PromotionReport {
    let mut paths = plan.stays;
    let left = plan.left + count(&paths);
    for (step, change) in plan.steps.iter().zip(&plan.changes) {
        let outcome = match change.change.kind {
            _ if plan.merged.contains(&step.path) => Outcome::Merged,
            _ if step.to.is_none() => Outcome::Deleted,
            _ if step.from.is_none() => Outcome::Created,
            ChangeKind::ModeChanged => Outcome::ModeChanged,
            _ => Outcome::Overwritten,
        };
        paths.push(PathOutcome { path: step.path.clone(), outcome });
    }
    paths.sort_by(|one, other| one.path.cmp(&other.path));
    PromotionReport {
        shadow: shadow.meta.id.clone(),
        mode: request.mode,
        safety: None,
        promoted: None,
        paths,
        notes: plan.notes,
        left,
        open: left > 0 || !plan.git_data.is_empty(),
        git_data: plan.git_data,
        violations: plan.violations,
        dry_run: true,
    }
}

/// Removes a promoted shadow's files; what is known about it stays for the history.
fn empty_out(shadow: &Shadow) -> Result<()> {
    let listing = std::fs::read_dir(&shadow.dir).map_err(Error::io("list", &shadow.dir))?;
    for entry in listing {
        let entry = entry.map_err(Error::io("list", &shadow.dir))?;
        if entry.file_name() != "meta.json" && entry.file_name() != "lock" {
            removal::remove(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
