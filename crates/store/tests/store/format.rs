//! A log that an older version wrote: it opens, is whole, and goes on.

use std::fs;

use aurora_model::{Digest, Timestamp};
use aurora_store::{Mark, Settings, SqliteStore, Store as _, verify};
use rusqlite::Connection;

use crate::yard::{Yard, add, again, all, assert_whole, one, wait};

/// A log of format 1, as its version wrote it.
const FORMAT_1: &str = include_str!("format_1.sql");
/// The end of its chain.
const CHAIN: &str = "53f43fc5d3bea81afc7c65862f31618d0a45e50342d49a3522e0267e6aceae35";
/// Says to a child where the log is.
const OPEN: &str = "AURORA_STORE_OPEN";

fn old() -> Yard {
    let yard = Yard::new();
    fs::create_dir(yard.path().parent().unwrap()).unwrap();
    yard.sql(FORMAT_1);
    yard
}

fn format(yard: &Yard) -> u32 {
    let connection = Connection::open(yard.path()).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn at(unix_ms: i64) -> Timestamp {
    Timestamp { unix_ms }
}

// APR-6: a log from before there were requests holds them from now on.
#[test]
fn a_log_of_format_1_opens_verifies_and_goes_on() {
    let yard = old();
    assert_eq!(format(&yard), 1);
    let store = yard.open();
    assert_eq!(format(&yard), 2);
    let seen = wait(verify(&store, Digest::parse(CHAIN).as_ref())).unwrap();
    assert!(seen.is_whole(), "{:?}", seen.findings);
    assert_eq!((seen.records, seen.streams), (7, 3));
    assert_eq!(wait(store.projection("p")).unwrap().unwrap().0, 3);
    // Nothing is marked, and the messages wait as they did.
    assert_eq!(wait(store.next_wake()).unwrap(), None);
    let found = wait(store.outgoing(at(900), at(1000), 9)).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.tried)).collect();
    assert_eq!(found, [("m2", 0), ("m1", 0)]);
    // It goes on, by old streams and new ones.
    let mut append = one("run/a", "{}");
    append.mark = Some(Mark { label: "parked".to_owned(), wake_at: Some(at(5)) });
    let both = vec![append, one("approval/q1", "{}")];
    let appended = wait(store.append_all(both)).unwrap();
    assert_eq!((appended[0].version, appended[1].position), (4, 9));
    assert_eq!(wait(store.next_wake()).unwrap(), Some(at(5)));
    assert_eq!(wait(store.marked("parked", 0, 9)).unwrap()[0].place, 1);
    assert_whole(&store);
    drop(store);
    assert_whole(&yard.open());
}

#[test]
fn a_raised_log_has_the_tables_of_a_new_one() {
    let (old, new) = (old(), Yard::new());
    drop((old.open(), new.open()));
    let columns = |yard: &Yard| {
        let connection = Connection::open(yard.path()).unwrap();
        let query = "SELECT t.name || '.' || c.name || ' ' || c.type || c.\"notnull\"
            FROM sqlite_schema t, pragma_table_xinfo(t.name) c ORDER BY 1";
        let mut statement = connection.prepare(query).unwrap();
        let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        found.map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(columns(&old), columns(&new));
    assert_eq!(format(&new), 2);
}

#[test]
fn a_log_that_cannot_be_raised_stays_as_it_was() {
    let yard = old();
    // Somebody has used the name already: half of the steps are done when that is found.
    yard.sql("CREATE INDEX outbox_by_due ON outbox (topic)");
    let refused = SqliteStore::open(yard.settings()).unwrap_err();
    assert!(refused.to_string().contains("make the tables"), "{refused}");
    assert_eq!(format(&yard), 1);
    yard.sql("DROP INDEX outbox_by_due");
    assert_whole(&yard.open());
}

#[test]
fn processes_that_raise_a_log_at_once_all_find_it_raised() {
    if let Some(folder) = std::env::var_os(OPEN) {
        let store = SqliteStore::open(Settings::within(folder.as_ref())).unwrap();
        add(&store, "run/a", "{}").unwrap();
        return;
    }
    for _ in 0..5 {
        let yard = old();
        let folder = yard.path().parent().unwrap().to_owned();
        let this = "format::processes_that_raise_a_log_at_once_all_find_it_raised";
        let children: Vec<_> =
            (0..4).map(|_| again(this, OPEN, &folder).spawn().unwrap()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let store = yard.open();
        assert_eq!(all(&store).len(), 7 + 4);
        assert_whole(&store);
    }
}

// OBS-1: a mark is a help and no truth: whatever somebody makes of it, the log is whole.
#[test]
fn marks_that_somebody_changed_hide_a_stream_and_spoil_nothing() {
    let yard = Yard::new();
    let store = yard.open();
    let mut append = one("approval/q1", "{}");
    append.mark = Some(Mark { label: "pending".to_owned(), wake_at: Some(at(5)) });
    wait(store.append(append.clone())).unwrap();
    yard.sql("UPDATE streams SET label = CAST(x'ff41' AS TEXT), wake_at = NULL");
    assert!(wait(store.marked("pending", 0, 9)).unwrap().is_empty());
    assert_eq!(wait(store.next_wake()).unwrap(), None);
    assert_whole(&store);
    wait(store.append(append)).unwrap();
    assert_eq!(wait(store.marked("pending", 0, 9)).unwrap().len(), 1);
    assert_whole(&store);
}
