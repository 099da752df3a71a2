//! What the policy says about tasks and about what they changed holds, whoever presses what.

use super::Scratch;

/// EXE-6, POL-4: a protected file that an agent changes never reaches the worktree, `--yes` or not.
#[test]
fn a_protected_file_is_never_taken_over() {
    let scenario =
        "tasks:\n  a: [{write: {path: .env, text: stolen}}, {write: {path: a.txt, text: a}}]\n";
    let tasks = "# Guard\n- [ ] Change the secrets <!-- id: a -->\n- [ ] After it <!-- id: b, depends-on: a -->\n";
    let scratch = Scratch::new(scenario, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(3), "{told:#?}");
    let denied = told.the("task_denied", "a").to_string();
    assert!(denied.contains("protected_paths") && denied.contains(".env"), "{denied}");
    assert_eq!(told.the("task_skipped", "b")["why"]["on"], "a");
    let worktree = scratch.worktree("guard");
    assert!(worktree.exists() && !worktree.join(".env").exists());
    assert!(!worktree.join("a.txt").exists(), "it is all or nothing");
    assert!(!scratch.world.path("repo/.env").exists());
    assert!(scratch.world.read("tasks.md").contains("- [ ] Change"));
}

/// EXE-6: what is known beforehand is judged beforehand; the agent is never started.
#[test]
fn what_is_denied_beforehand_is_never_started() {
    let more = "  - id: pusher\n    provider: cli\n    command: [bash, -c, 'touch [DIR]/ran; git push --force']\n";
    let tasks = "- [ ] Write the key <!-- id: key, files: server.pem -->\n\
                 - [ ] Push <!-- id: push, agent: pusher -->\n";
    let scratch = Scratch::with_agents(more, tasks);
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(3), "{told:#?}");
    assert_eq!(told.of("attempt_started").count(), 0, "{told:#?}");
    assert!(told.the("task_denied", "key").to_string().contains("protected_paths"));
    assert!(told.the("task_denied", "push").to_string().contains("git_force_push"));
    assert!(!scratch.world.path("ran").exists());
}

/// EXE-6, POL-5: more than was planned is asked about before it is taken over; `--yes` allows it.
#[test]
fn what_is_larger_than_planned_waits_for_a_yes() {
    let text = "line\\n".repeat(200);
    let scenario = format!("tasks:\n  a: [{{write: {{path: big.txt, text: \"{text}\"}}}}]\n");
    let tasks = "# Grow\n- [ ] Write a little <!-- id: a, lines: 10 -->\n";
    let scratch = Scratch::new(&scenario, tasks);
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    let run = first.id();
    let question = |number: u32| format!("{run}.q{number}");
    let answer = |number: u32, choice: &str| {
        let answered = scratch.world.run(&["approvals", "answer", &question(number), choice]);
        assert_eq!(answered.code, Some(0), "{answered:?}");
    };
    answer(1, "proceed");
    let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(second.run.code, Some(4), "{second:#?}");
    let asked = second.of("question_asked").last().unwrap();
    assert_eq!(asked["question"]["about"]["kind"], "changes");
    assert_eq!(asked["question"]["about"]["lines"], 200);
    assert!(!scratch.worktree("grow").join("big.txt").exists());
    answer(2, "allow");
    let third = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(third.run.code, Some(0), "{third:#?}");
    assert_eq!(third.of("attempt_started").count(), 0, "what it did was kept: {third:#?}");
    assert_eq!(scratch.work("grow", "big.txt").lines().count(), 200);
    let other = Scratch::new(&scenario, tasks);
    let told = other.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert_eq!(other.work("grow", "big.txt").lines().count(), 200);
}

/// EXE-6: a change that was skipped is not taken over.
#[test]
fn what_is_not_allowed_is_left_out() {
    let scenario =
        "tasks:\n  a: [{write: {path: x.sql, text: drop}}, {write: {path: Dockerfile, text: x}}]\n";
    let scratch = Scratch::new(scenario, "# Odd\n- [ ] Odd files <!-- id: a -->\n");
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    let run = first.id();
    scratch.world.run(&["approvals", "answer", &format!("{run}.q1"), "proceed"]);
    let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(second.run.code, Some(4), "{second:#?}");
    scratch.world.run(&["approvals", "answer", &format!("{run}.q2"), "skip"]);
    let third = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(third.run.code, Some(1), "{third:#?}");
    assert!(!scratch.worktree("odd").join("x.sql").exists());
}
