//! Briefs of chance, and small ones that are always the same.

use aurora_model::run::Place;
use aurora_model::{
    AgentName, Assignment, Brief, Planned, RunId, RunKind, RunSettings, Scope, Task, TaskId,
};

use crate::chance::Chance;

pub fn run() -> RunId {
    RunId::parse("sim").unwrap()
}

fn id(number: u64) -> TaskId {
    TaskId::parse(&format!("t{number}")).unwrap()
}

/// Tasks that wait for what `on` says of each.
pub fn brief(count: u64, mut on: impl FnMut(u64) -> Vec<u64>) -> Brief {
    let agent = AgentName::parse("dev").unwrap();
    let tasks = (0..count).map(|number| Planned {
        task: Task {
            id: id(number),
            title: format!("task {number}"),
            details: String::new(),
            agent: None,
            depends_on: on(number).into_iter().map(id).collect(),
            scope: Scope::default(),
            done: false,
        },
        assignment: Assignment::Agent { agent: agent.clone() },
        apart_from: Vec::new(),
    });
    Brief {
        run: run(),
        goal: "chance".to_owned(),
        plan: None,
        source: None,
        kind: RunKind::Spawn,
        tasks: tasks.collect(),
        place: Place { feature: "f".to_owned(), path: "/w".to_owned(), branch: None },
        policy: None,
        settings: RunSettings {
            max_parallel: 2,
            timeout_seconds: 120,
            max_attempts: 2,
            model: true,
            fallback: true,
            checkpoints: true,
            yes: false,
            people_only: Vec::new(),
            ungated: false,
        },
    }
}

/// One to twenty tasks in any order, with gaps, scopes, things that are done, and any settings.
pub fn by_chance(chance: &mut Chance) -> Brief {
    let count = if chance.one_in(4) { 1 + chance.below(20) } else { 1 + chance.below(8) };
    let dense = 1 + chance.below(6);
    let mut brief =
        brief(count, |number| (0..number).filter(|_| chance.one_in(dense + number / 2)).collect());
    let dev = AgentName::parse("dev").unwrap();
    for planned in &mut brief.tasks {
        if chance.one_in(4) {
            let role = AgentName::parse("qa").unwrap();
            let ad_hoc = (!chance.one_in(3)).then(|| dev.clone());
            planned.assignment = Assignment::Gap { role, ad_hoc };
        }
        if chance.one_in(6) {
            let other = id(chance.below(count));
            planned.apart_from.extend((other != planned.task.id).then_some(other));
        }
        planned.task.done = chance.one_in(12);
        planned.task.scope.files = chance.one_in(5).then_some(3);
    }
    // The order of the file is not the order of the work.
    if chance.one_in(2) {
        brief.tasks.reverse();
    }
    brief.settings.max_parallel = u32::try_from(chance.below(6)).unwrap();
    brief.settings.max_attempts = u32::try_from(chance.below(4)).unwrap();
    brief.settings.model = !chance.one_in(3);
    brief.settings.fallback = !chance.one_in(3);
    brief.settings.yes = chance.one_in(4);
    brief.kind = if chance.one_in(25) { RunKind::Goals } else { RunKind::Spawn };
    brief
}
