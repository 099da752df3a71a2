//! `aur rollback`: the plan, the question, the report, and the way back.

use insta::assert_snapshot;

use crate::harness::{World, steady};

/// A repository with a checkpoint and changes after it.
fn changed() -> World {
    let world = World::with_commit();
    world.write("repo/keep.txt", "kept\n");
    let run = world.run(&["checkpoint", "-m", "good"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    world.write("repo/src/a.txt", "broken\n");
    world.write("repo/junk.txt", "junk\n");
    std::fs::remove_file(world.path("repo/README.md")).unwrap();
    world
}

/// WSP-4: a look, the deed, and its undoing.
#[test]
fn a_rollback_shows_does_and_undoes() {
    let world = changed();
    assert_snapshot!(world.run(&["rollback", "--dry-run"]).steady(), @r"
    exit: 0
    ----- stdout -----
    back to ckpt-001-xxxxxxxx (asked, just now): good
    1 file to overwrite:
      ~ src/a.txt
    1 file to bring back:
      + README.md
    1 file to delete:
      - junk.txt
    all of it was done after the latest checkpoint; a safety checkpoint keeps it
    ");
    assert_eq!(world.read("repo/src/a.txt"), "broken\n", "a look changes nothing");
    assert_snapshot!(world.run(&["rollback", "--yes"]).steady(), @r"
    exit: 0
    ----- stdout -----
    rolled back to ckpt-001-xxxxxxxx: 1 brought back, 1 deleted, 1 overwritten
      + README.md
      - junk.txt
      ~ src/a.txt
    what was there before is ckpt-002-xxxxxxxx
    undo with: aur rollback --undo
    ");
    assert_eq!(world.read("repo/src/a.txt"), "one\ntwo\nthree\n");
    assert_eq!(world.read("repo/README.md"), "hello\n");
    assert!(!world.path("repo/junk.txt").exists());
    assert_snapshot!(world.run(&["rollback", "--yes"]).steady(), @r"
    exit: 0
    ----- stdout -----
    nothing to do: the worktree is as ckpt-001-xxxxxxxx has it
    ");
    assert_snapshot!(world.run(&["rollback", "--undo", "--yes"]).steady(), @r"
    exit: 0
    ----- stdout -----
    rolled back to ckpt-002-xxxxxxxx: 1 deleted, 1 brought back, 1 overwritten
      - README.md
      + junk.txt
      ~ src/a.txt
    what was there before is ckpt-003-xxxxxxxx
    undo with: aur rollback --undo
    ");
    assert_eq!(world.read("repo/src/a.txt"), "broken\n");
    assert_eq!(world.read("repo/junk.txt"), "junk\n");
    assert!(!world.path("repo/README.md").exists());
}

/// WSP-4: nobody to ask means that nothing happens.
#[test]
fn without_a_terminal_a_rollback_needs_a_yes() {
    let world = changed();
    assert_snapshot!(world.run(&["rollback"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: a rollback needs a yes, and nobody is there to ask
    hint: --yes says it beforehand
    ");
    assert_snapshot!(world.run(&["rollback", "--json"]).shown(), @r#"
    exit: 2
    ----- stdout -----
    {
      "error": "a rollback needs a yes, and nobody is there to ask",
      "hint": "--yes says it beforehand"
    }
    ----- stderr -----
    error: a rollback needs a yes, and nobody is there to ask
    hint: --yes says it beforehand
    "#);
    assert_eq!(world.run_with(&["rollback", "--undo"], b"y\n").code, Some(2));
    assert_eq!(world.read("repo/src/a.txt"), "broken\n");
}

/// WSP-4: by file, from the current directory.
#[test]
fn files_are_named_from_the_current_directory() {
    let world = changed().at("repo/src");
    let run = world.run(&["rollback", "1", "--file", "a.txt", "--yes", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let json = run.json();
    assert_eq!(json["paths"], serde_json::json!([{"path": "src/a.txt", "outcome": "overwritten"}]));
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["to", "safety", "restored", "paths"]);
    assert_eq!(world.read("repo/junk.txt"), "junk\n");
    let plan = world.run(&["rollback", "1", "--file", "..", "--dry-run", "--json"]).json();
    let keys: Vec<&String> = plan.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["to", "now", "moved_head", "steps"]);
    assert_eq!(plan["steps"].as_array().unwrap().len(), 2, "{plan}");
    assert_snapshot!(world.run(&["rollback", "--file", "../../x", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: ../../x is not in the worktree
    hint: paths start at the current directory; the worktree is [DIR]/repo
    ");
}

/// WSP-4: only what violates something.
#[test]
fn a_smart_rollback_takes_back_what_violates_something() {
    let world = changed();
    assert_snapshot!(world.run(&["rollback", "--smart", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: no violation names a file, so there is nothing to roll back
    hint: --violations FILE gives a list; --file PATH names files yourself
    ");
    std::os::unix::fs::symlink("/etc/passwd", world.path("repo/out")).unwrap();
    let run = world.run(&["rollback", "--smart", "--yes", "--json"]);
    assert_eq!(run.json()["paths"], serde_json::json!([{"path": "out", "outcome": "deleted"}]));
    let list = br#"{"violations": [{"file": "junk.txt"}]}"#;
    let run = world.run_with(&["rollback", "--smart", "--violations", "-", "--yes"], list);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!world.path("repo/junk.txt").exists());
    assert_eq!(world.read("repo/src/a.txt"), "broken\n");
}

/// WSP-4: edits that no checkpoint has stay in the file; where both changed a line, it is said.
#[test]
fn a_merge_keeps_edits_and_shows_conflicts() {
    let world = World::with_commit();
    let lines = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n{last}\n");
    world.write("repo/m.txt", &lines("1", "7"));
    world.run(&["checkpoint", "-m", "good"]);
    world.write("repo/m.txt", &lines("agent", "7"));
    world.run(&["checkpoint", "-m", "bad"]);
    world.write("repo/m.txt", &lines("agent", "mine"));
    let run = world.run(&["rollback", "1", "--merge", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(world.read("repo/m.txt"), lines("1", "mine"));
    world.write("repo/m.txt", &lines("agent", "7"));
    world.run(&["checkpoint", "-m", "bad again"]);
    world.write("repo/m.txt", &lines("mine", "7"));
    world.write("repo/junk.txt", "junk\n");
    assert_snapshot!(world.run(&["rollback", "1", "--merge", "--yes"]).steady(), @r"
    exit: 1
    ----- stdout -----
    back to ckpt-001-xxxxxxxx (asked, just now): good
    1 file in conflict, left alone:
      ! m.txt
          1  <<<<<<< now
          2  mine
          3  ||||||| base
          4  agent
          5  =======
          6  1
          7  >>>>>>> checkpoint
    1 file to keep:
      = junk.txt  (it was edited since the last checkpoint)
    ----- stderr -----
    error: nothing was rolled back
    hint: edit the files in conflict by hand, or roll back without --merge: your edits are in a safety checkpoint then
    ");
    assert_eq!(world.read("repo/m.txt"), lines("mine", "7"), "the file is as it was");
}

/// WSP-4: what can be merged is, what cannot is shown, and the exit code says so.
#[test]
fn a_conflict_in_one_file_keeps_no_other_from_going_back() {
    let world = changed();
    world.run(&["checkpoint", "-m", "bad"]);
    world.write("repo/src/a.txt", "mine\n");
    assert_snapshot!(world.run(&["rollback", "1", "--merge", "--yes"]).steady(), @r"
    exit: 1
    ----- stdout -----
    rolled back to ckpt-001-xxxxxxxx: 1 brought back, 1 deleted, 1 in conflict
      ! src/a.txt  (both sides changed the same lines)
      + README.md
      - junk.txt

    conflict in src/a.txt
          1  <<<<<<< now
          2  mine
          3  ||||||| base
          4  broken
          5  =======
          6  one
          7  two
          8  three
          9  >>>>>>> checkpoint
    what was there before is ckpt-003-xxxxxxxx
    undo with: aur rollback --undo
    ----- stderr -----
    error: not every file could be rolled back
    hint: edit the files in conflict by hand, or roll back without --merge: your edits are in a safety checkpoint then
    ");
    assert_eq!(world.read("repo/src/a.txt"), "mine\n");
    assert_eq!(world.read("repo/README.md"), "hello\n");
}

/// WSP-4: a branch that was switched since is not written over.
#[test]
fn a_moved_head_is_refused_unless_told() {
    let world = changed();
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "second"]);
    assert_snapshot!(world.run(&["rollback", "--yes"]).steady(), @r"
    exit: 1
    ----- stderr -----
    error: HEAD was main at [HASH] at ckpt-001-xxxxxxxx and is main at [HASH] now
    hint: switch back first, or insist with --allow-moved-head: HEAD stays where it is
    ");
    assert_eq!(world.read("repo/src/a.txt"), "broken\n");
    let run = world.run(&["rollback", "--yes", "--allow-moved-head"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(world.read("repo/src/a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_rollback_without_a_checkpoint_says_what_to_do() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["rollback", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no checkpoint to go back to
    hint: `aur checkpoint` makes one, before something else changes
    ");
    assert_snapshot!(world.run(&["rollback", "--undo", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no rollback or promotion to undo
    hint: `aur checkpoints list` shows what there is to go back to
    ");
    for args in [
        &["rollback", "1", "--undo"][..],
        &["rollback", "1", "--checkpoint", "2"],
        &["rollback", "--violations", "x", "--yes"],
        &["rollback", "--smart", "--file", "x"],
    ] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
}

/// WSP-4: what the guide shows is what happens.
#[test]
fn the_guides_transcript_is_what_the_program_prints() {
    let guide = include_str!("../../../../docs/guides/checkpoints.md");
    let transcript = guide.split("```console\n").nth(1).and_then(|text| text.split("```").next());
    let world = World::with_commit();
    let mut printed = String::new();
    for line in transcript.unwrap().lines().filter_map(|line| line.strip_prefix("$ ")) {
        printed.push_str(&format!("$ {line}\n"));
        printed.push_str(&world.shell(line));
    }
    assert_eq!(steady(&printed), steady(transcript.unwrap()));
}

/// WSP-4: whoever must say yes is told first that the arguments are wrong, or that nothing is to do.
#[test]
fn a_yes_is_needed_only_for_something_to_do() {
    let world = changed();
    assert_snapshot!(world.run(&["rollback", "99"]).steady(), @r"
    exit: 2
    ----- stderr -----
    error: no checkpoint `99`
    hint: there is only ckpt-001-xxxxxxxx
    ");
    assert_snapshot!(world.run(&["rollback", "--undo"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: there is no rollback or promotion to undo
    hint: `aur checkpoints list` shows what there is to go back to
    ");
    world.run(&["rollback", "--yes"]);
    assert_snapshot!(world.run(&["rollback"]).steady(), @r"
    exit: 0
    ----- stdout -----
    nothing to do: the worktree is as ckpt-001-xxxxxxxx has it
    ");
    assert_snapshot!(world.run(&["checkpoints", "prune", "--older-than", "30d"]).shown(), @r"
    exit: 0
    ----- stdout -----
    nothing to forget; 3 kept
    ");
    assert_eq!(world.run(&["checkpoints", "prune", "--keep-last", "9", "--json"]).code, Some(0));
    let none = world.run(&["worktree", "remove", "other"]);
    assert!(none.stderr.contains("there is no worktree `other`"), "{none:?}");
}

/// WSP-4: a program reads the same fields whether anything was to do or not.
#[test]
fn a_rollback_with_nothing_to_do_is_told_in_the_same_form() {
    let world = changed();
    world.run(&["rollback", "--yes"]);
    for args in [&["rollback", "--yes", "--json"][..], &["rollback", "--json"]] {
        let run = world.run(args);
        assert_eq!(run.code, Some(0), "{run:?}");
        let json = run.json();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["to", "safety", "restored", "paths"], "{args:?}");
        assert_eq!(json["paths"], serde_json::json!([]));
    }
    // HEAD moved, and yet there is nothing to do.
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "second"]);
    let run = world.run(&["rollback", "--yes"]);
    assert!(run.stdout.starts_with("nothing to do: the worktree is as"), "{run:?}");
}

/// WSP-4: a checkpoint that has what violates something is no place to go back to.
#[test]
fn a_smart_rollback_goes_past_checkpoints_that_have_the_violation() {
    let world = World::with_commit();
    world.write("repo/a.txt", "1\n");
    world.run(&["checkpoint", "-m", "clean"]);
    std::os::unix::fs::symlink("/etc/passwd", world.path("repo/out")).unwrap();
    world.run(&["checkpoint", "-m", "noted"]);
    world.write("repo/a.txt", "2\n");
    world.run(&["checkpoint", "-m", "still there"]);
    assert_snapshot!(world.run(&["rollback", "--smart", "--yes"]).steady(), @r"
    exit: 0
    ----- stdout -----
    rolled back to ckpt-001-xxxxxxxx: 1 deleted
      - out
    what was there before is ckpt-003-xxxxxxxx
    undo with: aur rollback --undo
    ");
    assert_eq!(world.read("repo/a.txt"), "2\n");
    assert!(world.path("repo/out").symlink_metadata().is_err());
    let none = world.run(&["rollback", "--smart", "--yes"]);
    assert!(none.stderr.contains("no violation names a file"), "{none:?}");

    let world = World::with_commit();
    std::os::unix::fs::symlink("/etc/passwd", world.path("repo/out")).unwrap();
    world.run(&["checkpoint"]);
    assert_snapshot!(world.run(&["rollback", "--smart", "--yes"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: no checkpoint is without the violations that there are now
    hint: name the one to go back to, as `aur checkpoints list` shows them
    ");
}
