//! Agents and circumstances that try to get something past the gate, or to bring a run down.

use rustix::process::Signal;

use super::Scratch;

/// EXE-5, EXE-6: a policy that was named when a run began holds when it is resumed.
#[test]
fn a_policy_that_was_named_holds_after_resuming() {
    let scenario = "tasks:\n  a: {attempts: [[hang], [{write: {path: secret.txt, text: x}}]]}\n";
    let scratch = Scratch::new(scenario, "# Strict\n- [ ] Write <!-- id: a -->\n");
    scratch.world.write("strict.yaml", "safety: {protected_paths: [\"*.txt\"]}\n");
    let args = ["spawn", "../tasks.md", "--yes", "--json", "--policy", "../strict.yaml"];
    let mut first = scratch.start(&args);
    assert!(first.until("attempt_started"));
    let run = first.run().unwrap();
    first.signal(Signal::KILL);
    first.end();
    std::fs::remove_file(scratch.world.path("strict.yaml")).unwrap();
    let resumed = scratch.resume(&run);
    assert_eq!(resumed.run.code, Some(3), "{resumed:#?}");
    assert!(resumed.the("task_denied", "a").to_string().contains("protected_paths"));
    assert!(!scratch.worktree("strict").join("secret.txt").exists());
}

/// EXE-6, POL-4: a change too large to be judged as text hides no protected path behind it.
#[test]
fn a_huge_change_hides_nothing_that_comes_after_it() {
    let fill = "head -c 70000000 /dev/zero | tr '\\\\0' 'a' > Abig.txt; echo key > zz.pem";
    let scenario = format!("tasks:\n  a: [{{run: [sh, -c, \"{fill}\"]}}]\n");
    let scratch = Scratch::new(&scenario, "# Huge\n- [ ] Fill <!-- id: a -->\n");
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(3), "{told:#?}");
    assert!(told.the("task_denied", "a").to_string().contains("zz.pem"), "{told:#?}");
    assert!(!scratch.worktree("huge").join("zz.pem").exists());
}

/// EXE-4, AGT-4: an agent that takes its own desk away fails, and nobody else notices.
#[test]
fn an_agent_that_removes_its_desk_harms_only_itself() {
    let scenario = "tasks:\n  a: [{run: [sh, -c, 'D=$PWD; cd /; rm -rf \"$D\"']}]\n  \
                    b: [{wait_ms: 300}, {write: {path: b.txt, text: b}}]\n";
    let tasks = "# Desk\n- [ ] Vandal <!-- id: a -->\n- [ ] Neighbour <!-- id: b -->\n";
    let scratch = Scratch::new(scenario, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(1), "{told:#?}");
    let failed = told.the("task_failed", "a").to_string();
    assert!(failed.contains("desk"), "{failed}");
    assert_eq!(scratch.work("desk", "b.txt"), "b");
    let begun = told.of("attempt_started").filter(|event| event["task"] == "b").count();
    assert_eq!(begun, 1, "{told:#?}");
}

/// REV-3: an agent answers no question of its own run, begins no other and raises no limit.
#[test]
fn an_agent_cannot_do_what_is_for_people() {
    let scratch = Scratch::new("default: [{say: ok}]\n", "# Fence\n- [ ] A <!-- id: a -->\n");
    let told = scratch.told(&["spawn", "../tasks.md", "--json"]);
    let question = format!("{}.q1", told.id());
    let Scratch { world, .. } = scratch;
    let agent = world.with("AURORA_RUN", "spawn-1");
    for args in [
        &["approvals", "answer", &question, "proceed"][..],
        &["spawn", "../tasks.md", "--yes"],
        &["budget", "set", "1000000"],
    ] {
        let run = agent.run(args);
        assert_eq!(run.code, Some(3), "{args:?}: {run:?}");
        assert!(run.stderr.contains("is for people"), "{args:?}: {run:?}");
    }
}

/// EXE-6: what cannot be taken over is not thrown away either, whoever said yes.
#[test]
fn what_cannot_be_taken_over_stays_at_its_desk() {
    let make = "head -c 110000000 /dev/zero > dataset.bin; echo k > ok";
    let scenario = format!("tasks:\n  a: [{{run: [sh, -c, '{make}']}}]\n");
    let scratch = Scratch::new(&scenario, "# Data\n- [ ] Gather <!-- id: a -->\n");
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    let asked = told.of("question_asked").last().unwrap()["question"]["about"].clone();
    assert!(asked.to_string().contains("dataset.bin"), "{told:#?}");
    let place = asked["place"].as_str().unwrap().replace("[DIR]/", "");
    assert!(scratch.world.path(&place).join("dataset.bin").exists(), "{told:#?}");
    assert_eq!(scratch.work("data", "ok"), "k\n");
}
