//! The machine by tables: what is told, what follows.

mod briefs;
mod failures;
mod many;
mod noticed;
mod order;
mod parking;
mod people;
mod sound;
mod words;

use aurora_model::Event;

use super::roll::Tags;
use super::{Phase, State, TaskState, apply, decide, owed, tags};
use briefs::Plan;

/// Tells a fresh machine one thing after the other, in the words of `words`, and checks what follows
/// from each. The word `owed` tells nothing: what is owed then is checked.
fn check(plan: &Plan, table: &[(&str, &str)]) {
    let mut state = State::default();
    for (told, expected) in table {
        let found = if *told == "owed" {
            let owed: Vec<String> = owed(&state).iter().map(words::effect).collect();
            owed.join("; ")
        } else {
            tell(&mut state, plan, told)
        };
        assert_eq!(found, *expected, "after `{told}`");
        never_stuck(&state);
    }
}

/// The state after all of this, none of which is refused.
fn state_after(plan: &Plan, told: &[&str]) -> State {
    let mut state = State::default();
    for told in told {
        let said = tell(&mut state, plan, told);
        assert!(!said.starts_with("refused"), "{told}: {said}");
        never_stuck(&state);
    }
    state
}

fn tell(state: &mut State, plan: &Plan, told: &str) -> String {
    match decide(state, &words::command(plan, told)) {
        Ok(events) => {
            events.iter().for_each(|event| apply(state, event));
            let events: Vec<String> = events.iter().map(words::event).collect();
            events.join("; ")
        }
        Err(refused) => format!("refused: {refused}"),
    }
}

/// A run that is open owes something: there is no state in which nothing can happen any more.
fn never_stuck(state: &State) {
    assert!(state.phase != Phase::Open || !owed(state).is_empty(), "stuck: {state:#?}");
    let mut desks: Vec<u32> = state.tasks.iter().filter_map(TaskState::desk).collect();
    let all = desks.len();
    desks.sort_unstable();
    desks.dedup();
    assert_eq!(desks.len(), all, "two tasks share a desk: {state:#?}");
    counts_agree(state);
}

/// What is counted along the way is what counting everything gives.
fn counts_agree(state: &State) {
    for task in state.tasks.iter() {
        let on: Vec<_> = task.planned.task.depends_on.iter().map(|on| state.task(on)).collect();
        let missing = on.iter().filter(|on| !on.is_some_and(TaskState::is_done)).count();
        let lost = on.iter().filter(|on| on.is_none_or(|on| on.is_over() && !on.is_done()));
        assert_eq!((task.missing as usize, task.lost as usize), (missing, lost.count()));
        assert_eq!(task.tags, tags::of(task, state.brief.as_deref(), state.gaps));
        assert_eq!(state.is_ready(task), missing == 0);
    }
    for tag in (0..16).map(Tags::one) {
        let has = |task: &&TaskState| task.tags.and(tag) == task.tags;
        let found: Vec<_> = state.tasks.tagged(tag).map(TaskState::id).collect();
        let all: Vec<_> = state.tasks.iter().filter(has).map(TaskState::id).collect();
        assert_eq!((found.len(), found), (state.tasks.count(tag), all));
    }
    let open = state.questions.iter().filter(|asked| asked.is_open()).count();
    assert_eq!(state.open_questions().count(), open);
}

/// The appends of a whole run, as they would be in its log.
fn log_of(plan: &Plan, told: &[&str]) -> Vec<Vec<Event>> {
    let mut state = State::default();
    let mut log = Vec::new();
    for told in told {
        let events = decide(&state, &words::command(plan, told)).unwrap();
        events.iter().for_each(|event| apply(&mut state, event));
        log.push(events);
    }
    log
}
