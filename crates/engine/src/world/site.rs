//! Where a run's work happens: its worktree, made when the first attempt begins, and its desks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_model::RunId;
use aurora_workspace::GitWorkspace;
use aurora_workspace::desk::{Desk, Notice};
use aurora_workspace::git::worktree::NewWorktree;

use crate::error::Result;

/// What is said where nobody can look.
pub(super) const UNSEEN: &str = "git's own data could not be looked at";

/// A run's worktree and its desks.
pub(super) struct Site {
    /// The user's checkout.
    checkout: Arc<GitWorkspace>,
    /// Whose desks they are: another run of the same goal has its own.
    owner: String,
    new: NewWorktree,
    /// INVARIANT: held only while the worktree is made or looked up, never across an await.
    worktree: Mutex<Option<Arc<GitWorkspace>>>,
}

impl Site {
    /// The site of a feature; nothing is made yet.
    pub fn new(checkout: Arc<GitWorkspace>, owner: &RunId, feature: &str, prefix: &str) -> Self {
        let new = NewWorktree { prefix: prefix.to_owned(), ..NewWorktree::named(feature) };
        Self { checkout, owner: owner.to_string(), new, worktree: Mutex::new(None) }
    }

    /// The run's worktree, made when there is none.
    fn worktree(&self) -> Result<Arc<GitWorkspace>> {
        let mut known = self.worktree.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worktree) = &*known {
            return Ok(Arc::clone(worktree));
        }
        let (_, opened) = self.checkout.open_or_create_worktree(&self.new)?;
        let opened = Arc::new(opened);
        *known = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// A desk of the run's worktree.
    pub fn desk(&self, number: u32) -> Result<Desk> {
        Ok(self.worktree()?.desk_of(&self.owner, number)?)
    }

    /// What is not as it was when the run began, and no task was let do. What cannot be looked at is
    /// told as well: a run does not end for it. What others wrote into the worktree is looked for
    /// where that is asked for; preparing and adopting do so anyway.
    pub fn noticed(&self, look_for_foreign: bool) -> Vec<Notice> {
        let look = || -> Result<Vec<Notice>> {
            let worktree = self.worktree()?;
            if look_for_foreign {
                worktree.look_for_foreign(&self.owner)?;
            }
            Ok(worktree.noticed(&self.owner)?)
        };
        look().unwrap_or_else(|error| {
            let what = format!("{UNSEEN}: {error}");
            vec![Notice { what, critical: true }]
        })
    }

    /// Where the worktree is, when there is one.
    pub fn path(&self) -> Option<PathBuf> {
        let known = self.worktree.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worktree) = &*known {
            return Some(worktree.root().to_owned());
        }
        let listed = self.checkout.list_worktrees().ok()?;
        listed.into_iter().find(|one| one.slug == self.new.slug).map(|one| one.path)
    }

    /// Takes the run's desks away.
    pub fn clear(&self) -> Result<()> {
        // Whoever only answered a question did not open it; the one before may have left desks.
        if self.path().is_some() {
            self.worktree()?.remove_desks_of_owner(&self.owner)?;
        }
        Ok(())
    }
}
