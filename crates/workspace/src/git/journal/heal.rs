//! Completing what a crash left half-done.

use std::collections::BTreeSet;

use aurora_model::{CheckpointKind, RepoPath};

use super::{Found, Journal};
use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::beneath::{Fuse, Root};
use crate::git::private::FeatureLock;
use crate::git::restore::{Blobs, Ground, Standing};
use crate::request::{Healed, Limits, Outcome};

/// Takes every step of a journal that was not taken, and cleans up after those that were.
pub(crate) fn complete<B: Blobs>(journal: &Journal, ground: &Ground<'_, B>) -> Result<Healed> {
    let run = ground.run(journal);
    let steps = &journal.steps;
    let standings = run.tidy(steps, &ground.blobs);
    let mut left_alone = BTreeSet::new();
    let mut said = Vec::new();
    for (step, standing) in steps.iter().zip(&standings) {
        match standing {
            Standing::Done | Standing::Open => {}
            Standing::Changed => {
                left_alone.insert(step.path.clone());
            }
            Standing::Rescued(because) => {
                left_alone.insert(step.path.clone());
                said.push(format!("{}: {because}", step.path));
            }
            Standing::Unsaved => {
                left_alone.insert(step.path.clone());
                said.push(format!(
                    "{}: its content is stored nowhere else, so it stays",
                    step.path
                ));
            }
        }
    }
    let done = steps.iter().zip(&standings).filter(|(_, standing)| **standing == Standing::Done);
    let deleted = done.filter(|(step, _)| step.to.is_none() && step.from.is_some());
    let emptied: BTreeSet<RepoPath> = deleted.filter_map(|(step, _)| step.path.parent()).collect();
    run.remove_empty(emptied, steps.iter(), &journal.empty_folders);
    let open = run.chosen(steps, |number| standings.get(number) == Some(&Standing::Open));
    for ended in run.carry_out(open, &journal.empty_folders, &ground.blobs)? {
        if matches!(ended.outcome, Outcome::Kept { .. } | Outcome::Failed { .. }) {
            left_alone.insert(ended.path);
        }
    }
    let mut what = journal.what.clone();
    if !said.is_empty() {
        what = format!("{what} ({})", said.join("; "));
    }
    Ok(Healed { what, completed: true, left_alone: left_alone.into_iter().collect() })
}

impl GitWorkspace {
    /// Completes what a journal says, if there is one. Waits for the feature's lock only then.
    pub(crate) fn heal_all(&self) -> Result<Vec<Healed>> {
        if matches!(Journal::read(&self.place.feature_dir)?, Found::None) {
            return Ok(Vec::new());
        }
        let lock = self.store.lock(&self.place)?;
        self.heal_locked(&lock)
    }

    /// What somebody can go back to by hand, where a journal does not help. The latest checkpoint is
    /// the one that a journal is written right after, of whatever kind it is, unless it is already
    /// the one that its operation ended with, which only the journal could tell.
    fn way_back(&self) -> String {
        let chain = self.list_checkpoints().unwrap_or_default();
        let mut latest = chain.iter().rev();
        let ends = [CheckpointKind::Restored, CheckpointKind::Promoted, CheckpointKind::Adopted];
        match (latest.next(), latest.next()) {
            (Some(end), Some(before)) if ends.contains(&end.kind) => format!(
                "the safety checkpoint is {} or {}",
                before.checkpoint_id, end.checkpoint_id
            ),
            (Some(safety), _) => format!("the safety checkpoint is {}", safety.checkpoint_id),
            (None, _) => "there is no safety checkpoint".to_owned(),
        }
    }

    /// The same for a caller that holds the lock.
    pub(crate) fn heal_locked(&self, lock: &FeatureLock) -> Result<Vec<Healed>> {
        let dir = &self.place.feature_dir;
        let journal = match Journal::read(dir)? {
            Found::None => return Ok(Vec::new()),
            Found::Journal(journal) => journal,
            Found::Corrupt { because } => {
                let aside = Journal::move_aside(dir)?;
                let what = format!(
                    "the journal of an interrupted operation could not be read ({because}); \
                     nothing was touched; {}; the journal is in {}",
                    self.way_back(),
                    aside.display()
                );
                return Ok(vec![Healed { what, completed: false, left_alone: Vec::new() }]);
            }
        };
        let root = Root::open(&self.place.root, Fuse::lit())?;
        let mut healed = complete(&journal, &self.ground(&root)?)?;
        if let Some(due) = &journal.due
            && let Err(error) = self.record_due(due, &journal.transition(), Limits::default(), lock)
        {
            // Its files are as they should be; a checkpoint can be made at any time.
            healed.what = format!("{} (its checkpoint is missing: {error})", healed.what);
        }
        Journal::end(dir, root.fuse())?;
        Ok(vec![healed])
    }
}
