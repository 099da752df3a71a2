//! Which changes of a shadow the repository's rules ignore, as the shadow has these rules.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_model::RepoPath;

use crate::git::GitWorkspace;
use crate::git::ignore::Rules;
use crate::git::ignore::config::GitConfig;
use crate::git::scan::tracked::Tracked;
use crate::shadow::changes::ShadowChange;
use crate::shadow::meta::Shadow;

/// The rules of every folder, each read once.
struct FolderRules {
    whole: Arc<Rules>,
    /// The shadow's own files, then the worktree's.
    roots: [PathBuf; 2],
    known: HashMap<Option<RepoPath>, Arc<Rules>>,
}

impl FolderRules {
    fn of(&mut self, folder: Option<&RepoPath>) -> Arc<Rules> {
        if let Some(known) = self.known.get(&folder.cloned()) {
            return Arc::clone(known);
        }
        let above = match folder {
            Some(folder) => self.of(folder.parent().as_ref()),
            None => Arc::clone(&self.whole),
        };
        let name = folder.map(RepoPath::as_bytes).unwrap_or_default();
        let base = if name.is_empty() { 0 } else { name.len() + 1 };
        let has_rules = |root: &PathBuf| {
            let at = root.join(Path::new(OsStr::from_bytes(name)));
            at.join(".gitignore").symlink_metadata().is_ok().then_some(at)
        };
        let held = self.roots.iter().find_map(has_rules).and_then(|at| File::open(at).ok());
        let rules = held.map_or_else(|| Arc::clone(&above), |held| above.enter(held, base));
        self.known.insert(folder.cloned(), Arc::clone(&rules));
        rules
    }

    fn ignores(&mut self, path: &RepoPath) -> bool {
        let mut above: Vec<RepoPath> = path.parents().collect();
        above.reverse();
        for folder in &above {
            if self.of(folder.parent().as_ref()).ignores(folder.as_bytes(), true) {
                return true;
            }
        }
        self.of(path.parent().as_ref()).ignores(path.as_bytes(), false)
    }
}

impl GitWorkspace {
    /// Marks the changes that the rules ignore. What is recorded or tracked is never ignored.
    pub(crate) fn mark_ignored(&self, shadow: &Shadow, changes: &mut [ShadowChange]) {
        let (own, common) = (&self.place.git_dir, &self.place.common_dir);
        let config = GitConfig::read(&self.settings, own, common);
        let mut rules = FolderRules {
            whole: Rules::of_repository(&config, common, 0),
            roots: [shadow.files(), self.place.root.clone()],
            known: HashMap::new(),
        };
        let mut tracked = None;
        for change in changes.iter_mut().filter(|change| !change.recorded) {
            let path = &change.change.path;
            if rules.ignores(path) {
                let tracked = tracked.get_or_insert_with(|| Tracked::read(own, self.place.hash));
                change.ignored = tracked.find(path.as_bytes()).is_none();
            }
        }
    }
}
