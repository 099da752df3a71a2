//! Which untracked paths the repository's rules leave out, as git reads them.

pub(crate) mod config;
mod pattern;

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use config::GitConfig;
use pattern::Pattern;

/// A larger file of rules is no file of rules.
const MAX_RULES_BYTES: u64 = 16 << 20;

/// The rules that hold in one folder: its own, on top of those of the folders above it. Cheap to
/// share, because a folder without rules of its own has those of its parent.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    patterns: Vec<Pattern>,
    /// How many bytes of a path come before the part that the patterns are about.
    base: usize,
    /// Whether upper and lower case are the same.
    fold: bool,
}

impl Rules {
    /// The rules of a whole repository: the user's own, then `info/exclude`. `base` is the length of
    /// the repository's path below the root, with its slash; nothing for the outermost one.
    pub fn of_repository(config: &GitConfig, common_dir: &Path, base: usize) -> Arc<Self> {
        let fold = config.ignore_case;
        let users = config.excludes_file.as_deref().map(patterns_at).unwrap_or_default();
        let users = Arc::new(Self { above: None, patterns: users, base, fold });
        let patterns = patterns_at(&common_dir.join("info/exclude"));
        if patterns.is_empty() {
            return users;
        }
        Arc::new(Self { above: Some(users), patterns, base, fold })
    }

    /// The rules in a folder that is open. A `.gitignore` that is a symbolic link does not count.
    pub fn enter(self: &Arc<Self>, folder: impl AsFd, base: usize) -> Arc<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder, ".gitignore", flags, Mode::empty());
        let patterns = file.map(|file: OwnedFd| patterns_in(File::from(file))).unwrap_or_default();
        if patterns.is_empty() {
            return Arc::clone(self);
        }
        Arc::new(Self { above: Some(Arc::clone(self)), patterns, base, fold: self.fold })
    }

    /// Whether the rules leave a path out, given that none of the folders above it is left out.
    pub fn ignores(&self, path: &[u8], folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(these) = rules {
            if let Some(ignored) = these.decide(path, folder) {
                return ignored;
            }
            rules = these.above.as_deref();
        }
        false
    }

    /// What the last pattern that matches says.
    fn decide(&self, path: &[u8], folder: bool) -> Option<bool> {
        let path = path.get(self.base..)?;
        let matches = |pattern: &&Pattern| pattern.matches(path, folder, self.fold);
        self.patterns.iter().rev().find(matches).map(|pattern| !pattern.negative)
    }
}

fn patterns_at(path: &Path) -> Vec<Pattern> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty());
    file.map(|file| patterns_in(File::from(file))).unwrap_or_default()
}

/// The patterns of a file; of what is no file or cannot be read, none, as git does it.
fn patterns_in(file: File) -> Vec<Pattern> {
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    match file.take(MAX_RULES_BYTES).read_to_end(&mut bytes) {
        Ok(_) => pattern::parse(&bytes),
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
