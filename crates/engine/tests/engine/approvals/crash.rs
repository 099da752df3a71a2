//! The power goes off at every edge between a decision and its deed: nothing is done twice, nothing is
//! lost, and what cannot be known says so.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::faulty::{Fate, Faulty, MISHAPS, Mishap};
use aurora_gate::approval::Command;

/// What was really done in the world.
#[derive(Default)]
struct Deeds {
    done: AtomicU32,
    /// Whether the power goes off before or after the deed.
    off: Mutex<Option<bool>>,
}

impl Deeds {
    async fn doing(&self, fate: &crate::faulty::Fates) {
        let off = self.off.lock().unwrap().take();
        if off == Some(false) {
            crate::faulty::crash(fate).await;
        }
        self.done.fetch_add(1, Ordering::SeqCst);
        if off == Some(true) {
            crate::faulty::crash(fate).await;
        }
    }
}

/// One life of somebody who gets a request decided and does what was approved. It may end at any
/// await, and goes on from the log the next time.
async fn live(queue: &Queue, deeds: &Deeds, fate: &crate::faulty::Fates, executor: &str) {
    let name = id("one");
    loop {
        let standing = queue.load(&name).await.unwrap();
        let Some(standing) = standing else {
            if queue.open(&request("one")).await.is_err() {
                return;
            }
            continue;
        };
        let executor = executor.to_owned();
        let told = match standing.state {
            ApprovalState::Pending => {
                queue.decide(&name, &saying(&request("one"), Choice::Allow, "ada")).await
            }
            ApprovalState::Approved => {
                let digest = digest_of(&request("one").subject);
                let told = queue.tell(&name, &Command::Reserve { executor, digest }).await;
                let Ok(standing) = told else { return };
                // Only whoever wrote that they would do it does it.
                assert_eq!(standing.state, ApprovalState::Reserved);
                deeds.doing(fate).await;
                let executor = standing.executor.unwrap();
                let done = Command::Executed { executor, result: None, summary: String::new() };
                queue.tell(&name, &done).await
            }
            ApprovalState::Reserved => {
                assert_ne!(standing.executor.as_deref(), Some(executor.as_str()));
                let reason = "whoever did it is gone".to_owned();
                queue.tell(&name, &Command::Lost { reason }).await
            }
            _ => return,
        };
        if told.is_err() {
            return;
        }
    }
}

/// Lives until it is over; says how it ended and how often it was done.
async fn story(fate: Fate, off: Option<bool>) -> (ApprovalState, u32, Vec<&'static str>) {
    let store = Faulty::new();
    let fates = Arc::clone(store.fate.as_ref().unwrap());
    *fates.lock().unwrap() = fate;
    let hands = Hands::new();
    let deeds = Deeds { off: Mutex::new(off), ..Deeds::default() };
    let queue = queue_by(Arc::new(store), &hands);
    for life in 0..10 {
        let crash = Arc::clone(&fates.lock().unwrap().crash);
        let executor = format!("life-{life}");
        tokio::select! {
            () = live(&queue, &deeds, &fates, &executor) => {}
            () = crash.notified() => {}
        }
    }
    let done = deeds.done.load(Ordering::SeqCst);
    (state(&queue, "one").await, done, kinds(&queue, "one").await)
}

// APR-2, APR-7: at every append of asking, deciding, reserving and recording, everything that can go
// wrong goes wrong once.
#[test]
fn apr_2_whatever_goes_wrong_at_whatever_edge_nothing_is_done_twice_or_lost() {
    run(async {
        let mut unknown = 0;
        for append in 0..5 {
            for mishap in MISHAPS {
                let fate = Fate { append: Some((append, mishap)), ..Fate::default() };
                let (state, done, kinds) = story(fate, None).await;
                let what = format!("{mishap:?} at append {append}: {kinds:?}");
                match state {
                    ApprovalState::Executed => assert_eq!(done, 1, "{what}"),
                    ApprovalState::OutcomeUnknown => {
                        unknown += 1;
                        assert!(done <= 1, "{what}");
                    }
                    other => panic!("{other:?}: {what}"),
                }
                // Each edge was taken once.
                let mut once = kinds.clone();
                once.sort_unstable();
                once.dedup();
                assert_eq!(once.len(), kinds.len(), "{what}");
                // Before anybody wrote that they do it, nothing can be unknown.
                let early = append < 2 || (append == 2 && mishap == Mishap::CrashBefore);
                assert!(!early || state == ApprovalState::Executed, "{what}");
            }
        }
        assert!(unknown >= 4, "{unknown}");
    });
}

// APR-2, APR-7: reserved, and dead: nobody can tell from the log whether it was done, and it says so.
#[test]
fn apr_2_who_dies_in_the_deed_leaves_an_unknown_outcome_and_nobody_does_it_again() {
    run(async {
        for (at_end, times) in [(false, 0), (true, 1)] {
            let (state, done, kinds) = story(Fate::default(), Some(at_end)).await;
            assert_eq!((state, done), (ApprovalState::OutcomeUnknown, times));
            assert_eq!(kinds, ["requested", "decided", "reserved", "outcome_unknown"]);
        }
    });
}

// APR-2: two who would do it: one does, and the other is told that it is being done.
#[test]
fn apr_2_of_many_who_would_do_it_exactly_one_may() {
    on_both(|store| async move {
        let queue = queue_by(store, &Hands::new());
        let request = request("one");
        queue.open(&request).await.unwrap();
        queue.decide(&request.id, &saying(&request, Choice::Allow, "ada")).await.unwrap();
        let all: Vec<_> = (0..50)
            .map(|n| {
                let (queue, digest) = (queue.clone(), request.digest.clone());
                let executor = format!("executor-{n}");
                tokio::spawn(async move {
                    queue.tell(&id("one"), &Command::Reserve { executor, digest }).await
                })
            })
            .collect();
        let mut may = 0;
        for one in all {
            match one.await.unwrap() {
                Ok(_) => may += 1,
                told => {
                    let told = refused(told).to_string();
                    assert_eq!(told, "it is reserved; ada (command) approved it: ada says so");
                }
            }
        }
        assert_eq!(may, 1);
    });
}

// APR-3, APR-7: a script that was swapped while its approval was pending is not run.
#[test]
fn apr_3_what_changed_after_the_yes_is_stale_and_is_never_done() {
    on_both(|store| async move {
        let queue = queue_by(store, &Hands::new());
        let request = request("one");
        queue.open(&request).await.unwrap();
        queue.decide(&request.id, &saying(&request, Choice::Allow, "ada")).await.unwrap();
        let executor = "life-1".to_owned();
        let other = Command::Reserve { executor: executor.clone(), digest: digest('9') };
        assert_eq!(queue.tell(&request.id, &other).await.unwrap().state, ApprovalState::Stale);
        // Not even when it is what it was again.
        let same = Command::Reserve { executor, digest: request.digest.clone() };
        let told = refused(queue.tell(&request.id, &same).await);
        assert!(matches!(told, Refused::Closed { state: ApprovalState::Stale, .. }));
    });
}
