//! What adopting does to each path: three ways to look at it, and one answer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use aurora_model::{EntryMode, RepoPath};
use gix::hash::ObjectId;
use gix::objs::Kind;
use rustix::fs::FileType;

use super::Desk;
use super::note::Left;
use crate::error::Result;
use crate::git::beneath::{Fuse, Hand, NoWay, Root, kind_of};
use crate::git::merge::{self, Merged};
use crate::git::objects::{Entry, Objects};
use crate::git::pack::PackWriter;
use crate::git::restore::{Step, is_file};
use crate::git::tree::{self, Delta};
use crate::request::{Outcome, PathOutcome};

/// What the sides are called where both are marked.
const LABELS: [&str; 3] = ["worktree", "base", "desk"];

/// What an adoption is going to do.
#[derive(Default)]
pub(super) struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
    /// Which of them put changes of both sides together.
    pub merged: Vec<RepoPath>,
    /// Why nothing is done.
    pub conflicts: Vec<PathOutcome>,
}

/// What becomes of one path.
enum Fate {
    /// It is so already.
    Same,
    /// It becomes what the desk has.
    Take,
    /// It becomes what both sides make together.
    Merge(Entry),
    /// It cannot be decided.
    Conflict(Outcome),
}

impl Desk {
    /// Decides about every path that the desk changed, by what the run's worktree holds now. Merged
    /// contents go into the pack.
    pub(super) fn plan_adoption(
        &self,
        objects: &Objects,
        deltas: &[Delta],
        now: &ObjectId,
        left: Option<&Left>,
        pack: &mut PackWriter,
    ) -> Result<Plan> {
        let mut plan = Plan::default();
        for delta in deltas {
            let path = &delta.path;
            let ours = tree::find(objects, now, path)?;
            let to = match self.fate(objects, delta, ours, pack)? {
                Fate::Same => continue,
                Fate::Take => delta.after,
                Fate::Merge(entry) => {
                    plan.merged.push(path.clone());
                    Some(entry)
                }
                Fate::Conflict(outcome) => {
                    plan.conflicts.push(PathOutcome { path: path.clone(), outcome });
                    continue;
                }
            };
            let permissions = left.and_then(|left| left.permissions.get(path).copied());
            let permissions = permissions.filter(|_| ours.is_none() && to.is_some());
            plan.steps.push(Step { path: path.clone(), from: ours, to, permissions });
        }
        self.find_obstacles(&mut plan)?;
        Ok(plan)
    }

    fn fate(
        &self,
        objects: &Objects,
        delta: &Delta,
        ours: Option<Entry>,
        pack: &mut PackWriter,
    ) -> Result<Fate> {
        let (base, theirs) = (delta.before, delta.after);
        if ours == theirs {
            return Ok(Fate::Same);
        }
        if ours == base {
            return Ok(Fate::Take);
        }
        let kept =
            |because: &str| Ok(Fate::Conflict(Outcome::Kept { because: because.to_owned() }));
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return match theirs {
                None => kept("the desk deleted it, and the worktree changed it meanwhile"),
                Some(_) => kept("the desk changed it, and the worktree deleted it meanwhile"),
            };
        };
        if [Some(ours), Some(theirs), base].into_iter().flatten().any(|one| !is_file(one.mode)) {
            return kept("both sides changed it, and it is a link or submodule on one of them");
        }
        let mode = match base {
            Some(base) if base.mode == ours.mode => theirs.mode,
            Some(_) => ours.mode,
            None if ours.mode == theirs.mode => ours.mode,
            None => return kept("both sides made it, and only one of them lets it be executed"),
        };
        let merged = match base {
            _ if ours.id == theirs.id => return Ok(Fate::Merge(Entry { mode, id: ours.id })),
            Some(base) if base.id == ours.id => {
                return Ok(Fate::Merge(Entry { mode, id: theirs.id }));
            }
            Some(base) if base.id == theirs.id => {
                return Ok(Fate::Merge(Entry { mode, id: ours.id }));
            }
            base => self.merge_contents(objects, base, ours, theirs)?,
        };
        Ok(match merged {
            // Two files of the same name that somebody made for himself are not one.
            Merged::Clean(_) if base.is_none() => {
                return kept("both sides made it, with different content");
            }
            Merged::Clean(bytes) => Fate::Merge(Entry { mode, id: pack.add(Kind::Blob, &bytes)? }),
            Merged::Marked(marked) => Fate::Conflict(Outcome::Conflict { marked }),
            Merged::Impossible(because) => return kept(because),
        })
    }

    fn merge_contents(
        &self,
        objects: &Objects,
        base: Option<Entry>,
        ours: Entry,
        theirs: Entry,
    ) -> Result<Merged> {
        let base = base.map(|base| objects.blob(&base.id)).transpose()?.unwrap_or_default();
        let (now, desk) = (objects.blob(&ours.id)?, objects.blob(&theirs.id)?);
        let sides = merge::Sides { now: &now, base: &base, checkpoint: &desk };
        let place = &self.home.place;
        let scratch = place.feature_dir.join("tmp");
        merge::merge_labelled(&place.program, &self.home.store.dir, &scratch, sides, LABELS)
    }

    /// Finds what stands in the way of a step and is in no tree, such as ignored files: a step that
    /// would not be taken must keep all of them from being taken.
    fn find_obstacles(&self, plan: &mut Plan) -> Result<()> {
        let goes: BTreeSet<RepoPath> =
            plan.steps.iter().filter(|step| step.to.is_none()).map(|s| s.path.clone()).collect();
        let root = Root::open(&self.home.place.root, Fuse::default())?;
        let mut hand = root.hand();
        for step in &plan.steps {
            let submodule = step.has_submodule();
            let because = match self.obstacle(&mut hand, step, &goes)? {
                Some(because) => because,
                None if submodule => "it is a submodule on one side".to_owned(),
                None => continue,
            };
            let outcome = Outcome::Kept { because };
            plan.conflicts.push(PathOutcome { path: step.path.clone(), outcome });
        }
        plan.conflicts.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(())
    }

    fn obstacle(
        &self,
        hand: &mut Hand<'_>,
        step: &Step,
        goes: &BTreeSet<RepoPath>,
    ) -> Result<Option<String>> {
        if step.to.is_none() {
            return Ok(None);
        }
        let folder = match hand.parent_of(&step.path, false) {
            Ok(folder) => folder,
            Err(NoWay::Missing) => return Ok(None),
            Err(NoWay::Link(at) | NoWay::NoFolder(at)) => {
                let stays = !goes.contains(&at);
                return Ok(stays.then(|| format!("{at} in the worktree is no folder")));
            }
            Err(NoWay::Failed(error)) => return Ok(Some(format!("it cannot be reached: {error}"))),
        };
        let name = step.path.name();
        let stat = folder.stat(name).map_err(crate::Error::io("look at", &self.home.place.root))?;
        let Some(stat) = stat.filter(|_| step.from.is_none()) else { return Ok(None) };
        if kind_of(&stat) != FileType::Directory {
            return Ok(Some("something stands there that could not be captured".to_owned()));
        }
        let stays = self.something_below(&step.path, goes);
        Ok(stays.map(|path| format!("a folder stands there, and {path} in it stays")))
    }

    /// Something below a folder of the run's worktree that no step removes.
    fn something_below(&self, folder: &RepoPath, goes: &BTreeSet<RepoPath>) -> Option<RepoPath> {
        let mut open = vec![folder.clone()];
        while let Some(at) = open.pop() {
            let path = self.home.place.root.join(OsStr::from_bytes(at.as_bytes()));
            for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
                let below = at.join(entry.file_name().as_bytes())?;
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(below);
                } else if !goes.contains(&below) {
                    return Some(below);
                }
            }
        }
        None
    }
}

/// Whether a path of a tree holds something that must be captured before it is overwritten.
pub(super) fn is_written(delta: &Delta) -> bool {
    delta.after.is_some_and(|after| after.mode != EntryMode::Submodule)
}
