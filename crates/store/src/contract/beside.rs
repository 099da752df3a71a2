//! Promises about what is kept beside the log: pictures, bytes, claims.

use aurora_model::Digest;

use super::{Subject, becomes, stream, wait};
use crate::chain;
use crate::error::Error;

pub(super) fn a_picture_is_kept_and_replaced(subject: &dyn Subject) {
    let store = subject.open();
    wait(store.keep_projection("runs", 7, "{\"a\":1}")).expect("a picture");
    let kept = wait(store.projection("runs")).expect("a picture");
    assert_eq!(kept, Some((7, "{\"a\":1}".to_owned())));
    wait(store.keep_projection("runs", 3, "")).expect("a picture");
    let kept = wait(store.projection("runs")).expect("a picture");
    assert_eq!(kept, Some((3, String::new())));
}

pub(super) fn pictures_have_names_of_their_own(subject: &dyn Subject) {
    let store = subject.open();
    for (name, position) in [("a", 1), ("A", 2), ("a'; --", 3), ("%", 4)] {
        wait(store.keep_projection(name, position, name)).expect("a picture");
    }
    for (name, position) in [("a", 1), ("A", 2), ("a'; --", 3), ("%", 4)] {
        let kept = wait(store.projection(name)).expect("a picture");
        assert_eq!(kept, Some((position, name.to_owned())));
    }
    store.assert_whole();
}

pub(super) fn bytes_are_kept_under_their_digest(subject: &dyn Subject) {
    let store = subject.open();
    let digest = wait(store.put(b"abc".to_vec())).expect("a digest");
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest.as_str(), known);
    assert_eq!(wait(store.get(&digest)).expect("bytes"), b"abc");
}

pub(super) fn empty_and_large_bytes_are_kept(subject: &dyn Subject) {
    let store = subject.open();
    let large: Vec<u8> = (0..5_u32 << 20).map(|n| (n.wrapping_mul(31) >> 3) as u8).collect();
    for bytes in [Vec::new(), vec![0], large] {
        let digest = wait(store.put(bytes.clone())).expect("a digest");
        assert!(wait(store.get(&digest)).expect("bytes") == bytes);
    }
}

pub(super) fn keeping_twice_is_keeping_once(subject: &dyn Subject) {
    let store = subject.open();
    let one = wait(store.put(b"same".to_vec())).expect("a digest");
    let two = wait(store.put(b"same".to_vec())).expect("a digest");
    assert_eq!(one, two);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| wait(store.put(vec![7; 10_000])).expect("a digest"));
        }
    });
    let digest = chain::digest(&[7; 10_000]);
    assert_eq!(wait(store.get(&digest)).expect("bytes"), vec![7; 10_000]);
}

pub(super) fn what_nobody_kept_is_not_found(subject: &dyn Subject) {
    let store = subject.open();
    let found = wait(store.get(&chain::digest(b"nobody")));
    assert!(matches!(found, Err(Error::NotFound { .. })), "{found:?}");
}

pub(super) fn a_digest_that_is_none_reaches_nothing(subject: &dyn Subject) {
    let store = subject.open();
    wait(store.put(b"abc".to_vec())).expect("a digest");
    for text in ["", "ab", "../../../etc/passwd", "/etc/passwd", "ä", "BA7816BF"] {
        // A digest that was read from somewhere has not been looked at.
        let digest: Digest = serde_json::from_value(text.into()).expect("a text");
        assert!(wait(store.get(&digest)).is_err(), "{text}");
    }
}

pub(super) fn a_claim_is_held_by_one(subject: &dyn Subject) {
    let (one, two) = (subject.open(), subject.open());
    let held = wait(one.claim(&stream("run/a"))).expect("a claim");
    for store in [&one, &two] {
        let again = wait(store.claim(&stream("run/a"))).map(|_| ());
        assert!(matches!(&again, Err(Error::Held { what }) if what == "run/a"), "{again:?}");
    }
    drop(held);
    drop(wait(two.claim(&stream("run/a"))).expect("a claim"));
}

pub(super) fn a_claim_is_free_when_it_is_dropped(subject: &dyn Subject) {
    let store = subject.open();
    for _ in 0..20 {
        drop(wait(store.claim(&stream("run/a"))).expect("a claim"));
    }
    // Many want it at once, and one after the other gets it.
    let (inside, most) =
        (std::sync::atomic::AtomicU32::new(0), std::sync::atomic::AtomicU32::new(0));
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let mut held = None;
                    assert!(becomes(|| {
                        held = wait(store.claim(&stream("run/b"))).ok();
                        held.is_some()
                    }));
                    most.fetch_max(inside.fetch_add(1, order) + 1, order);
                    inside.fetch_sub(1, order);
                    drop(held);
                }
            });
        }
    });
    assert_eq!(most.load(order), 1);
}

pub(super) fn claims_of_different_streams_do_not_meet(subject: &dyn Subject) {
    let store = subject.open();
    let names = ["run/a", "run/b", "run/A", "run/a/", "run_a", "run/a\u{308}"];
    let held: Vec<_> = names.iter().map(|name| wait(store.claim(&stream(name)))).collect();
    assert!(held.iter().all(Result::is_ok));
    store.add("run/a", "whoever holds it or not");
}

pub(super) fn looking_at_a_claim_takes_nothing_from_anybody(subject: &dyn Subject) {
    let (one, two) = (subject.open(), subject.open());
    let is_claimed = |store: &dyn crate::Store, name: &str| {
        wait(store.is_claimed(&stream(name))).expect("an answer")
    };
    assert!(!is_claimed(&*one, "run/a"));
    let held = wait(one.claim(&stream("run/a"))).expect("a claim");
    assert!(is_claimed(&*one, "run/a") && is_claimed(&*two, "run/a"));
    assert!(!is_claimed(&*two, "run/b"));
    drop(held);
    assert!(!is_claimed(&*one, "run/a") && !is_claimed(&*two, "run/a"));
    // However many look, whoever claims it gets it at the first try.
    let over = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(order) {
                    let _ = is_claimed(&*two, "run/a");
                }
            });
        }
        let claims: Vec<_> = (0..200).map(|_| wait(one.claim(&stream("run/a"))).is_ok()).collect();
        over.store(true, order);
        assert!(claims.into_iter().all(|got| got));
    });
}
