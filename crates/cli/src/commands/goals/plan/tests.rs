//! Plans appear whole and once, whatever was there before.

use aurora_model::run::Place;
use aurora_model::{Event, RunKind, RunSettings, Task, TaskId};

use super::*;

fn state(run: &str, goal: &str) -> State {
    let task = Task {
        id: TaskId::parse("sg-1").unwrap(),
        title: "Do it".to_owned(),
        details: String::new(),
        agent: AgentName::parse("sql-expert"),
        depends_on: Vec::new(),
        scope: Default::default(),
        done: false,
    };
    let role = AgentName::parse("sql-expert").unwrap();
    let assignment = Assignment::Gap { role, ad_hoc: None };
    let brief = Brief {
        run: RunId::parse(run).unwrap(),
        kind: RunKind::Goals,
        goal: goal.to_owned(),
        plan: None,
        source: None,
        tasks: vec![Planned { task, assignment, apart_from: Vec::new() }],
        place: Place { feature: "f".to_owned(), path: String::new(), branch: None },
        policy: None,
        settings: RunSettings {
            max_parallel: 1,
            timeout_seconds: 1,
            max_attempts: 1,
            model: false,
            fallback: false,
            checkpoints: false,
            yes: false,
            people_only: Vec::new(),
            ungated: false,
        },
    };
    State::of(&[Event::RunStarted { brief }])
}

/// EXE-1: a crash after the plan appeared and before the log says so leads to no second one.
#[test]
fn the_same_run_writes_its_plan_once() {
    let folder = std::env::temp_dir().join(format!("aur-plans-{}", std::process::id()));
    let plans = Plans::below(&folder);
    let first = plans.write(&state("goals-1", "Add caching")).unwrap();
    assert!(first.ends_with("plans/0001-add-caching"), "{first:?}");
    assert_eq!(plans.write(&state("goals-1", "Add caching")).unwrap(), first);
    let second = plans.write(&state("goals-2", "Add caching")).unwrap();
    assert!(second.ends_with("plans/0002-add-caching"), "{second:?}");
    // What a crash left half-done is nobody's, and other folders are not counted.
    std::fs::create_dir_all(folder.join("plans/.0003-.new/x")).unwrap();
    std::fs::create_dir_all(folder.join("plans/notes")).unwrap();
    let third = plans.write(&state("goals-3", "???")).unwrap();
    assert!(third.ends_with("plans/0003"), "{third:?}");
    let text = std::fs::read_to_string(third.join(TASKS)).unwrap();
    assert!(text.contains("agent: sql-expert"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}
