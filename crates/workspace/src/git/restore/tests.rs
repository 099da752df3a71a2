//! Transitions on a real file system, with blobs from memory.

mod crashes;
mod races;

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::fixture::now;
use crate::git::beneath::name_of;
use crate::git::journal::complete;
use crate::progress::Silent;
use crate::request::{Healed, Outcome};

/// Blobs from memory.
#[derive(Clone, Default)]
pub(crate) struct Stored(Arc<HashMap<ObjectId, Vec<u8>>>);

impl Blobs for Stored {
    fn bytes(&self, id: &ObjectId) -> Result<Vec<u8>> {
        Ok(self.0.get(id).unwrap().clone())
    }

    fn size(&self, id: &ObjectId) -> Result<Option<u64>> {
        Ok(self.0.get(id).map(|bytes| bytes.len() as u64))
    }
}

const HASH: gix::hash::Kind = gix::hash::Kind::Sha1;

/// What a test says of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Is {
    File(Vec<u8>),
    Program(Vec<u8>),
    Link(Vec<u8>),
}

pub(crate) fn file(bytes: &str) -> Option<Is> {
    Some(Is::File(bytes.as_bytes().to_vec()))
}

pub(crate) fn program(bytes: &str) -> Option<Is> {
    Some(Is::Program(bytes.as_bytes().to_vec()))
}

pub(crate) fn link(target: &str) -> Option<Is> {
    Some(Is::Link(target.as_bytes().to_vec()))
}

type Scenes = BTreeMap<Vec<u8>, Is>;

/// A root of its own, a folder for the journal, and blobs.
pub(crate) struct Scene {
    dir: tempfile::TempDir,
    blobs: HashMap<ObjectId, Vec<u8>>,
    pub(crate) transition: Transition,
}

impl Scene {
    /// Paths with what stands there before and what shall stand there after.
    pub(crate) fn new(paths: &[(&[u8], Option<Is>, Option<Is>)]) -> Self {
        let what = "rollback to ckpt-001-aaaaaaaa".to_owned();
        let transition = Transition { what, steps: Vec::new(), empty_folders: Vec::new() };
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Self { dir, blobs: HashMap::new(), transition };
        std::fs::create_dir_all(scene.root()).unwrap();
        std::fs::create_dir_all(scene.feature_dir()).unwrap();
        for (path, before, after) in paths {
            if let Some(before) = before {
                scene.put(path, before);
            }
            let from = before.as_ref().map(|is| scene.entry(is));
            let to = after.as_ref().map(|is| scene.entry(is));
            let path = RepoPath::new(*path).unwrap();
            if from != to {
                scene.transition.steps.push(Step { path, from, to, permissions: None });
            }
        }
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn feature_dir(&self) -> PathBuf {
        self.dir.path().join("feature")
    }

    pub(crate) fn at(&self, path: &[u8]) -> PathBuf {
        self.root().join(std::ffi::OsStr::from_bytes(path))
    }

    fn entry(&mut self, is: &Is) -> Entry {
        let (mode, bytes) = match is {
            Is::File(bytes) => (EntryMode::File, bytes),
            Is::Program(bytes) => (EntryMode::Executable, bytes),
            Is::Link(bytes) => (EntryMode::Symlink, bytes),
        };
        let id = name_of(bytes, HASH).unwrap();
        self.blobs.insert(id, bytes.clone());
        Entry { mode, id }
    }

    fn put(&self, path: &[u8], is: &Is) {
        let place = self.at(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        match is {
            Is::File(bytes) => std::fs::write(&place, bytes).unwrap(),
            Is::Program(bytes) => {
                std::fs::write(&place, bytes).unwrap();
                std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
            }
            Is::Link(bytes) => symlink(std::ffi::OsStr::from_bytes(bytes), &place).unwrap(),
        }
    }

    pub(crate) fn ground<'g>(&self, root: &'g Root, dir: &'g Path) -> Ground<'g, Stored> {
        let blobs = Stored(Arc::new(self.blobs.clone()));
        Ground { root, feature_dir: dir, hash: HASH, blobs, progress: &Silent }
    }

    /// Takes all steps, with a fuse.
    pub(crate) fn try_apply(&self, fuse: &Fuse) -> Result<BTreeMap<String, Outcome>> {
        let dir = self.feature_dir();
        let root = Root::open(&self.root(), fuse.clone()).unwrap();
        let journal = Journal::of(&self.transition, None, now());
        let outcomes = self.ground(&root, &dir).perform(&journal)?;
        Journal::end(&dir, fuse)?;
        Ok(outcomes.into_iter().map(|ended| (ended.path.to_string(), ended.outcome)).collect())
    }

    pub(crate) fn apply(&self) -> BTreeMap<String, Outcome> {
        self.try_apply(&Fuse::default()).unwrap()
    }

    /// Completes what a fuse that burnt out has left.
    pub(crate) fn heal(&self) -> Option<Healed> {
        let dir = self.feature_dir();
        let root = Root::open(&self.root(), Fuse::default()).unwrap();
        match Journal::read(&dir).unwrap() {
            crate::git::journal::Found::None => None,
            crate::git::journal::Found::Journal(journal) => {
                let healed = complete(&journal, &self.ground(&root, &dir)).unwrap();
                Journal::end(&dir, &Fuse::default()).unwrap();
                Some(healed)
            }
            crate::git::journal::Found::Corrupt { because } => panic!("{because}"),
        }
    }

    /// Everything below the root that is no folder.
    pub(crate) fn all(&self) -> Scenes {
        fn walk(at: &Path, name: &[u8], into: &mut Scenes) {
            for entry in std::fs::read_dir(at).unwrap() {
                let entry = entry.unwrap();
                let mut path = name.to_vec();
                path.extend_from_slice(entry.file_name().as_bytes());
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    path.push(b'/');
                    walk(&entry.path(), &path, into);
                } else if kind.is_symlink() {
                    let target = std::fs::read_link(entry.path()).unwrap();
                    into.insert(path, Is::Link(target.as_os_str().as_bytes().to_vec()));
                } else {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    let mode = entry.metadata().unwrap().mode();
                    let is = if mode & 0o100 == 0 { Is::File(bytes) } else { Is::Program(bytes) };
                    into.insert(path, is);
                }
            }
        }
        let mut all = Scenes::new();
        walk(&self.root(), b"", &mut all);
        all
    }
}

/// All kinds of things that can become all kinds of others.
pub(crate) fn everything() -> Vec<(&'static [u8], Option<Is>, Option<Is>)> {
    vec![
        (b"changed", file("one"), file("two")),
        (b"runs", file("run"), program("run")),
        (b"runs no more", program("stop"), file("stop")),
        (b"runs and changes", file("a"), program("b")),
        (b"new/deep/er", None, file("new")),
        (b"old/deep/er", file("old"), None),
        (b"was-file", file("x"), link("changed")),
        (b"was-link", link("changed"), file("y")),
        (b"was-file-is-folder", file("f"), None),
        (b"was-file-is-folder/inside", None, file("g")),
        (b"was-folder-is-file/inside", file("h"), None),
        (b"was-folder-is-file", None, file("i")),
        (b"was-link-is-folder", link("/nowhere"), None),
        (b"was-link-is-folder/inside", None, link("..")),
        (b"was-folder-is-link/a/b", program("j"), None),
        (b"was-folder-is-link", None, link("was-file")),
        (b"caf\xe9/new\nline", file("k"), file("l")),
        (b"stays", file("same"), file("same")),
        (b"empty", file(""), file("not")),
        (b"emptied", file("not"), file("")),
    ]
}

fn expected(paths: &[(&[u8], Option<Is>, Option<Is>)]) -> Scenes {
    let after = paths.iter().filter_map(|(path, _, is)| Some((path.to_vec(), is.clone()?)));
    after.collect()
}

fn is_kept(outcome: &Outcome, because: &str) -> bool {
    matches!(outcome, Outcome::Kept { because: said } if said.contains(because))
}

/// WSP-4
#[test]
fn every_kind_becomes_every_other_exactly() {
    let paths = everything();
    let scene = Scene::new(&paths);
    let outcomes = scene.apply();
    assert_eq!(scene.all(), expected(&paths));
    assert!(!scene.at(b"old").exists(), "folders that we emptied go");
    assert_eq!(outcomes["changed"], Outcome::Overwritten);
    assert_eq!(outcomes["runs"], Outcome::ModeChanged);
    assert_eq!(outcomes["new/deep/er"], Outcome::Created);
    assert_eq!(outcomes["old/deep/er"], Outcome::Deleted);
    assert_eq!(outcomes.len(), paths.len() - 1);
    assert!(scene.heal().is_none());
}

/// WSP-4
#[test]
fn many_steps_on_two_threads_end_the_same() {
    let names: Vec<(String, Option<Is>, Option<Is>)> = (0..500)
        .map(|n| {
            let before = (n % 3 != 0).then(|| Is::File(format!("before {n}").into_bytes()));
            let after = (n % 5 != 0).then(|| Is::Program(format!("after {n}").into_bytes()));
            (format!("d{}/e{}/f{n}", n % 7, n % 11), before, after)
        })
        .collect();
    let paths: Vec<(&[u8], Option<Is>, Option<Is>)> =
        names.iter().map(|(n, b, a)| (n.as_bytes(), b.clone(), a.clone())).collect();
    let scene = Scene::new(&paths);
    scene.apply();
    assert_eq!(scene.all(), expected(&paths));
}

/// WSP-4
#[test]
fn a_symlinked_parent_is_never_followed() {
    let scene = Scene::new(&[
        (b"sub/changed", file("one"), file("two")),
        (b"sub/gone", file("one"), None),
        (b"sub/new", None, file("three")),
        (b"sub/mode", file("m"), program("m")),
    ]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::rename(scene.at(b"sub"), outside.path().join("sub")).unwrap();
    symlink(outside.path().join("sub"), scene.at(b"sub")).unwrap();
    let outcomes = scene.apply();
    for (path, outcome) in &outcomes {
        assert!(is_kept(outcome, "symbolic link"), "{path}: {outcome:?}");
    }
    let changed = outside.path().join("sub/changed");
    assert_eq!(std::fs::read_to_string(changed).unwrap(), "one");
    assert!(outside.path().join("sub/gone").exists());
    assert_eq!(std::fs::read_dir(outside.path().join("sub")).unwrap().count(), 3);
}

/// WSP-4
#[test]
fn permissions_stay_apart_from_execution() {
    let scene = Scene::new(&[
        (b"secret", file("one"), file("two")),
        (b"script", file("one"), program("two")),
        (b"group", program("one"), file("one")),
    ]);
    let set = |path: &[u8], mode| {
        std::fs::set_permissions(scene.at(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    set(b"secret", 0o600);
    set(b"script", 0o640);
    set(b"group", 0o775);
    scene.apply();
    let mode = |path: &[u8]| std::fs::metadata(scene.at(path)).unwrap().mode() & 0o7777;
    assert_eq!(mode(b"secret"), 0o600);
    assert_eq!(mode(b"script"), 0o750);
    assert_eq!(mode(b"group"), 0o664);
}

/// WSP-4
#[test]
fn a_missing_blob_is_found_before_anything_is_touched() {
    let mut scene = Scene::new(&everything());
    let lost = scene.transition.steps[0].to.unwrap().id;
    scene.blobs.remove(&lost);
    let before = scene.all();
    let error = scene.try_apply(&Fuse::default()).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    assert_eq!(scene.all(), before);
    assert!(scene.heal().is_none());
}

/// WSP-4
#[test]
fn a_damaged_blob_fails_its_own_path_only() {
    let mut scene =
        Scene::new(&[(b"bad", file("one"), file("two")), (b"good", file("one"), file("three"))]);
    let bad = scene.transition.steps[0].to.unwrap().id;
    scene.blobs.insert(bad, b"tw0".to_vec());
    let outcomes = scene.apply();
    assert!(matches!(&outcomes["bad"], Outcome::Failed { because } if because.contains("damaged")));
    assert_eq!(outcomes["good"], Outcome::Overwritten);
    assert_eq!(scene.all()[&b"bad"[..]], Is::File(b"one".to_vec()));
}

/// WSP-4
#[test]
fn a_folder_that_is_still_needed_does_not_make_way() {
    let scene = Scene::new(&[(b"d/inside", file("h"), None), (b"d", None, file("i"))]);
    std::fs::write(scene.at(b"d/ignored"), "precious").unwrap();
    let outcomes = scene.apply();
    assert!(is_kept(&outcomes["d"], "something else"));
    assert_eq!(scene.all().into_keys().collect::<Vec<_>>(), [b"d/ignored".to_vec()]);
}

/// WSP-4
#[test]
fn folders_without_content_make_way_for_a_file() {
    let scene = Scene::new(&[(b"d", None, file("i"))]);
    std::fs::create_dir_all(scene.at(b"d/e/f")).unwrap();
    std::fs::create_dir_all(scene.at(b"d/g")).unwrap();
    assert_eq!(scene.apply()["d"], Outcome::Created);
}

/// WSP-4
#[test]
fn submodules_and_git_data_are_not_touched() {
    let mut scene = Scene::new(&[
        (b"sub/.git/config", file("one"), file("two")),
        (b"x/.GIT/hooks/pre-commit", None, program("evil")),
    ]);
    let id = ObjectId::null(HASH);
    let entry = Some(Entry { mode: EntryMode::Submodule, id });
    let path = RepoPath::new("module").unwrap();
    scene.transition.steps.push(Step { path, from: None, to: entry, permissions: None });
    let before = scene.all();
    let outcomes = scene.apply();
    assert!(outcomes.values().all(|outcome| is_kept(outcome, "not touched")), "{outcomes:?}");
    assert_eq!(scene.all(), before);
}

/// WSP-4
#[test]
fn one_folder_that_cannot_be_written_does_not_hold_up_the_others() {
    let scene = Scene::new(&[
        (b"locked/changed", file("one"), file("two")),
        (b"locked/gone", file("one"), None),
        (b"open/changed", file("one"), file("two")),
    ]);
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    for path in [scene.dir.path(), &scene.root(), &scene.feature_dir(), &scene.at(b"open")] {
        set(path, 0o777);
    }
    set(&scene.at(b"locked"), 0o555);
    // A thread can be somebody else than root, for whom nothing is locked.
    let outcomes = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            if rustix::process::getuid().is_root() {
                rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65534)).unwrap();
            }
            scene.apply()
        });
        work.join().unwrap()
    });
    set(&scene.at(b"locked"), 0o755);
    assert!(matches!(outcomes["locked/changed"], Outcome::Failed { .. }), "{outcomes:?}");
    assert!(matches!(outcomes["locked/gone"], Outcome::Failed { .. }));
    assert_eq!(outcomes["open/changed"], Outcome::Overwritten);
    assert_eq!(scene.all()[&b"locked/changed"[..]], Is::File(b"one".to_vec()));
    assert_eq!(scene.all().len(), 3);
}

/// WSP-4
#[test]
fn a_full_disk_leaves_each_file_as_it_was_or_as_it_should_be() {
    struct Mounted(PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let flags = rustix::mount::UnmountFlags::DETACH;
            rustix::mount::unmount(&self.0, flags).unwrap();
        }
    }
    let disk = tempfile::tempdir().unwrap();
    let flags = rustix::mount::MountFlags::empty();
    let mounted = rustix::mount::mount("tmpfs", disk.path(), "tmpfs", flags, c"size=256k");
    if let Err(error) = mounted {
        eprintln!("SKIPPED: no small file system can be mounted: {error}");
        return;
    }
    let _mounted = Mounted(disk.path().to_owned());
    let large = "x".repeat(150 << 10);
    let mut scene = Scene::new(&[]);
    let root = disk.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::remove_dir(scene.root()).unwrap();
    symlink(&root, scene.root()).unwrap();
    for (path, before, after) in
        [("large", "small", large.as_str()), ("also large", "small", &large), ("small", "a", "b")]
    {
        std::fs::write(root.join(path), before).unwrap();
        let from = Some(scene.entry(&file(before).unwrap()));
        let to = Some(scene.entry(&file(after).unwrap()));
        let path = RepoPath::new(path).unwrap();
        scene.transition.steps.push(Step { path, from, to, permissions: None });
    }
    let (dir, journal) = (scene.feature_dir(), Journal::of(&scene.transition, None, now()));
    let root = Root::open(&root, Fuse::default()).unwrap();
    let ended = scene.ground(&root, &dir).perform(&journal).unwrap();
    let outcome = |n: usize| &ended[n].outcome;
    assert_eq!(*outcome(0), Outcome::Overwritten);
    assert!(matches!(outcome(1), Outcome::Failed { because } if because.contains("space")));
    assert_eq!(*outcome(2), Outcome::Overwritten);
    let read = |path: &str| std::fs::read_to_string(disk.path().join("root").join(path)).unwrap();
    assert_eq!(
        (read("large"), read("also large"), read("small")),
        (large, "small".into(), "b".into())
    );
    assert_eq!(std::fs::read_dir(disk.path().join("root")).unwrap().count(), 3);
}
