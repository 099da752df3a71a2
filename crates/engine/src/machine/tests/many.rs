//! Long lists: nothing is owed all at once, and whatever spreads, spreads without a look at everything.

use std::sync::Arc;

use aurora_model::Event;

use super::briefs::{Plan, plan};
use super::{log_of, never_stuck, state_after, words};
use crate::machine::{Effect, State, TaskStatus, apply, decide, owed};

/// So many tasks are a long list, and more than three leaves of a roll.
const MANY: usize = 200;

fn list(on: impl Fn(usize) -> String) -> Plan {
    let tasks: Vec<String> = (0..MANY).map(|number| format!("t{number}{}", on(number))).collect();
    plan(&tasks.join(", "))
}

// EXE-2
#[test]
fn exe_2_no_more_is_judged_at_once_than_can_be_done_at_once() {
    let plan = list(|_| String::new()).parallel(3);
    let mut state = state_after(&plan, &["start", "q1 proceed"]);
    // Judging goes on by itself until everything is judged, whatever else happens meanwhile.
    for judged in 0..MANY {
        let owed = owed(&state);
        let judging = owed.iter().filter(|one| matches!(one, Effect::Judge { .. })).count();
        assert_eq!(judging, 3.min(MANY - judged));
        let judge = words::command(&plan, &format!("judge t{judged} allow"));
        let events = decide(&state, &judge).unwrap();
        events.iter().for_each(|event| apply(&mut state, event));
    }
    assert_eq!(owed(&state).len(), 3);
    never_stuck(&state);
}

// EXE-6
#[test]
fn exe_6_many_questions_are_put_a_few_at_a_time_and_every_one_is_found() {
    let plan = list(|_| String::new());
    let mut told = vec!["start".to_owned(), "q1 proceed".to_owned()];
    told.extend((0..MANY).map(|number| format!("judge t{number} ask")));
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let mut state = state_after(&plan, &told);
    assert_eq!((state.open_questions().count(), owed(&state).len()), (MANY, 64));
    for asked in state.questions.iter() {
        assert_eq!(state.question(&asked.question.id), Some(asked));
    }
    let skip = words::command(&plan, "q2 skip");
    decide(&state, &skip).unwrap().iter().for_each(|event| apply(&mut state, event));
    assert_eq!((state.open_questions().count(), owed(&state).len()), (MANY - 1, 64));
}

// EXE-4, EXE-6
#[test]
fn exe_4_what_is_denied_takes_a_long_row_of_dependents_along_in_one_step() {
    let plan = list(|number| match number {
        0 => String::new(),
        _ => format!("<t{}", number - 1),
    });
    let log = log_of(&plan, &["start", "q1 proceed", "judge t0 deny"]);
    let skipped = log[2].iter().filter(|event| matches!(event, Event::TaskSkipped { .. })).count();
    assert_eq!(skipped, MANY - 1);
    never_stuck(&State::of(log.iter().flatten()));
}

// EXE-4
#[test]
fn exe_4_a_task_that_waits_for_a_hundred_others_begins_after_the_last_of_them() {
    let plan = list(|number| {
        let others: Vec<String> = (0..MANY - 1).map(|other| format!("t{other}")).collect();
        if number == MANY - 1 { format!("<{}", others.join("+")) } else { String::new() }
    });
    let mut told = vec!["start".to_owned(), "q1 proceed".to_owned()];
    for number in 0..MANY - 1 {
        for word in ["judge X allow", "X.1 ok", "check X.1 allow", "adopt X.1"] {
            told.push(word.replace('X', &format!("t{number}")));
        }
    }
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let before = state_after(&plan, &told[..told.len() - 1]);
    assert!(!owed(&before).iter().any(|one| matches!(one, Effect::Judge { .. })));
    let after = state_after(&plan, &told);
    assert!(matches!(owed(&after).as_slice(), [Effect::Judge { .. }]));
}

// EXE-5
#[test]
fn exe_5_a_copy_of_a_state_shares_what_is_the_same_and_nothing_else() {
    let plan = list(|_| String::new());
    let state = state_after(&plan, &["start", "q1 proceed"]);
    let mut copy = state.clone();
    let events = decide(&copy, &words::command(&plan, "judge t7 allow")).unwrap();
    events.iter().for_each(|event| apply(&mut copy, event));
    let other = |state: &State, place: usize| state.tasks.get(place).unwrap().status.clone();
    assert_eq!(other(&state, 7), TaskStatus::Waiting);
    assert_ne!(other(&copy, 7), TaskStatus::Waiting);
    let same = |place: usize| {
        std::ptr::eq(state.tasks.get(place).unwrap(), copy.tasks.get(place).unwrap())
    };
    let shared = (0..MANY).filter(|place| same(*place)).count();
    assert_eq!(shared, MANY - 1);
    assert!(Arc::ptr_eq(state.brief.as_ref().unwrap(), copy.brief.as_ref().unwrap()));
    assert_eq!(state.tasks.get(MANY), None);
}
