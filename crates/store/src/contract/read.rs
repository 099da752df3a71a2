//! Promises about reading, heads and the chains.

use aurora_model::Digest;

use super::{Subject, at, new, stream, to, wait};
use crate::chain::{self, BEGINNING, What};
use crate::record::{Expected, NewRecord};

pub(super) fn a_stream_is_read_in_order_after_a_version(subject: &dyn Subject) {
    let store = subject.open();
    for n in 0..10 {
        store.add("run/a", &format!("a{n}"));
        store.add("run/b", &format!("b{n}"));
    }
    for after in 0..12 {
        let read = wait(store.read(&stream("run/a"), after, usize::MAX)).expect("records");
        let kinds: Vec<String> = read.iter().map(|record| record.kind.clone()).collect();
        let expected: Vec<String> = (after..10).map(|n| format!("a{n}")).collect();
        assert_eq!(kinds, expected, "after {after}");
    }
}

pub(super) fn several_streams_are_read_at_once(subject: &dyn Subject) {
    let store = subject.open();
    for name in ["run/a", "run/b", "run/a", "run/a"] {
        store.add(name, "k");
    }
    let names = ["run/b", "run/none", "run/a", "run/b"].map(stream).to_vec();
    let found = wait(store.read_each(names.clone(), 2)).expect("the streams");
    let expected: Vec<_> =
        names.iter().map(|name| wait(store.read(name, 0, 2)).expect("a stream")).collect();
    assert_eq!(found, expected);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 2, 1]);
    assert!(wait(store.read_each(Vec::new(), 2)).expect("nothing").is_empty());
}

pub(super) fn the_whole_log_is_read_in_order_without_gaps(subject: &dyn Subject) {
    let store = subject.open();
    for n in 0..12 {
        store.add(["run/a", "run/b", "budget/x"][n % 3], &format!("k{n}"));
    }
    for after in [0, 1, 5, 11] {
        let read = wait(store.read_all(after, usize::MAX)).expect("records");
        let found: Vec<u64> = read.iter().map(|record| record.position).collect();
        assert_eq!(found, (after + 1..=12).collect::<Vec<_>>());
        assert!(read.iter().all(|record| record.kind == format!("k{}", record.position - 1)));
    }
}

pub(super) fn limits_hold(subject: &dyn Subject) {
    let store = subject.open();
    for n in 0..6 {
        store.add("run/a", "k");
        store.add(&format!("run/{n}"), "k");
    }
    for limit in [0, 1, 3, 6] {
        let of = wait(store.read(&stream("run/a"), 0, limit)).expect("records");
        assert_eq!(of.len(), limit);
        let read = wait(store.read_all(2, limit)).expect("records");
        let found: Vec<u64> = read.iter().map(|record| record.position).collect();
        assert_eq!(found, (3..3 + limit as u64).collect::<Vec<_>>());
        assert_eq!(wait(store.heads("run/", limit)).expect("heads").len(), limit);
    }
}

pub(super) fn what_is_not_there_is_empty(subject: &dyn Subject) {
    let store = subject.open();
    assert!(store.all().is_empty());
    assert!(store.of("run/none").is_empty());
    assert!(store.names("").is_empty());
    store.add("run/a", "k");
    for far in [1, 2, u64::MAX / 2, u64::MAX] {
        assert!(wait(store.read(&stream("run/a"), far, 9)).expect("records").is_empty());
        assert!(wait(store.read_all(far, 9)).expect("records").is_empty());
    }
    assert!(wait(store.head(&stream("run/none"))).expect("a head").is_none());
    assert!(wait(store.projection("none")).expect("a picture").is_none());
}

pub(super) fn a_head_says_how_a_stream_stands(subject: &dyn Subject) {
    let store = subject.open();
    for (time, kind) in [(10, "begun"), (30, "middle"), (20, "ended")] {
        let mut append = to("run/a", Expected::Any, vec![new(kind, "{}")]);
        append.at = at(time);
        wait(store.append(append)).expect("an append");
    }
    let head = wait(store.head(&stream("run/a"))).expect("a head").expect("the stream");
    assert_eq!((head.version, head.first_at, head.last_at), (3, at(10), at(20)));
    assert_eq!(head.last_kind, "ended");
    assert_eq!(head.stream, stream("run/a"));
    assert_eq!(head.hash, store.of("run/a")[2].hash);
}

pub(super) fn heads_come_latest_first(subject: &dyn Subject) {
    let store = subject.open();
    for name in ["run/a", "run/b", "run/c", "run/a"] {
        store.add(name, "k");
    }
    assert_eq!(store.names("run/"), ["run/a", "run/c", "run/b"]);
    store.add("run/b", "k");
    assert_eq!(store.names("run/"), ["run/b", "run/a", "run/c"]);
}

pub(super) fn heads_are_found_by_the_beginning_of_their_names(subject: &dyn Subject) {
    let store = subject.open();
    for name in ["run/a", "run/ab", "runner", "ru", "budget/2026", "zebra", "run/\u{10ffff}x"] {
        store.add(name, "k");
    }
    for (prefix, found) in [
        ("run/", vec!["run/\u{10ffff}x", "run/ab", "run/a"]),
        ("run/a", vec!["run/ab", "run/a"]),
        ("run/ab", vec!["run/ab"]),
        ("run/abc", vec![]),
        ("zebra", vec!["zebra"]),
        ("run/\u{10ffff}", vec!["run/\u{10ffff}x"]),
    ] {
        assert_eq!(store.names(prefix), found, "{prefix}");
    }
    assert_eq!(store.names("").len(), 7);
}

pub(super) fn nothing_in_a_prefix_is_a_pattern(subject: &dyn Subject) {
    let store = subject.open();
    for name in ["a%b", "axb", "a_b", "a*b", "a?b", "a[x]b", "a\\%b", "a'b"] {
        store.add(name, "k");
    }
    for name in ["a%", "a_", "a*", "a?", "a[", "a\\", "a'"] {
        let found = store.names(name);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert!(found[0].starts_with(name));
    }
    for name in ["%", "_", "?xb", ".*"] {
        assert!(store.names(name).is_empty(), "{name}");
    }
}

pub(super) fn streams_that_differ_in_case_or_form_are_different(subject: &dyn Subject) {
    let store = subject.open();
    let names = ["run/a", "run/A", "run/a ", "run/\u{e4}", "run/a\u{308}", "run/\u{c4}"];
    for name in names {
        assert_eq!(store.add(name, "k").version, 1, "{name}");
    }
    assert_eq!(store.names("run/").len(), names.len());
    assert_eq!(store.names("run/A"), ["run/A"]);
}

pub(super) fn the_chains_are_as_they_are_defined(subject: &dyn Subject) {
    let store = subject.open();
    for n in 0..9_u16 {
        let payload = format!("{{\"n\":{n}}}");
        let record = NewRecord { kind: format!("k{n}"), schema: n, payload };
        let name = ["run/a", "run/b"][usize::from(n % 2)];
        wait(store.append(to(name, Expected::Any, vec![record]))).expect("an append");
    }
    let mut before = [BEGINNING, BEGINNING];
    let mut link = BEGINNING;
    for record in store.all() {
        let which = usize::from(record.stream.0 == "run/b");
        before[which] = chain::hash_of(&before[which], &record);
        link = chain::link(&link, record.position, &before[which]);
        assert_eq!(record.hash, Digest::of_bytes(before[which]));
        assert_eq!(record.chain, Digest::of_bytes(link));
    }
}

pub(super) fn an_untouched_log_verifies(subject: &dyn Subject) {
    let store = subject.open();
    let seen = wait(chain::verify(&*store, None)).expect("a verification");
    assert!(seen.is_whole() && seen.chain.is_none() && seen.records == 0);
    for n in 0..2500 {
        let records = vec![new("k", "{\"some\":\"payload\"}"); 1 + n % 3];
        let append = to(&format!("run/{}", n % 7), Expected::Any, records);
        // Most of the records are there to make the log longer than one page.
        if n % 100 == 0 {
            let many = vec![new("k", "{}"); 120];
            wait(store.append(to("run/many", Expected::Any, many))).expect("an append");
        }
        if n % 50 == 0 {
            wait(store.append(append)).expect("an append");
        }
    }
    let seen = wait(chain::verify(&*store, None)).expect("a verification");
    assert!(seen.is_whole(), "{:?}", seen.findings);
    assert_eq!(seen.records, store.all().len() as u64);
    assert!(seen.records > 2000);
    assert_eq!(seen.streams, store.names("").len() as u64);
    assert_eq!(seen.chain, store.all().last().map(|record| record.chain.clone()));
}

pub(super) fn an_expected_head_is_found_later_and_another_is_not(subject: &dyn Subject) {
    let store = subject.open();
    for _ in 0..5 {
        store.add("run/a", "k");
    }
    let noted = store.all()[4].chain.clone();
    store.add("run/b", "k");
    let seen = wait(chain::verify(&*store, Some(&noted))).expect("a verification");
    assert!(seen.is_whole(), "{:?}", seen.findings);
    let other = chain::digest(b"another log");
    let seen = wait(chain::verify(&*store, Some(&other))).expect("a verification");
    assert_eq!(seen.findings.len(), 1);
    assert_eq!(seen.findings[0].what, What::OtherHead { expected: other });
}
