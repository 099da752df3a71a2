//! Whatever is told in whatever order: nothing panics, nothing is done twice, and the log is enough.

use aurora_model::{AttemptEnd, Event};

use super::briefs::{plan, task};
use super::{check, log_of, never_stuck, state_after, words};
use crate::machine::{Command, Phase, Refused, State, apply, decide, owed};

/// A run in which everything happens that can.
const EVERYTHING: [&str; 40] = [
    "start",
    "q1 proceed",
    "judge a allow",
    "a.1 failed",
    "interrupt",
    "a.2 stopped",
    "resume",
    "judge b ask",
    "judge c allow",
    "judge e deny",
    "q2 allow",
    "a.3 slow",
    "a.4 failed",
    "b.1 ok",
    "check b.1 ask",
    "c.1 ok",
    "check c.1 allow",
    "conflict c.1",
    "q3 allow",
    "adopt b.1",
    "park c.2 x+y",
    "q4 allow",
    "settle c q4 unknown",
    "close q5 timed_out",
    "q7 retry",
    "settle c q7 executed",
    "settle c q5 timed_out",
    "park c.2 z",
    "interrupt",
    "q8 deny",
    "resume",
    "settle c q8 refused",
    "interrupt",
    "c.2 stopped",
    "resume",
    "c.2 dear",
    "q6 abort",
    "resume",
    "q9 skip",
    "close q10 timed_out",
];

fn everything() -> super::Plan {
    plan("a, b, c, d<a, e").parallel(3)
}

// EXE-5
#[test]
fn exe_5_replaying_any_part_of_a_log_gives_a_state_that_resumes_without_doing_twice() {
    let log = log_of(&everything(), &EVERYTHING);
    assert!(matches!(State::of(log.iter().flatten()).phase, Phase::Finished(_)));
    for cut in 1..log.len() {
        let mut state = State::of(log[..cut].iter().flatten());
        let done: Vec<_> = state.tasks.iter().filter(|one| one.is_over()).cloned().collect();
        let events = decide(&state, &Command::Resume).unwrap();
        events.iter().for_each(|event| apply(&mut state, event));
        never_stuck(&state);
        for task in done {
            assert_eq!(state.task(task.id()).unwrap(), &task, "cut after {cut}");
        }
        for attempted in events.iter().filter_map(|event| match event {
            Event::AttemptStarted { task, attempt, .. } => Some((task, attempt)),
            _ => None,
        }) {
            let attempts = &state.task(attempted.0).unwrap().attempts;
            let alive = attempts.iter().filter(|one| one.ended.is_none()).count();
            assert_eq!((alive, attempts.len()), (1, *attempted.1 as usize));
        }
    }
}

// EXE-5
#[test]
fn exe_5_telling_everything_in_every_state_never_panics_and_never_gets_stuck() {
    let plan = everything();
    let told: Vec<Command> = EVERYTHING.iter().map(|one| words::command(&plan, one)).collect();
    let log = log_of(&plan, &EVERYTHING);
    for cut in 0..=log.len() {
        let state = State::of(log[..cut].iter().flatten());
        for command in &told {
            let Ok(events) = decide(&state, command) else { continue };
            assert!(!matches!(state.phase, Phase::Finished(_)), "finished is final: {command:?}");
            let mut next = state.clone();
            events.iter().for_each(|event| apply(&mut next, event));
            never_stuck(&next);
        }
    }
}

#[test]
fn events_that_fit_no_state_change_nothing_and_never_panic() {
    let log: Vec<Event> = log_of(&everything(), &EVERYTHING).concat();
    // Each event of one run is applied to every state of it, and to none at all.
    for event in &log {
        apply(&mut State::default(), event);
        for cut in 0..log.len() {
            let mut state = State::of(&log[..cut]);
            apply(&mut state, event);
            let _ = owed(&state);
            let _ = decide(&state, &Command::Resume);
        }
    }
    let mut state = State::of(&log[..4]);
    let before = state.clone();
    let end = AttemptEnd::Failed { error: String::new() };
    let (cost, attempt) = (aurora_model::Cost::default(), 9);
    let (task, millis, transcript, base) = (task("zz"), 0, None, None);
    let stray = Event::AttemptEnded { task, attempt, end, cost, millis, transcript, base };
    apply(&mut state, &stray);
    assert_eq!(State { version: before.version, ..state }, before);
}

// EXE-5
#[test]
fn exe_5_late_and_unknown_reports_are_refused() {
    check(
        &plan("a"),
        &[
            ("judge a allow", "refused: the run has not begun"),
            ("resume", "refused: the run has not begun"),
            ("interrupt", "refused: the run has not begun"),
            ("start", "started; q1? preview"),
            ("start", "refused: the run has begun before"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge zz allow", "refused: there is no task zz in this run"),
            ("a.1 ok", "refused: attempt 1 of a is over"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge a deny", "refused: a was judged before"),
            ("zz.1 ok", "refused: there is no task zz in this run"),
            ("a.2 ok", "refused: attempt 2 of a is over"),
            ("check a.1 allow", "refused: attempt 1 of a is over"),
            ("a.1 ok", "a.1 ok"),
            ("a.1 failed", "refused: attempt 1 of a is over"),
            ("check a.1 allow", "a.1 checked allow"),
            ("conflict a.2", "refused: attempt 2 of a is over"),
            ("adopt a.1", "a done by dev; finished completed"),
            ("adopt a.1", "refused: the run is finished"),
            ("resume", "refused: the run is finished"),
        ],
    );
}

// EXE-4
#[test]
fn exe_4_what_can_never_end_is_no_run() {
    let refused = |tasks: &str, why: &str| {
        let command = words::command(&plan(tasks), "start");
        let refused = decide(&State::default(), &command).unwrap_err();
        assert_eq!(refused, Refused::Unsound { what: why.to_owned() }, "{tasks}");
    };
    refused("a, a", "a run needs tasks, each with a name of its own");
    refused("a<b", "a depends on b, which is not there");
    refused("a<a", "a depends on itself, by way of others");
    refused("x, a<c, b<a, c<b", "a depends on itself, by way of others");
    let mut none = plan("a");
    none.brief.tasks.clear();
    assert!(decide(&State::default(), &words::command(&none, "start")).is_err());
}

// EXE-4
#[test]
fn exe_4_a_failure_counts_every_task_that_is_left_and_depends_on_it() {
    let state = state_after(&plan("a, b<a, c<b+a, d"), &["start", "q1 proceed", "judge d deny"]);
    for (id, count) in [("a", 2), ("b", 1), ("c", 0), ("d", 0), ("zz", 0)] {
        assert_eq!(state.dependents(&task(id)), count, "{id}");
    }
}
