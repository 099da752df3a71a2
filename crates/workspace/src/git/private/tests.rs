//! The private store beside a real repository.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use gix::objs::Kind;

use super::*;
use crate::fixture::Repo;
use crate::git::pack::PackWriter;

fn head_tree(repo: &Repo) -> ObjectId {
    id(&repo.git(&["rev-parse", "HEAD^{tree}"]))
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.trim().as_bytes()).unwrap()
}

/// All files of the git folder but ours, with their bytes.
fn git_files(repo: &Repo) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut next = vec![repo.path(".git")];
    while let Some(dir) = next.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".git/aurora") {
                continue;
            }
            if path.is_dir() {
                next.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn the_store_is_a_repository_that_git_understands_and_nobody_else_reads() {
    // WSP-1: snapshots can hold secrets.
    let repo = Repo::new();
    let before = git_files(&repo);
    let workspace = repo.workspace();
    assert_eq!(git_files(&repo), before);
    let mode = fs::metadata(&workspace.place.aurora_dir).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let git_dir = format!("--git-dir={}", workspace.store.dir.display());
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(repo.git(&[&git_dir, "cat-file", "-t", head.trim()]), "commit\n");
    repo.git(&[&git_dir, "fsck"]);
}

#[test]
fn two_who_make_the_store_at_once_make_one() {
    // WSP-1
    let repo = Repo::new();
    std::thread::scope(|scope| {
        let open = || crate::GitWorkspace::open(repo.settings()).map(|_| ());
        let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        for one in all {
            one.join().unwrap().unwrap();
        }
    });
    let mut names: Vec<_> = fs::read_dir(repo.path(".git/aurora"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["features", "git"]);
}

#[test]
fn the_repository_can_be_moved_and_can_borrow_objects() {
    // WSP-1: the way from our objects to the user's is relative.
    let repo = Repo::new();
    let tree = head_tree(&repo);
    drop(repo.workspace());
    let moved = repo.root().parent().unwrap().join("moved");
    fs::rename(repo.root(), &moved).unwrap();
    let settings = crate::Settings { from: moved.clone(), ..repo.settings() };
    let workspace = crate::GitWorkspace::open(settings).unwrap();
    assert!(workspace.store.objects().unwrap().contains(&tree));
    assert!(!workspace.store.owns(&tree).unwrap());

    // A clone that borrows from it by a relative path, and one that borrows from that.
    fs::rename(&moved, repo.root()).unwrap();
    repo.git(&["clone", "--quiet", "--shared", ".", "../second"]);
    let second = repo.root().parent().unwrap().join("second");
    fs::write(second.join(".git/objects/info/alternates"), "../../../repo/.git/objects\n").unwrap();
    repo.git(&["clone", "--quiet", "--shared", "../second", "../third"]);
    let third = repo.root().parent().unwrap().join("third");
    fs::write(third.join(".git/objects/info/alternates"), "../../../second/.git/objects\n")
        .unwrap();
    for from in [second, third] {
        let settings = crate::Settings { from: from.clone(), ..repo.settings() };
        let workspace = crate::GitWorkspace::open(settings).unwrap();
        let objects = workspace.store.objects().unwrap();
        assert!(objects.contains(&tree), "{}", from.display());
        let git_dir = format!("--git-dir={}", workspace.store.dir.display());
        repo.git(&[&git_dir, "cat-file", "-e", &tree.to_string()]);
    }
}

#[test]
fn a_planted_link_is_not_followed() {
    // WSP-6
    let repo = Repo::new();
    std::os::unix::fs::symlink(repo.home(), repo.path(".git/aurora")).unwrap();
    let error = crate::GitWorkspace::open(repo.settings()).err().unwrap();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(fs::read_dir(repo.home()).unwrap().count(), 0);
}

#[test]
fn only_one_writes_at_a_time_and_the_other_is_told_who() {
    // WSP-2
    let repo = Repo::new();
    let workspace = repo.workspace();
    let (store, place) = (&workspace.store, &workspace.place);
    let lock = store.lock(place).unwrap();
    let error = store.lock_within(place, Duration::ZERO).unwrap_err();
    let pid = std::process::id().to_string();
    assert!(matches!(&error, Error::Busy { what } if what.contains(&pid)), "{error}");
    drop(lock);
    let lock = store.lock_within(place, Duration::ZERO).unwrap();
    // Another feature is not in the way.
    let other = Place {
        feature: "other".to_owned(),
        feature_dir: place.aurora_dir.join("features/other"),
        ..place.clone()
    };
    store.lock_within(&other, Duration::ZERO).unwrap();
    drop(lock);
    let pruning = store.lock_for_pruning(place).unwrap();
    assert!(store.lock_within(&other, Duration::ZERO).is_err());
    drop(pruning);
    store.lock_within(&other, Duration::ZERO).unwrap();
}

#[test]
fn refs_are_set_listed_and_removed_whether_loose_or_packed() {
    // WSP-2
    let repo = Repo::new();
    let workspace = repo.workspace();
    let store = &workspace.store;
    let tree = head_tree(&repo);
    let name = |number: u32| format!("refs/aurora/checkpoints/checkout/ckpt-{number:03}-a");
    for number in 1..=4 {
        store.set_ref(&name(number), &tree).unwrap();
    }
    store.set_ref("refs/aurora/checkpoints/other/ckpt-001-a", &tree).unwrap();
    let prefix = "refs/aurora/checkpoints/checkout/";
    let names = || -> Vec<String> {
        store.refs(prefix).unwrap().into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(), [name(1), name(2), name(3), name(4)]);
    let git_dir = format!("--git-dir={}", store.dir.display());
    assert_eq!(repo.git(&[&git_dir, "for-each-ref"]).lines().count(), 5);
    repo.git(&[&git_dir, "pack-refs", "--all", "--prune"]);
    assert_eq!(names(), [name(1), name(2), name(3), name(4)]);
    store.set_ref(&name(2), &tree).unwrap();
    store.remove_ref(&name(2)).unwrap();
    store.remove_ref(&name(3)).unwrap();
    assert_eq!(names(), [name(1), name(4)]);
    assert_eq!(repo.git(&[&git_dir, "for-each-ref", prefix]).lines().count(), 2);
    assert_eq!(store.refs("refs/aurora/checkpoints/").unwrap().len(), 3);
    for bad in ["refs/heads/x", "refs/aurora/../x", "refs/aurora//x", "refs/aurora/x.lock"] {
        assert!(store.set_ref(bad, &tree).is_err(), "{bad}");
    }
}

#[test]
fn what_is_kept_survives_the_users_housekeeping_and_shows_nowhere() {
    // WSP-1: objects survive `git gc --prune=now`; the user's git state stays as it is.
    let repo = Repo::new();
    let workspace = repo.workspace();
    let (store, place) = (&workspace.store, &workspace.place);
    repo.write("src/a.txt", "to be amended away\n");
    repo.commit("second");
    repo.git(&["tag", "-a", "v1", "-m", "tag"]);
    repo.git(&["tag", "-d", "v1"]);
    repo.git(&["status"]);
    let tree = head_tree(&repo);
    let blob = id(&repo.git(&["rev-parse", "HEAD:src/a.txt"]));
    let before = git_files(&repo);
    let log = repo.git(&["log", "--all", "--oneline"]);

    store.keep(place, &[tree]).unwrap();
    assert_eq!(store.kept(place).unwrap(), [tree]);
    let mut after = git_files(&repo);
    after.retain(|path, bytes| before.get(path) != Some(bytes));
    let names: Vec<String> = after.keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names.len(), 2, "the ref and the tree that it points at: {names:?}");
    assert!(names.iter().any(|name| name.ends_with(".git/refs/aurora/keep/checkout")));
    assert!(before.keys().all(|path| path.exists()));
    assert_eq!(repo.git(&["log", "--all", "--oneline"]), log);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");

    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.git(&["commit", "--quiet", "--amend", "-m", "amended"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.git(&["repack", "-a", "-d", "--quiet"]);
    repo.git(&["fsck", "--strict"]);
    let objects = repo.workspace().store.objects().unwrap();
    assert_eq!(objects.blob(&blob).unwrap(), b"to be amended away\n");
    assert!(objects.contains(&tree));
    // The ref is packed by now, which is no reason to write it again.
    assert!(!repo.path(".git/refs/aurora/keep/checkout").exists());
    assert_eq!(store.kept(place).unwrap(), [tree]);
    assert_eq!(store.kept(place).unwrap(), [tree]);

    store.keep(place, &[]).unwrap();
    assert_eq!(store.kept(place).unwrap(), Vec::<ObjectId>::new());
    assert_eq!(repo.git(&["for-each-ref", "refs/aurora"]), "");
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert!(!repo.workspace().store.objects().unwrap().contains(&blob));
}

#[test]
fn a_keep_ref_that_somebody_removed_is_noticed_and_made_again() {
    // WSP-1
    let repo = Repo::new();
    let workspace = repo.workspace();
    let (store, place) = (&workspace.store, &workspace.place);
    let tree = head_tree(&repo);
    store.keep(place, &[tree, tree, ObjectId::empty_tree(store.hash)]).unwrap();
    repo.git(&["update-ref", "-d", "refs/aurora/keep/checkout"]);
    assert_eq!(store.kept(place).unwrap(), Vec::<ObjectId>::new());
    store.keep(place, &[tree]).unwrap();
    repo.git(&["pack-refs", "--all"]);
    assert_eq!(store.kept(place).unwrap(), [tree]);
    repo.git(&["update-ref", "-d", "refs/aurora/keep/checkout"]);
    assert_eq!(store.kept(place).unwrap(), Vec::<ObjectId>::new());
}

#[test]
fn a_tree_that_only_we_have_is_never_named_in_the_users_repository() {
    // WSP-1: a ref to what is missing would break the user's `git gc`.
    let repo = Repo::new();
    let workspace = repo.workspace();
    let mut pack = PackWriter::new(&workspace.store).unwrap();
    let blob = pack.add(Kind::Blob, b"ours").unwrap();
    let mut tree = b"100644 a\0".to_vec();
    tree.extend_from_slice(blob.as_slice());
    let tree = pack.add(Kind::Tree, &tree).unwrap();
    pack.finish().unwrap();
    assert!(workspace.store.keep(&workspace.place, &[tree]).is_err());
    assert_eq!(repo.git(&["for-each-ref", "refs/aurora"]), "");
}

#[test]
fn reftables_and_sha256_keep_trees_too() {
    // WSP-1
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let repo = Repo::empty();
        fs::remove_dir_all(repo.path(".git")).unwrap();
        let made = repo.try_git(&repo.root(), &["init", "--quiet", format]);
        if !made.status.success() {
            eprintln!("SKIPPED: this git does not know {format}");
            continue;
        }
        repo.write("a", "content");
        repo.commit("first");
        let workspace = repo.workspace();
        let (store, place) = (&workspace.store, &workspace.place);
        let tree = head_tree(&repo);
        store.keep(place, &[tree]).unwrap();
        assert_eq!(store.kept(place).unwrap(), [tree], "{format}");
        assert_eq!(store.kept(place).unwrap(), [tree], "{format}");
        repo.git(&["gc", "--quiet", "--prune=now"]);
        assert_eq!(store.kept(place).unwrap(), [tree], "{format}");
        repo.git(&["update-ref", "-d", "refs/aurora/keep/checkout"]);
        assert_eq!(store.kept(place).unwrap(), Vec::<ObjectId>::new(), "{format}");
    }
}
