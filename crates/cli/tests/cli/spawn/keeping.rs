//! What a run leaves for people: boxes, the file to resume from, answers, work that can be taken over.

use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::Scratch;
use super::recovery::{model, scratch};
use crate::harness::{Run, World};

/// The command behind a step that the summary names.
fn step(run: &Run, what: &str) -> String {
    let line = run.stdout.lines().find_map(|line| line.trim().strip_prefix(what));
    let line = line.unwrap_or_else(|| panic!("no `{what}`: {run:?}"));
    line.trim_start_matches(':').trim().to_owned()
}

/// Runs a line in the user's checkout, as it stands there.
fn verbatim(world: &World, line: &str) -> String {
    let line = line.replace("[DIR]", &world.dir.display().to_string());
    let out = Command::new("sh")
        .args(["-c", &line])
        .current_dir(world.path("repo"))
        .env("GIT_EDITOR", "false")
        .env("GIT_PAGER", "cat")
        .output()
        .unwrap();
    assert!(out.status.success(), "{line}: {out:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// EXE-2: what the summary names shows new and changed files, and brings both into the user's checkout.
#[test]
fn the_work_is_looked_at_and_taken_over_as_the_summary_says() {
    let scenario = "tasks:\n  a: [{write: {path: 'deep/new file.txt', text: \"brand new\\n\"}}]\n  \
                    b: [{write: {path: old.txt, text: \"changed\\n\"}}]\n";
    let tasks = "# It's \"all\" $HOME\n- [ ] New <!-- id: a -->\n- [ ] Change <!-- id: b -->\n";
    let scratch = Scratch::new(scenario, tasks);
    scratch.world.write("repo/old.txt", "old\n");
    scratch.world.git(&["add", "old.txt"]);
    scratch.world.git(&["commit", "-q", "-m", "old"]);
    for (key, value) in [("user.name", "Grace"), ("user.email", "grace@example.org")] {
        scratch.world.git(&["config", key, value]);
    }
    let before = scratch.checkout();
    let run = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let seen = verbatim(&scratch.world, &step(&run, "look at the work"));
    for part in ["+brand new", "-old", "+changed"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert_eq!(scratch.checkout(), before, "looking changes nothing of the user's");
    verbatim(&scratch.world, &step(&run, "take it over"));
    assert_eq!(scratch.world.read("repo/deep/new file.txt"), "brand new\n");
    assert_eq!(scratch.world.read("repo/old.txt"), "changed\n");
    let files = scratch.world.git(&["ls-files"]);
    assert!(!files.contains(".aurora/"), "{files}");
    let title = scratch.world.git(&["log", "-1", "--format=%s"]);
    assert_eq!(title.trim(), "It's \"all\" $HOME");
}

/// AGT-4: what the model answered in place of an agent can be read, and what anybody said, too.
#[test]
fn what_the_model_answered_can_be_read() {
    let scenario = "tasks:\n  a: [{say: trying}, {fail: no luck}]\n  b: [{say: ok}]\n";
    let words = "# By hand\n\nUse a \u{1b}[31mmap\u{1b}[0m.\n";
    let scratch = scratch(scenario, Some(&model(200, words)));
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{told:#?}");
    let run = told.id();
    let file = format!("repo/.aurora/answers/{run}/a.md");
    assert_eq!(scratch.world.read(&file), words);
    let named = &told.lines.last().unwrap()["answers"];
    assert!(named["a"].as_str().unwrap().ends_with(&format!(".aurora/answers/{run}/a.md")));
    assert_eq!(named.as_object().unwrap().len(), 1, "{named}");
    let shown = scratch.shown(&["spawn", "--resume", &run]);
    let note = format!("the model's answer to a: .aurora/answers/{run}/a.md");
    assert!(shown.stdout.contains(&note), "{shown:?}");
    let transcript = |more: &[&str]| {
        let mut args = vec!["audit", "transcript", &run];
        args.extend(more);
        scratch.world.run(&args)
    };
    assert_eq!(transcript(&["a"]).stdout, words);
    assert!(transcript(&["a", "--attempt", "1"]).stdout.contains("trying"));
    let json = transcript(&["a", "--json"]).json();
    assert_eq!((&json["attempt"], &json["bytes"]), (&Value::from(3), &Value::from(words.len())));
    assert_eq!(json["sha256"].as_str().unwrap().len(), 64);
    for wrong in [&["a", "--attempt", "9"][..], &["nobody"]] {
        let refused = transcript(wrong);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    }
}

/// REV-4: a preview that was aborted leaves no file; one that was begun has one from the first
/// attempt on, and at the end it says that all is done.
#[test]
fn the_file_to_resume_from_begins_with_the_first_attempt_and_ends_with_the_run() {
    let tasks: String = (0..40).map(|n| format!("- [ ] Task {n} <!-- id: t{n} -->\n")).collect();
    let scratch = Scratch::new("default: [{say: hello}]\n", &format!("# Many\n{tasks}"));
    let first = scratch.told(&["spawn", "../tasks.md", "--json"]);
    assert_eq!(first.run.code, Some(4), "{first:#?}");
    let file = format!("repo/.aurora/checkpoints/{}.json", first.id());
    let question = format!("{}.q1", first.id());
    assert_eq!(scratch.world.run(&["approvals", "answer", &question, "abort"]).code, Some(0));
    assert_eq!(scratch.shown(&["spawn", "--resume", &first.id()]).code, Some(3));
    assert!(!scratch.world.path(&file).exists(), "an aborted preview left a file");
    let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    assert!(started.until("attempt_started"));
    let file = format!("repo/.aurora/checkpoints/{}.json", started.run().unwrap());
    let early: Value = serde_json::from_str(&scratch.world.read(&file)).unwrap();
    assert_eq!(early["execution_id"], started.run().unwrap());
    assert_eq!(started.end().1, Some(0));
    let late: Value = serde_json::from_str(&scratch.world.read(&file)).unwrap();
    assert_eq!(late["finished"], true);
    let done = late["tasks"].as_array().unwrap().iter();
    assert_eq!(done.filter(|task| task["status"] == "completed").count(), 40, "{late:#}");
    assert_eq!(scratch.world.read("tasks.md").matches("- [x] Task").count(), 40);
}

/// EXE-5: the desks of a run that was given up go, its worktree stays, and nobody says that nothing
/// was begun.
#[test]
fn a_run_that_is_given_up_leaves_its_work_and_no_desks() {
    let tasks = "# Stop\n- [ ] First <!-- id: a -->\n- [ ] Endless <!-- id: b, depends-on: a -->\n";
    let scratch =
        Scratch::new("tasks:\n  a: [{write: {path: a.txt, text: a}}]\n  b: [hang]\n", tasks);
    let mut started = scratch.start(&["spawn", "../tasks.md", "--yes", "--json"]);
    while started
        .line()
        .is_some_and(|line| line["type"] != "attempt_started" || line["task"] != "b")
    {}
    let run = started.run().unwrap();
    let busy = scratch.shown(&["spawn", "--clean-checkpoints", "--older-than", "0s", "--json"]);
    assert_eq!(busy.json()["desks_removed"], 0, "{busy:?}");
    started.signal(Signal::INT);
    assert_eq!(started.end().1, Some(130));
    let desks = || scratch.world.git(&["worktree", "list"]).matches(".desk-").count();
    assert!(desks() > 0, "the run is to be resumed");
    let kept = scratch.shown(&["spawn", "--clean-checkpoints"]);
    assert_eq!((kept.code, desks() > 0), (Some(0), true), "{kept:?}");
    let gone = scratch.shown(&["spawn", "--clean-checkpoints", "--older-than", "0s"]);
    assert!(gone.stdout.contains(&format!("gave up {run}\nremoved ")), "{gone:?}");
    assert_eq!(desks(), 0, "{gone:?}");
    assert_eq!(scratch.work("stop", "a.txt"), "a");
    let shown = scratch.shown(&["spawn", "--resume", &run]);
    assert_eq!(shown.code, Some(3), "{shown:?}");
    assert!(shown.stdout.contains("given up"), "{shown:?}");
    assert!(!shown.stdout.contains("nothing was begun"), "{shown:?}");
    scratch.nothing_is_left();
}

/// EXE-2: mistakes are told all at once, each with its place and what to do about it.
#[test]
fn each_mistake_stands_beside_its_hint() {
    let tasks =
        "# T\n- [ ] A <!-- id: a, depends-on: x -->\n- [ ] B <!-- id: b, depends-on: y -->\n";
    let scratch = Scratch::new("default: []\n", tasks);
    let run = scratch.shown(&["spawn", "../tasks.md", "--yes"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    let told: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{run:?}");
    for (line, number) in told.iter().zip(["2", "3"]) {
        assert!(line.contains(&format!("../tasks.md:{number}:")), "{line}");
        assert!(line.ends_with(')') && line.contains(" ("), "{line}");
    }
}

/// EXE-2: what nobody could do is refused before anybody looks at it, and leaves nothing behind.
#[test]
fn what_nobody_could_do_is_refused_before_the_preview() {
    let tasks = "- [ ] Do it\n- [ ] And that <!-- agent: tester -->\n";
    let check = |world: &World, what: &str, hint: &str| {
        world.write("tasks.md", tasks);
        let run = world.run(&["spawn", "../tasks.md"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{run:?}");
        assert!(!world.path("repo/.aurora/aurora.db").exists(), "{run:?}");
    };
    let bare = World::new();
    bare.git(&["init", "-q"]);
    bare.write("repo/.aurora/agents.yaml", "agents: [{id: x, provider: 'null'}]\n");
    check(&bare, "no commit", "git commit");
    let alone = World::with_commit();
    check(&alone, "no agent for any", "aur agents init");
    // One that can do one of them is enough.
    alone.write("repo/.aurora/agents.yaml", "agents: [{id: tester, provider: 'null'}]\n");
    assert_eq!(alone.run(&["spawn", "../tasks.md"]).code, Some(4));
}

/// EXE-5: an age without anything to clean is a mistake.
#[test]
fn an_age_belongs_to_cleaning_up() {
    let scratch = Scratch::new("default: []\n", "- [ ] A\n");
    let check = |with: &[&str], said: &str| {
        let run = scratch.shown(&[&["spawn", "--older-than", "1d"], with].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
    };
    check(&[], "--clean-checkpoints");
    check(&["../tasks.md"], "--older-than");
    check(&["--list-checkpoints"], "--older-than");
}
