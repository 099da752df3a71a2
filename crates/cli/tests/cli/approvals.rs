//! `aur approvals`: what runs ask, answered from another terminal.

mod agents;
mod asking;
mod gates;
mod queue;
mod remote;
mod suggest;
mod terminal;

use aurora_engine::driver::stream_of;
use insta::assert_snapshot;

use self::asking::me;
use crate::harness::{Run, World};
use crate::log;

fn world() -> World {
    let world = World::with_commit();
    let store = log::store(&world);
    log::begin(&store, "spawn-1");
    log::begin(&store, "spawn-2");
    log::ask_about_policy(&store, "spawn-2");
    world
}

/// What was said, with whoever runs this under another name.
fn shown(run: &Run) -> String {
    run.shown().replace(&me(), "[ME]")
}

/// OBS-1: every open question of every run, with what a person needs.
#[test]
fn open_questions_of_all_runs_are_listed_and_shown() {
    let world = world();
    let list = world.run(&["approvals", "list", "--json"]).json();
    let ids: Vec<&str> = list["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&"spawn-1.q1") && ids.contains(&"spawn-2.q2"), "{ids:?}");
    let text = world.run(&["approvals", "list"]).stdout;
    assert!(text.contains("may sg-1 (drop the old table) begin?"), "{text}");
    assert_snapshot!(shown(&world.run(&["approvals", "show", "spawn-2.q2"])), @r"
    exit: 0
    ----- stdout -----
    may sg-1 (drop the old table) begin?
      run      spawn-2: tidy up
      asked    2026-11-18 00:00 UTC
      reason   the task speaks of dropping a table
               rule destructive.drop_table, from built-in defaults
               instead: rename it first
      options  allow | skip | abort
    aur approvals answer spawn-2.q2 CHOICE
    ");
    let empty = World::with_commit();
    assert_eq!(empty.run(&["approvals", "list"]).stdout, "no question waits for an answer\n");
    assert!(!empty.path("repo/.aurora").exists());
}

/// OBS-1: an answer is recorded with who gave it, from where and why; the first one counts.
#[test]
fn a_question_is_answered_once_and_it_is_recorded_by_whom() {
    let world = world();
    let args = ["approvals", "answer", "spawn-2.q2", "allow", "--reason", "it is empty"];
    assert_snapshot!(shown(&world.run(&args)), @r"
    exit: 0
    ----- stdout -----
    answered: allow, by [ME]
    nobody drives the run now; `aur spawn --resume spawn-2` goes on with it
    ");
    assert_snapshot!(shown(&world.run(&args)), @r"
    exit: 3
    ----- stderr -----
    error: spawn-2.q2 was answered before: allow, by [ME]
    ");
    assert_snapshot!(shown(&world.run(&["approvals", "show", "spawn-2.q2"])), @r"
    exit: 0
    ----- stdout -----
    may sg-1 (drop the old table) begin?
      run      spawn-2: tidy up
      asked    2026-11-18 00:00 UTC
      reason   the task speaks of dropping a table
               rule destructive.drop_table, from built-in defaults
               instead: rename it first
      answered allow, by [ME] (command)
               it is empty
    ");
    let told = world.run(&["audit", "show", "--kind", "question_answered", "--json"]).json_lines();
    let last = told.last().unwrap();
    assert_eq!(last["payload"]["answerer"]["by"], me());
    assert_eq!(last["payload"]["answerer"]["surface"], "command");
    assert_eq!(last["payload"]["answerer"]["reason"], "it is empty");
    assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
}

/// OBS-1: what cannot be answered says so in one line.
#[test]
fn wrong_questions_and_choices_are_refused() {
    let world = world();
    assert_snapshot!(world.run(&["approvals", "answer", "spawn-1.q9", "skip"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no question `spawn-1.q9`
    hint: `aur approvals list` shows those that wait for an answer
    ");
    assert_eq!(world.run(&["approvals", "answer", "nonsense", "skip"]).code, Some(2));
    assert_eq!(world.run(&["approvals", "show", "spawn-9.q1"]).code, Some(2));
    assert_snapshot!(world.run(&["approvals", "answer", "spawn-1.q1", "allow"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: spawn-1.q1 can be answered with proceed, abort, not with `allow`
    ");
    assert_snapshot!(world.run(&["approvals", "answer", "spawn-1.q1", "maybe"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: spawn-1.q1 can be answered with proceed, abort, not with `maybe`
    ");
    assert_snapshot!(shown(&world.run(&["approvals", "answer", "spawn-1.q1", "abort"])), @r"
    exit: 0
    ----- stdout -----
    answered: abort, by [ME]
    ");
    assert_eq!(world.run(&["approvals", "answer", "spawn-1.q1", "proceed"]).code, Some(3));
}

/// OBS-1: while somebody drives the run, nobody is told to resume it.
#[test]
fn an_answer_to_a_run_that_is_driven_needs_no_resume() {
    let world = world();
    let store = log::store(&world);
    let _claim = log::wait(store.claim(&stream_of(&log::run_id("spawn-2")))).unwrap();
    let run = world.run(&["approvals", "answer", "spawn-2.q2", "skip", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.json()["driven"], true);
    assert_eq!(run.json()["resume"], serde_json::Value::Null);
}
