//! `aur checkpoint` and `aur checkpoints`: what is said, and what plain git sees of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;

use crate::harness::World;

/// The user's own git state: what no command of ours may change.
fn git_state(world: &World) -> Vec<String> {
    let index = std::fs::read(world.path("repo/.git/index")).unwrap();
    vec![
        format!("{index:?}"),
        world.git(&["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]),
        world.git(&["log", "--all", "--format=%H"]),
        world.read("repo/.git/HEAD"),
        world.read("repo/.git/config"),
    ]
}

/// WSP-3: one line says what was recorded, and a second run that nothing changed.
#[test]
fn a_checkpoint_says_what_it_holds_and_what_it_left_out() {
    let world = World::with_commit();
    let before = git_state(&world);
    world.write("repo/.gitignore", "dist/\n*.log\n");
    world.write("repo/dist/bundle.js", "x");
    world.write("repo/a.log", "x");
    world.write("repo/new.txt", "new\n");
    world.write("repo/src/a.txt", "one\n2\nthree\n");
    std::fs::remove_file(world.path("repo/README.md")).unwrap();
    assert_snapshot!(world.run(&["checkpoint", "-m", "before"]).steady(), @"");
    assert_snapshot!(world.run(&["checkpoint", "create"]).steady(), @"");
    assert_eq!(git_state(&world), before, "the user's git state is as it was");
    assert!(!world.path("repo/.aurora").exists(), "it works without .aurora/ and makes none");
}

/// WSP-3: what a program reads has the fields that were promised.
#[test]
fn a_checkpoint_tells_programs_every_path() {
    let world = World::with_commit();
    world.write("repo/.gitignore", "*.log\n");
    world.write("repo/a.log", "x");
    let run = world.run(&["checkpoint", "--json", "-m", "why"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let json = run.json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_snapshot!(format!("{keys:?}"), @"");
    assert_eq!(json["files_changed"], serde_json::json!([".gitignore"]));
    assert_eq!(json["changes"][0]["kind"], "added");
    assert_eq!(json["skipped"], serde_json::json!([{"path": "a.log", "reason": "ignored"}]));
    assert_eq!(json["unchanged"], false);
    assert_eq!(json["message"], "why");
    assert_eq!(json["head"]["branch"], "main");
    let id = json["checkpoint_id"].as_str().unwrap();
    let quiet = world.run(&["checkpoint", "--quiet"]);
    assert_eq!(quiet.stdout, format!("{id}\n"));
    let again = world.run(&["checkpoint", "--json"]).json();
    assert_eq!(
        (&again["checkpoint_id"], &again["unchanged"]),
        (&json["checkpoint_id"], &true.into())
    );
}

/// WSP-3: secrets are in only when asked for, and so is a path that is named.
#[test]
fn ignored_files_come_in_when_asked_for() {
    let world = World::with_commit();
    world.write("repo/.gitignore", ".env\n*.log\n");
    world.write("repo/.env", "TOKEN=1\n");
    world.write("repo/deep/a.log", "x\n");
    let world = world.at("repo/deep");
    let run = world.run(&["checkpoint", "--json", "--with-secrets", "--include", "a.log"]);
    let json = run.json();
    assert_eq!(json["files_changed"], serde_json::json!([".env", ".gitignore", "deep/a.log"]));
    assert_eq!(json["skipped"], serde_json::json!([]));
    assert_snapshot!(world.run(&["checkpoint", "--include", "../../.."]).steady(), @"");
}

#[test]
fn names_that_act_on_a_terminal_are_written_out() {
    let world = World::with_commit();
    for name in [&b"esc\x1b[2J"[..], b"line\nbreak", b"caf\xe9", "\u{202e}txt".as_bytes()] {
        let path = world.path("repo").join(OsStr::from_bytes(name));
        std::fs::write(path, "x\n").unwrap();
    }
    let run = world.run(&["checkpoint", "-m", "with \x1b[31mcolour\u{202e}"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let shown = world.run(&["checkpoints", "show"]);
    assert_snapshot!(shown.steady(), @"");
    let list = world.run(&["checkpoints", "list"]);
    for text in [&shown.stdout, &list.stdout] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
    let json = world.run(&["checkpoints", "show", "--json"]).json();
    assert_eq!(json["files_changed_since_last"].as_array().unwrap().len(), 4);
}

#[test]
fn without_a_repository_nothing_is_recorded() {
    let world = World::new().at("plain");
    assert_snapshot!(world.run(&["checkpoint"]).shown(), @"");
    let run = world.run(&["checkpoint", "--json"]);
    assert!(run.json()["error"].as_str().unwrap().contains("not in a git repository"), "{run:?}");
    for args in [&["checkpoints", "list"][..], &["rollback", "--yes"], &["worktree", "list"]] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
    let home = World::new().at("home");
    std::fs::create_dir_all(home.path("home/.git/objects")).unwrap();
    home.write("home/.git/HEAD", "ref: refs/heads/main\n");
    let run = home.run(&["checkpoint"]);
    assert_eq!(run.code, Some(1), "the home folder is refused: {run:?}");
}

/// WSP-3: the list, one of them, diffs and comparisons.
#[test]
fn history_is_listed_shown_and_compared() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["checkpoints", "list"]).shown(), @"");
    world.write("repo/src/a.txt", "one\n2\nthree\n");
    world.run(&["checkpoint", "-m", "first one"]);
    world.write("repo/src/b.txt", "b\n");
    world.run(&["checkpoint", "-m", "second one"]);
    world.write("repo/src/a.txt", "one\n2\n3\n");
    assert_snapshot!(world.run(&["checkpoints", "list"]).steady(), @"");
    assert_snapshot!(world.run(&["checkpoints", "show", "2"]).steady(), @"");
    assert_snapshot!(world.run(&["checkpoints", "diff", "1"]).steady(), @"");
    assert_snapshot!(world.run(&["checkpoints", "diff"]).steady(), @"");
    assert_snapshot!(world.run(&["checkpoints", "diff", "latest", "--cumulative", "--stat"]).shown(), @"");
    assert_snapshot!(world.run(&["checkpoints", "compare", "1", "now"]).shown(), @"");
    let world = world.at("repo/src");
    let run = world.run(&["checkpoints", "compare", "1", "now", "b.txt", "--json"]);
    assert_eq!(run.json()["files_changed"], serde_json::json!(["src/b.txt"]), "{run:?}");
    let by_path = world.run(&["checkpoints", "diff", "a.txt"]);
    assert!(by_path.stdout.starts_with("diff --git a/src/a.txt b/src/a.txt\n"), "{by_path:?}");
    assert_snapshot!(world.run(&["checkpoints", "show", "9"]).shown(), @"");
    let list = world.run(&["checkpoints", "list", "--json", "--limit", "1"]).json();
    assert_eq!(list["total"], 2);
    assert_eq!(list["checkpoints"][0]["message"], "second one");
}

/// WSP-3: a patch that leads back and forth is what `git apply` takes.
#[test]
fn a_diff_is_a_patch_for_git() {
    let world = World::with_commit();
    world.write("repo/src/a.txt", "one\n2\nthree\n");
    world.write("repo/src/b.txt", "b");
    world.run(&["checkpoint"]);
    let patch = world.run(&["checkpoints", "diff", "latest"]).stdout;
    world.write("change.patch", &patch);
    world.git(&["apply", "--reverse", "../change.patch"]);
    assert_eq!(world.read("repo/src/a.txt"), "one\ntwo\nthree\n");
    assert!(!world.path("repo/src/b.txt").exists());
}

/// WSP-3: plain git sees checkpoints, and a branch is made from one.
#[test]
fn plain_git_sees_checkpoints_and_branches_are_made_of_them() {
    let world = World::with_commit();
    world.write("repo/new.txt", "new\n");
    let id = world.run(&["checkpoint", "--quiet", "-m", "seen"]).stdout;
    let log = world.git(&["--git-dir=.git/aurora/git", "log", "--all", "--format=%s %D"]);
    assert_eq!(log.trim(), format!("seen refs/aurora/checkpoints/checkout/{}", id.trim()));
    assert_snapshot!(world.run(&["checkpoints", "branch", "1", "rescue"]).steady(), @"");
    assert_eq!(world.git(&["show", "rescue:new.txt"]), "new\n");
    assert_eq!(world.git(&["branch", "--show-current"]), "main\n");
    let taken = world.run(&["checkpoints", "branch", "1", "rescue"]);
    assert_eq!(taken.code, Some(1), "{taken:?}");
}

#[test]
fn pruning_needs_a_rule_and_a_yes() {
    let world = World::with_commit();
    for text in ["1\n", "2\n", "3\n"] {
        world.write("repo/n.txt", text);
        world.run(&["checkpoint"]);
    }
    assert_snapshot!(world.run(&["checkpoints", "prune"]).shown(), @"");
    assert_snapshot!(world.run(&["checkpoints", "prune", "--keep-last", "1"]).shown(), @"");
    assert_snapshot!(world.run(&["checkpoints", "prune", "--keep-last", "1", "--dry-run"]).steady(), @"");
    let run = world.run(&["checkpoints", "prune", "--keep-last", "1", "--yes", "--json"]);
    assert_eq!(run.json()["forgotten"].as_array().unwrap().len(), 2, "{run:?}");
    assert_eq!(world.run(&["checkpoints", "list", "--json"]).json()["total"], 1);
}

#[test]
fn sizes_and_spans_that_are_none_are_wrong_usage() {
    let world = World::with_commit();
    for args in [
        &["checkpoint", "--max-file-size", "big"][..],
        &["checkpoints", "prune", "--older-than", "30"],
        &["checkpoint", "--json", "--quiet"],
        &["checkpoint", "-m"],
    ] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
    world.write("repo/big.bin", "0123456789");
    let run = world.run(&["checkpoint", "--max-file-size", "9"]);
    assert!(run.stdout.contains("1 too large (big.bin, 10 bytes)"), "{run:?}");
}
