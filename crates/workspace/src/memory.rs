//! A workspace whose files are in memory, for tests of whatever builds on workspaces.

mod merge;
mod rollback;
mod state;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aurora_model::{Change, Checkpoint, CheckpointId, EntryMode, Head, RepoPath, TreeId};

use crate::error::{Error, Result};
use crate::git::diff::patch::{Side, patch_of};
use crate::git::prune::doomed;
use crate::request::{
    CheckpointRequest, Content, Created, Healed, Pruned, Retention, RollbackPlan, RollbackReport,
    RollbackRequest, UndoRequest,
};
use crate::workspace::Workspace;

use state::State;

/// A workspace whose files are in memory. Its trees have the names that git would give them, and its
/// clock goes on by a second with each checkpoint.
#[derive(Debug)]
pub struct MemoryWorkspace {
    state: Mutex<State>,
}

impl Default for MemoryWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryWorkspace {
    /// No files, no commit, on branch `main`.
    #[must_use]
    pub fn new() -> Self {
        let mut state = State::default();
        state.head = Head { commit: None, branch: Some("main".to_owned()) };
        state.branches.insert("main".to_owned(), String::new());
        Self { state: Mutex::new(state) }
    }

    /// Writes a file, in place of whatever is in its way. One that may be executed stays so.
    pub fn write(&self, path: &RepoPath, bytes: impl Into<Vec<u8>>) {
        let mut state = self.lock();
        let executable = state.files.get(path).is_some_and(|old| old.mode == EntryMode::Executable);
        let mode = if executable { EntryMode::Executable } else { EntryMode::File };
        state.put(path, Content { mode, bytes: bytes.into() });
    }

    /// Says whether a file may be executed.
    pub fn set_executable(&self, path: &RepoPath, executable: bool) {
        if let Some(content) = self.lock().files.get_mut(path) {
            content.mode = if executable { EntryMode::Executable } else { EntryMode::File };
        }
    }

    /// Makes a symbolic link, in place of whatever is in its way.
    pub fn symlink(&self, path: &RepoPath, target: impl Into<Vec<u8>>) {
        self.lock().put(path, Content { mode: EntryMode::Symlink, bytes: target.into() });
    }

    /// Makes a folder with nothing in it, unless something stands there or on the way.
    pub fn make_folder(&self, path: &RepoPath) {
        self.lock().make_folder(path);
    }

    /// Whether a path is a folder, empty or not.
    #[must_use]
    pub fn is_folder(&self, path: &RepoPath) -> bool {
        self.lock().is_folder(path)
    }

    /// Removes a path and what is below it.
    pub fn remove(&self, path: &RepoPath) {
        let mut state = self.lock();
        state.files.retain(|other, _| !other.is_within(path));
        state.folders.retain(|other| !other.is_within(path));
    }

    /// What stands at a path now.
    #[must_use]
    pub fn at(&self, path: &RepoPath) -> Option<Content> {
        self.lock().files.get(path).cloned()
    }

    /// Everything that is there now, ignored or not.
    #[must_use]
    pub fn listing(&self) -> BTreeMap<RepoPath, Content> {
        self.lock().files.clone()
    }

    /// Leaves a path, and what is below it, out of checkpoints that do not have it yet.
    pub fn ignore(&self, path: &RepoPath) {
        self.lock().ignored.insert(path.clone());
    }

    /// Takes `ignore` back.
    pub fn stop_ignoring(&self, path: &RepoPath) {
        self.lock().ignored.remove(path);
    }

    /// Commits everything: HEAD moves and holds it.
    pub fn commit(&self) {
        let mut state = self.lock();
        state.head_files = state.files.clone();
        state.move_head();
    }

    /// HEAD moves to another commit; no file changes.
    pub fn move_head(&self) {
        self.lock().move_head();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace for MemoryWorkspace {
    fn checkpoint(&self, request: &CheckpointRequest) -> Result<Created> {
        self.lock().checkpoint(request)
    }

    fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        Ok(self.lock().chain.clone())
    }

    fn find(&self, name: &str) -> Result<Checkpoint> {
        find(&self.lock().chain, name).cloned()
    }

    fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>> {
        let state = self.lock();
        Ok(tree::changes(state.files_of(from)?, state.files_of(to)?))
    }

    fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        only: &[RepoPath],
        out: &mut dyn io::Write,
    ) -> Result<()> {
        let state = self.lock();
        let (before, after) = (state.files_of(from)?, state.files_of(to)?);
        for path in tree::paths_of(before, after) {
            if !only.is_empty() && !only.iter().any(|within| path.is_within(within)) {
                continue;
            }
            let patch = patch_of(path, side(before.get(path))?, side(after.get(path))?);
            patch
                .and_then(|patch| out.write_all(&patch))
                .map_err(Error::io("write", "the diff"))?;
        }
        Ok(())
    }

    fn read(&self, tree: &TreeId, path: &RepoPath) -> Result<Option<Content>> {
        Ok(self.lock().files_of(tree)?.get(path).cloned())
    }

    fn plan_rollback(&self, request: &RollbackRequest) -> Result<RollbackPlan> {
        let state = self.lock();
        let aim = state.aim_at(find_exactly(&state.chain, &request.to)?);
        state.plan_rollback(&aim, request)
    }

    fn rollback(&self, request: &RollbackRequest) -> Result<RollbackReport> {
        let mut state = self.lock();
        let aim = state.aim_at(find_exactly(&state.chain, &request.to)?);
        state.rollback(&aim, request)
    }

    fn plan_undo(&self, request: &UndoRequest) -> Result<RollbackPlan> {
        let state = self.lock();
        let aim = state.aim_of_undo()?;
        state.plan_rollback(&aim, &request.going_to(aim.to()))
    }

    fn undo(&self, request: &UndoRequest) -> Result<RollbackReport> {
        let mut state = self.lock();
        let aim = state.aim_of_undo()?;
        state.rollback(&aim, &request.going_to(aim.to()))
    }

    fn prune(&self, retention: &Retention) -> Result<Pruned> {
        let mut state = self.lock();
        let forgotten = doomed(&state.chain, retention, state.now())?;
        let bytes_before = state.stored_bytes();
        if !retention.dry_run {
            state.chain.retain(|checkpoint| !forgotten.contains(&checkpoint.checkpoint_id));
            state.forget_trees();
        }
        let left = state.chain.len() - if retention.dry_run { forgotten.len() } else { 0 };
        let bytes_after = state.stored_bytes();
        Ok(Pruned { forgotten, kept: left as u64, bytes_before, bytes_after })
    }

    fn heal(&self) -> Result<Vec<Healed>> {
        // Nothing in memory outlives a crash, so nothing is ever half-done.
        Ok(Vec::new())
    }

    fn branch(&self, id: &CheckpointId, name: &str) -> Result<String> {
        let mut state = self.lock();
        let checkpoint = find_exactly(&state.chain, id)?;
        if state.branches.contains_key(name) {
            return Err(Error::Refused {
                what: format!("there is a branch `{name}` already"),
                hint: "choose another name".to_owned(),
            });
        }
        let parent = checkpoint.head.commit.as_deref().map(|commit| format!("parent {commit}\n"));
        let (tree, message) = (&checkpoint.tree, &checkpoint.message);
        let commit = format!("tree {tree}\n{}\n{message}\n", parent.unwrap_or_default());
        let commit = tree::hash(gix::objs::Kind::Commit, commit.as_bytes())?.to_string();
        state.branches.insert(name.to_owned(), commit.clone());
        Ok(commit)
    }
}

fn side(content: Option<&Content>) -> Result<Option<Side<'_>>> {
    let Some(content) = content else { return Ok(None) };
    Ok(Some(Side { mode: content.mode, id: tree::id_of(content)?, bytes: &content.bytes }))
}

fn find_exactly<'a>(chain: &'a [Checkpoint], id: &CheckpointId) -> Result<&'a Checkpoint> {
    let found = chain.iter().find(|checkpoint| checkpoint.checkpoint_id == *id);
    found.ok_or_else(|| not_found(&id.0))
}

fn find<'a>(chain: &'a [Checkpoint], name: &str) -> Result<&'a Checkpoint> {
    if name == "latest" {
        return chain.last().ok_or_else(|| not_found(name));
    }
    let digits = name.strip_prefix('#').unwrap_or(name);
    if let Ok(number) = digits.parse::<u64>() {
        let begins = format!("ckpt-{number:03}-");
        let found = chain.iter().find(|checkpoint| checkpoint.checkpoint_id.0.starts_with(&begins));
        return found.ok_or_else(|| not_found(name));
    }
    let mut found =
        chain.iter().filter(|one| !name.is_empty() && one.checkpoint_id.0.starts_with(name));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(not_found(name)),
        (Some(one), Some(other)) => Err(Error::NotFound {
            what: format!("several checkpoints begin with `{name}`"),
            hint: format!("such as {} and {}", one.checkpoint_id, other.checkpoint_id),
        }),
    }
}

fn not_found(name: &str) -> Error {
    Error::NotFound {
        what: format!("no checkpoint `{name}`"),
        hint: "see which there are with `aur checkpoints list`".to_owned(),
    }
}
