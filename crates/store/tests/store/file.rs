//! The files themselves: whose they are, who may read them, and what is not ours.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use aurora_store::{Error, Settings, SqliteStore, Store};

use crate::yard::{Yard, add, all, assert_whole, one, stream, wait};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_owner_may_read_the_log_and_what_is_beside_it() {
    let yard = Yard::new();
    let store = yard.open();
    add(&store, "run/a", "{}").unwrap();
    let digest = wait(store.put(b"secret".to_vec())).unwrap();
    let _claim = wait(store.claim(&stream("run/a"))).unwrap();
    let path = yard.path();
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", path.display());
        assert_eq!(mode(file.as_ref()), 0o600, "{file}");
    }
    assert_eq!(mode(&path.with_extension("bell")), 0o600);
    let (room, name) = digest.as_str().split_at(2);
    let room = yard.settings().blobs.join(room);
    assert_eq!(mode(&room.join(name)), 0o600);
    for folder in [room, yard.settings().blobs, path.with_extension("claims")] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}

#[test]
fn a_log_of_a_newer_version_is_refused_and_left_alone() {
    let yard = Yard::new();
    add(&yard.open(), "run/a", "{}").unwrap();
    yard.sql("PRAGMA user_version = 7");
    let before = fs::read(yard.path()).unwrap();
    match SqliteStore::open(yard.settings()) {
        Err(error @ Error::Newer { found: 7, known: 2, .. }) => {
            assert!(error.to_string().contains("newer version: format 7"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(yard.path()).unwrap(), before);
}

#[test]
fn what_is_no_log_of_ours_is_refused_and_left_alone() {
    let yard = Yard::new();
    fs::create_dir(yard.path().parent().unwrap()).unwrap();
    yard.sql("CREATE TABLE somebody (else_ TEXT)");
    let before = fs::read(yard.path()).unwrap();
    let refused = SqliteStore::open(yard.settings()).unwrap_err();
    assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
    assert_eq!(fs::read(yard.path()).unwrap(), before);
    fs::write(yard.path(), "this is a letter, and a long one at that. ".repeat(100)).unwrap();
    let refused = SqliteStore::open(yard.settings()).unwrap_err();
    assert!(refused.to_string().contains("is damaged, or no database"), "{refused}");
}

#[test]
fn a_log_in_which_something_else_happens_on_writing_is_refused() {
    for hidden in [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM outbox; END",
        "CREATE VIEW v AS SELECT 1",
    ] {
        let yard = Yard::new();
        drop(yard.open());
        yard.sql(hidden);
        let refused = SqliteStore::open(yard.settings()).unwrap_err();
        assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
    }
}

#[test]
fn a_link_in_the_place_of_the_log_is_not_followed() {
    let yard = Yard::new();
    fs::create_dir(yard.path().parent().unwrap()).unwrap();
    let elsewhere = yard.folder.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    symlink(&elsewhere, yard.path()).unwrap();
    let refused = SqliteStore::open(yard.settings()).unwrap_err();
    assert!(matches!(refused, Error::Io { doing: "open", .. }), "{refused}");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"");
}

#[test]
fn bytes_that_were_changed_or_replaced_are_not_given_out() {
    let yard = Yard::new();
    let store = yard.open();
    let digest = wait(store.put(b"what was said".to_vec())).unwrap();
    let (room, name) = digest.as_str().split_at(2);
    let file = yard.settings().blobs.join(room).join(name);
    fs::write(&file, "what was SAID").unwrap();
    let found = wait(store.get(&digest)).unwrap_err();
    assert!(matches!(found, Error::Corrupt { .. }), "{found}");
    // Keeping it again repairs it.
    for damaged in ["what was SAID", "what", ""] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(wait(store.put(b"what was said".to_vec())).unwrap(), digest);
        assert_eq!(wait(store.get(&digest)).unwrap(), b"what was said");
    }
    fs::remove_file(&file).unwrap();
    let elsewhere = yard.folder.path().join("elsewhere");
    fs::write(&elsewhere, "what was said").unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert!(wait(store.get(&digest)).is_err());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn a_log_that_is_not_closed_is_whole_for_the_next() {
    let yard = Yard::new();
    let store = yard.open();
    add(&store, "run/a", "{}").unwrap();
    // A copy of the files as they are now is what a crash of the machine would leave.
    let copy = Yard::new();
    fs::create_dir(copy.path().parent().unwrap()).unwrap();
    for end in ["", "-wal"] {
        let from = format!("{}{end}", yard.path().display());
        fs::copy(from, format!("{}{end}", copy.path().display())).unwrap();
    }
    let found = copy.open();
    assert_eq!(all(&found), all(&store));
    add(&found, "run/a", "{}").unwrap();
    assert_whole(&found);
}

#[test]
fn a_subscription_ends_with_its_store() {
    let yard = Yard::new();
    let store = yard.open();
    add(&store, "run/a", "{}").unwrap();
    let mut subscription = store.subscribe();
    assert!(wait(subscription.past(0)));
    drop(store);
    assert!(!wait(subscription.past(1)));
}

#[test]
fn without_a_bell_records_are_noticed_all_the_same() {
    for hinder in ["gone", "a folder", "a link"] {
        let yard = Yard::new();
        let (here, there) = (yard.open(), yard.open());
        let bell = yard.path().with_extension("bell");
        let elsewhere = yard.folder.path().join("elsewhere");
        fs::remove_file(&bell).unwrap();
        match hinder {
            "a folder" => fs::create_dir(&bell).unwrap(),
            "a link" => {
                fs::write(&elsewhere, "").unwrap();
                symlink(&elsewhere, &bell).unwrap();
            }
            _ => {}
        }
        let mut subscription = here.subscribe();
        add(&there, "run/a", "{}").unwrap();
        assert!(wait(subscription.past(0)), "{hinder}");
        let third = yard.open();
        add(&third, "run/a", "{}").unwrap();
        assert!(wait(subscription.past(1)), "{hinder}");
    }
}

#[test]
fn a_claim_leaves_nothing_behind() {
    let yard = Yard::new();
    let store = yard.open();
    drop(wait(store.claim(&stream("run/a"))).unwrap());
    let folder = yard.path().with_extension("claims");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_reader_says_where_a_stream_has_a_hole() {
    let yard = Yard::new();
    let store = yard.open();
    for _ in 0..4 {
        add(&store, "run/a", "{}").unwrap();
    }
    yard.sql("DELETE FROM records WHERE position = 3");
    let found = wait(store.read(&stream("run/a"), 0, 9)).unwrap_err();
    assert!(found.to_string().contains("version 3 of run/a is missing"), "{found}");
    assert_eq!(all(&store).len(), 3);
}

// EXE-5: whatever a loss of power leaves of what was being written is a whole log.
#[test]
fn a_log_that_was_cut_anywhere_by_a_crash_is_a_whole_beginning() {
    let yard = Yard::new();
    drop(yard.open());
    let store = yard.open();
    for n in 0..12 {
        add(&store, ["run/a", "run/b"][n % 2], &format!("\"{}\"", "x".repeat(n * 300))).unwrap();
    }
    let (before, records) = (yard.copy(), all(&store));
    let ahead = fs::read(format!("{}-wal", yard.path().display())).unwrap();
    let mut found = Vec::new();
    for part in 0..=40 {
        let crashed = Yard::new();
        fs::create_dir(crashed.path().parent().unwrap()).unwrap();
        fs::copy(before.path(), crashed.path()).unwrap();
        let kept = &ahead[..ahead.len() * part / 40];
        fs::write(format!("{}-wal", crashed.path().display()), kept).unwrap();
        let store = crashed.open();
        let there = all(&store);
        assert_eq!(there, records[..there.len()]);
        assert_whole(&store);
        found.push(there.len());
    }
    assert!(found.is_sorted() && found[40] == 12, "{found:?}");
}

// APR-6: a question and the request that it leads to are in the log together, or neither is.
#[test]
fn what_was_appended_at_once_is_not_cut_in_two_by_a_crash() {
    let yard = Yard::new();
    drop(yard.open());
    let store = yard.open();
    for n in 0..8 {
        let payload = format!("\"{}\"", "x".repeat(n * 500));
        let both = vec![one("run/a", &payload), one(&format!("approval/{n}"), &payload)];
        wait(store.append_all(both)).unwrap();
    }
    let before = yard.copy();
    let ahead = fs::read(format!("{}-wal", yard.path().display())).unwrap();
    let mut found = Vec::new();
    for part in 0..=40 {
        let crashed = before.copy();
        let kept = &ahead[..ahead.len() * part / 40];
        fs::write(format!("{}-wal", crashed.path().display()), kept).unwrap();
        let store = crashed.open();
        let asked = wait(store.read(&stream("run/a"), 0, 99)).unwrap().len();
        assert_eq!(all(&store).len(), asked * 2);
        assert_whole(&store);
        found.push(asked);
    }
    assert!(found.is_sorted() && found[40] == 8, "{found:?}");
}

#[test]
fn a_log_that_somebody_keeps_locked_is_said_to_be() {
    let yard = Yard::new();
    let patience = std::time::Duration::from_millis(30);
    let store = SqliteStore::open(Settings { patience, ..yard.settings() }).unwrap();
    let other = rusqlite::Connection::open(yard.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = add(&store, "run/a", "{}").unwrap_err().to_string();
    assert!(refused.ends_with("another process keeps it locked"), "{refused}");
    assert!(all(&store).is_empty());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(add(&store, "run/a", "{}").unwrap().version, 1);
}
