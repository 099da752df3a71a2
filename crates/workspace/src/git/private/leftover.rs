//! What a crash left behind: unfinished files, removed once nobody can be writing them any more.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use super::PrivateStore;
use crate::git::pack::UNFINISHED;

/// Nobody writes one file for so long.
const LONG_AGO: Duration = Duration::from_secs(3600);

impl PrivateStore {
    /// Removes old unfinished files everywhere. They are only space, so that what cannot be removed
    /// or looked at is left for the next time.
    pub fn remove_leftovers(&self) {
        let mut next = vec![self.aurora_dir.clone()];
        while let Some(dir) = next.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                remove_if_old(&entry);
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                }
            }
        }
    }
}

/// Removes an entry of a folder if it is an old unfinished file of ours or of git's.
pub(super) fn remove_if_old(entry: &fs::DirEntry) {
    let name = entry.file_name();
    let unfinished = [UNFINISHED, "tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_obj_"];
    if !unfinished.iter().any(|start| name.as_bytes().starts_with(start.as_bytes())) {
        return;
    }
    let Ok(meta) = entry.metadata() else { return };
    let age = meta.modified().ok().and_then(|changed| changed.elapsed().ok());
    if age.is_none_or(|age| age < LONG_AGO) {
        return;
    }
    let path = entry.path();
    let _ = if meta.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}
