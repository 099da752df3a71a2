//! A workspace whose files are a git worktree's.

pub(crate) mod beneath;
mod branch;
pub(crate) mod chain;
pub(crate) mod diff;
pub(crate) mod ignore;
pub(crate) mod journal;
pub(crate) mod merge;
pub(crate) mod objects;
pub(crate) mod own;
pub(crate) mod pack;
pub(crate) mod place;
pub(crate) mod private;
pub(crate) mod process;
pub(crate) mod prune;
pub(crate) mod restore;
mod rollback;
pub(crate) mod scan;
pub(crate) mod snapshot;
pub(crate) mod stat_cache;
pub(crate) mod tree;
mod uncommitted;
pub mod worktree;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_model::{Change, Checkpoint, CheckpointId, RepoPath, Timestamp, TreeId};

use crate::error::Result;
use crate::progress::Progress;
use crate::request::{
    CheckpointRequest, Content, Created, Healed, Pruned, Retention, RollbackPlan, RollbackReport,
    RollbackRequest, UndoRequest,
};
use crate::watchdog::Watched;
use crate::workspace::Workspace;

pub use diff::FileStat;
pub use place::Place;

/// What the caller knows and this crate does not ask the environment for.
#[derive(Clone)]
pub struct Settings {
    /// A folder in the worktree.
    pub from: PathBuf,
    /// The user's home: refused as a worktree, and where git's own settings are.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, where it is set.
    pub xdg_config_home: Option<PathBuf>,
    /// `$PATH`, for the git program.
    pub path: OsString,
    /// Where shadows and worktrees live: outside every repository.
    pub state_dir: PathBuf,
    /// Who is told how far long work is.
    pub progress: Arc<dyn Progress>,
    /// The clock.
    pub now: fn() -> Timestamp,
}

/// A workspace whose files are a git worktree's. Its data is in `aurora/` inside the repository's
/// common git folder; see `private`.
pub struct GitWorkspace {
    pub(crate) settings: Settings,
    pub(crate) place: Place,
    pub(crate) store: private::PrivateStore,
    pub(crate) watch: Option<Arc<dyn Watched>>,
}

impl GitWorkspace {
    /// Opens the worktree around `settings.from`, and makes its private store when there is none.
    pub fn open(settings: Settings) -> Result<Self> {
        let place = Place::find(&settings)?;
        let store = private::PrivateStore::open(&place)?;
        Ok(Self { settings, place, store, watch: None })
    }

    /// Lets checkpoints look only at what this watchdog names.
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<dyn Watched>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// The watchdog that checkpoints ask: the one that was given, else the one of another process.
    pub(crate) fn watch(&self) -> Option<Arc<dyn Watched>> {
        self.watch.clone().or_else(|| crate::watchdog::connect(&self.place))
    }

    /// The worktree's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.place.root
    }

    /// Names every path of the index, in order. An index that cannot be read names none.
    pub fn each_tracked(&self, mut name: impl FnMut(&[u8])) {
        let tracked = scan::tracked::Tracked::read(&self.place.git_dir, self.place.hash);
        tracked.entries().for_each(|(path, _)| name(path));
    }

    /// Where everything is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Workspace for GitWorkspace {
    fn checkpoint(&self, request: &CheckpointRequest) -> Result<Created> {
        let created = self.create_checkpoint(request)?;
        if !created.unchanged {
            // It is recorded whatever becomes of this: with many packs, reading is slower, not wrong.
            let _ = self.store.repack_if_due(&self.place);
        }
        Ok(created)
    }

    fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        self.list_checkpoints()
    }

    fn find(&self, name: &str) -> Result<Checkpoint> {
        self.find_checkpoint(name)
    }

    fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>> {
        self.changes_between(from, to)
    }

    fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        only: &[RepoPath],
        out: &mut dyn io::Write,
    ) -> Result<()> {
        self.write_diff(from, to, only, out)
    }

    fn read(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Content>> {
        self.read_entry(tree, path)
    }

    fn plan_rollback(&self, request: &RollbackRequest) -> Result<RollbackPlan> {
        self.rollback_plan(request)
    }

    fn rollback(&self, request: &RollbackRequest) -> Result<RollbackReport> {
        self.roll_back(request)
    }

    fn plan_undo(&self, request: &UndoRequest) -> Result<RollbackPlan> {
        self.undo_plan(request)
    }

    fn undo(&self, request: &UndoRequest) -> Result<RollbackReport> {
        self.undo_latest(request)
    }

    fn prune(&self, retention: &Retention) -> Result<Pruned> {
        self.prune_checkpoints(retention)
    }

    fn heal(&self) -> Result<Vec<Healed>> {
        self.heal_all()
    }

    fn branch(&self, id: &CheckpointId, name: &str) -> Result<String> {
        self.branch_from(id, name)
    }
}
