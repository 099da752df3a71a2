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

    /// Removes the desks of one owner.
    pub fn remove_desks_of_owner(&self, owner: &str) -> Result<()> {
        let own = format!("{owner}-");
        let feature = &self.place.feature;
        for (end, number) in self.desks_left(feature)? {
            if end.strip_prefix(&own).is_some_and(|digits| digits.parse::<u32>().is_ok()) {
                self.desk_named(feature, &end, number)?.remove()?;
            }
        }
        self.forget_watch(owner)
    }

    /// Whose desks there are; those without an owner are not among them.
    pub fn desk_owners(&self) -> Result<std::collections::BTreeSet<String>> {
        let ends = self.desks_left(&self.place.feature)?.into_iter();
        Ok(ends.filter_map(|(end, _)| Some(end.rsplit_once('-')?.0.to_owned())).collect())
    }

    /// The same for another worktree's desks.
    pub(crate) fn remove_desks_of(&self, feature: &str) -> Result<()> {
        for (end, number) in self.desks_left(feature)? {
            self.desk_named(feature, &end, number)?.remove()?;
        }
        Ok(())
    }

    /// The numbers of the desks of which anything is left, whoever owns them.
    pub fn desk_numbers(&self) -> Result<Vec<u32>> {
        let mut numbers: Vec<u32> =
            self.desks_left(&self.place.feature)?.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// How the names of the desks end of which anything is left, and their numbers.
    fn desks_left(&self, feature: &str) -> Result<Vec<(String, u32)>> {
        let prefix = desk_prefix(feature);
        let places = [
            self.desks_dir()?,
            self.place.common_dir.join("worktrees"),
            self.place.aurora_dir.join("features"),
        ];
        let mut ends = std::collections::BTreeMap::new();
        for folder in places {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("list", &folder)(error)),
            };
            let names = entries.flatten().map(|entry| entry.file_name());
            ends.extend(names.filter_map(|name| {
                let end = name.to_str()?.strip_prefix(&prefix)?.to_owned();
                let digits = end.rsplit_once('-').map_or(end.as_str(), |(_, digits)| digits);
                let number =
                    digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)?;
                Some((end, number))
            }));
        }
        Ok(ends.into_iter().collect())
    }
}
