//! The trait that every workspace fulfils, whether its files are on a disk or in memory.

use std::io;

use aurora_model::{Change, Checkpoint, CheckpointId, RepoPath, TreeId};

use crate::error::Result;
use crate::request::{
    CheckpointRequest, Content, Created, Healed, Pruned, Retention, RollbackPlan, RollbackReport,
    RollbackRequest, UndoRequest,
};

/// A place where work happens and can be taken back.
///
/// Every call first finishes what an earlier one left half-done (see `heal`). All of them block; a
/// caller that must not puts them on a thread of its own. What they promise is written down as tests
/// in `contract`, which every implementation passes.
pub trait Workspace: Send + Sync {
    /// Records what the worktree holds now. Nothing of the user's own git state changes.
    fn checkpoint(&self, request: &CheckpointRequest) -> Result<Created>;

    /// All checkpoints of this workspace, the oldest first.
    fn checkpoints(&self) -> Result<Vec<Checkpoint>>;

    /// The checkpoint of a name: whole, its beginning where only one begins so, its number
    /// (`7`, `#7`), or `latest`.
    fn find(&self, name: &str) -> Result<Checkpoint>;

    /// What differs between two trees, by path, from the trees themselves.
    fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>>;

    /// Writes the unified diff between two trees as `git diff --binary` would, of all paths or of
    /// those given (folders stand for what is below them).
    fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        only: &[RepoPath],
        out: &mut dyn io::Write,
    ) -> Result<()>;

    /// What stands at a path of a tree; nothing when nothing does.
    fn read(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Content>>;

    /// What a rollback would do, without doing it. A path that something which stays is in the way
    /// of is said to be kept; what somebody does meanwhile, or an ignored folder in its place, only
    /// the report can tell.
    fn plan_rollback(&self, request: &RollbackRequest) -> Result<RollbackPlan>;

    /// Takes the worktree back to a checkpoint, after a safety checkpoint of what is there now. Where
    /// that is refused nothing is recorded, and where nothing changes there is nothing to undo. Folders
    /// without content come back, too, and go again with an undo.
    fn rollback(&self, request: &RollbackRequest) -> Result<RollbackReport>;

    /// What undoing would do, without doing it.
    fn plan_undo(&self, request: &UndoRequest) -> Result<RollbackPlan>;

    /// Undoes the latest rollback, promotion or adoption that was not undone yet, at the paths that it
    /// changed; undoing that undoes the undoing.
    fn undo(&self, request: &UndoRequest) -> Result<RollbackReport>;

    /// Forgets checkpoints that nobody needs to keep, and gives their space back. The latest stays
    /// whatever the rules say, and naming it is refused; what undoing needs goes only when named.
    fn prune(&self, retention: &Retention) -> Result<Pruned>;

    /// Completes what a crash left half-done, and says what that was. What somebody changed meanwhile is
    /// left alone.
    fn heal(&self) -> Result<Vec<Healed>>;

    /// Makes a branch in the user's repository that holds a checkpoint's tree, on top of the commit
    /// that was checked out then. Refuses a name that is taken. Returns the new commit.
    fn branch(&self, id: &CheckpointId, name: &str) -> Result<String>;
}
