//! Attempts that wait for a person: parked, decided, settled, and gone on with.

use aurora_model::{About, GateKind, HowSettled, Known, QuestionId, Usd};

use super::briefs::{Plan, plan, task};
use super::{State, check, state_after};
use crate::machine::TaskStatus;

/// Tells what comes before the first call is asked about, and then the table.
fn after_parking(plan: &Plan, parked: (&str, &str), table: &[(&str, &str)]) {
    let mut whole = vec![
        ("start", "started; q1? preview"),
        ("q1 proceed", "q1=proceed by ann"),
        ("judge a allow", "a judged allow; a.1 by dev at 1"),
        parked,
    ];
    whole.extend_from_slice(table);
    check(plan, &whole);
}

// APR-7
#[test]
fn apr_7_all_gated_calls_of_a_turn_park_and_the_attempt_goes_on_when_each_has_its_result() {
    after_parking(
        &plan("a"),
        ("park a.1 x+y", "a.1 parked 2; q2? operation a x; q3? operation a y"),
        &[
            ("owed", "ask q2; ask q3"),
            ("q3 allow", "q3=allow by ann"),
            ("owed", "ask q2; settle a q3 at 1"),
            ("settle a q3 executed", "a settled q3 executed"),
            ("owed", "ask q2"),
            ("q2 deny", "q2=deny by ann"),
            ("owed", "settle a q2 at 1"),
            ("settle a q2 refused", "a settled q2 refused; a.1 unparked"),
            ("owed", "attempt a.1 at 1"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 allow", "a.1 checked allow"),
            ("adopt a.1", "a done by dev; finished completed"),
        ],
    );
}

// APR-7
#[test]
fn apr_7_a_parked_attempt_frees_its_place_and_keeps_its_desk() {
    after_parking(
        &plan("a, b, c"),
        ("park a.1 x", "a.1 parked 1; q2? operation a x"),
        &[
            ("owed", "ask q2; judge b"),
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("q2 allow", "q2=allow by ann"),
            ("owed", "attempt b.1 at 2; settle a q2 at 1; judge c"),
            ("judge c allow", "c judged allow"),
            ("settle a q2 executed", "a settled q2 executed"),
            // What goes on comes before what is new.
            ("b.1 ok", "b.1 ok"),
            ("check b.1 allow", "b.1 checked allow"),
            ("adopt b.1", "b done by dev; a.1 unparked"),
            ("owed", "attempt a.1 at 1"),
            ("park a.1 y", "a.1 parked 1; q3? operation a y; c.1 by dev at 2"),
        ],
    );
}

// APR-7, APR-6
#[test]
fn apr_7_whatever_is_not_a_yes_never_makes_the_call() {
    for (no, said) in [
        ("q2 deny", "q2=deny by ann"),
        ("q2 request_changes", "q2=request_changes by ann"),
        ("close q2 timed_out", "q2 closed timed_out"),
        ("close q2 cancelled", "q2 closed cancelled"),
    ] {
        let made = "refused: r.q2 was not answered with a yes, and its call was made";
        after_parking(
            &plan("a"),
            ("park a.1 x", "a.1 parked 1; q2? operation a x"),
            &[
                ("settle a q2 executed", "refused: no call of a waits for r.q2"),
                (no, said),
                ("owed", "settle a q2 at 1"),
                ("settle a q2 executed", made),
                ("settle a q2 failed", made),
                ("settle a q2 refused", "a settled q2 refused; a.1 unparked"),
                ("settle a q2 executed", "refused: no call of a waits for r.q2"),
            ],
        );
    }
}

// APR-7
#[test]
fn apr_7_a_call_is_settled_once_and_only_while_it_is_parked() {
    after_parking(
        &plan("a"),
        ("park a.1 x", "a.1 parked 1; q2? operation a x"),
        &[
            ("park a.1 x", "refused: attempt 1 of a is over"),
            ("a.1 ok", "refused: attempt 1 of a is over"),
            ("q2 allow", "q2=allow by ann"),
            ("q2 deny", "refused: r.q2 was answered before: allow, by ann"),
            ("close q2 timed_out", "refused: r.q2 was answered before: allow, by ann"),
            ("settle zz q2 executed", "refused: there is no task zz in this run"),
            ("settle a q9 executed", "refused: no call of a waits for r.q9"),
            ("settle a q2 executed", "a settled q2 executed; a.1 unparked"),
            ("settle a q2 executed", "refused: no call of a waits for r.q2"),
        ],
    );
}

// APR-2, APR-7
#[test]
fn apr_7_where_nobody_can_tell_whether_a_call_was_made_a_person_is_asked() {
    let unknown = ("settle a q2 unknown", "a settled q2 unknown; q3? unknown a q2");
    for (table, owed) in [
        (vec![("q3 done", "q3=done by ann")], "settle a q3 executed"),
        (vec![("q3 retry", "q3=retry by ann")], "settle a q3 failed"),
        (vec![("q3 skip", "q3=skip by ann")], "settle a q3 unknown"),
        (vec![("close q3 timed_out", "q3 closed timed_out")], "settle a q3 unknown"),
    ] {
        let how = owed.rsplit(' ').next().unwrap();
        let settled = format!("a settled q3 {how}; a.1 unparked");
        let mut whole = vec![
            ("q2 allow", "q2=allow by ann"),
            unknown,
            ("owed", "ask q3"),
            ("settle a q2 executed", "refused: no call of a waits for r.q2"),
        ];
        whole.extend(table);
        whole.extend([("owed", "settle a q3 at 1"), (owed, settled.as_str())]);
        after_parking(&plan("a"), ("park a.1 x", "a.1 parked 1; q2? operation a x"), &whole);
    }
    // A second try can be cut off as well.
    let told = ["start", "q1 proceed", "judge a allow", "park a.1 x", "q2 allow"];
    let more = ["settle a q2 unknown", "q3 retry", "settle a q3 unknown", "q4 done"];
    let state = state_after(&plan("a"), &[&told[..], &more].concat());
    let q4 = QuestionId::parse("r.q4").unwrap();
    assert_eq!(state.call_of(&q4).unwrap().call, "x");
    let about = &state.question(&q4).unwrap().question.about;
    assert!(matches!(about, About::Unknown { question, .. } if question.as_str() == "r.q3"));
    assert_eq!(state.call_of(&QuestionId::parse("r.q1").unwrap()), None);
}

// APR-6
#[test]
fn apr_6_a_question_that_nobody_answers_in_time_is_nobodys_no() {
    check(
        &plan("a"),
        &[
            ("start", "started; q1? preview"),
            ("close q1 approved", "refused: r.q1 is not closed by being approved"),
            ("close q9 timed_out", "refused: nobody asked r.q9"),
            ("close q1 timed_out", "q1 closed timed_out; finished aborted"),
            ("q1 proceed", "refused: r.q1 is closed (timed_out): nobody was there"),
        ],
    );
    let late = "a skipped (timed_out)";
    check(
        &plan("a, b, c<a").parallel(2),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a ask", "a judged prompt; q2? policy a"),
            ("close q2 timed_out", &format!("q2 closed timed_out; {late}; c skipped for a")),
            ("judge b allow", "b judged allow; b.1 by dev at 1"),
            ("b.1 ok", "b.1 ok"),
            ("check b.1 ask", "b.1 checked prompt; q3? changes b 3 30"),
            ("close q3 cancelled", "q3 closed cancelled; b skipped (cancelled); finished partial"),
        ],
    );
    check(
        &plan("a").with(|settings| settings.fallback = false),
        &[
            ("start", "started; q1? preview"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
            ("a.2 failed", "a.2 failed; a failed; q2? failure a (dev: broken (attempt 2/2)) +0"),
            ("close q2 timed_out", &format!("q2 closed timed_out; {late}; finished partial")),
        ],
    );
}

// APR-7
#[test]
fn apr_7_parked_attempts_survive_stopping_and_go_on_without_doing_anything_twice() {
    after_parking(
        &plan("a"),
        ("park a.1 x+y", "a.1 parked 2; q2? operation a x; q3? operation a y"),
        &[
            ("q2 allow", "q2=allow by ann"),
            ("interrupt", "stopped by SIGINT"),
            ("owed", ""),
            // What was being done when it was stopped may still be told.
            ("settle a q2 executed", "a settled q2 executed"),
            ("q3 deny", "q3=deny by ann"),
            ("resume", "resumed"),
            ("owed", "settle a q3 at 1"),
            ("settle a q3 refused", "a settled q3 refused; a.1 unparked"),
            // The attempt that went on is cut off: it goes on from where it was parked.
            ("interrupt", "stopped by SIGINT"),
            ("a.1 stopped", "a.1 stopped"),
            ("resume", "resumed; a.1 unparked"),
            ("resume", "a.1 stopped; resumed; a.1 unparked"),
            ("owed", "attempt a.1 at 1"),
            // One that is only stopped can keep what it said.
            ("interrupt", "stopped by SIGINT"),
            ("park a.1", "a.1 parked 0"),
            ("resume", "resumed; a.1 unparked"),
            ("a.1 failed", "a.1 failed; a.2 by dev at 1"),
        ],
    );
}

// APR-7
#[test]
fn apr_7_a_run_that_is_given_up_takes_no_more_results() {
    after_parking(
        &plan("a, b"),
        ("park a.1 x", "a.1 parked 1; q2? operation a x"),
        &[
            ("q2 allow", "q2=allow by ann"),
            ("abandon", "finished aborted"),
            ("owed", ""),
            ("settle a q2 executed", "refused: the run is finished"),
            ("close q2 cancelled", "refused: r.q2 was answered before: allow, by ann"),
        ],
    );
}

// APR-7
#[test]
fn apr_7_a_failure_is_asked_about_while_others_are_parked_and_those_go_on() {
    after_parking(
        &plan("a, b, c").with(|settings| {
            settings.max_attempts = 1;
            settings.fallback = false;
        }),
        ("park a.1 x", "a.1 parked 1; q2? operation a x"),
        &[
            ("judge b allow", "b judged allow; b.1 by dev at 2"),
            ("b.1 failed", "b.1 failed; b failed; q3? failure b (dev: broken (attempt 1/1)) +0"),
            ("q2 allow", "q2=allow by ann"),
            ("owed", "ask q3; settle a q2 at 1"),
            ("settle a q2 executed", "a settled q2 executed; a.1 unparked"),
            ("q3 abort", "q3=abort by ann; stopped by abort"),
            ("a.1 stopped", "a.1 stopped"),
            ("resume", "resumed; a.1 unparked"),
            ("a.1 ok", "a.1 ok"),
            ("check a.1 allow", "a.1 checked allow"),
            ("adopt a.1", "a done by dev; q4? failure b (dev: broken (attempt 1/1)) +0"),
        ],
    );
}

// APR-7
#[test]
fn apr_7_yes_allows_calls_but_not_those_that_need_a_person_and_guesses_no_outcome() {
    check(
        &plan("a").yes(),
        &[
            ("start", "started; q1? preview; q1=proceed by --yes"),
            ("judge a allow", "a judged allow; a.1 by dev at 1"),
            (
                "park a.1 x!+y",
                "a.1 parked 2; q2? operation a x; q3? operation a y; q3=allow by --yes",
            ),
            ("owed", "ask q2; settle a q3 at 1"),
            ("settle a q3 unknown", "a settled q3 unknown; q4? unknown a q3; q4=skip by --yes"),
            (
                "settle a q4 executed",
                "refused: r.q4 was not answered with a yes, and its call was made",
            ),
            ("settle a q4 unknown", "a settled q4 unknown"),
            ("q2 allow", "q2=allow by ann"),
            ("settle a q2 executed", "a settled q2 executed; a.1 unparked"),
        ],
    );
}

// APR-7
#[test]
fn apr_7_yes_does_not_answer_at_gates_that_are_for_people_only() {
    let people = plan("a").yes().with(|settings| settings.people_only = vec![GateKind::Preview]);
    let state = state_after(&people, &["start"]);
    assert!(state.open_questions().all(|one| one.needs_person));
    check(
        &people,
        &[
            ("start", "started; q1? preview"),
            ("owed", "ask q1"),
            ("q1 proceed", "q1=proceed by ann"),
            ("judge a ask", "a judged prompt; q2? policy a; q2=allow by --yes; a.1 by dev at 1"),
        ],
    );
}

/// What the first attempt of `a` has cost in millionths, how well that is known, and how long it took.
fn cost(state: &State) -> (Usd, Known, u64) {
    let attempt = &state.task(&task("a")).unwrap().attempts[0];
    (attempt.cost.usd, attempt.cost.known, attempt.millis)
}

// APR-7
#[test]
fn apr_7_what_an_attempt_cost_adds_up_over_its_parts_and_its_results_are_found() {
    let told = ["start", "q1 proceed", "judge a allow", "park a.1 x+y"];
    let state = state_after(&plan("a"), &told);
    assert_eq!(cost(&state), (Usd { micros: 10 }, Known::Reported, 5));
    let more = ["q2 allow", "q3 deny", "settle a q3 refused", "settle a q2 executed"];
    let told = [&told[..], &more].concat();
    let state = state_after(&plan("a"), &told);
    let a = state.task(&task("a")).unwrap();
    assert!(a.is_busy());
    let conversation = a.conversation.as_ref().unwrap();
    let results: Vec<(&str, HowSettled)> = conversation
        .calls
        .iter()
        .map(|one| (one.call.as_str(), one.settled.as_ref().unwrap().0))
        .collect();
    assert_eq!(results, [("x", HowSettled::Executed), ("y", HowSettled::Refused)]);
    let state = state_after(&plan("a"), &[&told[..], &["park a.1 z"]].concat());
    assert_eq!(cost(&state), (Usd { micros: 20 }, Known::Reported, 10));
    let a = state.task(&task("a")).unwrap();
    assert_eq!(a.status, TaskStatus::Parked { attempt: 1, desk: 1 });
    assert_eq!(a.conversation.as_ref().unwrap().calls.len(), 1);
    let state = state_after(&plan("a"), &[&told[..], &["a.1 ok"]].concat());
    assert_eq!(cost(&state), (Usd { micros: 10 }, Known::Unknown, 12));
    assert_eq!(state.task(&task("a")).unwrap().conversation, None);
}
