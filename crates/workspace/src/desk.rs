//! Desks: where attempts of a run work, each a worktree of its own that is brought to the state of the
//! run's worktree before an attempt and whose changes are adopted after it.

mod adopt;
mod changes;
mod exact;
mod files;
mod git_state;
mod index;
mod make;
mod note;
mod plan;
mod prepare;
mod remove;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use aurora_model::id::is_name;
use aurora_model::{Change, Checkpoint, CheckpointId, RepoPath, Skipped, TreeId, Violation};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::git::GitWorkspace;
use crate::git::private::{FeatureLock, PrivateStore};
use crate::request::PathOutcome;

pub use files::{FileRead, Files, Listed, ListedKind};
pub use watch::Notice;

/// How long another desk that prepares or adopts is waited for.
const PATIENCE: Duration = Duration::from_secs(300);

/// A patch beyond this is cut at the end of a file, because nobody judges more.
pub const MAX_PATCH_BYTES: usize = 64 << 20;

/// A place where attempts work: a linked worktree with a detached HEAD and a chain of its own, outside
/// of every repository. All of it is ours, so that anything in it may be thrown away.
pub struct Desk {
    number: u32,
    /// Whose it is, where there are several; what happens to git's data meanwhile is noticed for them.
    owner: Option<String>,
    /// The run's worktree.
    home: GitWorkspace,
    /// The desk itself.
    own: GitWorkspace,
}

/// What an attempt begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prepared {
    /// What the run's worktree holds, and the desk too.
    pub base: TreeId,
    /// The checkpoint of the run's worktree that holds it.
    pub checkpoint: CheckpointId,
    /// The commit that both have checked out.
    pub commit: String,
    /// How many paths of the desk had to be set back or brought up to date.
    pub paths: u64,
}

/// What an attempt changed since its desk was prepared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeskChanges {
    /// What it began with.
    pub base: TreeId,
    /// What the desk holds now; adopting takes exactly this, whatever becomes of the desk.
    pub result: TreeId,
    /// Path by path.
    pub changes: Vec<Change>,
    /// How many lines came.
    pub lines_added: u64,
    /// How many lines went.
    pub lines_removed: u64,
    /// Folders without content that came.
    pub empty_folders: Vec<RepoPath>,
    /// The changes as `git diff --binary` writes them.
    #[serde(skip)]
    pub patch: Vec<u8>,
    /// Whether the patch is whole; otherwise the files beyond [`MAX_PATCH_BYTES`] are missing.
    pub patch_is_whole: bool,
    /// What reaches out of the desk or into git's own data.
    pub violations: Vec<Violation>,
    /// What is new and cannot be adopted: files that are too large, unreadable or special, and the git
    /// data of repositories inside. What git ignores is not among it.
    pub left_out: Vec<Skipped>,
}

impl DeskChanges {
    /// Whether there is nothing to adopt.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.base == self.result && self.empty_folders.is_empty()
    }

    /// How many files differ.
    #[must_use]
    pub fn files(&self) -> u64 {
        u64::try_from(self.changes.len()).unwrap_or(u64::MAX)
    }
}

/// How taking a desk's changes over into the run's worktree ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// The checkpoint after it; where nothing had to be changed, the one that holds that state
    /// already; nothing with conflicts.
    pub checkpoint: Option<Checkpoint>,
    /// What the desk changed, path by path; nothing with conflicts.
    pub changed: Vec<Change>,
    /// The files in which changes of both sides were put together.
    pub merged: Vec<RepoPath>,
    /// Why nothing was changed: as a conflict with both sides marked, or as kept with the reason in
    /// words.
    pub conflicts: Vec<PathOutcome>,
    /// What somebody else changed in the run's worktree since the run knew it. It stays, and
    /// [`GitWorkspace::noticed`] tells it.
    pub foreign: Vec<RepoPath>,
}

impl Adopted {
    /// Whether it was done; otherwise the run's worktree is as it was.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.conflicts.is_empty()
    }
}

impl GitWorkspace {
    /// A desk of this worktree, made when there is none or when it is not whole.
    pub fn desk(&self, number: u32) -> Result<Desk> {
        self.made(self.desk_unmade(number)?)
    }

    /// The same for one of several owners that work in this worktree, such as runs; each has desks of
    /// its own.
    pub fn desk_of(&self, owner: &str, number: u32) -> Result<Desk> {
        if !is_name(owner) {
            return Err(Error::Refused {
                what: format!("`{owner}` cannot have desks"),
                hint: "letters, digits, `.`, `_` and `-` make a name".to_owned(),
            });
        }
        let name = format!("{owner}-{number}");
        let mut desk = self.desk_named(&self.place.feature, &name, number)?;
        desk.owner = Some(owner.to_owned());
        self.made(desk)
    }

    /// Where the desk of an owner that works in a worktree is; nothing where there is none. Nothing is
    /// made.
    pub fn desk_path(&self, feature: &str, owner: &str, number: u32) -> Result<Option<PathBuf>> {
        if !is_name(owner) {
            return Ok(None);
        }
        let name = format!("{}{owner}-{number}", desk_prefix(feature));
        let path = self.desks_dir()?.join(name);
        Ok(path.join(".git").exists().then_some(path))
    }

    fn made(&self, desk: Desk) -> Result<Desk> {
        let lock = desk.lock()?;
        let commit = desk.commit_of_home()?;
        desk.ensure(&commit, &lock)?;
        drop(lock);
        Ok(desk)
    }

    /// The same, whatever there is on the disk.
    pub(crate) fn desk_unmade(&self, number: u32) -> Result<Desk> {
        self.desk_unmade_of(&self.place.feature, number)
    }

    /// The same of another worktree's desk.
    pub(crate) fn desk_unmade_of(&self, feature: &str, number: u32) -> Result<Desk> {
        self.desk_named(feature, &number.to_string(), number)
    }

    /// The desk whose name ends so.
    fn desk_named(&self, feature: &str, end: &str, number: u32) -> Result<Desk> {
        let name = format!("{}{end}", desk_prefix(feature));
        let root = self.desks_dir()?.join(&name);
        let place = self.place.linked(root, &name);
        let store = PrivateStore::open(&place)?;
        let mut settings = self.settings.clone();
        settings.from.clone_from(&place.root);
        let own = Self { settings, place, store, watch: None };
        Ok(Desk { number, owner: None, home: self.reopened()?, own })
    }

    /// Where desks of this repository are. Made for nobody else, and without a link in its path.
    pub(crate) fn desks_dir(&self) -> Result<PathBuf> {
        make::folder(&self.settings.state_dir.join("desks").join(self.repository_key()))
    }

    /// Another handle to the same worktree.
    fn reopened(&self) -> Result<Self> {
        let place = self.place.clone();
        let store = PrivateStore::open(&place)?;
        Ok(Self { settings: self.settings.clone(), place, store, watch: self.watch.clone() })
    }
}

impl Desk {
    /// Its number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Where an attempt works.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.own.place.root
    }

    /// The feature that its own checkpoints belong to.
    #[must_use]
    pub fn feature(&self) -> &str {
        &self.own.place.feature
    }

    /// The desk as a workspace, for who looks at what its attempts left.
    #[must_use]
    pub fn workspace(&self) -> &GitWorkspace {
        &self.own
    }

    /// The right to work on this desk.
    fn lock(&self) -> Result<FeatureLock> {
        self.own.store.lock_within(&self.own.place, PATIENCE)
    }

    /// The right to change the run's worktree: one desk after another.
    fn lock_home(&self) -> Result<FeatureLock> {
        self.home.store.lock_within(&self.home.place, PATIENCE)
    }

    /// What keeps a tree of this desk from being pruned.
    fn ref_to(&self, what: &str) -> String {
        format!("refs/aurora/desks/{}/{what}", self.own.place.feature)
    }
}

/// What the names of a worktree's desks begin with.
pub(crate) fn desk_prefix(feature: &str) -> String {
    format!("{feature}.desk-")
}
