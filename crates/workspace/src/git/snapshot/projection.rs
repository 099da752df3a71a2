//! Files that people read: a checkpoint's diffs, beside the chain.

use std::path::{Path, PathBuf};

use aurora_model::{Checkpoint, CheckpointId};

use crate::error::Result;
use crate::git::GitWorkspace;
use crate::git::chain::tree_id;
use crate::git::objects::Objects;
use crate::git::own;
use crate::git::tree::{self, Delta};

/// Larger differences are shown on demand only.
const MAX_BYTES: u64 = 2 << 20;
/// So are differences of more files.
const MAX_FILES: usize = 200;

impl GitWorkspace {
    /// Where the diff from the previous checkpoint is, when it is not too large to be written.
    #[must_use]
    pub fn incremental_diff_path(&self, id: &CheckpointId) -> PathBuf {
        self.place.projections_dir.join("checkpoints").join(format!("{id}.diff"))
    }

    /// Where the diff from the beginning of the chain is, when it is not too large to be written.
    #[must_use]
    pub fn cumulative_diff_path(&self, id: &CheckpointId) -> PathBuf {
        self.place.projections_dir.join("checkpoints").join(format!("{id}.cumulative.diff"))
    }

    /// Writes a checkpoint's diffs for people, when they are small. They can be made again at any
    /// time, so that nothing depends on its success.
    pub(super) fn project_diff(
        &self,
        checkpoint: &Checkpoint,
        deltas: &[Delta],
        objects: &Objects,
    ) {
        if !deltas.is_empty() && is_small(deltas, objects) {
            // INVARIANT: a checkpoint is whole without its projections.
            let _ = self.write_projections(checkpoint, objects);
        }
    }

    fn write_projections(&self, checkpoint: &Checkpoint, objects: &Objects) -> Result<()> {
        let (id, tree) = (&checkpoint.checkpoint_id, &checkpoint.tree);
        let mut diff = Vec::new();
        self.write_diff(&checkpoint.previous_tree, tree, &[], &mut diff)?;
        self.write_projection(&self.incremental_diff_path(id), &diff)?;
        if checkpoint.base_tree != checkpoint.previous_tree {
            let (base, tree_of) = (tree_id(&checkpoint.base_tree)?, tree_id(tree)?);
            if !is_small(&tree::compare(objects, &base, &tree_of)?, objects) {
                return Ok(());
            }
            diff.clear();
            self.write_diff(&checkpoint.base_tree, tree, &[], &mut diff)?;
        }
        self.write_projection(&self.cumulative_diff_path(id), &diff)
    }

    /// Only the user may read it: a diff holds what files hold that only the user may read.
    fn write_projection(&self, path: &Path, diff: &[u8]) -> Result<()> {
        if path.starts_with(self.place.root.join(".aurora")) {
            self.ignore_itself()?;
        }
        if let Some(folder) = path.parent() {
            own::Folder::make(folder)?.close_to_others()?;
        }
        own::replace(path, diff, false)
    }

    /// `.aurora/` in a worktree is nobody's work: it ignores itself.
    fn ignore_itself(&self) -> Result<()> {
        let path = self.place.root.join(".aurora").join(".gitignore");
        if is_there(&path) {
            return Ok(());
        }
        own::replace(&path, b"*\n", false)
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_small(deltas: &[Delta], objects: &Objects) -> bool {
    if deltas.len() > MAX_FILES {
        return false;
    }
    let sides = deltas.iter().flat_map(|delta| [delta.before, delta.after]).flatten();
    let sizes = sides.map(|entry| objects.header(&entry.id).ok().flatten().map_or(0, |h| h.1));
    sizes.sum::<u64>() <= MAX_BYTES
}
