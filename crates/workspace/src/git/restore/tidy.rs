//! What a crash left of a step: what is ours goes, what is not goes back.

use std::io;

use super::run::Run;
use super::worker::{Worker, is_git_data};
use super::{Blobs, Step, is_file};
use crate::git::beneath::{Folder, Found, NoWay};
use crate::git::objects::Entry;
use crate::request::Outcome;

/// What a crash left of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is done.
    Done,
    /// It is still to be done.
    Open,
    /// Somebody changed the path meanwhile.
    Changed,
    /// It is still to be done, and what stands there is stored nowhere, so that it must not.
    Unsaved,
    /// Somebody's work was found beside the path and had to be moved; the path was changed, too.
    Rescued(String),
}

impl Run<'_> {
    /// Looks at what a crash left of each step, puts back what is not ours and removes what is.
    pub fn tidy(&self, steps: &[Step], blobs: &impl Blobs) -> Vec<Standing> {
        let large = std::sync::Mutex::new(());
        let (hand, blobs) = (self.root.hand(), blobs.clone());
        let mut worker = Worker { run: self, hand, blobs, few: true, large: &large };
        let steps = steps.iter().enumerate();
        steps.map(|(number, step)| worker.tidy(number, step).unwrap_or(Standing::Changed)).collect()
    }
}

impl<B: Blobs> Worker<'_, B> {
    /// Looks at what a crash left of a step, puts back what is not ours and removes what is.
    fn tidy(&mut self, number: usize, step: &Step) -> io::Result<Standing> {
        if is_git_data(&step.path) {
            return Ok(Standing::Changed);
        }
        let folder = match self.hand.parent_of(&step.path, false) {
            Ok(folder) => folder,
            Err(NoWay::Failed(error)) => return Err(error),
            Err(_) => return Ok(standing(step, &Found::Nothing)),
        };
        let (name, hash) = (step.path.name(), self.run.hash);
        let (temp, aside) = (self.run.temp_name(number), self.run.aside_name(number));
        let mut rescued = None;
        if folder.stat(&aside)?.is_some() {
            if folder.stat(name)?.is_none() {
                folder.rename_new(&aside, name)?;
            } else if self.is_saved(step.from) && folder.look(&aside, hash)?.is(step.from.as_ref())
            {
                folder.unlink(&aside)?;
            } else {
                rescued = Some(self.save(&folder, &aside, &step.path));
            }
        }
        if folder.stat(&temp)?.is_some() {
            let beside = folder.look(&temp, hash)?;
            let known = |entry: Option<Entry>| self.is_saved(entry) && beside.is(entry.as_ref());
            let known = known(step.from) || known(step.to);
            let in_place = self.is_saved(step.to) && folder.look(name, hash)?.is(step.to.as_ref());
            if known {
                folder.unlink(&temp)?;
            } else if in_place {
                // It came out in place of what was expected, and there was no time to swap it back.
                folder.exchange(&temp, name)?;
                folder.unlink(&temp)?;
            } else if self.is_beginning(&folder, &temp, step) {
                folder.unlink(&temp)?;
            } else {
                rescued = Some(self.save(&folder, &temp, &step.path));
            }
        }
        let found = folder.look(name, hash)?;
        match rescued {
            Some(Outcome::Kept { because }) => Ok(Standing::Rescued(because)),
            _ => Ok(match standing(step, &found) {
                // A journal that is not what it was must not cost anybody's work.
                Standing::Open
                    if matches!(found, Found::Item(_))
                        && !step.is_mode_only()
                        && !self.is_saved(step.from) =>
                {
                    Standing::Unsaved
                }
                standing => standing,
            }),
        }
    }

    /// Whether a content is stored, so that the file that has it may go.
    fn is_saved(&self, entry: Option<Entry>) -> bool {
        entry.is_some_and(|entry| self.blobs.size(&entry.id).is_ok_and(|size| size.is_some()))
    }

    /// Whether a staged file is what we had written of it when we were stopped.
    fn is_beginning(&self, folder: &Folder, temp: &[u8], step: &Step) -> bool {
        let Some(to) = step.to.filter(|to| is_file(to.mode)) else { return false };
        let (Ok(bytes), Ok(mut file)) = (self.blobs.bytes(&to.id), folder.open_file(temp)) else {
            return false;
        };
        let mut written = Vec::new();
        let limit = bytes.len() as u64 + 1;
        let read = io::Read::read_to_end(&mut io::Read::take(&mut file, limit), &mut written);
        read.is_ok() && bytes.starts_with(&written)
    }
}

/// How far a step is, by what stands at its path.
fn standing(step: &Step, found: &Found) -> Standing {
    let folder = *found == Found::Folder;
    if found.is(step.to.as_ref()) || (folder && step.to.is_none()) {
        Standing::Done
    } else if found.is(step.from.as_ref())
        || (folder && step.from.is_none())
        || *found == Found::Nothing
    {
        Standing::Open
    } else {
        Standing::Changed
    }
}
