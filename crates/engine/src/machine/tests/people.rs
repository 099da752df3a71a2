//! What people are asked, and what their answers do.

use aurora_model::About;

use super::briefs::plan;
use super::{check, state_after};

// REV-3
#[test]
fn rev_3_nothing_is_judged_before_the_preview_is_answered_and_proceed_begins() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("owed", "ask q1"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", "judge a"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("owed", "attempt a.1 at 1"),
            ("a.1 ok", "a.1 ok"),
            ("owed", "check a.1 at 1"),
            ("check a.1 allow", "a.1 checked allow"),
            ("owed", "adopt a.1 at 1"),
            ("adopt a.1", "a done by dev; finished completed"),
            ("owed", ""),
        ],
    );
}

// REV-3, REV-4
#[test]
fn rev_3_abort_at_the_preview_ends_the_run_before_anything_is_done() {
    check(
        &plan("a").gap("a", true),
        &[
            ("start", "started; q1? preview"),
            ("q1 abort", "q1=abort by ann; finished aborted"),
            ("owed", ""),
            ("judge a allow", "refused: the run is finished"),
            ("resume", "refused: the run is finished"),
            ("interrupt", "refused: the run is finished"),
        ],
    );
}

// REV-3
#[test]
fn rev_3_the_preview_survives_an_interruption_and_can_be_answered_meanwhile() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("interrupt", "stopped by SIGINT"),
            ("owed", ""),
            ("resume", "resumed"),
            ("owed", "ask q1"),
            ("interrupt", "stopped by SIGINT"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", ""),
            ("resume", "resumed"),
            ("owed", "judge a"),
        ],
    );
}

// REV-4
#[test]
fn rev_4_proceed_fills_a_gap_by_an_agent_made_for_the_role_and_then_by_the_model() {
    check(
        &plan("a").gap("a", true),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev as qa at 1"),
            ("a.1 failed", "a.1 failed; a.2 by dev as qa at 1"),
            ("a.2 slow", "a.2 slow; a.3 by model at 1"),
            ("a.3 ok", "a.3 ok"),
            ("check a.3 allow", "a.3 checked allow"),
            ("adopt a.3", "a done by model; finished completed"),
        ],
    );
}

// REV-4
#[test]
fn rev_4_fallback_asks_the_model_at_once_for_gaps_and_only_for_them() {
    check(
        &plan("a, b").gap("a", true).parallel(2),
        &[
            ("start", "started; q1? preview"),
            ("q1 fallback", "q1=fallback by ann"),
            ("judge a allow", "a judged allow; a.1 by model at 1"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
        ],
    );
}

// REV-4
#[test]
fn rev_4_a_gap_that_nobody_can_fill_is_a_failure_that_says_why() {
    let nobody = plan("a").gap("a", false).with(|settings| settings.model = false);
    let error = "there is no agent qa, and no model is configured";
    check(
        &nobody,
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", &format!("a judged allow; a failed; q2? failure a ({error}) +0")),
            ("q2 retry", &format!("q2=retry by ann; a failed; q3? failure a ({error}) +0")),
            ("q3 skip", &format!("q3=skip by ann; a skipped ({error}); finished partial")),
        ],
    );
    // A gap has nobody but the model, whatever the policy says about falling back.
    let model = plan("a").gap("a", false).with(|settings| settings.fallback = false);
    check(
        &model,
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by model at 1"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_a_task_that_needs_a_yes_is_parked_and_others_go_on() {
    check(
        &plan("a, b, c<a"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", "judge a"),
            ("judge a ask", "a judged prompt; q2? policy a"),
            ("owed", "ask q2; judge b"),
            ("judge b allow", "b judged allow; b.1 by dev at 1"),
            ("b.1 ok", "b.1 ok"),
            ("check b.1 allow", "b.1 checked allow"),
            ("adopt b.1", "b done by dev"),
            ("owed", "ask q2"),
            ("q2 allow", "q2=allow by ann; a.1 by dev at 1"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 allow", "a.1 checked allow"),
            ("adopt a.1", "a done by dev"),
            ("owed", "judge c"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_what_a_person_leaves_out_and_what_the_policy_denies_takes_its_dependents_along() {
    check(
        &plan("a, b<a, c<b, d"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a deny", "a judged deny; a denied; b skipped for a; c skipped for b"),
            ("judge d ask", "d judged prompt; q2? policy d"),
            ("q2 skip", "q2=skip by ann; d skipped (it is risky); finished partial"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_what_a_task_changed_is_held_until_a_person_allows_it() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 ask", "a.1 checked prompt; q2? changes a 3 30"),
            ("owed", "ask q2"),
            ("adopt a.1", "refused: attempt 1 of a is over"),
            ("q2 allow", "q2=allow by ann"),
            ("owed", "adopt a.1 at 1"),
            ("adopt a.1", "a done by dev; finished completed"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_held_changes_can_be_tried_again_left_out_or_kept_for_later() {
    let begin = [
        ("start", "started; q1? preview"),
        ("q1 proceed", "q1=proceed by ann"),
        ("judge a allow", "a judged allow; a.1 by dev at 1"),
        ("a.1 ok", "a.1 ok"),
        ("check a.1 ask", "a.1 checked prompt; q2? changes a 3 30"),
    ];
    let then = |more: &[(&'static str, &'static str)]| {
        check(&plan("a, b<a"), &[&begin[..], more].concat());
    };
    then(&[("q2 retry", "q2=retry by ann; a.2 by dev at 1")]);
    then(&[(
        "q2 skip",
        "q2=skip by ann; a skipped (it is risky); b skipped for a; finished partial",
    )]);
    then(&[
        ("q2 abort", "q2=abort by ann; stopped by abort"),
        ("owed", ""),
        ("resume", "resumed"),
        ("owed", "check a.1 at 1"),
        ("check a.1 ask", "a.1 checked prompt; q3? changes a 3 30"),
    ]);
}

// EXE-6
#[test]
fn exe_6_changes_that_the_policy_denies_are_never_taken_over() {
    check(
        &plan("a, b<a"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 deny", "a.1 checked deny; a denied; b skipped for a; finished partial"),
            ("adopt a.1", "refused: the run is finished"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_abort_at_a_parked_task_stops_and_it_is_judged_again_when_the_run_goes_on() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a ask", "a judged prompt; q2? policy a"),
            ("q2 abort", "q2=abort by ann; stopped by abort"),
            ("resume", "resumed"),
            ("owed", "judge a"),
            ("judge a ask", "a judged prompt; q3? policy a"),
        ],
    );
}

// REV-3
#[test]
fn rev_3_a_second_answer_is_refused_and_says_who_was_first() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            (
                "q1 skip",
                "refused: r.q1 can be answered with proceed, fallback, abort, not with `skip`",
            ),
            ("q2 proceed", "refused: nobody asked r.q2"),
            ("q1 proceed", "q1=proceed by ann"),
            ("q1 abort", "refused: r.q1 was answered before: proceed, by ann"),
            ("judge a deny", "a judged deny; a denied; finished partial"),
            ("q1 abort", "refused: r.q1 was answered before: proceed, by ann"),
        ],
    );
}

// REV-4
#[test]
fn rev_4_the_preview_does_not_offer_a_model_that_is_not_there() {
    check(
        &plan("a").gap("a", true).with(|settings| settings.model = false),
        &[
            ("start", "started; q1? preview"),
            (
                "q1 fallback",
                "refused: r.q1 can be answered with proceed, abort, not with `fallback`",
            ),
            ("q1 proceed", "q1=proceed by ann"),
        ],
    );
}

// EXE-6
#[test]
fn exe_6_a_question_about_changes_says_which_files_and_where_to_look() {
    let told = ["start", "q1 proceed", "judge a allow", "a.1 ok", "check a.1 ask"];
    let state = state_after(&plan("a"), &told);
    let Some(About::Changes { paths, place, .. }) =
        state.open_questions().next().map(|question| &question.about)
    else {
        panic!("nothing is asked")
    };
    assert_eq!(paths, &["+ new.rs", "~ old.rs", "- gone.rs"]);
    assert_eq!(place.as_deref(), Some("/desks/1"));
}

// REV-3, EXE-4, EXE-6
#[test]
fn rev_3_yes_answers_every_question_and_the_log_says_so() {
    let yes = plan("a, b, c").yes().with(|settings| {
        settings.max_attempts = 1;
        settings.model = false;
    });
    check(
        &yes,
        &[
            ("start", "started; q1? preview; q1=proceed by --yes"),
            ("owed", "judge a"),
            ("judge a ask", "a judged prompt; q2? policy a; q2=allow by --yes; a.1 by dev at 1"),
            ("judge b allow", "b judged allow"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 ask", "a.1 checked prompt; q3? changes a 3 30; q3=allow by --yes"),
            ("adopt a.1", "a done by dev; b.1 by dev at 1"),
            (
                "b.1 failed",
                "b.1 failed; b failed; q4? failure b (dev: broken (attempt 1/1)) +0; \
             q4=skip by --yes; b skipped (dev: broken (attempt 1/1))",
            ),
            ("judge c deny", "c judged deny; c denied; finished partial"),
        ],
    );
}

// REV-3
#[test]
fn rev_3_a_plan_is_written_after_a_yes_and_nothing_else_is_done() {
    check(
        &plan("a, b<a").goals(),
        &[
            ("start", "started; q1? preview"),
            ("written", "refused: no plan is to be written now"),
            ("q1 proceed", "q1=proceed by ann"),
            ("owed", "write"),
            ("interrupt", "stopped by SIGINT"),
            ("resume", "resumed"),
            ("owed", "write"),
            ("written", "written; finished completed"),
            ("written", "refused: the run is finished"),
        ],
    );
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("written", "refused: no plan is to be written now"),
        ],
    );
    check(
        &plan("a").goals().yes(),
        &[("start", "started; q1? preview; q1=proceed by --yes"), ("owed", "write")],
    );
    check(
        &plan("a").goals(),
        &[("start", "started; q1? preview"), ("q1 abort", "q1=abort by ann; finished aborted")],
    );
}

// EXE-5
#[test]
fn exe_5_a_run_that_is_given_up_is_finished_for_good() {
    check(
        &plan("a"),
        &[
            ("abandon", "refused: the run has not begun"),
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("abandon", "finished aborted"),
            ("owed", ""),
            ("a.1 ok", "refused: the run is finished"),
            ("resume", "refused: the run is finished"),
            ("abandon", "refused: the run is finished"),
        ],
    );
}
