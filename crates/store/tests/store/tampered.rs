//! A log that somebody changed behind our back: each change is found, and found where it is.

use aurora_model::Timestamp;
use aurora_store::chain::{self, BEGINNING, Hash};
use aurora_store::{Finding, Store as _, What, verify};
use rusqlite::params;

use crate::yard::{Yard, add, all, stream, verified, wait};

/// Thirty records: `run/a`, `run/b` and `run/c` in turn, ten of each.
fn yard() -> Yard {
    let yard = Yard::new();
    let store = yard.open();
    for n in 0..30 {
        let name = ["run/a", "run/b", "run/c"][n % 3];
        add(&store, name, &format!("{{\"n\":{n}}}")).unwrap();
    }
    yard
}

fn at(position: u64, name: &str, version: u64, what: What) -> Finding {
    Finding { position, stream: stream(name), version, what }
}

/// What is found after these words were said to the database.
fn found_after(words: &str) -> Vec<Finding> {
    let yard = yard();
    yard.sql(words);
    let seen = verified(&yard.open());
    assert_eq!(seen.more, 0);
    for finding in &seen.findings {
        assert!(!finding.to_string().is_empty());
    }
    seen.findings
}

// OBS-1: a record that was changed is found, whichever part of it.
#[test]
fn a_changed_record_is_found_where_it_is() {
    for change in [
        "payload = '{\"n\":99}'",
        "payload = payload || ' '",
        "payload = CAST(x'7bff7d' AS TEXT)",
        "at = at + 1",
        "kind = 'K'",
        "schema = 2",
        "schema = 70000",
        "schema = -1",
    ] {
        let found = found_after(&format!("UPDATE records SET {change} WHERE position = 8"));
        assert_eq!(found, [at(8, "run/b", 3, What::Changed)], "{change}");
    }
    let found = found_after("UPDATE records SET chain = zeroblob(32) WHERE position = 8");
    assert_eq!(found, [at(8, "run/b", 3, What::Unlinked { through: 9 })]);
    let found = found_after("UPDATE records SET hash = zeroblob(31) WHERE position = 8");
    let expected = [
        at(8, "run/b", 3, What::Unlinked { through: 8 }),
        at(8, "run/b", 3, What::Changed),
        at(11, "run/b", 4, What::Changed),
    ];
    assert_eq!(found, expected);
}

/// Writes a new hash for a record, as it would be if it had always been so; the chain is left.
fn rehash(yard: &Yard, position: u64) -> Hash {
    let records = all(&yard.open());
    let record = records.iter().find(|record| record.position == position).unwrap();
    let before =
        |record: &&aurora_store::Record| record.stream.0 == "run/b" && record.position < position;
    let before = records.iter().rfind(before);
    let before = before.map_or(BEGINNING, |record| chain::bytes(&record.hash).unwrap());
    chain::hash_of(&before, record)
}

#[test]
fn a_changed_record_with_a_new_hash_is_found_by_both_chains() {
    let yard = yard();
    yard.sql("UPDATE records SET payload = '{\"n\":99}' WHERE position = 8");
    let hash = rehash(&yard, 8);
    let connection = rusqlite::Connection::open(yard.path()).unwrap();
    connection.execute("UPDATE records SET hash = ?1 WHERE position = 8", [hash]).unwrap();
    let expected =
        [at(8, "run/b", 3, What::Unlinked { through: 8 }), at(11, "run/b", 4, What::Changed)];
    assert_eq!(verified(&yard.open()).findings, expected);
}

// OBS-1: a record that is missing is found, by position and by version.
#[test]
fn a_missing_record_is_found_where_it_was() {
    let found = found_after("DELETE FROM records WHERE position = 8");
    let expected = [
        at(8, "", 0, What::Missing { through: 8 }),
        at(11, "run/b", 3, What::Skipped { through: 3 }),
    ];
    assert_eq!(found, expected);
    let found = found_after("DELETE FROM records WHERE position BETWEEN 1 AND 6");
    assert_eq!(found[0], at(1, "", 0, What::Missing { through: 6 }));
    assert_eq!(found.len(), 4);
    assert_eq!(found[1], at(7, "run/a", 1, What::Skipped { through: 2 }));
}

#[test]
fn a_stream_that_was_cut_off_is_found() {
    let found = found_after("DELETE FROM records WHERE position = 30");
    assert_eq!(found, [at(27, "run/c", 9, What::CutOff { expected: 10 })]);
    let found = found_after("DELETE FROM records WHERE position >= 28");
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], at(25, "run/a", 9, What::CutOff { expected: 10 }));
    let found = found_after("DELETE FROM records");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|finding| finding.what == What::CutOff { expected: 10 }));
}

#[test]
fn a_stream_that_was_taken_out_whole_is_missed() {
    let found =
        found_after("DELETE FROM records WHERE stream = 2; DELETE FROM streams WHERE id = 2");
    let missing = |position| at(position, "", 0, What::Missing { through: position });
    let expected: Vec<Finding> = (0..10).map(|n| missing(3 * n + 2)).collect();
    assert_eq!(found, expected);
}

const SWAP: &str = "
    UPDATE records SET position = -1 WHERE position = FIRST;
    UPDATE records SET position = FIRST WHERE position = SECOND;
    UPDATE records SET position = SECOND WHERE position = -1;";

// OBS-1: records that changed places are found.
#[test]
fn reordered_records_are_found() {
    // Two of different streams.
    let found = found_after(&SWAP.replace("FIRST", "8").replace("SECOND", "9"));
    assert_eq!(found, [at(8, "run/c", 3, What::Unlinked { through: 10 })]);
    // Two of the same stream, which changes the order in it.
    let found = found_after(&SWAP.replace("FIRST", "8").replace("SECOND", "14"));
    let expected = [
        at(8, "run/b", 5, What::Unlinked { through: 9 }),
        at(8, "run/b", 3, What::Skipped { through: 4 }),
        at(11, "run/b", 4, What::OutOfOrder { expected: 6 }),
        at(14, "run/b", 3, What::Unlinked { through: 15 }),
        at(14, "run/b", 3, What::OutOfOrder { expected: 6 }),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_inserted_record_is_found() {
    // In the middle: everything after it is moved by one.
    let found = found_after(
        "DROP INDEX records_by_stream;
         UPDATE records SET position = -position WHERE position >= 10;
         UPDATE records SET position = 1 - position WHERE position < 0;
         INSERT INTO records SELECT 10, stream, version, at, kind, schema, '{}', hash, chain
             FROM records WHERE position = 8;",
    );
    let expected = [
        at(10, "run/b", 3, What::Unlinked { through: 31 }),
        at(10, "run/b", 3, What::OutOfOrder { expected: 4 }),
    ];
    assert_eq!(found, expected);
    // At the end, past the head.
    let found = found_after(
        "INSERT INTO records SELECT 31, stream, 11, at, kind, schema, '{}', hash, chain
             FROM records WHERE position = 29;",
    );
    let expected = [
        at(31, "run/b", 11, What::Unlinked { through: 31 }),
        at(31, "run/b", 11, What::Changed),
        at(31, "run/b", 11, What::Uncounted),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_record_in_another_stream_is_found() {
    let found = found_after(
        "DROP INDEX records_by_stream; UPDATE records SET stream = 1 WHERE position = 8",
    );
    assert_eq!(found[0], at(8, "run/a", 3, What::OutOfOrder { expected: 4 }));
    assert_eq!(found[1], at(11, "run/b", 3, What::Skipped { through: 3 }));
    let found = found_after("UPDATE streams SET name = 'run/z' WHERE name = 'run/b'");
    assert_eq!(found.len(), 10);
    assert!(found.iter().all(|finding| finding.stream == stream("run/z")));
    let found = found_after("DELETE FROM streams WHERE name = 'run/b'");
    assert!(found.iter().any(|finding| finding.what == What::Uncounted));
    assert_eq!(found.iter().filter(|finding| finding.what == What::Changed).count(), 10);
}

#[test]
fn a_wrong_head_of_a_stream_is_found() {
    let last = |what| vec![at(29, "run/b", 10, what)];
    for (change, what) in [
        ("hash = zeroblob(32)", What::WrongHead),
        ("last_kind = 'other'", What::WrongHead),
        ("last_at = 0", What::WrongHead),
        ("first_at = 0", What::WrongHead),
        ("version = 11", What::CutOff { expected: 11 }),
        ("version = 9", What::Uncounted),
    ] {
        let found = found_after(&format!("UPDATE streams SET {change} WHERE name = 'run/b'"));
        assert_eq!(found, last(what), "{change}");
    }
}

#[test]
fn a_log_that_was_cut_with_its_heads_is_found_by_the_head_that_was_noted() {
    let yard = yard();
    let noted = verified(&yard.open()).chain.unwrap();
    yard.sql(
        "DELETE FROM records WHERE position > 27;
         UPDATE streams SET version = 9, last_position = last_position - 3,
             hash = (SELECT hash FROM records r WHERE r.stream = streams.id AND r.version = 9);",
    );
    let store = yard.open();
    assert!(verified(&store).is_whole());
    let seen = wait(verify(&store, Some(&noted))).unwrap();
    assert_eq!(seen.findings, [at(27, "", 0, What::OtherHead { expected: noted.clone() })]);
    // Written anew to the same length it is another log all the same.
    for n in 0..3 {
        add(&store, ["run/a", "run/b", "run/c"][n], "{\"n\":\"new\"}").unwrap();
    }
    assert!(verified(&store).is_whole());
    assert!(!wait(verify(&store, Some(&noted))).unwrap().is_whole());
}

#[test]
fn an_append_to_a_damaged_stream_is_refused_or_found() {
    let yard = yard();
    yard.sql("UPDATE streams SET version = 5 WHERE name = 'run/b'");
    let store = yard.open();
    let refused = add(&store, "run/b", "{}").unwrap_err();
    assert!(refused.to_string().contains("does not go on where its head says"), "{refused}");
    add(&store, "run/a", "{}").unwrap();
    assert_eq!(wait(store.read(&stream("run/a"), 10, 9)).unwrap().len(), 1);
}

#[test]
fn more_damage_than_can_be_told_is_counted() {
    let yard = Yard::new();
    let connection = {
        add(&yard.open(), "run/a", "{}").unwrap();
        rusqlite::Connection::open(yard.path()).unwrap()
    };
    let at = Timestamp { unix_ms: 0 };
    let transaction = connection.unchecked_transaction().unwrap();
    for n in 2..3000 {
        let row = params![n, n, at.unix_ms, BEGINNING];
        let words = "INSERT INTO records VALUES (?1, 1, ?2, ?3, 'k', 1, '{}', ?4, ?4)";
        transaction.execute(words, row).unwrap();
    }
    transaction.commit().unwrap();
    let seen = verified(&yard.open());
    assert_eq!(seen.findings.len(), 1000);
    assert_eq!(seen.more, 2000);
    assert_eq!(seen.records, 2999);
}

#[test]
fn a_record_that_hides_from_verification_is_not_read_either() {
    let yard = yard();
    yard.sql(
        "INSERT INTO records SELECT -1, stream, 11, at, kind, schema, '{}', hash, chain
             FROM records WHERE position = 29;
         UPDATE streams SET version = 11 WHERE name = 'run/b'",
    );
    let store = yard.open();
    assert_eq!(verified(&store).findings, [at(29, "run/b", 10, What::CutOff { expected: 11 })]);
    assert_eq!(wait(store.read(&stream("run/b"), 0, 99)).unwrap().len(), 10);
}

#[test]
fn findings_are_said_in_words() {
    for (finding, said) in [
        (
            at(8, "run/b", 3, What::Changed),
            "position 8, run/b version 3: changed after it was recorded",
        ),
        (at(8, "", 0, What::Missing { through: 8 }), "position 8: missing"),
        (at(8, "", 0, What::Missing { through: 9 }), "position 8 to 9: missing"),
        (
            at(11, "run/b", 3, What::Skipped { through: 3 }),
            "run/b version 3: missing before position 11",
        ),
        (
            at(9, "run/c", 9, What::CutOff { expected: 10 }),
            "position 9, run/c version 9: the last one of 10: the end was cut off",
        ),
    ] {
        assert_eq!(finding.to_string(), said);
    }
    let told = serde_json::to_value(at(8, "run/b", 3, What::Unlinked { through: 9 })).unwrap();
    let expected = r#"{"position":8,"stream":"run/b","version":3,"what":"unlinked","through":9}"#;
    assert_eq!(told, serde_json::from_str::<serde_json::Value>(expected).unwrap());
}
