//! Files beneath a root, with links planted in the way.

use super::*;
use crate::fixture::path;
use std::os::unix::fs::symlink;

fn root() -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::open(dir.path(), Fuse::default()).unwrap();
    (dir, root)
}

/// WSP-4
#[test]
fn folders_are_reached_and_made_part_by_part() {
    let (dir, root) = root();
    let mut hand = root.hand();
    let deep = path("a/b/c/d");
    assert!(matches!(hand.folder(Some(&deep), false), Err(NoWay::Missing)));
    hand.folder(Some(&deep), true).unwrap().create(b"f", 0o666).unwrap();
    assert!(dir.path().join("a/b/c/d/f").is_file());
    // More folders than are held open, there and back again.
    for n in 0..3 * MOST_OPEN_FOLDERS {
        let folder = path(&format!("n{}/m{n}", n % 5));
        hand.folder(Some(&folder), true).unwrap();
        assert!(hand.near.len() <= MOST_OPEN_FOLDERS);
    }
    assert!(hand.folder(Some(&deep), false).unwrap().stat(b"f").unwrap().is_some());
}

/// WSP-4
#[test]
fn links_and_files_on_the_way_are_named() {
    let (dir, root) = root();
    std::fs::create_dir_all(dir.path().join("real/inner")).unwrap();
    symlink("real", dir.path().join("link")).unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let mut hand = root.hand();
    for make in [false, true] {
        let Err(NoWay::Link(at)) = hand.folder(Some(&path("link/inner")), make) else {
            panic!("followed");
        };
        assert_eq!(at, path("link"));
        let Err(NoWay::NoFolder(at)) = hand.parent_of(&path("file/x"), make) else {
            panic!("entered");
        };
        assert_eq!(at, path("file"));
    }
}

/// WSP-4
#[test]
fn new_names_never_replace_and_swaps_leave_both() {
    let (dir, root) = root();
    let folder = root.hand().folder(None, false).unwrap();
    std::fs::write(dir.path().join("a"), "a").unwrap();
    std::fs::write(dir.path().join("b"), "b").unwrap();
    let error = folder.rename_new(b"a", b"b").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    match folder.exchange(b"a", b"b") {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            eprintln!("SKIPPED: this file system cannot swap two names");
        }
        other => {
            other.unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "b");
        }
    }
    assert!(folder.exchange(b"a", b"missing").is_err());
}

/// WSP-4
#[test]
fn only_folders_with_nothing_in_them_are_hollow() {
    let (dir, root) = root();
    let folder = root.hand().folder(None, false).unwrap();
    std::fs::create_dir_all(dir.path().join("d/e/f")).unwrap();
    std::fs::write(dir.path().join("d/e/x"), "").unwrap();
    assert!(!folder.remove_hollow_folder(&path("d")).unwrap());
    assert!(dir.path().join("d/e/f").is_dir(), "nothing went");
    std::fs::remove_file(dir.path().join("d/e/x")).unwrap();
    assert!(folder.remove_hollow_folder(&path("d")).unwrap());
    symlink("/", dir.path().join("l")).unwrap();
    assert!(!folder.remove_hollow_folder(&path("l")).unwrap());
}

/// WSP-4
#[test]
fn looking_tells_what_git_would() {
    let (dir, root) = root();
    let folder = root.hand().folder(None, false).unwrap();
    std::fs::write(dir.path().join("a"), "hello\n").unwrap();
    symlink("nowhere", dir.path().join("l")).unwrap();
    std::fs::create_dir(dir.path().join("d")).unwrap();
    let look = |name: &[u8]| folder.look(name, gix::hash::Kind::Sha1).unwrap();
    let Found::Item(item) = look(b"a") else { panic!("no file") };
    assert_eq!(item.entry.id.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    assert!(item.stamp.is_fresh(), "it was written a moment ago");
    let Found::Item(item) = look(b"l") else { panic!("no link") };
    assert_eq!(item.entry.mode, aurora_model::EntryMode::Symlink);
    assert_eq!(look(b"d"), Found::Folder);
    assert_eq!(look(b"none"), Found::Nothing);
}
