//! Promises about appending.

use super::{Subject, at, is_conflict, is_refused, message, new, stream, to, wait};
use crate::error::Error;
use crate::record::{Append, Appended, Expected, NewRecord};

pub(super) fn a_new_stream_begins_with_version_one(subject: &dyn Subject) {
    let store = subject.open();
    let append = to("run/a", Expected::Version(0), vec![new("begun", "{}")]);
    let appended = wait(store.append(append)).expect("an append");
    assert_eq!(appended, Appended { version: 1, position: 1 });
    let records = store.of("run/a");
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].version, records[0].position), (1, 1));
}

pub(super) fn the_version_must_be_the_one_that_is_there(subject: &dyn Subject) {
    let store = subject.open();
    for version in 0..5 {
        for wrong in [0, 1, 4, 5, 7, u64::MAX].into_iter().filter(|wrong| *wrong != version) {
            let append = to("run/a", Expected::Version(wrong), vec![new("wrong", "{}")]);
            assert!(is_conflict(&wait(store.append(append))), "{wrong} at {version}");
        }
        let append = to("run/a", Expected::Version(version), vec![new("right", "{}")]);
        assert_eq!(wait(store.append(append)).expect("an append").version, version + 1);
    }
    assert!(store.of("run/a").iter().all(|record| record.kind == "right"));
}

pub(super) fn a_conflict_says_what_was_found_and_changes_nothing(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "one");
    store.add("run/a", "two");
    let before = store.all();
    let append = to("run/a", Expected::Version(1), vec![new("three", "{}")]);
    match wait(store.append(append)) {
        Err(Error::Conflict { stream, expected, found }) => {
            assert_eq!((stream.as_str(), expected, found), ("run/a", 1, 2));
        }
        other => panic!("{other:?}"),
    }
    let nobody = to("run/none", Expected::Version(3), vec![new("x", "{}")]);
    assert!(is_conflict(&wait(store.append(nobody))));
    assert_eq!(store.all(), before);
    assert!(wait(store.head(&stream("run/none"))).expect("a head").is_none());
}

pub(super) fn without_expectation_records_go_to_the_end(subject: &dyn Subject) {
    let store = subject.open();
    for version in 1..=4 {
        assert_eq!(store.add("run/a", "any").version, version);
    }
}

pub(super) fn several_records_are_appended_in_their_order(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/b", "before");
    let records = (1..=20).map(|n| new(&format!("k{n}"), &format!("{{\"n\":{n}}}"))).collect();
    let appended = wait(store.append(to("run/a", Expected::Version(0), records)));
    assert_eq!(appended.expect("an append"), Appended { version: 20, position: 21 });
    for (record, n) in store.of("run/a").iter().zip(1..) {
        assert_eq!((record.version, record.position), (n, n + 1));
        assert_eq!(record.kind, format!("k{n}"));
    }
}

pub(super) fn all_of_an_append_is_recorded_or_nothing(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "one");
    let records = vec![new("good", "{}"), new("bad\0", "{}"), new("good", "{}")];
    assert!(is_refused(&wait(store.append(to("run/a", Expected::Any, records)))));
    let mut append = to("run/b", Expected::Any, vec![new("good", "{}")]);
    append.outgoing = vec![message("m1"), message("")];
    assert!(is_refused(&wait(store.append(append))));
    assert_eq!(store.all().len(), 1);
    assert!(wait(store.outgoing(at(0), at(0), 9)).expect("messages").is_empty());
}

pub(super) fn an_append_of_nothing_only_checks_the_version(subject: &dyn Subject) {
    let store = subject.open();
    let nothing = |expected| to("run/a", expected, Vec::new());
    let empty = wait(store.append(nothing(Expected::Version(0)))).expect("nothing");
    assert_eq!(empty, Appended { version: 0, position: 0 });
    assert!(wait(store.head(&stream("run/a"))).expect("a head").is_none());
    store.add("run/b", "other");
    store.add("run/a", "one");
    store.add("run/b", "other");
    let same = wait(store.append(nothing(Expected::Version(1)))).expect("nothing");
    assert_eq!(same, Appended { version: 1, position: 2 });
    assert!(is_conflict(&wait(store.append(nothing(Expected::Version(0))))));
    assert_eq!(store.all().len(), 3);
}

pub(super) fn everything_given_is_kept_byte_for_byte(subject: &dyn Subject) {
    let store = subject.open();
    let payloads = [
        "{}",
        "  { \"b\" : 1,\r\n\t\"a\" : 1.50e+00 , \"a\": 2 }\n",
        "\"\\u0000 \\ud83d\\ude00 😀 ä a\u{308} \u{202e}\"",
        "18446744073709551617",
        "null",
    ];
    for payload in payloads {
        let record = NewRecord { kind: "k".into(), schema: u16::MAX, payload: payload.into() };
        wait(store.append(to("run/a", Expected::Any, vec![record]))).expect("an append");
    }
    for (record, payload) in store.of("run/a").iter().zip(payloads) {
        assert_eq!(record.payload, payload);
        assert_eq!((record.schema, record.kind.as_str()), (u16::MAX, "k"));
        assert_eq!(record.at, at(1_700_000_000_000));
    }
}

pub(super) fn a_large_payload_is_kept(subject: &dyn Subject) {
    let store = subject.open();
    let payload = format!("\"{}\"", "xyzäö".repeat(1 << 18));
    let append = to("run/a", Expected::Version(0), vec![new("large", &payload)]);
    wait(store.append(append)).expect("an append");
    assert!(store.of("run/a")[0].payload == payload);
    store.assert_whole();
}

/// Names that something on the way might take for something else.
const HOSTILE: [&str; 14] = [
    "run/'; DROP TABLE records; --",
    "run/\"quoted\"",
    "run/%",
    "run/_",
    "run/\\",
    "run/..",
    "../../etc/passwd",
    "/",
    " ",
    "run/\n",
    "run/😀",
    "run/a\u{308}",
    "run/\u{202e}txt",
    "$1 ?1 :name @x",
];

pub(super) fn hostile_names_are_names(subject: &dyn Subject) {
    let store = subject.open();
    for name in HOSTILE {
        assert_eq!(store.add(name, name).version, 1, "{name:?}");
    }
    for name in HOSTILE {
        assert_eq!(store.of(name).len(), 1, "{name:?}");
        assert_eq!(store.of(name)[0].stream, stream(name));
        assert!(wait(store.head(&stream(name))).expect("a head").is_some(), "{name:?}");
        drop(wait(store.claim(&stream(name))).expect("a claim"));
    }
    assert_eq!(store.names("").len(), HOSTILE.len());
    store.assert_whole();
}

pub(super) fn what_cannot_be_a_name_is_refused(subject: &dyn Subject) {
    let store = subject.open();
    let long = "x".repeat(513);
    for name in ["", "a\0b", "\0", long.as_str()] {
        let append = to(name, Expected::Any, vec![new("k", "{}")]);
        assert!(is_refused(&wait(store.append(append))), "{name:?}");
        let append = to("run/a", Expected::Any, vec![new(name, "{}")]);
        assert!(is_refused(&wait(store.append(append))), "{name:?}");
        assert!(is_refused(&wait(store.claim(&stream(name))).map(|_| ())), "{name:?}");
        assert!(is_refused(&wait(store.keep_projection(name, 1, "{}"))), "{name:?}");
        assert!(wait(store.read(&stream(name), 0, 1)).expect("no records").is_empty());
    }
    let exactly = "ä".repeat(256);
    assert_eq!(store.add(&exactly, &exactly).version, 1);
    assert_eq!(store.of(&exactly)[0].kind, exactly);
}

pub(super) fn what_is_no_json_is_refused(subject: &dyn Subject) {
    let store = subject.open();
    for payload in ["", "{", "nul", "{}{}", "'a'", "\"\0\"", "{\"a\":}"] {
        let append = to("run/a", Expected::Any, vec![new("k", payload)]);
        assert!(is_refused(&wait(store.append(append))), "{payload:?}");
    }
    assert!(store.all().is_empty());
}

pub(super) fn times_may_go_back_and_be_far_away(subject: &dyn Subject) {
    let store = subject.open();
    let times = [0, i64::MAX, -1, i64::MIN, 1_700_000_000_000];
    for time in times {
        let records = vec![new("k", "{}")];
        let (stream, expected) = (stream("run/a"), Expected::Any);
        let append =
            Append { stream, expected, at: at(time), records, outgoing: Vec::new(), mark: None };
        wait(store.append(append)).expect("an append");
    }
    let kept: Vec<i64> = store.of("run/a").iter().map(|record| record.at.unix_ms).collect();
    assert_eq!(kept, times);
    store.assert_whole();
}
