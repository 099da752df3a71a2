//! Whatever single thing somebody changes in the file, a verification says that something is wrong.

use rusqlite::Connection;

use crate::yard::{Yard, add, verified};

/// How many changes are tried.
const CHANGES: u64 = 60;

/// What belongs to a record or a head, and what it is changed to.
const COLUMNS: [(&str, &str, &str); 15] = [
    ("records", "position", "position + 100"),
    ("records", "position", "-position"),
    ("records", "stream", "stream % 3 + 1"),
    ("records", "version", "version + 100"),
    ("records", "at", "at + 1"),
    ("records", "kind", "kind || 'x'"),
    ("records", "schema", "schema + 1"),
    ("records", "payload", "replace(payload, '\"n\"', '\"m\"')"),
    ("records", "hash", "randomblob(32)"),
    ("records", "chain", "randomblob(32)"),
    ("streams", "name", "name || 'x'"),
    ("streams", "version", "version + 1"),
    ("streams", "first_at", "first_at + 1"),
    ("streams", "last_kind", "''"),
    ("streams", "hash", "randomblob(32)"),
];

// OBS-1: nothing that is hashed can be changed unseen.
#[test]
fn whatever_is_changed_is_found() {
    let yard = Yard::new();
    let store = yard.open();
    for n in 0..24 {
        add(&store, ["run/a", "run/b", "run/c"][n % 3], &format!("{{\"n\":{n}}}")).unwrap();
    }
    drop(store);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..CHANGES {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (table, column, to) = COLUMNS[(random % 15) as usize];
        let row = random / 15 % if table == "records" { 24 } else { 3 } + 1;
        let words = format!("UPDATE {table} SET {column} = {to} WHERE rowid = {row}");
        let copy = yard.copy();
        copy.sql(&format!("DROP INDEX records_by_stream; {words}"));
        let seen = verified(&copy.open());
        assert!(!seen.is_whole(), "{words}");
    }
    // One that is taken out, wherever it stands.
    for position in 1..=24 {
        let copy = yard.copy();
        let connection = Connection::open(copy.path()).unwrap();
        connection.execute("DELETE FROM records WHERE position = ?1", [position]).unwrap();
        drop(connection);
        assert!(!verified(&copy.open()).is_whole(), "{position}");
    }
}
