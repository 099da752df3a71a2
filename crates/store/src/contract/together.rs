//! Promises about many at once: tasks, subscribers, and several doors to one log.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::{Subject, becomes, is_conflict, message, new, to, wait};
use crate::chain;
use crate::record::Expected;

/// How many write at once.
const WRITERS: usize = 16;
/// How much each writes.
const EACH: usize = 12;

pub(super) fn concurrent_appenders_get_every_version_once(subject: &dyn Subject) {
    let store = subject.open();
    let mut versions: Vec<u64> = thread::scope(|scope| {
        let add = || (0..EACH).map(|_| store.add("run/a", "k").version).collect::<Vec<_>>();
        let threads: Vec<_> = (0..WRITERS).map(|_| scope.spawn(add)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a writer")).collect()
    });
    versions.sort_unstable();
    let all = (WRITERS * EACH) as u64;
    assert_eq!(versions, (1..=all).collect::<Vec<_>>());
    assert_eq!(store.all().len() as u64, all);
    store.assert_whole();
}

pub(super) fn one_of_many_wins_a_race_for_a_version(subject: &dyn Subject) {
    let doors = [subject.open(), subject.open()];
    for version in 0..6 {
        let won = AtomicUsize::new(0);
        thread::scope(|scope| {
            for n in 0..WRITERS {
                let (store, won) = (&doors[n % 2], &won);
                scope.spawn(move || {
                    let append = to("run/a", Expected::Version(version), vec![new("k", "{}")]);
                    match wait(store.append(append)) {
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
    assert_eq!(doors[0].of("run/a").len(), 6);
}

pub(super) fn conflicts_do_not_spoil_what_is_written_beside_them(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/contested", "k");
    thread::scope(|scope| {
        for n in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                for version in 0..EACH as u64 {
                    let mut wrong = to("run/contested", Expected::Version(0), vec![new("x", "{}")]);
                    wrong.outgoing = vec![message("never")];
                    assert!(is_conflict(&wait(store.append(wrong))));
                    let name = format!("run/{n}");
                    let right = to(&name, Expected::Version(version), vec![new("k", "{}")]);
                    assert_eq!(wait(store.append(right)).expect("an append").version, version + 1);
                }
            });
        }
    });
    assert_eq!(store.all().len(), WRITERS * EACH + 1);
    assert!(wait(store.outgoing(super::at(0), super::at(0), 9)).expect("messages").is_empty());
    store.assert_whole();
}

pub(super) fn a_subscriber_wakes_up(subject: &dyn Subject) {
    let store = subject.open();
    store.add("run/a", "k");
    let mut subscription = store.subscribe();
    assert!(wait(subscription.past(0)));
    assert_eq!(subscription.position(), 1);
    thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            assert!(wait(subscription.past(1)));
            subscription.position()
        });
        store.add("run/b", "k");
        assert!(waiting.join().expect("a subscriber") >= 2);
    });
}

pub(super) fn a_subscriber_hears_of_another_door(subject: &dyn Subject) {
    let (here, there) = (subject.open(), subject.open());
    let mut subscription = here.subscribe();
    for position in 0..3 {
        there.add("run/a", "k");
        assert!(wait(subscription.past(position)));
        assert_eq!(here.all().len() as u64, position + 1);
    }
    // Nobody listens for a while, and then somebody does again.
    drop(subscription);
    there.add("run/a", "k");
    thread::park_timeout(std::time::Duration::from_millis(250));
    there.add("run/a", "k");
    let mut subscription = here.subscribe();
    assert!(wait(subscription.past(4)));
    there.add("run/a", "k");
    assert!(wait(subscription.past(5)));
}

pub(super) fn everything_is_there_through_another_door(subject: &dyn Subject) {
    let (here, there) = (subject.open(), subject.open());
    here.add("run/a", "one");
    assert_eq!(there.of("run/a"), here.all());
    let append = to("run/a", Expected::Version(1), vec![new("two", "{}")]);
    wait(there.append(append)).expect("an append");
    assert_eq!(here.of("run/a").len(), 2);
    let digest = wait(here.put(b"here".to_vec())).expect("a digest");
    assert_eq!(wait(there.get(&digest)).expect("bytes"), b"here");
    wait(there.keep_projection("p", 2, "there")).expect("a picture");
    let kept = wait(here.projection("p")).expect("a picture");
    assert_eq!(kept, Some((2, "there".to_owned())));
}

pub(super) fn everything_is_there_after_reopening(subject: &dyn Subject) {
    let store = subject.open();
    let mut append = to("run/a", Expected::Any, vec![new("k", "{\"a\":\"ä\"}"); 3]);
    append.outgoing = vec![message("m1")];
    wait(store.append(append)).expect("an append");
    let digest = wait(store.put(vec![1; 100])).expect("a digest");
    wait(store.keep_projection("p", 3, "picture")).expect("a picture");
    let (records, head) = (store.all(), wait(store.heads("", 9)).expect("heads"));
    drop(store);
    let store = subject.open();
    assert_eq!(store.all(), records);
    assert_eq!(wait(store.heads("", 9)).expect("heads"), head);
    assert_eq!(wait(store.get(&digest)).expect("bytes"), vec![1; 100]);
    let kept = wait(store.projection("p")).expect("a picture");
    assert_eq!(kept, Some((3, "picture".to_owned())));
    let found = wait(store.outgoing(super::at(0), super::at(0), 9)).expect("messages");
    assert_eq!(found, [message("m1")]);
    assert!(wait(store.subscribe().past(2)));
    assert_eq!(store.add("run/a", "k").version, 4);
    store.assert_whole();
}

pub(super) fn two_doors_write_to_one_log(subject: &dyn Subject) {
    let doors = [subject.open(), subject.open()];
    thread::scope(|scope| {
        for n in 0..WRITERS {
            let store = &doors[n % 2];
            scope.spawn(move || {
                for _ in 0..EACH {
                    store.add("run/shared", "k");
                    store.add(&format!("run/{n}"), "k");
                }
            });
        }
    });
    for store in &doors {
        assert_eq!(store.of("run/shared").len(), WRITERS * EACH);
        assert_eq!(store.all().len(), 2 * WRITERS * EACH);
        store.assert_whole();
    }
}

pub(super) fn a_log_is_verified_while_it_is_written(subject: &dyn Subject) {
    let (store, over) = (subject.open(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..60 {
                store.add("run/a", "k");
            }
            over.store(true, Ordering::SeqCst);
        });
        let reader = subject.open();
        assert!(becomes(|| {
            let seen = wait(chain::verify(&*reader, None)).expect("a verification");
            assert!(seen.is_whole(), "{:?}", seen.findings);
            over.load(Ordering::SeqCst)
        }));
    });
    assert_eq!(store.all().len(), 60);
}
