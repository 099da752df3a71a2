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

/// EXE-6: what cannot be taken over is not thrown away either, whoever said yes, whoever comes after, and
/// whoever cleans up; it is said where it stands.
#[test]
fn what_cannot_be_taken_over_stays_at_its_desk() {
    let make = "head -c 110000000 /dev/zero > dataset.bin; echo k > ok";
    let scenario = format!(
        "tasks:\n  a: [{{run: [sh, -c, '{make}']}}]\n  b: [{{write: {{path: b.txt, text: b}}}}]\n"
    );
    let tasks = "# Data\n- [ ] Gather <!-- id: a -->\n- [ ] Use <!-- id: b, depends-on: a -->\n";
    let scratch = Scratch::new(&scenario, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    let asked = told.of("question_asked").last().unwrap()["question"]["about"].clone();
    assert!(asked.to_string().contains("dataset.bin"), "{told:#?}");
    let place = asked["place"].as_str().unwrap().replace("[DIR]/", "");
    let kept = scratch.world.path(&place).join("dataset.bin");
    assert!(kept.exists(), "{told:#?}");
    assert_eq!(scratch.work("data", "ok"), "k\n");
    assert_eq!(scratch.work("data", "b.txt"), "b");
    let shown = scratch.shown(&["spawn", "--resume", &told.id()]);
    assert!(shown.stdout.contains("dataset.bin (too large)"), "{shown:?}");
    let cleaned = scratch.shown(&["spawn", "--clean-checkpoints"]);
    assert!(cleaned.code == Some(0) && kept.exists(), "{cleaned:?}");
    let cleaned = scratch.shown(&["spawn", "--clean-checkpoints", "--older-than", "0s"]);
    assert!(cleaned.code == Some(0) && !kept.exists(), "{cleaned:?}");
}

/// EXE-6, POL-3: nor does a large file hide what is deleted.
#[test]
fn a_huge_change_hides_no_deletions() {
    let fill = "head -c 70000000 /dev/zero | tr '\\\\0' 'a' > Abig.txt; git rm -q -- shared.txt";
    let scenario = format!("tasks:\n  a: [{{run: [sh, -c, \"{fill}\"]}}]\n");
    let scratch = Scratch::new(&scenario, "# Gone\n- [ ] Delete <!-- id: a -->\n")
        .policy("destructive: {file_delete: {action: deny, max_files: 0}}\n");
    scratch.world.write("repo/shared.txt", "mine\n");
    scratch.world.git(&["add", "shared.txt"]);
    scratch.world.git(&["commit", "--quiet", "-m", "shared"]);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(3), "{told:#?}");
    assert!(told.the("task_denied", "a").to_string().contains("file_delete"), "{told:#?}");
    assert!(scratch.worktree("gone").join("shared.txt").exists());
}

/// POL-6, EXE-5: what a run that was given up had reserved is settled.
#[test]
fn a_run_that_is_given_up_leaves_nothing_reserved() {
    let more = "  - id: dear\n    provider: cli\n    command: [sleep, '60']\n    \
                limits: {max_cost_usd: 0.9}\n    environment: {AURORA_TEST_MARK: [MARK]}\n";
    let scratch = Scratch::with_agents(more, "# Dear\n- [ ] A <!-- id: a, agent: dear -->\n");
    let mut first = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    assert!(first.until("attempt_started"));
    crate::keep::until_marked(&scratch.mark, 2);
    first.signal(Signal::KILL);
    first.end();
    let reserved =
        || scratch.world.run(&["budget", "show", "--json"]).json()["reserved_usd"].clone();
    let before = reserved();
    assert_eq!(before.as_f64(), Some(0.9), "{before}");
    let cleaned = scratch.shown(&["spawn", "--clean-checkpoints", "--older-than", "0s"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    assert_eq!(reserved().as_f64(), Some(0.0));
}
