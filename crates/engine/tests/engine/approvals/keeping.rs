//! The timekeeper: what is due fires once, after a restart, beside others, and whatever goes wrong.

use std::sync::Mutex;

use super::*;
use crate::faulty::{Faulty, Mishap};
use aurora_engine::approvals::{Listener, Timekeeper, stream_of};
use aurora_store::{Append, Expected, Mark, NewRecord, StreamId};

fn ears() -> (Arc<Mutex<Vec<String>>>, Listener) {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let ears = Arc::clone(&heard);
    (heard, Arc::new(move |error: &Error| ears.lock().unwrap().push(error.to_string())))
}

fn deaf() -> Listener {
    Arc::new(|error| panic!("{error}"))
}

/// Something in the log that nobody can wake.
fn nonsense(stream: StreamId) -> Append {
    let payload = r#"{"type":"of a later version"}"#.to_owned();
    Append {
        stream,
        expected: Expected::Any,
        at: ASKED,
        records: vec![NewRecord { kind: "unheard_of".to_owned(), schema: 1, payload }],
        outgoing: Vec::new(),
        mark: Some(Mark { label: "pending".to_owned(), wake_at: Some(at(1)) }),
    }
}

// APR-6: the trap of the scheduler that nobody had started: what was due while nobody ran fires at the
// next start, once, also when three start at once.
#[test]
fn apr_6_after_a_restart_what_is_due_fires_once_however_many_timekeepers_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let names: Vec<String> = (0..300).map(|n| format!("r{n}")).collect();
    run(async {
        let queue = queue_by(file(folder.path()), &hands);
        for (n, name) in names.iter().enumerate() {
            let mut request = request(name);
            match n % 3 {
                0 => {}
                1 => {
                    let step = |who: &str| json!({ "who": [who], "timeout_s": 60 });
                    let chain = [step("ada"), step("bob")];
                    let settings = json!({ "chain": chain, "on_exhausted": "wait" });
                    request.ruling.timeout = rule("escalation", settings);
                }
                _ => {
                    request.ruling.timeout = rule("wait", json!({}));
                    request.ruling.remind_every_s = Some(3600);
                }
            }
            queue.open(&request).await.unwrap();
        }
    });
    // All of it is over while nobody runs.
    hands.set(2 * 3600);
    let expected = |n: usize| match n % 3 {
        0 => ["requested", "timed_out"],
        1 => ["requested", "escalated"],
        _ => ["requested", "reminded"],
    };
    run(async {
        let queues: Vec<Queue> = (0..3).map(|_| queue_by(file(folder.path()), &hands)).collect();
        let clock = || Arc::new(hands.clone());
        let _keepers: Vec<Timekeeper> = queues
            .iter()
            .map(|queue| Timekeeper::start_with(queue.clone(), clock(), deaf()))
            .collect();
        let store = Arc::clone(queues[0].store());
        until("everything due", async || store.due(hands.now(), 1).await.unwrap().is_empty()).await;
        // Somebody who comes later finds nothing to say.
        let late = queue_by(file(folder.path()), &hands);
        late.catch_up_clock().await.unwrap();
        for (n, name) in names.iter().enumerate() {
            assert_eq!(kinds(&late, name).await, expected(n), "{name}");
        }
    });
}

// APR-6: a short command says what is due, and needs nobody who stays.
#[test]
fn apr_6_a_command_that_does_not_stay_catches_up() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        for name in ["one", "two"] {
            queue.open(&request(name)).await.unwrap();
        }
        queue.catch_up_clock().await.unwrap();
        assert_eq!(state(&queue, "one").await, ApprovalState::Pending);
        hands.set(3600);
        queue.catch_up_clock().await.unwrap();
        assert_eq!(state(&queue, "one").await, ApprovalState::TimedOut);
        assert_eq!(state(&queue, "two").await, ApprovalState::TimedOut);
    });
}

// APR-6: whoever sleeps until tomorrow hears of what is due in a minute.
#[test]
fn apr_6_something_due_earlier_wakes_a_timekeeper_that_sleeps_longer() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());
        queue.open(&request("late")).await.unwrap();
        let soon = asked("soon", ASKED, rule("deny", json!({ "timeout_s": 60 })));
        queue.open(&soon).await.unwrap();
        hands.set(60);
        until("the end", async || state(&queue, "soon").await == ApprovalState::TimedOut).await;
        assert_eq!(state(&queue, "late").await, ApprovalState::Pending);
    });
}

// APR-6: the trap of the wait that kept the approval itself from being heard.
#[test]
fn apr_6_when_everything_is_due_at_once_a_decision_does_not_wait_for_it() {
    const DUE: usize = 4_000;
    // One thread: whoever does not make room keeps everybody waiting.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hands = Hands::new();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let queue = queue_by(Arc::clone(&store), &hands);
        for n in 0..DUE {
            queue.open(&request(&format!("r{n}"))).await.unwrap();
        }
        let waits = asked("urgent", ASKED, rule("wait", json!({})));
        queue.open(&waits).await.unwrap();
        hands.set(3600);
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());
        let over = || async { store.count_marked("timed_out").await.unwrap() };
        until("the first", async || over().await > 0).await;
        queue.decide(&waits.id, &saying(&waits, Choice::Allow, "ada")).await.unwrap();
        let before = over().await;
        assert!(before < DUE as u64, "the decision waited for all {before}");
        until("the rest", async || over().await == DUE as u64).await;
    });
}

// APR-6: a log that fails is told, and tried again; what was due is not lost.
#[test]
fn apr_6_trouble_with_the_log_is_told_and_does_not_end_the_timekeeper() {
    for mishap in [Mishap::Full, Mishap::Broken, Mishap::Lost, Mishap::Conflict] {
        run(async {
            let hands = Hands::new();
            let store = Faulty::new();
            let fate = Arc::clone(store.fate.as_ref().unwrap());
            let queue = queue_by(Arc::new(store), &hands);
            queue.open(&request("one")).await.unwrap();
            let (heard, ears) = ears();
            fate.lock().unwrap().append = Some((0, mishap));
            let keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), ears);
            hands.set(3600);
            let told = mishap != Mishap::Conflict;
            until("trouble", async || {
                let heard = !heard.lock().unwrap().is_empty();
                heard == told && fate.lock().unwrap().append.is_none()
            })
            .await;
            hands.set(3610);
            until("the end", async || state(&queue, "one").await == ApprovalState::TimedOut).await;
            assert_eq!(kinds(&queue, "one").await, ["requested", "timed_out"], "{mishap:?}");
            assert!(!keeper.is_over());
        });
    }
}

// APR-6: one request that nobody can read keeps none of the others waiting.
#[test]
fn apr_6_what_cannot_be_woken_is_told_and_put_aside() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(Arc::clone(&store), &hands);
        // More of them than are looked at once, all due before anything else, and other things that
        // have a time of their own.
        for n in 0..250 {
            let stream = stream_of(&id(&format!("bad{n}")));
            store.append(nonsense(stream)).await.unwrap();
        }
        store.append(nonsense(StreamId("session/1".to_owned()))).await.unwrap();
        for n in 0..3 {
            let timeout = rule("deny", json!({ "timeout_s": 60 * (n + 1) }));
            queue.open(&asked(&format!("r{n}"), ASKED, timeout)).await.unwrap();
        }
        let (heard, ears) = ears();
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), ears);
        for n in 0..3 {
            hands.set(60 * (n + 1));
            let name = format!("r{n}");
            until(&name, async || state(&queue, &name).await == ApprovalState::TimedOut).await;
        }
        let heard = heard.lock().unwrap();
        assert!(heard.len() >= 250 && heard[0].contains("cannot be read"), "{heard:?}");
        // Each is told again after a while, and not at every turn.
        assert!(heard.len() <= 4 * 250, "{}", heard.len());
    });
}

// APR-6: it ends when it is dropped, and nothing of it stays.
#[test]
fn apr_6_a_timekeeper_ends_when_it_is_dropped() {
    run(async {
        let hands = Hands::new();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let queue = queue_by(Arc::clone(&store), &hands);
        queue.open(&request("one")).await.unwrap();
        let keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());
        drop(keeper);
        until("its end", async || Arc::strong_count(&store) == 2).await;
        hands.set(3600);
        assert_eq!(state(&queue, "one").await, ApprovalState::Pending);
    });
}
