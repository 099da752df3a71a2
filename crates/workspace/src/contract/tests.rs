//! The contract, held to by each implementation: one test per promise.

mod alike;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use aurora_model::{EntryMode, RepoPath};

use super::Subject;
use crate::fixture::Repo;
use crate::git::GitWorkspace;
use crate::memory::MemoryWorkspace;
use crate::request::Content;
use crate::workspace::Workspace;

impl Subject for MemoryWorkspace {
    fn workspace(&self) -> &dyn Workspace {
        self
    }

    fn write(&self, path: &RepoPath, bytes: &[u8]) {
        self.write(path, bytes);
    }

    fn set_executable(&self, path: &RepoPath, executable: bool) {
        self.set_executable(path, executable);
    }

    fn symlink(&self, path: &RepoPath, target: &[u8]) {
        self.symlink(path, target);
    }

    fn make_folder(&self, path: &RepoPath) {
        self.make_folder(path);
    }

    fn is_folder(&self, path: &RepoPath) -> bool {
        self.is_folder(path)
    }

    fn remove(&self, path: &RepoPath) {
        self.remove(path);
    }

    fn read(&self, path: &RepoPath) -> Option<Content> {
        self.at(path)
    }

    fn ignore(&self, path: &RepoPath) {
        self.ignore(path);
    }

    fn stop_ignoring(&self, path: &RepoPath) {
        self.stop_ignoring(path);
    }

    fn move_head(&self) {
        self.move_head();
    }

    fn listing(&self) -> BTreeMap<RepoPath, Content> {
        self.listing()
    }
}

/// A real repository, changed by plain file operations.
struct OnDisk {
    repo: Repo,
    workspace: GitWorkspace,
}

impl OnDisk {
    fn new() -> Self {
        let repo = Repo::empty();
        repo.commit("first");
        let workspace = repo.workspace();
        Self { repo, workspace }
    }

    fn make_room(&self, path: &RepoPath) {
        for above in path.parents() {
            let place = self.repo.path(above.as_bytes());
            if fs::symlink_metadata(&place).is_ok_and(|found| !found.is_dir()) {
                fs::remove_file(place).unwrap();
            }
        }
        let place = self.repo.path(path.as_bytes());
        if fs::symlink_metadata(&place).is_ok_and(|found| !found.is_file()) {
            self.clear(path);
        }
        fs::create_dir_all(place.parent().unwrap()).unwrap();
    }

    fn clear(&self, path: &RepoPath) {
        let place = self.repo.path(path.as_bytes());
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(place).unwrap(),
            Ok(_) => fs::remove_file(place).unwrap(),
            Err(_) => {}
        }
    }

    fn rule(path: &RepoPath) -> String {
        format!("/{path}\n")
    }

    fn exclude(&self) -> std::path::PathBuf {
        self.repo.root().join(".git/info/exclude")
    }

    fn walk(&self, folder: &Path, into: &mut BTreeMap<RepoPath, Content>) {
        for entry in fs::read_dir(folder).unwrap() {
            let place = entry.unwrap().path();
            let relative = place.strip_prefix(self.repo.root()).unwrap().as_os_str().as_bytes();
            if relative == b".git" {
                continue;
            }
            let path = RepoPath::new(relative).unwrap();
            match content_at(&place) {
                Some(content) => drop(into.insert(path, content)),
                None => self.walk(&place, into),
            }
        }
    }
}

fn content_at(place: &Path) -> Option<Content> {
    let found = fs::symlink_metadata(place).ok()?;
    if found.is_symlink() {
        let bytes = fs::read_link(place).unwrap().into_os_string().into_vec();
        return Some(Content { mode: EntryMode::Symlink, bytes });
    }
    let executable = found.permissions().mode() & 0o100 != 0;
    let mode = if executable { EntryMode::Executable } else { EntryMode::File };
    found.is_file().then(|| Content { mode, bytes: fs::read(place).unwrap() })
}

impl Subject for OnDisk {
    fn workspace(&self) -> &dyn Workspace {
        &self.workspace
    }

    fn write(&self, path: &RepoPath, bytes: &[u8]) {
        self.make_room(path);
        fs::write(self.repo.path(path.as_bytes()), bytes).unwrap();
    }

    fn set_executable(&self, path: &RepoPath, executable: bool) {
        let mode = if executable { 0o755 } else { 0o644 };
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.repo.path(path.as_bytes()), permissions).unwrap();
    }

    fn symlink(&self, path: &RepoPath, target: &[u8]) {
        self.make_room(path);
        self.clear(path);
        symlink(std::ffi::OsStr::from_bytes(target), self.repo.path(path.as_bytes())).unwrap();
    }

    fn make_folder(&self, path: &RepoPath) {
        fs::create_dir_all(self.repo.path(path.as_bytes())).unwrap();
    }

    fn is_folder(&self, path: &RepoPath) -> bool {
        fs::symlink_metadata(self.repo.path(path.as_bytes())).is_ok_and(|found| found.is_dir())
    }

    fn remove(&self, path: &RepoPath) {
        self.clear(path);
        // Files in memory leave no empty folders behind, so these do not either.
        for above in path.parents() {
            if fs::remove_dir(self.repo.path(above.as_bytes())).is_err() {
                break;
            }
        }
    }

    fn read(&self, path: &RepoPath) -> Option<Content> {
        content_at(&self.repo.path(path.as_bytes()))
    }

    fn ignore(&self, path: &RepoPath) {
        let rules = fs::read_to_string(self.exclude()).unwrap_or_default();
        fs::create_dir_all(self.exclude().parent().unwrap()).unwrap();
        fs::write(self.exclude(), rules + &Self::rule(path)).unwrap();
    }

    fn stop_ignoring(&self, path: &RepoPath) {
        let rules = fs::read_to_string(self.exclude()).unwrap();
        fs::write(self.exclude(), rules.replace(&Self::rule(path), "")).unwrap();
    }

    fn move_head(&self) {
        self.repo.git(&["commit", "--quiet", "--allow-empty", "-m", "moved"]);
    }

    fn listing(&self) -> BTreeMap<RepoPath, Content> {
        let mut listing = BTreeMap::new();
        self.walk(&self.repo.root(), &mut listing);
        listing
    }
}

mod in_memory {
    use super::super::{chain, checkpoint, keeping, rollback, undo};
    use super::MemoryWorkspace;

    macro_rules! as_tests {
        ($($room:ident :: $promise:ident),* $(,)?) => {
            $(
                // WSP-3, WSP-4
                #[test]
                fn $promise() {
                    let subject = MemoryWorkspace::new();
                    subject.commit();
                    $room::$promise(&subject);
                }
            )*
        };
    }

    with_promises!(as_tests);
}

mod on_disk {
    use super::super::{chain, checkpoint, keeping, rollback, undo};
    use super::OnDisk;

    macro_rules! as_tests {
        ($($room:ident :: $promise:ident),* $(,)?) => {
            $(
                // WSP-3, WSP-4
                #[test]
                fn $promise() {
                    $room::$promise(&OnDisk::new());
                }
            )*
        };
    }

    with_promises!(as_tests);
}
