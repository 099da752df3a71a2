//! `.aurora/answers/<run>/<task>.md`: what the model answered in place of an agent, to be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_engine::machine::{State, TaskStatus};
use aurora_model::{Digest, Route, RunId, TaskId};
use aurora_store::Store;

use crate::wiring::{atomic, own_folder, store};

/// Where the answers of a run are, below the project's folder.
pub fn folder(project: &Path, run: &RunId) -> PathBuf {
    project.join("answers").join(run.as_str())
}

/// Writes an answer down, as the model gave it. One that is there stays as it is.
pub fn write(
    folder: &Path,
    task: &TaskId,
    digest: &Digest,
    store: &Arc<dyn Store>,
) -> anyhow::Result<()> {
    let path = path(folder, task);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let bytes = runtime.block_on(store.get(digest)).map_err(store::failure)?;
    own_folder::make(&path)?;
    atomic::write_private(&path, &bytes)
}

/// The answers in a folder that were written down.
pub fn of(folder: &Path, state: &State) -> Vec<(TaskId, PathBuf)> {
    let by_model = state.tasks.iter().filter(
        |task| matches!(&task.status, TaskStatus::Completed { route, .. } if *route == Route::Model),
    );
    by_model
        .map(|task| (task.id().clone(), path(folder, task.id())))
        .filter(|(_, path)| path.is_file())
        .collect()
}

fn path(folder: &Path, task: &TaskId) -> PathBuf {
    folder.join(format!("{task}.md"))
}
