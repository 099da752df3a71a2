//! Moving a worktree's folder out of everybody's sight, and back.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use super::record::Record;
use crate::error::{Error, Result};

impl Record {
    /// Moves the folder to a name beside its own that nobody can guess; whoever works by its own name
    /// reaches it no longer. Written down first, so that it is found again after a crash.
    pub fn move_aside(&mut self) -> Result<PathBuf> {
        self.set_aside(Some(RandomState::new().build_hasher().finish()))?;
        let aside = self.aside().unwrap_or_default();
        if let Err(error) = rename(self.path(), &aside) {
            self.set_aside(None)?;
            return Err(error);
        }
        Ok(aside)
    }

    /// Moves the folder back, when it is aside.
    pub fn bring_back(&mut self) -> Result<()> {
        let Some(aside) = self.aside() else { return Ok(()) };
        if aside.symlink_metadata().is_ok() {
            rename(&aside, self.path())?;
        }
        self.set_aside(None)
    }
}

/// Never onto anything that is there.
fn rename(from: &Path, to: &Path) -> Result<()> {
    rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
        .map_err(|error| Error::io("move", from)(error.into()))
}
