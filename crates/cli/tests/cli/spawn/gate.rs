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

/// REV-2, OBS-1: without a terminal the preview is shown all the same, a gap is marked at the end, and
/// whoever is asked elsewhere finds what to look at and how.
#[test]
fn whoever_answers_from_elsewhere_sees_what_it_is_about() {
    let text = "line\\n".repeat(50);
    let scenario = format!("tasks:\n  a: [{{write: {{path: big.txt, text: \"{text}\"}}}}]\n");
    let more = "  - id: coder\n    provider: cli\n    \
                command: [bash, -c, 'echo working; sleep 0.1; echo no network >&2; exit 1']\n";
    let tasks = "# Grow\n- [x] Before <!-- id: z -->\n\
                 - [ ] Write a little <!-- id: a, lines: 1, agent: painter -->\n\
                 - [ ] Call <!-- id: c, agent: coder, depends-on: a -->\n";
    let scratch = Scratch::with_agents(more, tasks);
    scratch.world.write("repo/.aurora/scenario.yaml", &scenario);
    let first = scratch.shown(&["spawn", "../tasks.md"]);
    assert_eq!(first.code, Some(4), "{first:?}");
    assert!(first.stdout.starts_with("Execution Preview\nGoal: Grow\n"), "{first:?}");
    assert_eq!(first.stdout.matches("painter ! GAP").count(), 2, "{first:?}");
    let list = scratch.world.run(&["approvals", "list", "--json"]).json();
    let run = list["questions"][0]["run"].as_str().unwrap().to_owned();
    let answer = |number: u32, choice: &str| {
        let question = format!("{run}.q{number}");
        let answered = scratch.world.run(&["approvals", "answer", &question, choice]);
        assert_eq!(answered.code, Some(0), "{answered:?}");
    };
    answer(1, "proceed");
    let second = scratch.shown(&["spawn", "--resume", &run]);
    assert_eq!(second.code, Some(4), "{second:?}");
    assert!(second.stdout.contains("waiting for an answer - @worker as painter"), "{second:?}");
    assert!(second.stdout.contains("1 waiting for an answer"), "{second:?}");
    let shown = scratch.shown(&["approvals", "show", &format!("{run}.q2")]).stdout;
    assert!(shown.contains("taken over: 1 file, 50 lines?"), "{shown}");
    assert!(shown.contains("  changed  + big.txt\n"), "{shown}");
    let json = scratch.world.run(&["approvals", "show", &format!("{run}.q2"), "--json"]).json();
    assert_eq!(json["about"]["paths"][0], "+ big.txt");
    let look = json["look"].as_str().unwrap();
    assert!(shown.contains(&format!("  look     {look}\n")), "{shown}");
    let look = look.replace("[DIR]", &scratch.world.dir.display().to_string());
    let words: Vec<&str> = look.split(' ').skip(1).collect();
    let diff = scratch.world.git(&words);
    assert_eq!(diff.matches("\n+line").count(), 50, "{diff}");
    answer(2, "allow");
    let third = scratch.shown(&["spawn", "--resume", &run]);
    assert!(third.stdout.contains("(no network (exit code 1))"), "{third:?}");
    let shown = scratch.shown(&["approvals", "show", &format!("{run}.q3")]).stdout;
    assert!(shown.contains("failed: coder: no network (exit code 1)"), "{shown}");
    assert!(shown.contains("  said     working\n  said     no network\n"), "{shown}");
    let json = scratch.world.run(&["approvals", "show", &format!("{run}.q3"), "--json"]).json();
    assert_eq!(json["output"], serde_json::json!(["working", "no network"]));
}

/// OBS-1: a run that waits for answers says each question when it is asked.
#[test]
fn a_run_that_waits_announces_what_it_asks() {
    let tasks = "# Wait\n- [x] Before <!-- id: z -->\n- [ ] Work <!-- id: a -->\n";
    let scratch = Scratch::new("tasks:\n  a: [{fail: no paint}]\n", tasks);
    let mut started = scratch.start(&["spawn", "../tasks.md", "--wait"]);
    let mut seen = String::new();
    for (options, choice) in [("proceed|abort", "proceed"), ("retry|skip|abort", "skip")] {
        seen.push_str(&started.said_until(options));
        let line = seen.lines().last().unwrap().replace(options, choice);
        let command = line.trim().strip_prefix("answer: aur ").unwrap();
        let run = scratch.world.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(!run.stdout.contains("nobody drives"), "{run:?}");
    }
    seen.push_str(&started.said_until("\0"));
    assert_eq!(started.end().1, Some(1), "{seen}");
    assert!(seen.contains("Execution Preview"), "{seen}");
    assert!(seen.contains(".q1 asks: may this run begin, with 2 tasks?"), "{seen}");
    assert!(seen.contains(".q2 asks: a (Work) failed: worker: no paint"), "{seen}");
    assert!(!seen.contains("skipped: Before"), "{seen}");
}
