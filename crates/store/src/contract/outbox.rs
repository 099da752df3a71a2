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

pub(super) fn a_message_says_how_often_it_was_tried(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["m1"]);
    for tried in 0..4 {
        let found = wait(store.outgoing(at(10), at(10), 9)).expect("messages");
        assert_eq!(found[0].tried, tried);
    }
    // Who appends it again, or says that it was tried before, changes nothing.
    let mut append = to("run/a", Expected::Any, vec![new("asked", "{}")]);
    append.outgoing = ["m1", "m2"].map(|id| Outgoing { tried: 9, ..message(id) }).to_vec();
    wait(store.append(append)).expect("an append");
    let found = wait(subject.open().outgoing(at(10), at(20), 9)).expect("messages");
    let tried: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.tried)).collect();
    assert_eq!(tried, [("m2", 0), ("m1", 4)], "what nobody tried yet is due the longest");
}

pub(super) fn a_message_can_be_put_off(subject: &dyn Subject) {
    let store = subject.open();
    send(&*store, &["m1", "m2"]);
    assert_eq!(due(&*store, 100, 200, 9), ["m1", "m2"]);
    wait(store.put_off("m1", at(500))).expect("put off");
    wait(store.put_off("m2", at(150))).expect("put off, to an earlier time");
    wait(store.put_off("nobody's", at(150))).expect("put off");
    assert!(due(&*store, 149, 999, 9).is_empty());
    assert_eq!(due(&*store, 499, 999, 9), ["m2"]);
    assert_eq!(due(&*subject.open(), 500, 999, 9), ["m1"]);
    wait(store.delivered("m1")).expect("delivered");
    wait(store.put_off("m1", at(0))).expect("put off too late");
    assert!(due(&*store, 500, 999, 9).is_empty(), "what was delivered does not come back");
}

pub(super) fn the_next_message_is_known_without_asking_for_it(subject: &dyn Subject) {
    let store = subject.open();
    let next = || wait(store.next_outgoing()).expect("a time");
    assert_eq!(next(), None);
    send(&*store, &["m1", "m2", "m3"]);
    assert_eq!(next(), Some(at(i64::MIN)), "at once");
    assert_eq!(due(&*store, 100, 300, 2), ["m1", "m2"]);
    assert_eq!(next(), Some(at(i64::MIN)));
    wait(store.put_off("m3", at(400))).expect("put off");
    assert_eq!(next(), Some(at(300)));
    wait(store.put_off("m1", at(350))).expect("put off");
    wait(store.delivered("m2")).expect("delivered");
    assert_eq!(next(), Some(at(350)));
    assert_eq!(due(&*store, 400, 900, 9), ["m1", "m3"], "the longest due first");
    for id in ["m1", "m3"] {
        wait(store.delivered(id)).expect("delivered");
    }
    assert_eq!(next(), None);
}
