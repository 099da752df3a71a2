//! What runs when: dependencies, how many at once, which desk, what must not run beside what.

use super::briefs::{plan, task};
use super::{check, state_after};

// EXE-4
#[test]
fn exe_4_a_task_begins_when_everything_that_it_waits_for_is_done() {
    check(
        &plan("c<a+b, a, b").parallel(5),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", "judge a; judge b"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 allow", "a.1 checked allow"),
            ("adopt a.1", "a done by dev"),
            ("owed", "attempt b.1 at 2"),
            ("b.1 ok", "b.1 ok"),
            ("check b.1 allow", "b.1 checked allow"),
            ("adopt b.1", "b done by dev"),
            ("owed", "judge c"),
        ],
    );
}

// EXE-5
#[test]
fn exe_5_what_was_done_before_is_not_done_again_and_counts_as_done() {
    check(
        &plan("a, b<a").done("a"),
        &[
            ("start", "started; a was done; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", "judge b"),
        ],
    );
    // Nothing is left: nobody is asked.
    check(
        &plan("a, b<a").done("a").done("b"),
        &[("start", "started; a was done; b was done; finished completed")],
    );
}

// EXE-4
#[test]
fn exe_4_no_more_than_max_parallel_run_and_never_fewer_than_one() {
    for (most, expected) in
        [(0, "b judged allow"), (1, "b judged allow"), (2, "b judged allow; b.1 by dev at 2")]
    {
        check(
            &plan("a, b").parallel(most),
            &[
                ("start", "started; q1? preview"),
                ("q1 proceed", "q1=proceed by ann"),
                ("judge a allow", "a judged allow; a.1 by dev at 1"),
                ("judge b allow", expected),
            ],
        );
    }
}

// EXE-4
#[test]
fn exe_4_tasks_that_touch_the_same_files_are_not_run_beside_each_other() {
    for plan in [plan("a, b").apart("a", "b"), plan("a, b").apart("b", "a")] {
        check(
            &plan.parallel(5),
            &[
                ("start", "started; q1? preview"),
                ("q1 proceed", "q1=proceed by ann"),
                ("judge a allow", "a judged allow; a.1 by dev at 1"),
                ("judge b allow", "b judged allow"),
                ("a.1 ok", "a.1 ok"),
                ("check a.1 ask", "a.1 checked prompt; q2? changes a 3 30"),
                ("owed", "ask q2"),
                ("q2 allow", "q2=allow by ann"),
                ("adopt a.1", "a done by dev; b.1 by dev at 1"),
            ],
        );
    }
}

// EXE-4
#[test]
fn exe_4_a_failure_waits_for_a_retry_that_waits_for_held_changes_and_nothing_is_stuck() {
    let plan = plan("a, b, c").parallel(5).apart("b", "c").with(|settings| {
        settings.fallback = false;
        settings.max_attempts = 1;
    });
    check(
        &plan,
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("b.1 ok", "b.1 ok"),
            ("check b.1 ask", "b.1 checked prompt; q2? changes b 3 30"),
            ("a.1 failed", "a.1 failed; a failed; q3? failure a (dev: broken (attempt 1/1)) +0"),
            ("q2 retry", "q2=retry by ann; b.2 by dev at 1"),
            ("b.2 ok", "b.2 ok"),
            ("check b.2 ask", "b.2 checked prompt; q4? changes b 3 30"),
            ("owed", "ask q3; ask q4"),
            ("q3 retry", "q3=retry by ann; a.2 by dev at 2"),
            ("a.2 ok", "a.2 ok"),
            ("judge c allow", "c judged allow"),
            ("owed", "ask q4; check a.2 at 2"),
        ],
    );
}

// EXE-4
#[test]
fn exe_4_a_desk_that_holds_work_is_given_to_nobody_else() {
    check(
        &plan("a, b, c"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge b allow", "b judged allow"),
            ("judge c allow", "c judged allow"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 ask", "a.1 checked prompt; q2? changes a 3 30; b.1 by dev at 2"),
            ("b.1 ok", "b.1 ok"),
            ("check b.1 ask", "b.1 checked prompt; q3? changes b 3 30; c.1 by dev at 3"),
            ("q2 allow", "q2=allow by ann"),
            ("adopt a.1", "a done by dev"),
            ("q3 retry", "q3=retry by ann"),
            ("c.1 failed", "c.1 failed; b.2 by dev at 1"),
        ],
    );
}

// EXE-4
#[test]
fn exe_4_the_expected_scope_is_the_plans_else_the_median_of_at_least_three_done_tasks() {
    let plan = plan("a, b, c, d, e").files("e", 9);
    let mut told = vec!["start".to_owned(), "q1 proceed".to_owned()];
    for (count, id) in ["a", "b", "c"].into_iter().enumerate() {
        let told_now: Vec<&str> = told.iter().map(String::as_str).collect();
        let state = state_after(&plan, &told_now);
        assert_eq!(state.expected(&task("d")), (None, None), "after {count}");
        for word in ["judge X allow", "X.1 ok", "check X.1 allow", "adopt X.1"] {
            told.push(word.replace('X', id));
        }
    }
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let state = state_after(&plan, &told);
    assert_eq!(state.expected(&task("d")), (Some(3), Some(30)));
    assert_eq!(state.expected(&task("e")), (Some(9), Some(30)));
    assert_eq!(state.expected(&task("nobody")), (Some(3), Some(30)));
}
