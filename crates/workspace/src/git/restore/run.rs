//! The order of a transition: make way, stage, sync, swap, tidy up, sync.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use aurora_model::RepoPath;

use super::worker::{Phase, Worker, is_git_data};
use super::{Blobs, Step};
use crate::error::{Error, Result};
use crate::git::beneath::{Hand, Item, NoWay, Root, Stamp};
use crate::progress::Progress;
use crate::request::{Outcome, PathOutcome};

/// From so many steps on, two threads share them.
const WORTH_A_THREAD: usize = 64;
/// Up to so many steps, each file is synced by itself; beyond, the whole file system once.
const SYNCED_ONE_BY_ONE: usize = 8;

/// One carrying-out of a transition, or of what a crash left of it.
pub(crate) struct Run<'r> {
    /// Beneath which everything happens.
    pub root: &'r Root,
    /// Which hash blobs are named by.
    pub hash: gix::hash::Kind,
    /// The operation's own name, which its temporary files bear.
    pub op: &'r str,
    /// Where what has no other place is put.
    pub feature_dir: &'r Path,
    /// Who is told how far it is.
    pub progress: &'r dyn Progress,
}

/// How far one step is.
#[derive(Debug)]
pub(super) enum State {
    /// Nothing was done yet.
    Waiting,
    /// What was there has another name and waits to be removed.
    Aside(Item),
    /// What shall be there is beside it, with a temporary name.
    Staged {
        /// What is to be replaced.
        before: Option<Item>,
        /// How to tell that the staged file is still ours.
        ours: Stamp,
    },
    /// It is in place; what it replaced waits to be removed.
    Replaced {
        /// What it replaced.
        before: Item,
        /// The name that has now.
        at: Vec<u8>,
        /// How to tell that what is in place is still ours.
        ours: Stamp,
    },
    /// It is over.
    Over(Outcome),
}

/// One step with its number in the journal.
#[derive(Debug)]
pub(crate) struct Work<'s> {
    pub(super) number: usize,
    pub(super) step: &'s Step,
    pub(super) state: State,
}

impl<'r> Run<'r> {
    /// All steps of a journal.
    pub fn numbered<'s>(&self, steps: &'s [Step]) -> Vec<Work<'s>> {
        self.chosen(steps, |_| true)
    }

    /// Those steps of a journal that are still to be done.
    pub fn chosen<'s>(&self, steps: &'s [Step], choose: impl Fn(usize) -> bool) -> Vec<Work<'s>> {
        let works = steps.iter().enumerate().filter(|(number, _)| choose(*number));
        works.map(|(number, step)| Work { number, step, state: State::Waiting }).collect()
    }

    /// The name of the file that a step stages.
    pub(super) fn temp_name(&self, number: usize) -> Vec<u8> {
        format!(".aurora-{}-{number}", self.op).into_bytes()
    }

    /// The name that is given to what a step removes.
    pub(super) fn aside_name(&self, number: usize) -> Vec<u8> {
        format!(".aurora-{}-{number}-old", self.op).into_bytes()
    }

    /// Where what has no other place is put.
    pub(crate) fn rescue_dir(&self) -> PathBuf {
        self.feature_dir.join("rescued").join(self.op)
    }

    /// Takes all steps. One that cannot be taken does not hold up the others.
    pub fn carry_out(
        &self,
        mut works: Vec<Work<'_>>,
        empty_folders: &[RepoPath],
        blobs: &impl Blobs,
    ) -> Result<Vec<PathOutcome>> {
        let few = works.len() <= SYNCED_ONE_BY_ONE;
        let total = works.len() as u64;
        let tell = |done: u64| self.progress.at("restore", done, Some(total));
        tell(0);
        let all = |works: &mut [Work<'_>], phase| self.on_all(works, blobs, few, phase);
        all(&mut works, Phase::MakeWay);
        all(&mut works, Phase::RemoveAside);
        self.remove_emptied(&works, empty_folders);
        all(&mut works, Phase::Stage);
        tell(total / 2);
        if !few && works.iter().any(|work| matches!(work.state, State::Staged { .. })) {
            // The bytes must be on the disk before the name that stands for them is.
            self.root.sync().map_err(Error::io("sync", self.feature_dir))?;
        }
        all(&mut works, Phase::PutInPlace);
        tell(total - total / 4);
        all(&mut works, Phase::RemoveReplaced);
        self.make_empty_folders(empty_folders);
        if few {
            self.sync_folders(&works);
        } else {
            self.root.sync().map_err(Error::io("sync", self.feature_dir))?;
        }
        tell(total);
        Ok(works.into_iter().map(Work::ended).collect())
    }

    fn on_all<B: Blobs>(&self, works: &mut [Work<'_>], blobs: &B, few: bool, phase: Phase) {
        let large = Mutex::new(());
        let one = |works: &mut [Work<'_>], blobs: B| {
            let mut worker =
                Worker { run: self, hand: self.root.hand(), blobs, few, large: &large };
            for work in works {
                match worker.take(phase, work) {
                    None => {}
                    Some(Ok(state)) => work.state = state,
                    Some(Err(outcome)) => work.state = State::Over(outcome),
                }
            }
        };
        if works.len() < WORTH_A_THREAD {
            return one(works, blobs.clone());
        }
        let (first, second) = works.split_at_mut(works.len() / 2);
        let theirs = blobs.clone();
        std::thread::scope(|scope| {
            scope.spawn(|| one(second, theirs));
            one(first, blobs.clone());
        });
    }

    /// Removes the folders that our deletions left empty and that nothing is restored into.
    fn remove_emptied(&self, works: &[Work<'_>], empty_folders: &[RepoPath]) {
        let deleted =
            works.iter().filter(|work| matches!(work.state, State::Over(Outcome::Deleted)));
        let emptied: BTreeSet<RepoPath> =
            deleted.filter_map(|work| work.step.path.parent()).collect();
        let steps = works.iter().map(|work| work.step);
        self.remove_empty(emptied, steps, empty_folders);
    }

    /// Removes folders that are empty, and those above that become so, unless they are needed.
    pub fn remove_empty<'s>(
        &self,
        mut emptied: BTreeSet<RepoPath>,
        steps: impl Iterator<Item = &'s Step>,
        empty_folders: &[RepoPath],
    ) {
        let coming = steps.filter(|step| step.to.is_some()).flat_map(|step| step.path.parents());
        let mut needed: BTreeSet<RepoPath> = coming.collect();
        needed.extend(empty_folders.iter().cloned());
        let mut hand = self.root.hand();
        // The last in order is always below, never above, the others that it is related to.
        while let Some(path) = emptied.pop_last() {
            if needed.contains(&path) {
                continue;
            }
            // One that is gone already may have been removed by us before a crash.
            let gone = match hand.parent_of(&path, false) {
                Ok(folder) => match folder.remove_folder(path.name()) {
                    Ok(()) => true,
                    Err(error) => error.kind() == io::ErrorKind::NotFound,
                },
                Err(no) => matches!(no, NoWay::Missing),
            };
            if gone {
                hand.forget();
                emptied.extend(path.parent());
            }
        }
    }

    fn make_empty_folders(&self, empty_folders: &[RepoPath]) {
        let mut hand = self.root.hand();
        for path in empty_folders.iter().filter(|path| !is_git_data(path)) {
            // Something else may stand there by now, which is then what counts.
            let _stays_as_it_is = hand.folder(Some(path), true);
        }
    }

    fn sync_folders(&self, works: &[Work<'_>]) {
        let mut hand = self.root.hand();
        let parents = works.iter().flat_map(|work| work.step.path.parents());
        let folders: BTreeSet<Option<RepoPath>> = parents.map(Some).chain([None]).collect();
        for folder in folders {
            sync_folder(&mut hand, folder.as_ref());
        }
    }
}

/// A folder that cannot be synced is on a file system that does not sync folders, or is gone.
fn sync_folder(hand: &mut Hand<'_>, folder: Option<&RepoPath>) {
    if let Ok(folder) = hand.folder(folder, false) {
        let _not_synced = folder.sync();
    }
}

impl Work<'_> {
    fn ended(self) -> PathOutcome {
        let path = self.step.path.clone();
        let outcome = match self.state {
            State::Over(outcome) => outcome,
            _ => Outcome::Failed { because: "it was not finished".to_owned() },
        };
        PathOutcome { path, outcome }
    }
}
