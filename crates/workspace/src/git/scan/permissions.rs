//! Who may do what with files, where that is more or less than a tree can say.

use std::collections::BTreeMap;

use aurora_model::{EntryMode, RepoPath};

use super::{Scanner, Settled, SettledFolder, joined};
use crate::git::stat_cache::split;

/// What files have that were made with a usual mask; a tree's own modes stand for these.
const USUAL: [u32; 4] = [0o644, 0o664, 0o755, 0o775];

/// A file's permission bits, when they are unusual ones.
pub(crate) fn unusual(mode: u32) -> Option<u32> {
    let is_file = mode & 0o170_000 == 0o100_000;
    Some(mode & 0o7777).filter(|bits| is_file && !USUAL.contains(bits))
}

impl Scanner<'_> {
    /// The unusual permission bits of files that were looked at, and those that the previous
    /// checkpoint has of all others.
    pub(super) fn permissions_in(
        &self,
        folders: &BTreeMap<Vec<u8>, SettledFolder>,
    ) -> BTreeMap<RepoPath, u32> {
        let mut all = BTreeMap::new();
        let before = self.permissions.into_iter().flatten();
        let unseen = before.filter(|(path, _)| !is_told_anew(folders, path));
        all.extend(unseen.map(|(path, bits)| (path.clone(), *bits)));
        for (folder, seen) in folders {
            let files = seen.files.iter().filter(|file| is_file(file));
            all.extend(files.filter_map(|file| {
                let bits = unusual(file.stat?.mode)?;
                Some((RepoPath::new(joined(folder, &file.name))?, bits))
            }));
        }
        all
    }
}

/// Whether what stands at a path was looked at. Where only its earlier content is known, because it
/// cannot be read, its earlier permissions hold too.
fn is_told_anew(folders: &BTreeMap<Vec<u8>, SettledFolder>, path: &RepoPath) -> bool {
    let (folder, name) = split(path.as_bytes());
    let Some(folder) = folders.get(folder) else { return false };
    let at = folder.files.binary_search_by(|file| file.name.as_slice().cmp(name));
    let seen = at.ok().and_then(|at| folder.files.get(at));
    seen.is_some_and(|seen| seen.stat.is_some() || !is_file(seen))
}

fn is_file(file: &Settled) -> bool {
    matches!(file.entry.mode, EntryMode::File | EntryMode::Executable)
}
