//! A disk that is full, one that may not be written, and a file that may not grow.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use aurora_store::{Error, Mark, Settings, SqliteStore, Store as _};

use crate::yard::{Yard, add, again, all, assert_whole, one, stream, wait};

/// Says to a child where its small disk is.
const DISK: &str = "AURORA_STORE_DISK";
/// What a child ends with when it cannot have a disk of its own.
const NO_DISK: i32 = 77;

/// Runs a test again in a mount namespace with a disk of two MiB of its own; says loudly when that
/// is not to be had.
fn on_a_small_disk(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let inner = again(test, DISK, folder.path());
    let script = "mount -t tmpfs -o size=2m,mode=0700 none \"$1\" || exit 77; shift; exec \"$@\"";
    let mut outer = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        outer.args(["--user", "--map-root-user"]);
    }
    outer.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
    outer.arg(folder.path()).arg(inner.get_program()).args(inner.get_args());
    outer.env(DISK, folder.path());
    match outer.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) if matches!(output.status.code(), Some(1 | NO_DISK)) => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            eprintln!("SKIPPED: {test}: no disk of its own: {told}");
        }
        Ok(output) => panic!(
            "{}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => eprintln!("SKIPPED: {test}: no `unshare`: {error}"),
    }
}

fn is_full<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Full { .. }))
}

/// Appends until there is no room, and says how often it went well.
fn fill(store: &SqliteStore, size: usize) -> (usize, Error) {
    let payload = format!("\"{}\"", "x".repeat(size));
    for went_well in 0..100_000 {
        if let Err(error) = add(store, "run/a", &payload) {
            return (went_well, error);
        }
    }
    panic!("the disk never became full");
}

// EXE-5: a full disk while appending gives a clear message, and nothing is corrupt.
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        return on_a_small_disk("full::a_full_disk_is_said_and_nothing_is_lost");
    };
    let folder = disk.join(".aurora");
    let store = SqliteStore::open(Settings::within(&folder)).unwrap();
    fs::write(disk.join("ballast"), vec![1; 300_000]).unwrap();
    let (large, error) = fill(&store, 8_000);
    assert!(matches!(error, Error::Full { .. }), "{error}");
    let said = "the disk is full, so that nothing was recorded in";
    assert!(error.to_string().starts_with(said), "{error}");
    let (small, error) = fill(&store, 10);
    assert!(matches!(error, Error::Full { .. }), "{error}");
    // What is there can be read, and a picture or bytes find no room either.
    assert_eq!(all(&store).len(), large + small);
    assert_whole(&store);
    assert!(is_full(&wait(store.put(vec![2; 100_000]))));
    assert!(is_full(&wait(store.keep_projection("p", 1, &"x".repeat(100_000)))));
    // Opening it once more works, or says that the disk is full.
    if let Err(error) = SqliteStore::open(Settings::within(&folder)) {
        assert!(matches!(error, Error::Full { .. }), "{error}");
    }
    fs::remove_file(disk.join("ballast")).unwrap();
    add(&store, "run/a", "{\"room\":true}").unwrap();
    let digest = wait(store.put(vec![2; 1000])).unwrap();
    assert_eq!(wait(store.get(&digest)).unwrap(), vec![2; 1000]);
    let records = all(&store);
    assert_eq!(records.len(), large + small + 1);
    drop(store);
    let store = SqliteStore::open(Settings::within(&folder)).unwrap();
    assert_eq!(all(&store), records);
    assert_whole(&store);
    assert!(drafts(&folder.join("blobs")).is_empty());
}

/// Files that were never finished.
fn drafts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(drafts(&path));
        } else if path.file_name().unwrap().to_string_lossy().starts_with('.') {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_disk_that_may_not_be_written_is_said() {
    let Some(disk) = std::env::var_os(DISK).map(PathBuf::from) else {
        return on_a_small_disk("full::a_disk_that_may_not_be_written_is_said");
    };
    let settings = || Settings::within(&disk.join(".aurora"));
    add(&SqliteStore::open(settings()).unwrap(), "run/a", "{}").unwrap();
    let remount = |how| {
        let status = Command::new("mount").args(["-o", how]).arg(&disk).status().unwrap();
        assert!(status.success());
    };
    remount("remount,bind,ro");
    let refused = SqliteStore::open(settings()).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("aurora.db") && said.contains("read-only"), "{said}");
    remount("remount,bind,rw");
    let store = SqliteStore::open(settings()).unwrap();
    assert_eq!(all(&store).len(), 1);
    assert_whole(&store);
}

#[test]
fn a_file_that_may_not_grow_is_full_and_whole() {
    let yard = Yard::new();
    add(&yard.open(), "run/a", "{}").unwrap();
    let small = Settings { max_pages: Some(60), ..yard.settings() };
    let store = SqliteStore::open(small).unwrap();
    let (went_well, error) = fill(&store, 3_000);
    assert!(matches!(error, Error::Full { .. }), "{error}");
    assert!(went_well > 10, "{went_well}");
    assert_eq!(all(&store).len(), went_well + 1);
    assert_whole(&store);
    drop(store);
    let store = yard.open();
    add(&store, "run/a", "{}").unwrap();
    assert_eq!(wait(store.head(&stream("run/a"))).unwrap().unwrap().version, went_well as u64 + 2);
    assert_whole(&store);
}

#[test]
fn what_does_not_fit_takes_nothing_else_with_it() {
    let yard = Yard::new();
    drop(yard.open());
    let small = Settings { max_pages: Some(120), ..yard.settings() };
    let store = Arc::new(SqliteStore::open(small).unwrap());
    let large = format!("\"{}\"", "x".repeat(2_000_000));
    thread::scope(|scope| {
        for writer in 0..8 {
            let (store, large) = (&store, &large);
            scope.spawn(move || {
                for _ in 0..5 {
                    if writer == 0 {
                        assert!(is_full(&add(store, "run/large", large)));
                    } else {
                        add(store, "run/small", "{}").unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(all(&store).len(), 35);
    assert_whole(&store);
}

// APR-6: several streams at once, of which the last finds no room: the first is not there either.
#[test]
fn what_does_not_fit_takes_all_that_was_appended_with_it() {
    let yard = Yard::new();
    drop(yard.open());
    let small = Settings { max_pages: Some(120), ..yard.settings() };
    let store = SqliteStore::open(small).unwrap();
    let large = format!("\"{}\"", "x".repeat(2_000_000));
    let mut asked = one("run/a", "{}");
    asked.mark = Some(Mark { label: "asked".to_owned(), wake_at: None });
    let both = vec![asked.clone(), one("approval/q1", &large)];
    assert!(is_full(&wait(store.append_all(both))));
    assert!(all(&store).is_empty());
    assert_eq!(wait(store.count_marked("asked")).unwrap(), 0);
    let both = vec![asked, one("approval/q1", "{}")];
    assert_eq!(wait(store.append_all(both)).unwrap().len(), 2);
    assert_whole(&store);
}
