//! The index of a desk: what its commit holds, and how git can tell that files are just that.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use aurora_model::RepoPath;
use gix::hash::ObjectId;

use super::Desk;
use crate::error::{Error, Result};
use crate::shadow::removal;

impl Desk {
    /// Writes the index of a commit. With paths that differ from it, all others are known to be as the
    /// commit has them; with nothing, git looks at every file once more.
    pub(super) fn write_index(
        &self,
        commit: &ObjectId,
        differing: Option<&BTreeSet<RepoPath>>,
    ) -> Result<()> {
        let failed =
            |what: String| Error::Corrupt { what: format!("no index can be made: {what}") };
        let options = gix::validate::path::component::Options {
            protect_windows: false,
            protect_hfs: true,
            protect_ntfs: false,
        };
        let tree = self.tree_of(commit)?;
        let objects = self.own.store.objects()?;
        let mut state = gix::index::State::from_tree(&tree, &objects.odb, options)
            .map_err(|error| failed(error.to_string()))?;
        if let Some(differing) = differing {
            for (entry, path) in state.entries_mut_with_paths() {
                let differs =
                    RepoPath::new(path.to_vec()).is_none_or(|path| differing.contains(&path));
                let at = self.path().join(OsStr::from_bytes(path));
                let found = gix::index::fs::Metadata::from_path_no_follow(&at);
                let (false, Ok(found)) = (differs, found) else { continue };
                entry.stat = gix::index::entry::Stat::from_fs(&found)
                    .map_err(|error| failed(error.to_string()))?;
            }
        }
        let path = self.own.place.git_dir.join("index");
        removal::remove(&path)?;
        let mut file = gix::index::File::from_state(state, path);
        file.write(gix::index::write::Options::default()).map_err(|error| failed(error.to_string()))
    }
}
