//! `aur audit`: the log shown, verified, tampered with, exported.

use std::process::Command;

use aurora_store::{Append, Expected, NewRecord, StreamId};
use insta::assert_snapshot;

use crate::harness::World;
use crate::log::{self, End, NOW};

fn world() -> World {
    let world = World::with_commit();
    let store = log::store(&world);
    log::begin(&store, "spawn-7");
    log::ask_about_policy(&store, "spawn-7");
    log::call(&store, NOW, "spawn-7/sg-1/1", "coder", 0.5, End::Reported(0.25));
    world
}

/// Changes the log behind our back; false where there is nothing to do it with.
fn tamper(world: &World, sql: &str) -> bool {
    let path = world.path("repo/.aurora/aurora.db");
    let Ok(output) = Command::new("sqlite3").arg(&path).arg(sql).output() else {
        eprintln!("SKIPPED: there is no sqlite3 to tamper with");
        return false;
    };
    assert!(output.status.success(), "{sql}: {output:?}");
    true
}

/// OBS-1: records as lines, by run, by kind, the latest.
#[test]
fn the_log_is_shown_by_run_and_by_kind() {
    let world = world();
    assert_snapshot!(world.run(&["audit", "show"]).shown(), @r#"
    exit: 0
    ----- stdout -----
         1  2026-11-18T00:00:00.000Z  run/spawn-7  run_started  brief.run=spawn-7 brief.kind=spawn brief.goal="tidy up" brief.tasks=[2]
         2  2026-11-18T00:00:00.000Z  run/spawn-7  question_asked  question.id=spawn-7.q1 question.about.kind=preview question.options=[2]
         3  2026-11-18T00:00:00.000Z  run/spawn-7  question_answered  question=spawn-7.q1 choice=proceed answerer.by=ada answerer.surface=terminal
         4  2026-11-18T00:00:00.000Z  run/spawn-7  task_judged  task=sg-1 decision=prompt reasons=[1]
         5  2026-11-18T00:00:00.000Z  run/spawn-7  question_asked  question.id=spawn-7.q2 question.about.kind=policy question.about.task=sg-1 question.about.reasons…
         6  2026-11-18T00:00:00.000Z  budget/2026-11  cost_reserved  id=spawn-7/sg-1/1 run=spawn-7 task=sg-1 agent=coder estimate.usd=500000 estimate.known=estimate…
         7  2026-11-18T00:00:00.000Z  budget/2026-11  cost_settled  id=spawn-7/sg-1/1 cost.usd=250000 cost.known=reported cost.model=m-1
    "#);
    let one = world.run(&["audit", "show", "--run", "spawn-7", "--limit", "1", "--json"]);
    let lines = one.json_lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["payload"]["type"], lines[0]["kind"]);
    let kind = world.run(&["audit", "show", "--kind", "cost_settled", "--json"]).json_lines();
    assert_eq!(kind[0]["payload"]["cost"]["usd"], 250_000);
    assert_snapshot!(world.run(&["audit", "show", "--run", "spawn-8"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: the log has no stream run/spawn-8
    hint: `aur audit show` names the stream of each record
    ");
}

/// OBS-1: looking makes no log.
#[test]
fn without_a_log_nothing_is_recorded_yet() {
    let world = World::with_commit();
    for args in [["audit", "show"], ["audit", "verify"]] {
        assert_eq!(world.run(&args).stdout, "nothing recorded yet\n");
    }
    assert_eq!(world.run(&["audit", "export"]).stdout, "");
    assert!(!world.path("repo/.aurora").exists());
    std::fs::remove_dir_all(world.path("repo/.git")).unwrap();
    assert_snapshot!(world.run(&["audit", "show"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no git repository here
    hint: the log belongs to a repository; go into one, or make it with `git init`
    ");
}

/// OBS-1: a whole log, and the head by which it is known again.
#[test]
fn a_whole_log_is_said_to_be_whole_and_names_its_head() {
    let world = world();
    let run = world.run(&["audit", "verify"]);
    assert!(run.stdout.contains("all as they were written"), "{run:?}");
    let head =
        world.run(&["audit", "verify", "--json"]).json()["head"].as_str().unwrap().to_owned();
    log::call(&log::store(&world), NOW, "spawn-7/sg-2/1", "coder", 0.5, End::Open);
    assert_eq!(world.run(&["audit", "verify", "--head", &head]).code, Some(0));
    let other = world.run(&["audit", "verify", "--head", &"0".repeat(64)]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert_eq!(world.run(&["audit", "verify", "--head", "abc"]).code, Some(2));
}

/// OBS-1: whatever is done to the log is found, and where.
#[test]
fn tampering_is_found_and_located() {
    let cases = [
        (
            "a payload",
            "UPDATE records SET payload = replace(payload, 'tidy', 'mess') WHERE position = 1",
        ),
        ("a time", "UPDATE records SET at = at + 1 WHERE position = 3"),
        ("a deletion", "DELETE FROM records WHERE position = 3"),
        (
            "a swap",
            "UPDATE records SET position = 1000 WHERE position = 2;
             UPDATE records SET position = 2 WHERE position = 3;
             UPDATE records SET position = 3 WHERE position = 1000",
        ),
        ("the end", "DELETE FROM records WHERE position = (SELECT max(position) FROM records)"),
    ];
    let mut found = String::new();
    for (name, sql) in cases {
        let world = world();
        if !tamper(&world, sql) {
            return;
        }
        let run = world.run(&["audit", "verify"]);
        assert_eq!(run.code, Some(1), "{name}: {run:?}");
        found.push_str(&format!("{name}\n{}", run.stdout));
    }
    assert_snapshot!(found, @r"
    a payload
    7 records in 2 streams, 1 problem found
      ! position 1, run/spawn-7 version 1: changed after it was recorded
    a time
    7 records in 2 streams, 1 problem found
      ! position 3, run/spawn-7 version 3: changed after it was recorded
    a deletion
    6 records in 2 streams, 2 problems found
      ! position 3: missing
      ! run/spawn-7 version 3: missing before position 4
    a swap
    7 records in 2 streams, 3 problems found
      ! position 2, run/spawn-7 version 3: moved, put in or replaced (2 to 4 does not follow what is before it)
      ! run/spawn-7 version 2: missing before position 2
      ! position 3, run/spawn-7 version 2: stands where version 4 belongs
    the end
    6 records in 2 streams, 1 problem found
      ! position 6, budget/2026-11 version 1: the last one of 2: the end was cut off
    ");
}

/// OBS-1: a log that was cut and made to look whole is found by a head that was noted before.
#[test]
fn a_log_that_was_cut_cleanly_is_found_by_its_head() {
    let world = world();
    let head =
        world.run(&["audit", "verify", "--json"]).json()["head"].as_str().unwrap().to_owned();
    let cut =
        "DELETE FROM records WHERE stream = (SELECT id FROM streams WHERE name LIKE 'budget/%');
               DELETE FROM streams WHERE name LIKE 'budget/%'";
    if !tamper(&world, cut) {
        return;
    }
    assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
    assert_eq!(world.run(&["audit", "verify", "--head", &head]).code, Some(1));
}

/// OBS-1: an export says what it is, and can be verified without the log.
#[test]
fn an_export_is_verified_without_the_log() {
    let world = world();
    let whole = world.run(&["audit", "export"]).stdout;
    let run = world.run(&["audit", "export", "--run", "spawn-7"]).stdout;
    world.write("repo/whole.jsonl", &whole);
    world.write("repo/run.jsonl", &run);
    std::fs::remove_dir_all(world.path("repo/.aurora")).unwrap();
    let verify = |file: &str| world.run(&["audit", "verify", "--file", file]);
    assert_eq!(verify("whole.jsonl").code, Some(0), "{:?}", verify("whole.jsonl"));
    assert_eq!(verify("run.jsonl").code, Some(0), "{:?}", verify("run.jsonl"));
    let lines: Vec<&str> = whole.lines().collect();
    let without = |skip: usize| {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != skip);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    for (name, text) in [
        ("changed", whole.replacen("tidy", "mess", 1)),
        ("without a record", without(3)),
        ("without the last record", without(lines.len() - 2)),
        ("without its end", without(lines.len() - 1)),
        ("with nonsense", whole.replacen("\n", "\nnonsense\n", 1)),
        ("a changed run", run.replacen("tidy", "mess", 1)),
    ] {
        world.write("repo/bad.jsonl", &text);
        assert_eq!(verify("bad.jsonl").code, Some(1), "{name}: {:?}", verify("bad.jsonl"));
    }
    world.write("repo/bad.jsonl", "{}\n");
    assert_eq!(verify("bad.jsonl").code, Some(2));
}

/// OBS-1: whoever follows sees what is recorded afterwards.
#[test]
fn following_shows_what_is_recorded_afterwards() {
    use std::io::{BufRead as _, BufReader};
    let world = world();
    let mut child = world.command(&["audit", "show", "--follow", "--limit", "1"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("cost_settled"), "{first}");
    log::begin(&log::store(&world), "spawn-8");
    let next = lines.next().unwrap().unwrap();
    assert!(next.contains("run/spawn-8  run_started"), "{next}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// OBS-1: a kind that nothing is of is no failure, and is told apart from a log without records.
#[test]
fn a_kind_that_nothing_is_of_is_told() {
    let world = world();
    for more in [&["--json"][..], &[]] {
        let shown = world.run(&[&["audit", "show", "--kind", "nosuch"], more].concat());
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), ""), "{shown:?}");
        assert!(shown.stderr.contains("no record of the kind `nosuch`"), "{shown:?}");
    }
}

/// OBS-1: an export that is not there is a mistake of whoever named it.
#[test]
fn an_export_that_is_not_there_is_wrong_usage() {
    let run = world().run(&["audit", "verify", "--file", "none.jsonl"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("none.jsonl"), "{run:?}");
}

/// OBS-1: what an agent said is a part of what happened.
#[test]
fn a_transcript_that_was_changed_is_found_and_can_be_left_out() {
    let world = world();
    let store = log::store(&world);
    let digest = log::wait(store.put(b"said".to_vec())).unwrap();
    let payload = format!("{{\"type\":\"attempt_ended\",\"transcript\":\"{digest}\"}}");
    let kind = "attempt_ended".to_owned();
    let append = Append {
        stream: StreamId("run/other".to_owned()),
        expected: Expected::Any,
        at: NOW,
        records: vec![NewRecord { kind, schema: 1, payload }],
        outgoing: Vec::new(),
        mark: None,
    };
    log::wait(store.append(append)).unwrap();
    assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
    let (room, name) = digest.as_str().split_at(2);
    let blob = world.path(&format!("repo/.aurora/blobs/{room}/{name}"));
    std::fs::write(&blob, "other").unwrap();
    let found = world.run(&["audit", "verify"]);
    assert_eq!(found.code, Some(1));
    let words = "run/other version 1: what it refers to is lost: ";
    assert!(found.stdout.contains(words), "{}", found.stdout);
    std::fs::remove_file(&blob).unwrap();
    let found = world.run(&["audit", "verify", "--json"]).json();
    assert_eq!(found["findings"][0]["what"], "lost");
    assert_eq!(world.run(&["audit", "verify", "--no-blobs"]).code, Some(0));
}

/// OBS-1, AGT-6: a month's picture is derived, and says nothing that its records do not.
#[test]
fn a_forged_picture_of_a_month_is_found() {
    let world = world();
    let store = log::store(&world);
    let stream = StreamId("budget/2026-11".to_owned());
    let last = log::wait(store.read(&stream, 1, 1)).unwrap().remove(0);
    let forged = aurora_engine::budget::Ledger { version: 2, ..Default::default() };
    let picture = serde_json::json!({"hash": last.hash, "ledger": forged}).to_string();
    log::wait(store.keep_projection(&stream.0, last.position, &picture)).unwrap();
    let found = world.run(&["audit", "verify"]);
    assert_eq!(found.code, Some(1));
    let words = "the picture of budget/2026-11 at version 2 is not what its records make: it says \
                 $0.00 spent and $0.00 reserved, they say $0.25 and $0.00";
    assert!(found.stdout.contains(words), "{}", found.stdout);
}

/// OBS-1: looking at a damaged file comes to an end, and says what is known.
#[test]
fn a_file_that_was_cut_or_emptied_is_told_without_a_hint_at_what_was_done() {
    let world = world();
    drop(log::store(&world));
    let path = world.path("repo/.aurora/aurora.db");
    let whole = std::fs::read(&path).unwrap();
    for keep in [whole.len() - 4096, whole.len() / 2, 5000, 100, 0] {
        std::fs::write(&path, &whole[..keep]).unwrap();
        let found = world.run(&["audit", "verify"]);
        assert_eq!(found.code, Some(1), "{keep}: {}", found.stdout);
        assert!(!found.stderr.contains("aur audit verify"), "{keep}: {}", found.stderr);
        if keep == 0 {
            assert!(found.stderr.contains("is empty: it holds no log"), "{}", found.stderr);
        }
        let export = world.run(&["audit", "export"]);
        assert!(export.stdout.lines().count() < 20, "{keep}");
    }
}

/// APR-5, OBS-1: a broken chain locks the project, once; a person who knows of it raises it again.
#[test]
fn a_broken_chain_locks_the_project() {
    let world = world();
    let lowered = || world.run(&["approvals", "config", "--json"]).json()["lowered"].clone();
    assert_eq!(world.run(&["audit", "verify"]).code, Some(0));
    assert_eq!(lowered(), serde_json::json!([]));
    if !tamper(&world, "UPDATE records SET at = at + 1 WHERE position = 3") {
        return;
    }
    let run = world.run(&["audit", "verify"]);
    assert!(run.stderr.contains("the project is locked"), "{run:?}");
    let now = lowered();
    assert_eq!(
        (&now[0]["scope"], &now[0]["at_most"]),
        (&"project".into(), &"locked".into()),
        "{now}"
    );
    assert!(world.run(&["approvals", "config"]).stdout.contains("project: locked at most"));
    let raise = ["agents", "autonomy", "raise", "project", "full", "--reason", "a disk was bad"];
    assert_eq!(world.run(&raise).code, Some(0));
    assert_eq!(world.run(&["audit", "verify"]).code, Some(1));
    assert_eq!(lowered(), serde_json::json!([]), "it is known");
}
