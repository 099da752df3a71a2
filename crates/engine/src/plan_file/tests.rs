//! Plans come back from their files as they were written.

use super::*;
use crate::task_file;

fn planned(id: &str, title: &str, details: &str, after: &[&str], scope: Scope) -> Planned {
    let agent = AgentName::parse("perf").unwrap();
    Planned {
        task: Task {
            id: TaskId::parse(id).unwrap(),
            title: title.to_owned(),
            details: details.to_owned(),
            agent: None,
            depends_on: after.iter().map(|id| TaskId::parse(id).unwrap()).collect(),
            scope,
            done: false,
        },
        assignment: Assignment::Gap { role: agent, ad_hoc: None },
        apart_from: Vec::new(),
    }
}

fn plan(goal: &str, tasks: &[Planned]) -> Plan {
    let made = Timestamp { unix_ms: 1_768_386_600_000 };
    Plan::new(plan_id(4, goal).unwrap(), goal, made, tasks)
}

fn scope() -> Scope {
    let paths = ["src/a.rs", "b/*.rs", "with, comma; \"q\" --> \\ x", "3", "größe"];
    Scope {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        files: Some(3),
        lines: Some(200),
    }
}

/// EXE-1: the plan's files, in full.
#[test]
fn a_plan_is_written_for_programs_and_for_people() {
    let scope = Scope { paths: vec!["src/*.rs".into()], files: None, lines: Some(200) };
    let tasks = [
        planned("sg-1", "Profile indexing", "Use perf.\n\n- twice", &[], Scope::default()),
        planned("sg-2", "Make it fast", "", &["sg-1"], scope),
    ];
    let plan = plan("Add caching", &tasks);
    assert_eq!(
        plan.to_tasks_md(),
        "---\nplan: 0004-add-caching\n---\n\n# Add caching\n\n- [ ] Profile indexing\n  <!-- id: sg-1; \
         agent: perf -->\n\n  Use perf.\n\n  - twice\n\n- [ ] Make it fast\n  <!-- id: sg-2; agent: \
         perf; depends-on: sg-1; files: src/*.rs; lines: 200 -->\n"
    );
    let json: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    let expected = serde_json::json!({
        "format": 1,
        "plan_id": "0004-add-caching",
        "goal": "Add caching",
        "created_at": "2026-01-14T10:30:00.000Z",
        "subgoals": [
            {"id": "sg-1", "title": "Profile indexing", "description": "Use perf.\n\n- twice",
             "agent": "perf", "gap": true, "depends_on": [], "expected_scope": {}},
            {"id": "sg-2", "title": "Make it fast", "description": "", "agent": "perf", "gap": true,
             "depends_on": ["sg-1"], "expected_scope": {"paths": ["src/*.rs"], "lines": 200}},
        ],
    });
    assert_eq!(json, expected);
    assert_eq!(Plan::from_json(&plan.to_json()), Ok(plan.clone()));
    let later = plan.to_json().replacen("\"format\": 1", "\"format\": 2", 1);
    assert!(Plan::from_json(&later).unwrap_err().contains("newer"));
}

/// EXE-1: whatever a model writes into a plan, the tasks file reads back as the same tasks.
#[test]
fn hostile_texts_read_back_as_the_same_tasks() {
    let texts = [
        "plain",
        "[ ] boxed",
        "- [ ] nested",
        "  1. [x] deeper\n- [ ] more",
        "<!-- id: evil -->",
        "```\nopen fence",
        "<pre>\nopen",
        "# heading\n---\ntext",
        "a\r\nb\rc",
        "\tcode\n\n\tmore",
        "    code first",
        "> quote\n> - [ ] q",
        "- - [ ] two",
        "trailing  \n\n\n",
        "--> <!--\n<!--\n-->",
        "`<!-- x -->` ``",
        "- []x\n- [] y\n- [ ]z",
        "~~~\n- [ ] x",
        "漢字\n👩‍💻",
        "1.",
        "-",
        "***",
    ];
    for first in texts {
        for second in texts {
            let tasks = [
                planned("sg-1", &format!("T {first}"), second, &[], scope()),
                planned("sg-2", second, first, &["sg-1"], Scope::default()),
            ];
            let plan = plan("Goal #", &tasks);
            let text = plan.to_tasks_md();
            let file = task_file::read(&text, "tasks.md").unwrap_or_else(|why| {
                panic!("{why:?}\n{text}");
            });
            assert_eq!(file.tasks, plan.tasks(), "{text}");
            assert_eq!((file.plan, file.goal.as_str()), (Some(plan.plan_id.clone()), "Goal"));
        }
    }
}

#[test]
fn plans_are_counted_up() {
    assert_eq!(next_number([]), 1);
    assert_eq!(next_number(["0004-add-caching", "0011", "x", "99-no", "12345-z"]), 12_346);
    assert_eq!(plan_id(4, "Add caching!").unwrap().as_str(), "0004-add-caching");
    assert_eq!(plan_id(12, "漢字").unwrap().as_str(), "0012");
}
