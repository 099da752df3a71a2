//! What happens when something goes wrong: attempts, the model, a question, and nothing new.

use super::briefs::plan;
use super::{check, state_after};
use crate::machine::TaskStatus;

const BEGIN: [(&str, &str); 2] =
    [("start", "started; q1? preview"), ("q1 proceed", "q1=proceed by ann")];

fn begun(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&BEGIN[..], more].concat()
}

// AGT-4, EXE-4
#[test]
fn agt_4_attempts_then_the_model_then_a_question_that_names_what_depends_on_it() {
    check(
        &plan("a, b<a, c<b, d").done("d"),
        &[
            ("start", "started; d was done; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
            ("a.2 slow", "a.2 slow; a.3 by model at 1"),
            ("a.3 failed", "a.3 failed; a failed; q2? failure a (the model: broken) +2"),
            ("owed", "ask q2"),
            (
                "q2 skip",
                "q2=skip by ann; a skipped (the model: broken); b skipped for a; c skipped for b; \
             finished partial",
            ),
        ],
    );
}

// AGT-4
#[test]
fn agt_4_the_result_says_which_way_produced_it() {
    let state = state_after(
        &plan("a"),
        &[
            "start",
            "q1 proceed",
            "judge a allow",
            "a.1 slow",
            "a.2 slow",
            "a.3 ok",
            "check a.3 allow",
            "adopt a.3",
        ],
    );
    let TaskStatus::Completed { route, summary, .. } = &state.tasks.get(0).unwrap().status else {
        panic!()
    };
    assert!(route.is_fallback());
    assert_eq!(summary, "did it");
}

// AGT-4
#[test]
fn agt_4_without_a_model_or_without_leave_to_ask_it_the_attempts_are_all_there_is() {
    for plan in [
        plan("a").with(|settings| settings.model = false),
        plan("a").with(|settings| settings.fallback = false),
    ] {
        check(
            &plan,
            &begun(&[
                ("judge a allow", "a judged allow; a.1 by dev at 1"),
                ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
                (
                    "a.2 slow",
                    "a.2 slow; a failed; q2? failure a (dev: timeout after 120s (attempt 2/2)) +0",
                ),
            ]),
        );
    }
}

// EXE-4
#[test]
fn exe_4_retry_gives_all_attempts_again_and_fallback_asks_the_model_once() {
    let plan = plan("a").with(|settings| {
        settings.max_attempts = 1;
        settings.fallback = false;
    });
    let asked = "a failed; q2? failure a (dev: broken (attempt 1/1)) +0";
    check(
        &plan,
        &[
            BEGIN[0],
            BEGIN[1],
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", &format!("a.1 failed; {asked}")),
            ("q2 retry", "q2=retry by ann; a.2 by dev at 1"),
            ("a.2 failed", "a.2 failed; a failed; q3? failure a (dev: broken (attempt 1/1)) +0"),
            ("q3 fallback", "q3=fallback by ann; a.3 by model at 1"),
            ("a.3 failed", "a.3 failed; a failed; q4? failure a (the model: broken) +0"),
            ("q4 fallback", "q4=fallback by ann; a.4 by model at 1"),
            ("a.4 failed", "a.4 failed; a failed; q5? failure a (the model: broken) +0"),
            ("q5 retry", "q5=retry by ann; a.5 by dev at 1"),
        ],
    );
}

// EXE-4
#[test]
fn exe_4_a_model_that_is_not_there_is_not_offered() {
    let plan = plan("a").with(|settings| {
        settings.max_attempts = 1;
        settings.model = false;
    });
    check(
        &plan,
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a failed; q2? failure a (dev: broken (attempt 1/1)) +0"),
            (
                "q2 fallback",
                "refused: r.q2 can be answered with retry, skip, abort, not with `fallback`",
            ),
        ]),
    );
}

// EXE-4
#[test]
fn exe_4_abort_stops_and_the_failure_is_asked_again_when_the_run_goes_on() {
    let plan = plan("a, b").with(|settings| settings.fallback = false);
    let asked = "failure a (dev: broken (attempt 2/2)) +0";
    check(
        &plan,
        &[
            BEGIN[0],
            BEGIN[1],
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
            ("a.2 failed", &format!("a.2 failed; a failed; q2? {asked}")),
            ("q2 abort", "q2=abort by ann; stopped by abort"),
            ("owed", ""),
            ("resume", &format!("resumed; q3? {asked}")),
            ("owed", "ask q3"),
            ("q3 skip", "q3=skip by ann; a skipped (dev: broken (attempt 2/2))"),
            ("owed", "judge b"),
        ],
    );
}

// EXE-4
#[test]
fn exe_4_after_a_failure_nothing_new_starts_what_runs_ends_and_one_failure_at_a_time_is_asked() {
    let plan = plan("a, b, c, d, e").parallel(4).with(|settings| {
        settings.fallback = false;
        settings.max_attempts = 2;
    });
    check(
        &plan,
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("judge c allow", "c judged allow; c.1 by dev at 3"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
            ("a.2 failed", "a.2 failed; a failed"),
            // `d` was being judged: it may not begin; `e` is not even judged.
            ("owed", "attempt b.1 at 2; attempt c.1 at 3"),
            ("judge d allow", "d judged allow"),
            // Recovery of what was running goes on.
            ("b.1 failed", "b.1 failed; b.2 by dev at 1"),
            ("c.1 ok", "c.1 ok"),
            ("b.2 failed", "b.2 failed; b failed"),
            ("check c.1 allow", "c.1 checked allow"),
            ("adopt c.1", "c done by dev; q2? failure a (dev: broken (attempt 2/2)) +0"),
            ("owed", "ask q2"),
            (
                "q2 skip",
                "q2=skip by ann; a skipped (dev: broken (attempt 2/2)); \
                 q3? failure b (dev: broken (attempt 2/2)) +0",
            ),
            ("owed", "ask q3"),
            ("q3 retry", "q3=retry by ann; b.3 by dev at 1; d.1 by dev at 2"),
            ("owed", "attempt b.3 at 1; attempt d.1 at 2; judge e"),
        ]),
    );
}

// EXE-4
#[test]
fn exe_4_a_retry_runs_before_the_next_failure_is_asked() {
    let plan = plan("a, b").parallel(2).with(|settings| {
        settings.fallback = false;
        settings.max_attempts = 1;
    });
    check(
        &plan,
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("a.1 failed", "a.1 failed; a failed"),
            ("b.1 failed", "b.1 failed; b failed; q2? failure a (dev: broken (attempt 1/1)) +0"),
            ("q2 retry", "q2=retry by ann; a.2 by dev at 1"),
            ("owed", "attempt a.2 at 1"),
            ("a.2 ok", "a.2 ok"),
            ("check a.2 allow", "a.2 checked allow"),
            ("adopt a.2", "a done by dev; q3? failure b (dev: broken (attempt 1/1)) +0"),
        ]),
    );
}

// EXE-4
#[test]
fn exe_4_a_parked_task_may_be_answered_beside_a_failure_and_waits_for_it() {
    let plan = plan("a, b").with(|settings| {
        settings.fallback = false;
        settings.max_attempts = 1;
    });
    check(
        &plan,
        &begun(&[
            ("judge b ask", "b judged prompt; q2? policy b"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a failed; q3? failure a (dev: broken (attempt 1/1)) +0"),
            ("owed", "ask q2; ask q3"),
            ("q2 allow", "q2=allow by ann"),
            ("owed", "ask q3"),
            ("q3 skip", "q3=skip by ann; a skipped (dev: broken (attempt 1/1)); b.1 by dev at 1"),
        ]),
    );
}

// EXE-5
#[test]
fn exe_5_work_that_conflicts_is_done_again_on_what_is_there_now() {
    check(
        &plan("a"),
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 allow", "a.1 checked allow"),
            ("conflict a.1", "a.1 conflict; a.2 by dev at 1"),
            ("a.2 ok", "a.2 ok"),
            ("check a.2 allow", "a.2 checked allow"),
            ("conflict a.2", "a.2 conflict; a.3 by model at 1"),
            ("a.3 ok", "a.3 ok"),
            ("check a.3 allow", "a.3 checked allow"),
            ("conflict a.3", "a.3 conflict; a failed; q2? failure a (the model: conflict in x) +0"),
        ]),
    );
}

// AGT-4
#[test]
fn agt_4_what_is_over_budget_is_not_tried_again_until_a_person_says_so() {
    check(
        &plan("a"),
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 dear", "a.1 dear; a failed; q2? failure a (too dear) +0"),
            ("q2 fallback", "q2=fallback by ann; a.2 by model at 1"),
            ("a.2 dear", "a.2 dear; a failed; q3? failure a (the model: too dear) +0"),
            ("q3 retry", "q3=retry by ann; a.3 by dev at 1"),
        ]),
    );
}

// EXE-5, AGT-4
#[test]
fn exe_5_interrupted_attempts_do_not_count() {
    check(
        &plan("a"),
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
            ("interrupt", "stopped by SIGINT"),
            ("owed", ""),
            ("a.2 stopped", "a.2 stopped"),
            ("resume", "resumed; a.3 by dev at 1"),
            // The power went off: nobody told how it ended.
            ("resume", "a.3 stopped; resumed; a.4 by dev at 1"),
            ("a.3 ok", "refused: attempt 3 of a is over"),
            ("a.4 failed", "a.4 failed; a.5 by model at 1"),
        ]),
    );
}

// EXE-5
#[test]
fn exe_5_what_ends_well_after_an_interruption_is_not_done_again() {
    check(
        &plan("a"),
        &begun(&[
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("interrupt", "stopped by SIGINT"),
            ("a.1 ok", "a.1 ok"),
            ("resume", "resumed"),
            ("owed", "check a.1 at 1"),
            ("check a.1 allow", "a.1 checked allow"),
            ("interrupt", "stopped by SIGINT"),
            ("resume", "resumed"),
            ("owed", "adopt a.1 at 1"),
            ("interrupt", "stopped by SIGINT"),
            ("adopt a.1", "a done by dev"),
            ("resume", "resumed; finished completed"),
        ]),
    );
}
