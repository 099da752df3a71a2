//! What is noticed is told once, however often it is found.

use super::briefs::plan;
use super::{state_after, words};
use crate::machine::{Command, apply, decide};

// EXE-6
#[test]
fn exe_6_what_stands_is_told_once_and_stays_known() {
    let plan = plan("a");
    let begun = ["start", "q1 proceed", "judge a allow"];
    let mut state = state_after(&plan, &begun);
    let mut found = Vec::new();
    for (told, standing) in [
        ("a.1 failed", &["a hook"][..]),
        ("a.2 slow", &["a hook", "a ref"][..]),
        ("a.3 failed", &["a hook", "a ref"][..]),
    ] {
        let mut command = words::command(&plan, told);
        if let Command::AttemptOver { noticed, .. } = &mut command {
            noticed.extend(standing.iter().map(|one| (*one).to_owned()));
        }
        let events = decide(&state, &command).unwrap();
        events.iter().for_each(|event| apply(&mut state, event));
        let events = events.iter().map(words::event);
        found.extend(events.filter(|event| event.starts_with("noticed")));
    }
    assert_eq!(found, ["noticed a hook", "noticed a ref"]);
    assert_eq!(state.noticed, ["a hook", "a ref"]);
}
