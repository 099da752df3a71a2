//! Removing desks: folder, git's entry, chain, and what was kept for them.

use super::{Desk, desk_prefix};
use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::shadow::removal;

impl Desk {
    /// Removes the desk and everything that was kept for it. What was adopted is in the run's
    /// worktree; all else is gone.
    pub fn remove(self) -> Result<()> {
        let lock = self.lock()?;
        self.clear_away()?;
        let store = &self.own.store;
        let mut names = Vec::new();
        for prefix in [self.own.chain_prefix(), self.ref_to("")] {
            names.extend(store.refs(&prefix)?.into_iter().map(|(name, _)| name));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        store.remove_refs(&names)?;
        store.keep(&self.own.place, &[])?;
        removal::remove(&self.own.place.feature_dir)?;
        drop(lock);
        Ok(())
    }
}

impl GitWorkspace {
    /// Removes all desks of this worktree, also those that a crash left half-made.
    pub fn remove_desks(&self) -> Result<()> {
        self.remove_desks_of(&self.place.feature)
    }

    /// The same for another worktree's desks.
    pub(crate) fn remove_desks_of(&self, feature: &str) -> Result<()> {
        for number in self.desk_numbers_of(feature)? {
            self.desk_unmade_of(feature, number)?.remove()?;
        }
        Ok(())
    }

    /// The numbers of the desks of which anything is left.
    pub fn desk_numbers(&self) -> Result<Vec<u32>> {
        self.desk_numbers_of(&self.place.feature)
    }

    fn desk_numbers_of(&self, feature: &str) -> Result<Vec<u32>> {
        let prefix = desk_prefix(feature);
        let places = [
            self.desks_dir()?,
            self.place.common_dir.join("worktrees"),
            self.place.aurora_dir.join("features"),
        ];
        let mut numbers = std::collections::BTreeSet::new();
        for folder in places {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("list", &folder)(error)),
            };
            let names = entries.flatten().map(|entry| entry.file_name());
            numbers.extend(names.filter_map(|name| {
                let digits = name.to_str()?.strip_prefix(&prefix)?.to_owned();
                digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)
            }));
        }
        Ok(numbers.into_iter().collect())
    }
}
