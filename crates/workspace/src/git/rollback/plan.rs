//! What a rollback would do, path by path.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::{Checkpoint, EntryMode, RepoPath, SkipReason, Skipped};
use gix::hash::ObjectId;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::chain::tree_id;
use crate::git::merge::{Merged, Sides, merge};
use crate::git::objects::{Entry, Node, Objects};
use crate::git::restore::{Step, is_file};
use crate::git::tree::{self, Delta};
use crate::request::{Edits, PlannedStep, RollbackRequest, Scope, StepAction};

/// Where a rollback or its undoing goes.
pub(super) struct Aim {
    /// The checkpoint whose state is restored.
    pub target: Checkpoint,
    /// The tree from which edits are told.
    pub base: ObjectId,
    /// Only these paths, where an earlier operation is undone.
    pub only: Option<BTreeSet<RepoPath>>,
    /// Folders without content that shall be there.
    pub empty_folders: Vec<RepoPath>,
    /// Folders that an earlier operation made and that go again where nothing is in them.
    pub hollow: Vec<RepoPath>,
    /// What it is called.
    pub message: String,
}

/// What the worktree holds now.
pub(super) struct State {
    /// Its tree.
    pub tree: ObjectId,
    /// What is not in it.
    pub skipped: Vec<Skipped>,
}

impl State {
    /// The state that a checkpoint recorded.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self> {
        let tree = tree_id(&checkpoint.tree)?;
        Ok(Self { tree, skipped: checkpoint.skipped.clone() })
    }
}

/// One path of a plan.
pub(super) struct Planned {
    /// As it is shown.
    pub shown: PlannedStep,
    /// As it is carried out; nothing when it stays.
    pub step: Option<Step>,
    /// The content that a merge made, until it is stored.
    pub merged: Option<Vec<u8>>,
}

/// What becomes of a path whose edits are to stay.
enum Way {
    Restore,
    Merge(EntryMode, Vec<u8>),
    Conflict(String),
    Keep(&'static str),
}

impl GitWorkspace {
    /// Every path that differs and is in scope, with what happens to it.
    pub(super) fn plan_paths(
        &self,
        objects: &Objects,
        aim: &Aim,
        request: &RollbackRequest,
        now: &State,
    ) -> Result<Vec<Planned>> {
        let target = tree_id(&aim.target.tree)?;
        check_scope(objects, &request.scope, &[now.tree, target])?;
        let edits = tree::compare(objects, &aim.base, &now.tree)?;
        let edits: BTreeMap<RepoPath, Delta> =
            edits.into_iter().map(|delta| (delta.path.clone(), delta)).collect();
        let kept = Kept::new(&aim.target.skipped, &now.skipped);
        let mut planned = Vec::new();
        let mut in_the_way = InTheWay::of(&now.skipped);
        for delta in tree::compare(objects, &now.tree, &target)? {
            let about = aim.only.as_ref().is_none_or(|only| only.contains(&delta.path));
            if !about || !in_scope(&request.scope, &delta.path) {
                in_the_way.stays(&delta);
                continue;
            }
            let edit = edits.get(&delta.path);
            let way = match (kept.because(&delta), edit) {
                (Some(because), _) => Way::Keep(because),
                (None, Some(edit)) if request.edits == Edits::Merge => {
                    self.three_way(objects, edit, &delta)?
                }
                _ => Way::Restore,
            };
            if !matches!(way, Way::Restore) {
                in_the_way.stays(&delta);
            }
            let permissions = aim.target.permissions.get(&delta.path).copied();
            planned.push(plan_one(delta, permissions, edit.is_some(), way));
        }
        planned.iter_mut().for_each(|planned| in_the_way.keep(planned));
        add_unseen(objects, aim, request, now, &mut planned)?;
        Ok(planned)
    }

    /// What becomes of a path that was edited since its base.
    fn three_way(&self, objects: &Objects, edit: &Delta, delta: &Delta) -> Result<Way> {
        let (base, now, theirs) = (edit.before, delta.before, delta.after);
        if base == theirs {
            return Ok(Way::Keep("it was edited since the last checkpoint"));
        }
        let (Some(now), Some(theirs)) = (now, theirs) else {
            let what = if now.is_none() { "deleted" } else { "edited" };
            return Ok(Way::Conflict(format!(
                "it was {what} since the last checkpoint, and the rollback would {} it",
                if delta.after.is_none() { "delete" } else { "restore" }
            )));
        };
        if [Some(now), Some(theirs), base].into_iter().flatten().any(|entry| !is_file(entry.mode)) {
            let why = "it is a symbolic link or a submodule on one side, and both sides changed it";
            return Ok(Way::Conflict(why.to_owned()));
        }
        let mode = match base {
            Some(base) if base.mode == now.mode => theirs.mode,
            Some(_) => now.mode,
            None if now.mode == theirs.mode => now.mode,
            None => {
                let why = "both sides made it, and only one of them lets it be executed";
                return Ok(Way::Conflict(why.to_owned()));
            }
        };
        let bytes = match base {
            _ if now.id == theirs.id => objects.blob(&now.id)?,
            Some(base) if base.id == now.id => objects.blob(&theirs.id)?,
            Some(base) if base.id == theirs.id => objects.blob(&now.id)?,
            _ => match self.merge_contents(objects, base, &now, &theirs)? {
                Merged::Clean(bytes) => bytes,
                Merged::Marked(text) => return Ok(Way::Conflict(text)),
                Merged::Impossible(why) => return Ok(Way::Conflict(why.to_owned())),
            },
        };
        Ok(Way::Merge(mode, bytes))
    }

    fn merge_contents(
        &self,
        objects: &Objects,
        base: Option<Entry>,
        now: &Entry,
        theirs: &Entry,
    ) -> Result<Merged> {
        let base = base.map(|base| objects.blob(&base.id)).transpose()?.unwrap_or_default();
        let (now, checkpoint) = (objects.blob(&now.id)?, objects.blob(&theirs.id)?);
        let sides = Sides { now: &now, base: &base, checkpoint: &checkpoint };
        let scratch = self.place.feature_dir.join("tmp");
        merge(&self.place.program, &self.store.dir, &scratch, sides)
    }
}

/// Adds what could not be captured now and stands where the checkpoint has something: nobody can tell
/// whether it differs, so it stays, and that is said.
fn add_unseen(
    objects: &Objects,
    aim: &Aim,
    request: &RollbackRequest,
    now: &State,
    planned: &mut Vec<Planned>,
) -> Result<()> {
    let target = tree_id(&aim.target.tree)?;
    let said: BTreeSet<RepoPath> = planned.iter().map(|one| one.shown.path.clone()).collect();
    for skipped in &now.skipped {
        let Some(because) = uncaptured(skipped.reason) else { continue };
        let about = aim.only.as_ref().is_none_or(|only| only.contains(&skipped.path));
        if about
            && in_scope(&request.scope, &skipped.path)
            && !said.contains(&skipped.path)
            && stands_in(objects, &target, &skipped.path)?
        {
            let path = skipped.path.clone();
            let unchanged = Delta { path, before: None, after: None };
            planned.push(plan_one(unchanged, None, true, Way::Keep(because)));
        }
    }
    planned.sort_by(|one, other| one.shown.path.cmp(&other.shown.path));
    Ok(())
}

fn plan_one(delta: Delta, permissions: Option<u32>, edited: bool, way: Way) -> Planned {
    let Delta { path, before, after } = delta;
    let shown =
        |action, note| PlannedStep { path: path.clone(), action, edited_since_last: edited, note };
    let step = |to: Option<Entry>, permissions| {
        let permissions = to.and(permissions);
        Some(Step { path: path.clone(), from: before, to, permissions })
    };
    match way {
        Way::Keep(because) => {
            let shown = shown(StepAction::Keep, Some(because.to_owned()));
            Planned { shown, step: None, merged: None }
        }
        Way::Conflict(text) => {
            Planned { shown: shown(StepAction::Conflict, Some(text)), step: None, merged: None }
        }
        Way::Merge(mode, bytes) => {
            let to = after.map(|after| Entry { mode, id: after.id });
            Planned {
                shown: shown(StepAction::Merge, None),
                step: step(to, None),
                merged: Some(bytes),
            }
        }
        Way::Restore => {
            let action = match (&before, &after) {
                (None, _) => StepAction::Create,
                (_, None) => StepAction::Delete,
                (Some(now), Some(then))
                    if now.id == then.id && is_file(now.mode) && is_file(then.mode) =>
                {
                    StepAction::ChangeMode
                }
                _ => StepAction::Overwrite,
            };
            Planned { shown: shown(action, None), step: step(after, permissions), merged: None }
        }
    }
}

/// Why a file stays of which the checkpoint has an older content.
const STALE: &str = "the checkpoint could not capture it and has only an older content of it";

/// Paths that stay whatever the trees say, because one of the trees does not tell of them.
struct Kept<'k> {
    then: BTreeMap<&'k RepoPath, SkipReason>,
    now: BTreeMap<&'k RepoPath, SkipReason>,
}

impl<'k> Kept<'k> {
    fn new(then: &'k [Skipped], now: &'k [Skipped]) -> Self {
        let by_path =
            |skipped: &'k [Skipped]| skipped.iter().map(|s| (&s.path, s.reason)).collect();
        Self { then: by_path(then), now: by_path(now) }
    }

    fn because(&self, delta: &Delta) -> Option<&'static str> {
        let path = &delta.path;
        if let Some(because) = covering(&self.now, path).and_then(uncaptured) {
            return Some(because);
        }
        if delta.after.is_some() {
            // Of what could not be captured, the checkpoint has an older content at best.
            let then = covering(&self.then, path).and_then(uncaptured);
            return then.filter(|_| delta.before.is_some()).map(|_| STALE);
        }
        Some(match covering(&self.then, path)? {
            SkipReason::Ignored => "it was ignored at the checkpoint and may have been there",
            SkipReason::TooLarge => "it was there at the checkpoint and too large to be captured",
            _ => "it was there at the checkpoint and could not be captured",
        })
    }
}

/// What stays where the checkpoint has a folder, or below where it has a file.
struct InTheWay {
    files: BTreeSet<RepoPath>,
    folders: BTreeSet<RepoPath>,
}

impl InTheWay {
    /// Files that are in no tree. A folder of that kind may turn out to have nothing in it.
    fn of(skipped: &[Skipped]) -> Self {
        let mut new = Self { files: BTreeSet::new(), folders: BTreeSet::new() };
        skipped.iter().filter(|skipped| !skipped.folder).for_each(|skipped| new.add(&skipped.path));
        new
    }

    fn add(&mut self, path: &RepoPath) {
        self.folders.extend(path.parents());
        self.files.insert(path.clone());
    }

    /// A path that differs and is left alone. A submodule without files is only a folder.
    fn stays(&mut self, delta: &Delta) {
        let stands = delta.before.is_some_and(|entry| entry.mode != EntryMode::Submodule);
        if stands && delta.after.is_none() {
            self.add(&delta.path);
        }
    }

    /// Lets a path be that cannot come back.
    fn keep(&self, planned: &mut Planned) {
        let path = &planned.shown.path;
        if planned.shown.action != StepAction::Create {
            return;
        }
        let above = path.parents().find(|above| self.files.contains(above));
        let because = match above {
            Some(above) => format!("{above} on its way is no folder, and stays"),
            None if self.folders.contains(path) => {
                "a folder stands there, and something in it stays".to_owned()
            }
            None => return,
        };
        planned.shown.action = StepAction::Keep;
        planned.shown.note = Some(because);
        planned.step = None;
    }
}

/// Why what stands there now is not in the safety checkpoint and must stay. What the rules ignore is
/// taken into it where it would be overwritten.
fn uncaptured(reason: SkipReason) -> Option<&'static str> {
    match reason {
        SkipReason::Ignored => None,
        SkipReason::TooLarge => Some("it is too large for a safety checkpoint"),
        SkipReason::Unreadable => Some("it cannot be read, so there is no safety copy"),
        SkipReason::SpecialFile => Some("a pipe, a socket or a device stands there"),
        SkipReason::Unsettled => Some("it is being written, so there is no safety copy"),
        SkipReason::GitData => Some("git's own data stands there"),
    }
}

/// Why a path, or a folder above it, was skipped.
fn covering(skipped: &BTreeMap<&RepoPath, SkipReason>, path: &RepoPath) -> Option<SkipReason> {
    if skipped.is_empty() {
        return None;
    }
    let own = skipped.get(path).copied();
    own.or_else(|| path.parents().find_map(|above| skipped.get(&above).copied()))
}

/// Whether a rollback is about a path.
pub(super) fn in_scope(scope: &Scope, path: &RepoPath) -> bool {
    match scope {
        Scope::Everything => true,
        Scope::Paths(paths) => paths.iter().any(|within| path.is_within(within)),
        Scope::Violations(violations) => violations
            .iter()
            .filter_map(|violation| violation.file.as_ref())
            .any(|file| path.is_within(file)),
    }
}

/// Refuses names that nothing has: they are mistyped.
fn check_scope(objects: &Objects, scope: &Scope, trees: &[ObjectId]) -> Result<()> {
    let missing: Vec<String> = match scope {
        Scope::Everything => return Ok(()),
        Scope::Violations(violations) => {
            if violations.is_empty() || violations.iter().any(|violation| violation.file.is_some())
            {
                return Ok(());
            }
            return Err(Error::NotFound {
                what: "none of the violations names a file".to_owned(),
                hint: "name the files yourself".to_owned(),
            });
        }
        Scope::Paths(paths) => {
            let mut missing = Vec::new();
            for path in paths {
                let mut there = false;
                for tree in trees {
                    there = there || stands_in(objects, tree, path)?;
                }
                if !there {
                    missing.push(path.to_string());
                }
            }
            missing
        }
    };
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::NotFound {
        what: format!("neither the checkpoint nor the worktree has {}", missing.join(", ")),
        hint: "paths are told from the worktree's root; what is ignored is not captured".to_owned(),
    })
}

/// Whether a tree has a file or folder at a path.
fn stands_in(objects: &Objects, tree: &ObjectId, path: &RepoPath) -> Result<bool> {
    let mut at = *tree;
    let mut parts = path.parts().peekable();
    while let Some(part) = parts.next() {
        let node = objects.tree(&at)?.into_iter().find(|(name, _)| name == part);
        match node {
            None => return Ok(false),
            Some((_, Node::Entry(_))) => return Ok(parts.peek().is_none()),
            Some((_, Node::Folder(id))) => at = id,
        }
    }
    Ok(true)
}
