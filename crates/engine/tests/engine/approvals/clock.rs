//! Clocks that jump, are set back, or change to summer time: a deadline is a moment and does not move.

use std::process::Command;

use super::*;
use aurora_engine::approvals::Timekeeper;
use aurora_gate::approval::lifecycle::moments;

/// Says to a child that it is one.
const ZONE: &str = "AURORA_ENGINE_ZONE";

// APR-6: a machine that slept over the deadline wakes up to what is due, once.
#[test]
fn apr_6_a_clock_that_jumps_over_the_deadline_ends_it_once() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        let mut request = request("one");
        request.ruling.remind_every_s = Some(60);
        request.ruling.warn_before_s = Some(600);
        queue.open(&request).await.unwrap();
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());
        // It slept for a quarter of an hour: one reminder and not fifteen.
        hands.set(900);
        until("the reminder", async || kinds(&queue, "one").await.len() == 2).await;
        hands.set(100 * 3600);
        until("the end", async || state(&queue, "one").await == ApprovalState::TimedOut).await;
        assert_eq!(kinds(&queue, "one").await, ["requested", "reminded", "timed_out"]);
    });
}

// APR-6: asleep over several steps: one is taken, and the next has its whole time.
#[test]
fn apr_6_a_machine_asleep_over_several_steps_takes_one_and_the_next_has_its_time() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        let step = |who: &str| json!({ "who": [who], "timeout_s": 3600 });
        let chain = [step("ada"), step("bob"), step("eve")];
        let timeout = rule("escalation", json!({ "chain": chain, "on_exhausted": "deny" }));
        let mut request = asked("one", ASKED, timeout);
        request.ruling.deciders = vec![aurora_model::Who::parse("ada").unwrap()];
        queue.open(&request).await.unwrap();
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());

        hands.set(100 * 3600);
        until("the step", async || kinds(&queue, "one").await.len() == 2).await;
        let standing = queue.load(&request.id).await.unwrap().unwrap();
        assert_eq!((standing.step, standing.step_at), (1, at(100 * 3600)));
        let eve = queue.decide(&request.id, &saying(&request, Choice::Allow, "eve")).await;
        assert!(matches!(refused(eve), Refused::NotAllowed { .. }));
        hands.set(101 * 3600);
        until("the next", async || kinds(&queue, "one").await.len() == 3).await;
        // Whoever could decide before still can.
        queue.decide(&request.id, &saying(&request, Choice::Allow, "ada")).await.unwrap();
        let all = ["requested", "escalated", "escalated", "decided"];
        assert_eq!(kinds(&queue, "one").await, all);
    });
}

// APR-6: a clock that is set back takes nothing back, and the deadline stays the moment that it was.
#[test]
fn apr_6_a_clock_that_is_set_back_moves_no_deadline_and_repeats_nothing() {
    on_both(|store| async move {
        let hands = Hands::new();
        let queue = queue_by(store, &hands);
        let mut request = request("one");
        request.ruling.remind_every_s = Some(600);
        queue.open(&request).await.unwrap();
        let _keeper = Timekeeper::start_with(queue.clone(), Arc::new(hands.clone()), deaf());
        hands.set(600);
        until("the reminder", async || kinds(&queue, "one").await.len() == 2).await;
        for seconds in [-86_400, 0, 599] {
            hands.set(seconds);
            queue.catch_up_clock().await.unwrap();
            assert_eq!(kinds(&queue, "one").await.len(), 2, "{seconds}");
        }
        // A decision in a time that was before is recorded at the time that is known.
        let standing = queue.load(&request.id).await.unwrap().unwrap();
        assert_eq!(moments(&standing).expires_at, Some(at(3600)));
        let done =
            queue.decide(&request.id, &saying(&request, Choice::Allow, "ada")).await.unwrap();
        assert_eq!(done.closed_at, Some(at(600)));
        let times: Vec<Timestamp> =
            queue.history(&request.id).await.unwrap().into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [ASKED, at(600), at(600)]);
    });
}

/// In a child, under a time zone: says when a request ends that is asked just before the clocks of
/// New York go forward.
#[test]
fn a_process_says_when_a_request_ends() {
    if std::env::var(ZONE).is_err() {
        return;
    }
    run(async {
        let queue = queue_by(Arc::new(MemoryStore::new()), &Hands::new());
        let standing = queue.open(&request("one")).await.unwrap();
        println!("ends {}", moments(&standing).expires_at.unwrap());
        let (now, utc) = (SystemClock.now().unix_ms, std::time::SystemTime::now());
        let utc = utc.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        assert!((i128::from(now) - i128::try_from(utc).unwrap()).abs() < 60_000);
    });
}

// APR-6: daylight saving, in every zone: an hour is an hour.
#[test]
fn apr_6_summer_time_and_time_zones_move_no_deadline() {
    let test = "approvals::clock::a_process_says_when_a_request_ends";
    for zone in ["UTC", "America/New_York", "Europe/Berlin", "EST5EDT,M3.2.0,M11.1.0", "<+14>-14"] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(ZONE, "1")
            .env("TZ", zone)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && said.contains("ends 2026-03-08T07:59:00.000Z"),
            "{said}"
        );
    }
}

// APR-6: the real clock, a real file: nobody does anything, and it ends.
#[test]
fn apr_6_the_clock_of_the_system_ends_a_request_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let queue = real_queue(file(folder.path()));
        let keeper = Timekeeper::start(queue.clone());
        // It is asked when the timekeeper sleeps already, and is due soon.
        let asked_at = Timestamp { unix_ms: SystemClock.now().unix_ms - 900 };
        let request = asked("one", asked_at, rule("deny", json!({ "timeout_s": 1 })));
        queue.open(&request).await.unwrap();
        let closed = tokio::time::timeout(Duration::from_secs(60), queue.closed(&request.id)).await;
        assert_eq!(closed.unwrap().unwrap().state, ApprovalState::TimedOut);
        assert!(!keeper.is_over());
    });
}

fn deaf() -> aurora_engine::approvals::Listener {
    Arc::new(|error| panic!("{error}"))
}
