//! Promises about messages that leave with the records.

use super::{Subject, at, is_conflict, message, new, to, wait};
use crate::record::{Expected, Outgoing};
use crate::store::Store;

fn send(store: &dyn Store, ids: &[&str]) {
    let mut append = to("run/a", Expected::Any, vec![new("asked", "{}")]);
    append.outgoing = ids.iter().map(|id| message(id)).collect();
    wait(store.append(append)).expect("an append");
}

fn due(store: &dyn Store, now: i64, again_at: i64, limit: usize) -> Vec<String> {
    let found = wait(store.outgoing(at(now), at(again_at), limit)).expect("messages");
    found.into_iter().map(|message| message.id).collect()
}

pub(super) fn messages_leave_with_the_records(subject: &dyn Subject) {
    let store = subject.open();
    assert!(due(&*store, 0, 0, 9).is_empty());
    let exact = Outgoing {
        id: "m'1; --".to_owned(),
        topic: "webhook ä".to_owned(),
        payload: " {\"b\":1,\"a\":\"😀\"} ".to_owned(),
        tried: 0,
    };
    let mut append = to("run/a", Expected::Version(0), vec![new("asked", "{}")]);
    append.outgoing = vec![exact.clone()];
    wait(store.append(append)).expect("an append");
    let found = wait(store.outgoing(at(5), at(10), 9)).expect("messages");
    assert_eq!(found, [exact]);
    assert_eq!(store.all().len(), 1);
}

pub(super) fn a_message_that_is_not_delivered_is_given_out_again(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["m1"]);
    assert_eq!(due(&*store, 100, 200, 9), ["m1"]);
    assert!(due(&*store, 100, 200, 9).is_empty());
    assert!(due(&*store, 199, 300, 9).is_empty());
    assert_eq!(due(&*store, 200, 300, 9), ["m1"]);
    assert_eq!(due(&*subject.open(), 300, 400, 9), ["m1"]);
}

pub(super) fn a_delivered_message_is_gone(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["m1", "m2"]);
    assert_eq!(due(&*store, 100, 200, 9), ["m1", "m2"]);
    wait(store.delivered("m1")).expect("delivered");
    wait(store.delivered("m1")).expect("delivered twice");
    wait(store.delivered("nobody's")).expect("delivered");
    assert_eq!(due(&*store, 500, 600, 9), ["m2"]);
}

pub(super) fn a_message_of_the_same_id_waits_once(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["m1", "m1"]);
    send(&*store, &["m1", "m2"]);
    assert_eq!(due(&*store, 1, 2, 9), ["m1", "m2"]);
    assert_eq!(store.all().len(), 2);
}

pub(super) fn a_conflict_sends_nothing(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "k");
    let mut append = to("run/a", Expected::Version(0), vec![new("asked", "{}")]);
    append.outgoing = vec![message("m1")];
    assert!(is_conflict(&wait(store.append(append))));
    assert!(due(&*store, 1, 2, 9).is_empty());
}

pub(super) fn messages_are_given_out_in_order_and_within_the_limit(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["z", "y"]);
    send(&*store, &["x", "a"]);
    assert_eq!(due(&*store, 1, 9, 3), ["z", "y", "x"]);
    assert_eq!(due(&*store, 1, 9, 3), ["a"]);
    assert!(due(&*store, 9, 20, 0).is_empty());
    assert_eq!(due(&*store, 9, 20, 9), ["z", "y", "x", "a"]);
}
