//! What happens to git's own data, or to the run's worktree, while a run goes on is told, whoever did it
//! and however the attempt ended.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::{Scratch, Told};

/// An agent that does what a script says, which nobody reads beforehand.
fn scratch(script: &str) -> Scratch {
    let rogue = "  - id: rogue\n    provider: cli\n    command: [[DIR]/rogue]\n";
    let scratch = Scratch::with_agents(rogue, "# Odd\n- [ ] Work <!-- id: a, agent: rogue -->\n");
    let dir = scratch.world.dir.display().to_string();
    let script = format!("#!/bin/bash\n{}\n", script.replace("[DIR]", &dir));
    scratch.world.write("rogue", &script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.world.path("rogue"), executable).unwrap();
    scratch
}

fn noticed(told: &Told) -> String {
    let events: Vec<&Value> = told.of("noticed").collect();
    events.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const TRAP: &str = "g=$(git rev-parse --git-common-dir); mkdir -p $g/hooks; \
    printf '#!/bin/sh\\n' > $g/hooks/pre-commit; chmod +x $g/hooks/pre-commit; \
    git config core.fsmonitor 'touch [DIR]/sprung; false'; ";

/// EXE-6: what an attempt that failed did to git's own data is told, and asked about before the next
/// one's work is taken over.
#[test]
fn what_a_failed_attempt_did_to_gits_data_is_told() {
    let script = format!(
        "if test ! -e [DIR]/once; then touch [DIR]/once; {TRAP} exit 1; fi; echo x > a.txt"
    );
    let scratch = scratch(&script);
    let told = scratch.spawn();
    let events = noticed(&told);
    assert!(events.contains("hooks/pre-commit"), "{told:#?}");
    assert!(events.contains("core.fsmonitor"), "{events}");
    assert_eq!(told.of("noticed").next().unwrap()["attempt"], 1);
    assert_eq!(told.of("noticed").count(), 1, "it is told once: {events}");
    let asked = told.of("question_asked").last().unwrap().to_string();
    assert!(asked.contains("workspace.git_data") && asked.contains("pre-commit"), "{asked}");
    assert_eq!(told.run.code, Some(0), "--yes allows it, and the log says so: {told:#?}");
    assert!(!scratch.world.path("sprung").exists(), "nothing of it was executed");
    let ended = told.lines.last().unwrap();
    assert!(ended["noticed"].to_string().contains("pre-commit"), "{ended}");
    assert_eq!(super::of(&scratch.records(&told.id()), "noticed").count(), 1);
}

/// EXE-6: the same for one that was ended because its time was over, with nobody left to succeed.
#[test]
fn what_an_attempt_did_that_was_ended_is_told() {
    let scratch = scratch(&format!("{TRAP} sleep 600"))
        .policy("agent_recovery: {timeout_seconds: 5, max_retries: 1}\n");
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(1), "{told:#?}");
    assert!(noticed(&told).contains("hooks/pre-commit"), "{told:#?}");
    scratch.nothing_is_left();
}

/// EXE-6: the branch that a person is told to merge is not moved unseen.
#[test]
fn a_branch_that_is_moved_to_unjudged_commits_is_asked_about() {
    let scratch = scratch(
        "echo secret > .env; git add -f .env; \
         git -c user.name=x -c user.email=x@x commit -qm hidden; \
         git update-ref refs/heads/aurora/odd HEAD; rm .env; echo x > a.txt",
    );
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    let run = first.id();
    scratch.world.run(&["approvals", "answer", &format!("{run}.q1"), "proceed"]);
    let second = scratch.told(&["spawn", "--resume", &run, "--json"]);
    assert_eq!(second.run.code, Some(4), "{second:#?}");
    assert!(noticed(&second).contains("the run's branch was moved"), "{second:#?}");
    let asked = second.of("question_asked").last().unwrap().to_string();
    assert!(asked.contains("workspace.git_data"), "{asked}");
    assert!(!scratch.worktree("odd").join("a.txt").exists());
    scratch.world.run(&["approvals", "answer", &format!("{run}.q2"), "allow"]);
    let shown = scratch.shown(&["spawn", "--resume", &run]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let look = shown.stdout.find("Look at these before you use git here").expect(&shown.stdout);
    let take = shown.stdout.find("git merge aurora/odd").expect(&shown.stdout);
    assert!(look < take && shown.stdout.contains("once you have looked"), "{}", shown.stdout);
}

/// EXE-6: refs, HEAD and index of the user's checkout are watched.
#[test]
fn what_happens_to_the_users_refs_and_index_is_told() {
    let scratch = scratch(
        "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; \
         git branch planted; rm $(git rev-parse --git-common-dir)/index; exit 1",
    );
    let told = scratch.spawn();
    let events = noticed(&told);
    assert!(events.contains("the branch planted is new"), "{told:#?}");
    assert!(events.contains("the index of your checkout is gone"), "{events}");
}

/// EXE-6: what is written straight into the run's worktree does not slip in with a task's work.
#[test]
fn what_is_written_into_the_runs_worktree_is_told_and_asked_about() {
    let scratch = scratch(
        "w=$(git worktree list --porcelain | grep /worktrees/ | head -1 | cut -c10-); \
         echo planted > \"$w/planted.txt\"; echo x > a.txt",
    );
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert!(noticed(&told).contains("+ planted.txt"), "{told:#?}");
    let asked = told.of("question_asked").last().unwrap().to_string();
    assert!(asked.contains("workspace.git_data") && asked.contains("planted.txt"), "{asked}");
    assert_eq!(scratch.work("odd", "planted.txt"), "planted\n", "it is not lost");
}

/// EXE-6: nobody is denied because the user went on using git meanwhile.
#[test]
fn the_users_own_git_commands_deny_no_task() {
    let scratch = scratch(
        "cd [DIR]/repo; git remote add upstream https://example.org/x.git; \
         git -c user.name=u -c user.email=u@x commit -q --allow-empty -m mine; \
         cd \"$OLDPWD\"; echo x > a.txt",
    );
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert_eq!(told.of("task_denied").count(), 0, "{told:#?}");
    assert!(noticed(&told).contains("remote.upstream.url"), "{told:#?}");
    assert_eq!(scratch.work("odd", "a.txt"), "x\n");
}

/// EXE-5, EXE-6: what was noted when the run began outlives the process that noted it.
#[test]
fn a_killed_run_still_knows_what_git_was_like() {
    let scratch = scratch(&format!(
        "if test ! -e [DIR]/once; then {TRAP} touch [DIR]/once; sleep 600; fi; echo x > a.txt"
    ));
    let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    assert!(started.until("attempt_started"));
    let deadline = std::time::Instant::now() + super::PATIENCE;
    while !scratch.world.path("once").exists() {
        assert!(std::time::Instant::now() < deadline, "the agent did not come so far");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let run = started.run().unwrap();
    started.signal(rustix::process::Signal::KILL);
    started.end();
    scratch.nothing_is_left();
    let told = scratch.resume(&run);
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    assert!(noticed(&told).contains("hooks/pre-commit"), "{told:#?}");
}
