//! Tasks at the same time: kept apart where they touch the same files, merged where they do not.

use serde_json::Value;

use super::{Scratch, Told};

fn version(event: &Value) -> u64 {
    event["version"].as_u64().unwrap()
}

/// Whether two tasks were ever at work at the same time.
fn overlap(told: &Told, a: &str, b: &str) -> bool {
    let span = |task: &str| {
        let first = told.of("attempt_started").find(|event| event["task"] == task).unwrap();
        (version(first), version(told.the("task_completed", task)))
    };
    let (a, b) = (span(a), span(b));
    a.0 < b.1 && b.0 < a.1
}

/// EXE-2: two tasks that change the same lines: the second is done again on top of the first.
#[test]
fn two_tasks_that_change_the_same_lines_both_end_up() {
    let scenario = "tasks:\n  a: [{append: {path: src/a.txt, text: \"a\\n\"}}, {wait_ms: 700}]\n  \
                    b: [{append: {path: src/a.txt, text: \"b\\n\"}}, {wait_ms: 700}]\n";
    let tasks = "# Clash\n- [ ] A <!-- id: a -->\n- [ ] B <!-- id: b -->\n";
    let scratch = Scratch::new(scenario, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert!(overlap(&told, "a", "b"), "{told:#?}");
    let clashes: Vec<&Value> = told.of("adoption_failed").collect();
    assert_eq!(clashes.len(), 1, "{clashes:#?}");
    assert!(clashes[0]["conflicts"][0].as_str().unwrap().contains("src/a.txt"), "{clashes:#?}");
    let text = scratch.work("clash", "src/a.txt");
    assert!(["a\nb\n", "b\na\n"].contains(&text.trim_start_matches("one\ntwo\nthree\n")), "{text}");
}

/// EXE-2: tasks that say that they touch the same files never run at the same time.
#[test]
fn tasks_that_declare_the_same_files_are_kept_apart() {
    let scenario = "tasks:\n  a: [{append: {path: src/a.txt, text: \"a\\n\"}}, {wait_ms: 100}]\n  \
                    b: [{append: {path: src/a.txt, text: \"b\\n\"}}, {wait_ms: 100}]\n  \
                    c: [{wait_ms: 100}]\n";
    let tasks = "# Apart\n- [ ] A <!-- id: a, files: src/a.txt -->\n\
                 - [ ] B <!-- id: b, files: src/*.txt -->\n- [ ] C <!-- id: c -->\n";
    let scratch = Scratch::new(scenario, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert!(!overlap(&told, "a", "b"), "{told:#?}");
    assert_eq!(told.of("adoption_failed").count(), 0, "{told:#?}");
    // Which of the two is judged first is not said.
    let work = scratch.work("apart", "src/a.txt");
    let either = ["one\ntwo\nthree\na\nb\n", "one\ntwo\nthree\nb\na\n"];
    assert!(either.contains(&work.as_str()), "{work}");
    let shown = scratch.shown(&["spawn", "../tasks.md", "--dry-run"]);
    assert!(shown.stdout.contains("a") && shown.code == Some(0), "{shown:?}");
}

/// EXE-2: changes to different lines of one file are merged, without a second attempt.
#[test]
fn changes_to_different_lines_are_merged() {
    let lines: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let scenario = "tasks:\n  a: [{replace: {path: long.txt, find: \"line 2\\n\", with: \"A\\n\"}}, {wait_ms: 500}]\n  \
                    b: [{replace: {path: long.txt, find: \"line 18\\n\", with: \"B\\n\"}}, {wait_ms: 500}]\n";
    let tasks = "# Merge\n- [ ] A <!-- id: a -->\n- [ ] B <!-- id: b -->\n";
    let scratch = Scratch::new(scenario, tasks);
    scratch.world.write("repo/long.txt", &lines);
    scratch.world.git(&["add", "long.txt"]);
    scratch.world.git(&["commit", "--quiet", "-m", "long"]);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert!(overlap(&told, "a", "b"), "{told:#?}");
    assert_eq!(told.of("adoption_failed").count(), 0, "{told:#?}");
    let expected = lines.replace("line 2\n", "A\n").replace("line 18\n", "B\n");
    assert_eq!(scratch.work("merge", "long.txt"), expected);
}

/// EXE-2: no more tasks at once than was said.
#[test]
fn no_more_tasks_run_at_once_than_was_said() {
    let tasks: String = (1..=6).map(|n| format!("- [ ] T{n} <!-- id: t{n} -->\n")).collect();
    let scratch = Scratch::new("default: [{wait_ms: 50}]\n", &tasks);
    let args = ["spawn", "../tasks.md", "--yes", "--json", "--max-parallel", "2"];
    let told = scratch.told(&args);
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    let (mut at_once, mut most) = (0, 0);
    for line in &told.lines {
        match line["type"].as_str().unwrap() {
            "attempt_started" => at_once += 1,
            "attempt_ended" => at_once -= 1,
            _ => {}
        }
        most = most.max(at_once);
    }
    assert_eq!(most, 2, "{told:#?}");
}

/// EXE-5, EXE-2: two runs at once in one repository, and two hands on one run.
#[test]
fn two_runs_work_side_by_side_and_one_run_has_one_driver() {
    let scratch = Scratch::new(
        "tasks:\n  a: [{write: {path: a.txt, text: a}}]\n  slow: [hang]\n",
        "# Slow\n- [ ] Slow <!-- id: slow -->\n",
    );
    let mut slow = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    assert!(slow.until("attempt_started"));
    let run = slow.run().unwrap();
    scratch.world.write("other.md", "# Quick\n- [ ] A <!-- id: a -->\n");
    let quick = scratch.told(&["spawn", "../other.md", "--yes", "--json"]);
    assert_eq!(quick.run.code, Some(0), "{quick:#?}");
    assert_eq!(scratch.work("quick", "a.txt"), "a");
    let second = scratch.shown(&["spawn", "--resume", &run, "--yes"]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("is being driven by another process"), "{second:?}");
    slow.signal(rustix::process::Signal::TERM);
    let (told, code, _) = slow.end();
    assert_eq!(code, Some(130), "{told:#?}");
    scratch.nothing_is_left_now();
    scratch.the_log_is_whole();
}

/// EXE-2: a goal has one worktree, and each run of it has desks of its own: neither spoils what an
/// agent of the other is working on, and both are merged.
#[test]
fn two_runs_of_one_goal_share_its_worktree_without_harm() {
    let scenario = "tasks:\n  a: [{write: {path: early-a.txt, text: a}}, {wait_ms: 1500}, \
                    {write: {path: late-a.txt, text: a}}]\n  b: [{write: {path: b.txt, text: b}}]\n";
    let scratch = Scratch::new(scenario, "# Same\n- [ ] A <!-- id: a -->\n");
    scratch.world.write("other.md", "# Same\n- [ ] B <!-- id: b -->\n");
    let mut first = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    assert!(first.until("attempt_started"));
    let second = scratch.told(&["spawn", "../other.md", "--yes", "--json"]);
    assert_eq!(second.run.code, Some(0), "{second:#?}");
    assert_eq!(second.the("task_completed", "b")["changed"].as_array().unwrap().len(), 1);
    let (told, code, _) = first.end();
    assert_eq!(code, Some(0), "{told:#?}");
    let done = told.iter().find(|event| event["type"] == "task_completed").unwrap();
    assert_eq!(done["changed"].as_array().unwrap().len(), 2, "{told:#?}");
    for (name, text) in [("early-a.txt", "a"), ("late-a.txt", "a"), ("b.txt", "b")] {
        assert_eq!(scratch.work("same", name), text, "{name}");
    }
}

/// EXE-5: two runs that begin in one second have two names.
#[test]
fn two_runs_that_begin_at_once_have_two_names() {
    let scratch = Scratch::new("default: [{say: ok}]\n", "# One\n- [ ] A <!-- id: a -->\n");
    scratch.world.write("other.md", "# Other\n- [ ] B <!-- id: b -->\n");
    let first = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    let second = scratch.start(&["spawn", "../other.md", "--yes", "--json"]);
    let (first, second) = (first.end(), second.end());
    assert_eq!((first.1, second.1), (Some(0), Some(0)), "{first:#?} {second:#?}");
    assert_ne!(first.0[0]["run"], second.0[0]["run"]);
}
