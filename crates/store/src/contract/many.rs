//! Promises about appending to several streams at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Subject, at, is_conflict, is_refused, message, new, stream, to, wait};
use crate::error::Error;
use crate::record::{Append, Appended, Expected, Mark};

/// How many write at once.
const WRITERS: usize = 16;

fn marked(mut append: Append, label: &str) -> Append {
    append.mark = Some(Mark { label: label.to_owned(), wake_at: Some(at(7)) });
    append
}

pub(super) fn several_streams_are_appended_to_at_once(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "before");
    let appended = wait(store.append_all(vec![
        to("approval/q1", Expected::Version(0), vec![new("requested", "{}")]),
        to("run/a", Expected::Version(1), vec![new("asked", "{}"), new("parked", "{}")]),
        to("run/b", Expected::Version(0), Vec::new()),
    ]));
    let done = |version, position| Appended { version, position };
    assert_eq!(appended.expect("an append"), [done(1, 2), done(3, 4), done(0, 0)]);
    let kinds: Vec<String> = store.all().into_iter().map(|record| record.kind).collect();
    assert_eq!(kinds, ["before", "requested", "asked", "parked"]);
    assert!(wait(store.head(&stream("run/b"))).expect("a head").is_none());
    assert!(wait(store.append_all(Vec::new())).expect("nothing").is_empty());
    store.assert_whole();
}

pub(super) fn a_conflict_of_one_stream_leaves_all_as_they_are(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/c", "one");
    let before = store.all();
    for wrong in 0..3 {
        let mut appends: Vec<Append> = ["run/a", "run/b", "run/c"]
            .into_iter()
            .map(|name| {
                let version = u64::from(name == "run/c");
                marked(to(name, Expected::Version(version), vec![new("k", "{}")]), "waiting")
            })
            .collect();
        appends[wrong].expected = Expected::Version(9);
        appends[2 - wrong].outgoing = vec![message("m1")];
        match wait(store.append_all(appends)) {
            Err(Error::Conflict { stream, expected: 9, .. }) => {
                assert_eq!(stream, ["run/a", "run/b", "run/c"][wrong]);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.all(), before);
    assert_eq!(wait(store.count_marked("waiting")).expect("a count"), 0);
    assert!(wait(store.next_wake()).expect("a time").is_none());
    assert!(wait(store.next_outgoing()).expect("a time").is_none());
}

pub(super) fn what_cannot_be_recorded_takes_the_others_with_it(subject: &dyn Subject) {
    let store = subject.open();
    let good = || to("run/a", Expected::Any, vec![new("k", "{}")]);
    let mut no_label = good();
    no_label.stream = stream("run/b");
    for bad in [
        to("run/b", Expected::Any, vec![new("k", "no json")]),
        to("", Expected::Any, vec![new("k", "{}")]),
        marked(no_label.clone(), ""),
        marked(no_label, "a\0b"),
    ] {
        assert!(is_refused(&wait(store.append_all(vec![good(), bad.clone()]))), "{bad:?}");
        assert!(is_refused(&wait(store.append_all(vec![bad, good()]))));
    }
    assert!(store.all().is_empty());
}

pub(super) fn one_stream_twice_at_once_is_refused(subject: &dyn Subject) {
    let store = subject.open();
    let append = |name| to(name, Expected::Any, vec![new("k", "{}")]);
    let twice = vec![append("run/a"), append("run/b"), append("run/a")];
    assert!(is_refused(&wait(store.append_all(twice))));
    assert!(store.all().is_empty());
}

pub(super) fn a_subscriber_of_another_door_hears_of_all_of_it(subject: &dyn Subject) {
    let (here, there) = (subject.open(), subject.open());
    let mut subscription = here.subscribe();
    let append = |name| to(name, Expected::Any, vec![new("k", "{}")]);
    wait(there.append_all(vec![append("run/a"), append("run/b")])).expect("an append");
    assert!(wait(subscription.past(0)));
    assert_eq!(subscription.position(), 2, "nobody sees a half of it");
    assert_eq!(here.all().len(), 2);
}

pub(super) fn one_of_many_wins_a_race_for_two_streams(subject: &dyn Subject) {
    let doors = [subject.open(), subject.open()];
    for version in 0..5 {
        let won = AtomicUsize::new(0);
        thread::scope(|scope| {
            for n in 0..WRITERS {
                let (store, won) = (&doors[n % 2], &won);
                scope.spawn(move || {
                    let append = |name, known| {
                        let payload = format!("{n}");
                        to(name, Expected::Version(known), vec![new("k", &payload)])
                    };
                    // Half of them know nothing of the other stream, and lose for that.
                    let known = version + u64::from(n % 4 == 3);
                    let both = vec![append("run/a", version), append("run/b", known)];
                    match wait(store.append_all(both)) {
                        Ok(_) => won.fetch_add(1, Ordering::SeqCst),
                        refused => {
                            assert!(is_conflict(&refused), "{refused:?}");
                            0
                        }
                    }
                });
            }
        });
        assert_eq!(won.load(Ordering::SeqCst), 1, "version {version}");
    }
    let payloads = |name| doors[0].of(name).into_iter().map(|record| record.payload);
    assert!(payloads("run/a").eq(payloads("run/b")), "each won both or none");
    doors[1].assert_whole();
}
