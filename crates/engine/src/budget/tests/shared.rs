//! POL-6: the ledger in a log that many write at once, over crashes and the ends of months.

use std::sync::atomic::{AtomicI64, Ordering};

use aurora_store::{MemoryStore, Settings, SqliteStore};

use super::*;

const NOVEMBER_MS: i64 = 1_795_996_800_000;

fn budget(store: &Arc<dyn Store>, monthly: f64) -> Budget {
    let now = || Timestamp { unix_ms: NOVEMBER_MS };
    Budget::new(Arc::clone(store), limits(monthly, OnLimit::Reject), now)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Makes so many calls at once through each of the doors, each of one dollar; says how many were
/// granted.
async fn rush(doors: Vec<Budget>, calls: usize) -> usize {
    let mut tasks = tokio::task::JoinSet::new();
    for (door, budget) in doors.into_iter().map(Arc::new).enumerate() {
        for call in 0..calls {
            let budget = Arc::clone(&budget);
            tasks.spawn(async move {
                let next = reservation(&format!("run{door}/t{call}/1"), 1.0);
                let granted = budget.reserve(&next).await.unwrap();
                let granted = matches!(granted, Reserve::Granted { .. });
                if granted {
                    budget.settle(&next.id, &cost(1.0, Known::Reported)).await.unwrap();
                }
                granted
            });
        }
    }
    tasks.join_all().await.into_iter().filter(|granted| *granted).count()
}

/// POL-6: many calls at once take what is there, and not a cent more.
#[tokio::test]
async fn calls_at_once_cannot_overspend_together() {
    let store = memory();
    let doors = (0..4).map(|_| budget(&store, 25.0)).collect();
    assert_eq!(rush(doors, 30).await, 25);
    let ledger = budget(&store, 25.0).ledger(&november()).await.unwrap();
    assert_eq!((ledger.total.spent, ledger.total.open), (dollars(25.0), 0));
}

/// POL-6: two processes with the same file are two runs; they cannot overspend either.
#[tokio::test]
async fn two_runs_on_one_file_cannot_overspend_together() {
    let folder = tempfile::tempdir().unwrap();
    let open = || -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(Settings::within(folder.path())).unwrap())
    };
    let (one, other) = (open(), open());
    let granted = rush(vec![budget(&one, 7.0), budget(&other, 7.0)], 10).await;
    assert_eq!(granted, 7);
    let ledger = budget(&open(), 7.0).ledger(&november()).await.unwrap();
    assert_eq!(ledger.total.committed(), dollars(7.0));
    assert!(aurora_store::verify(&*one, None).await.unwrap().is_whole());
}

/// POL-6: whoever comes back after a crash tells the same again, and it counts once.
#[tokio::test]
async fn a_call_that_is_told_again_after_a_crash_counts_once() {
    let store = memory();
    let call = reservation("r/a/1", 3.0);
    budget(&store, 10.0).reserve(&call).await.unwrap();
    let after = budget(&store, 10.0);
    assert_eq!(after.reserve(&call).await.unwrap(), Reserve::Granted { warning: None });
    after.settle("r/a/1", &cost(2.0, Known::Reported)).await.unwrap();
    budget(&store, 10.0).settle("r/a/1", &cost(2.0, Known::Reported)).await.unwrap();
    let ledger = after.ledger(&november()).await.unwrap();
    assert_eq!((ledger.total.spent, ledger.total.calls), (dollars(2.0), 1));
    assert!(after.settle("r/never/1", &cost(1.0, Known::Reported)).await.is_err());
    after.release("r/never/1", "not made").await.unwrap();
}

/// POL-6: calls of a run that died are taken as estimated; those of others stay open.
#[tokio::test]
async fn open_calls_of_a_run_that_died_are_settled_as_estimated() {
    let store = memory();
    let before = budget(&store, 10.0);
    for (id, estimate) in [("dead/a/1", 1.0), ("dead/b/1", 2.0), ("alive/c/1", 4.0)] {
        before.reserve(&reservation(id, estimate)).await.unwrap();
    }
    let after = budget(&store, 10.0);
    let dead = RunId::parse("dead").unwrap();
    assert_eq!(after.settle_unknown(&dead).await.unwrap(), 2);
    assert_eq!(after.settle_unknown(&dead).await.unwrap(), 0);
    let ledger = after.ledger(&november()).await.unwrap();
    assert_eq!((ledger.total.spent, ledger.total.estimated), (dollars(3.0), dollars(3.0)));
    assert_eq!(ledger.total.reserved, dollars(4.0));
    let all = calls(&store, &november()).await.unwrap();
    assert_eq!(all.iter().filter(|call| call.state == CallState::Open).count(), 1);
}

/// POL-6: a call belongs to the month in which it began, whenever it ends.
#[tokio::test]
async fn a_call_over_the_end_of_a_month_belongs_to_the_month_of_its_beginning() {
    let store = memory();
    let clock = Arc::new(AtomicI64::new(NOVEMBER_MS));
    let hands = Arc::clone(&clock);
    let now = move || Timestamp { unix_ms: hands.load(Ordering::SeqCst) };
    let budget = Budget::new(Arc::clone(&store), limits(10.0, OnLimit::Reject), now);
    for id in ["r/a/1", "r/b/1", "r/c/1"] {
        budget.reserve(&reservation(id, 3.0)).await.unwrap();
    }
    clock.fetch_add(20 * 86_400_000, Ordering::SeqCst);
    let december = budget.this_month();
    assert_eq!(december.to_string(), "2026-12");
    budget.settle("r/a/1", &cost(2.0, Known::Reported)).await.unwrap();
    budget.release("r/b/1", "stopped").await.unwrap();
    budget.reserve(&reservation("r/c/1", 3.0)).await.unwrap();
    budget.reserve(&reservation("r/d/1", 9.5)).await.unwrap();
    let old = budget.ledger(&november()).await.unwrap();
    assert_eq!((old.total.spent, old.total.reserved), (dollars(2.0), dollars(3.0)));
    let new = budget.ledger(&december).await.unwrap();
    assert_eq!((new.total.spent, new.total.reserved), (Usd::ZERO, dollars(9.5)));
}

/// POL-6: a long month is opened from a picture, and a picture of something else is not believed.
#[tokio::test]
async fn a_long_month_is_opened_from_a_picture_that_fits_the_log() {
    let store = memory();
    let first = budget(&store, 1e6);
    for call in 0..400 {
        let next = reservation(&format!("r/t{call}/1"), 0.5);
        first.reserve(&next).await.unwrap();
        first.settle(&next.id, &cost(0.25, Known::Reported)).await.unwrap();
    }
    let name = november().stream().0;
    let (_, text) = store.projection(&name).await.unwrap().expect("a picture was kept");
    let expected = first.ledger(&november()).await.unwrap();
    assert_eq!(expected.total.spent, dollars(100.0));
    assert_eq!(budget(&store, 1e6).ledger(&november()).await.unwrap(), expected);
    // The picture is used: one that fits and says something else shows.
    let altered = text.replacen("\"warned\":null", "\"warned\":[7,7]", 1);
    assert_ne!(altered, text);
    store.keep_projection(&name, 1, &altered).await.unwrap();
    let seen = budget(&store, 1e6).ledger(&november()).await.unwrap();
    assert_eq!(seen.warned, Some((7, Usd { micros: 7 })));
    for other in [text.replacen("\"hash\":\"", "\"hash\":\"0", 1), "{}".into(), "nonsense".into()] {
        store.keep_projection(&name, 1, &other).await.unwrap();
        assert_eq!(budget(&store, 1e6).ledger(&november()).await.unwrap(), expected, "{other}");
    }
}
