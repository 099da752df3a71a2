//! Ten thousand tasks: each is done once, a few are on the way at a time, and the last costs what the
//! first did.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aurora_engine::driver::{Driver, Performed, Signal, Told};
use aurora_engine::machine::{Command, Effect, Phase, State};
use aurora_engine::{Ended, Stop, World};
use aurora_model::{Answer, AttemptEnd, RunOutcome, Timestamp};
use aurora_store::{MemoryStore, Store};
use tokio::sync::mpsc;

use crate::life::in_a_quiet_place;
use crate::tasks::{brief, run};
use crate::world::over;

/// A world in which everything is done at once, and counted.
#[derive(Default)]
struct Quick {
    performed: AtomicU64,
    on_the_way: Arc<AtomicU64>,
    most_on_the_way: AtomicU64,
    recorded: AtomicU64,
    /// Somebody stops the run when so many attempts were begun.
    stop_after: Option<(u64, mpsc::Sender<Signal>)>,
    attempts: AtomicU64,
}

impl Quick {
    fn begins(&self, effect: &Effect) {
        self.performed.fetch_add(1, Ordering::Relaxed);
        let now = self.on_the_way.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_on_the_way.fetch_max(now, Ordering::Relaxed);
        if let (Effect::Attempt { .. }, Some((after, signals))) = (effect, &self.stop_after)
            && self.attempts.fetch_add(1, Ordering::Relaxed) + 1 == *after
        {
            signals.try_send(Signal::Interrupt { by: "SIGINT".to_owned() }).unwrap();
        }
    }
}

impl World for Quick {
    fn now(&self) -> Timestamp {
        Timestamp { unix_ms: 1 }
    }

    fn perform(&self, effect: &Effect, _: &Arc<State>, _: Stop) -> Performed {
        self.begins(effect);
        let command = match effect.clone() {
            Effect::Ask { .. } | Effect::WritePlan | Effect::Settle { .. } => None,
            Effect::Judge { task } => Some(Command::Judged {
                task,
                decision: Answer::Allow,
                reasons: Vec::new(),
                needs_person: false,
            }),
            Effect::Attempt { task, attempt, .. } => {
                Some(over(&task, attempt, AttemptEnd::Succeeded { summary: String::new() }, 0))
            }
            Effect::Check { task, attempt, .. } => Some(Command::ChangesJudged {
                task,
                attempt,
                decision: Answer::Allow,
                reasons: Vec::new(),
                files: 0,
                lines: 0,
                paths: Vec::new(),
                place: None,
                result: None,
                needs_person: false,
            }),
            Effect::Adopt { task, attempt, .. } => {
                let (checkpoint, changed) = (None, Vec::new());
                let noticed = Vec::new();
                Some(Command::Adopted { task, attempt, checkpoint, changed, noticed })
            }
        };
        let on_the_way = Arc::clone(&self.on_the_way);
        Box::pin(async move {
            // Whoever works does not end before others begin.
            tokio::task::yield_now().await;
            on_the_way.fetch_sub(1, Ordering::Relaxed);
            Ok(command)
        })
    }

    fn recorded(&self, _: &Told, _: &Arc<State>) {
        self.recorded.fetch_add(1, Ordering::Relaxed);
    }
}

/// A run of so many tasks, four at once, which wait for what `on` says.
fn drive(
    count: u64,
    on: fn(u64) -> Vec<u64>,
    stop_after: Option<u64>,
) -> (Arc<Quick>, Ended, Arc<State>) {
    let mut brief = brief(count, on);
    (brief.settings.yes, brief.settings.max_parallel) = (true, 4);
    let (sender, mut signals) = mpsc::channel(4);
    let stop_after = stop_after.map(|after| (after, sender));
    let world = Arc::new(Quick { stop_after, ..Quick::default() });
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let driver = Driver::new(store, Arc::clone(&world) as Arc<dyn World>);
    let start = Command::Start(Box::new(brief));
    let driven = in_a_quiet_place(async { driver.drive(&run(), start, &mut signals).await });
    let (ended, state) = driven.unwrap();
    (world, ended, state)
}

fn all_done(count: u64, on: fn(u64) -> Vec<u64>) {
    let (world, ended, state) = drive(count, on, None);
    assert_eq!(ended, Ended::Finished);
    assert_eq!(state.phase, Phase::Finished(RunOutcome::Completed));
    // Each task is judged, tried, checked and taken over once, and nothing else is ever begun.
    assert_eq!(world.performed.load(Ordering::Relaxed), 4 * count);
    // Five events for each; begun, asked, answered, finished.
    assert_eq!(
        (state.version, world.recorded.load(Ordering::Relaxed)),
        (5 * count + 4, 5 * count + 4)
    );
    let most = world.most_on_the_way.load(Ordering::Relaxed);
    assert!(most <= 8, "{most} at once: four that are done and four that are judged");
}

// EXE-2, EXE-4
#[test]
fn exe_4_ten_thousand_tasks_are_each_done_once_and_a_few_at_a_time() {
    all_done(10_000, |_| Vec::new());
}

// EXE-4
#[test]
fn exe_4_long_rows_and_wide_joins_are_done_too() {
    all_done(1_000, |number| number.checked_sub(1).into_iter().collect());
    all_done(1_000, |number| if number == 999 { (0..999).collect() } else { Vec::new() });
    all_done(1_000, |number| if number == 0 { Vec::new() } else { vec![0] });
}

// EXE-5
#[test]
fn exe_5_a_long_list_is_stopped_at_the_next_step() {
    let (world, ended, state) = drive(2_000, |_| Vec::new(), Some(10));
    assert_eq!((ended, state.phase), (Ended::Interrupted, Phase::Interrupted));
    let attempts = world.attempts.load(Ordering::Relaxed);
    assert!(attempts <= 14, "{attempts} were begun, although somebody said to stop after ten");
}

/// What this thread has used of the processor, in nanoseconds.
fn used() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok()
}

/// What one task of so many costs, the best of two runs.
fn cost_of_one(count: u64) -> Option<u64> {
    let once = || {
        let before = used()?;
        all_done(count, |_| Vec::new());
        Some((used()? - before) / count)
    };
    (0..2).map(|_| once()).min().flatten()
}

// EXE-4
#[test]
fn exe_4_a_task_of_a_long_list_costs_about_what_one_of_a_short_list_does() {
    let (Some(short), Some(long)) = (cost_of_one(500), cost_of_one(3_000)) else {
        eprintln!("SKIPPED: the kernel does not tell what a thread has used");
        return;
    };
    println!("a task of 500 costs {short} ns, one of 3000 {long} ns");
    // Where every step looks at every task, it is six times as much.
    assert!(long < short * 2, "{long} ns instead of {short} ns");
}
