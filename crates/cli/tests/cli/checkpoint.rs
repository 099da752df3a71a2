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
    assert_snapshot!(world.run(&["checkpoint", "-m", "before"]).steady(), @r"
    exit: 0
    ----- stdout -----
    ckpt-001-xxxxxxxx  4 files changed (2 new, 1 modified, 1 deleted)
      left out: 2 ignored (a.log, dist/); --json lists all
    ");
    assert_snapshot!(world.run(&["checkpoint", "create"]).steady(), @r"
    exit: 0
    ----- stdout -----
    nothing changed since ckpt-001-xxxxxxxx
    ");
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
    assert_snapshot!(format!("{keys:?}"), @r#"
    ["checkpoint_id", "tree", "previous_checkpoint_id", "timestamp", "feature", "kind", "message", "head", "unchanged", "files_changed", "changes", "skipped", "empty_folders", "nested", "violations", "validation_status", "severity", "scanned", "diff_incremental", "diff_cumulative"]
    "#);
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
    assert_snapshot!(world.run(&["checkpoint", "--include", "../../.."]).steady(), @r"
    exit: 2
    ----- stderr -----
    error: ../../.. is not in the worktree
    hint: paths start at the current directory; the worktree is [DIR]/repo
    ");
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
    assert_snapshot!(shown.steady(), @r#"
    exit: 0
    ----- stdout -----
    ckpt-001-xxxxxxxx  asked  [WHEN] (just now)
      message:  with \x1b[31mcolour\u{202e}
      previous: none
      feature:  checkout
      HEAD:     main at [HASH]
      tree:     [HASH]
      diff:     [DIR]/repo/.git/aurora/features/checkout/checkpoints/ckpt-001-xxxxxxxx.diff

    since the previous: 4 files changed (4 new)
      A "caf\351"
      A "esc\033[2J"
      A "line\nbreak"
      A \u{202e}txt
    since the beginning: 4 files changed (4 new)
    "#);
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
    assert_snapshot!(world.run(&["checkpoint"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: [DIR]/plain is not in a git repository
    hint: go into one, or make one with `git init`
    ");
    let run = world.run(&["checkpoint", "--json"]);
    assert!(run.json()["error"].as_str().unwrap().contains("not in a git repository"), "{run:?}");
    for args in [&["checkpoints", "list"][..], &["rollback", "--yes"], &["worktree", "list"]] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
    let home = World::new().at("home");
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(home.path("home/.git").join(folder)).unwrap();
    }
    home.write("home/.git/HEAD", "ref: refs/heads/main\n");
    let run = home.run(&["checkpoint"]);
    assert_eq!(run.code, Some(1), "the home folder is refused: {run:?}");
}

/// WSP-3: the list, one of them, diffs and comparisons.
#[test]
fn history_is_listed_shown_and_compared() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["checkpoints", "list"]).shown(), @r"
    exit: 0
    ----- stdout -----
    no checkpoint yet; `aur checkpoint` makes one
    ");
    world.write("repo/src/a.txt", "one\n2\nthree\n");
    world.run(&["checkpoint", "-m", "first one"]);
    world.write("repo/src/b.txt", "b\n");
    world.run(&["checkpoint", "-m", "second one"]);
    world.write("repo/src/a.txt", "one\n2\n3\n");
    assert_snapshot!(world.run(&["checkpoints", "list"]).steady(), @r"
    exit: 0
    ----- stdout -----
    CHECKPOINT         WHEN                            KIND   FILES  MESSAGE
    ckpt-002-xxxxxxxx  just now  [WHEN]  asked      1  second one
    ckpt-001-xxxxxxxx  just now  [WHEN]  asked      1  first one
    ");
    assert_snapshot!(world.run(&["checkpoints", "show", "2"]).steady(), @r"
    exit: 0
    ----- stdout -----
    ckpt-002-xxxxxxxx  asked  [WHEN] (just now)
      message:  second one
      previous: ckpt-001-xxxxxxxx
      feature:  checkout
      HEAD:     main at [HASH]
      tree:     [HASH]
      diff:     [DIR]/repo/.git/aurora/features/checkout/checkpoints/ckpt-002-xxxxxxxx.diff

    since the previous: 1 file changed (1 new)
      A src/b.txt
    since the beginning: 2 files changed (1 new, 1 modified)
    ");
    assert_snapshot!(world.run(&["checkpoints", "diff", "1"]).steady(), @r"
    exit: 0
    ----- stdout -----
    diff --git a/src/a.txt b/src/a.txt
    index [HASH]..[HASH] 100644
    --- a/src/a.txt
    +++ b/src/a.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    ");
    assert_snapshot!(world.run(&["checkpoints", "diff"]).steady(), @r"
    exit: 0
    ----- stdout -----
    diff --git a/src/a.txt b/src/a.txt
    index [HASH]..[HASH] 100644
    --- a/src/a.txt
    +++ b/src/a.txt
    @@ -1,3 +1,3 @@
     one
     2
    -three
    +3
    ");
    assert_snapshot!(world.run(&["checkpoints", "diff", "latest", "--cumulative", "--stat"]).shown(), @r"
    exit: 0
    ----- stdout -----
      src/a.txt  +1 -1
      src/b.txt  +1 -0
    2 files changed (1 new, 1 modified); lines: 2 added, 1 removed
    ");
    assert_snapshot!(world.run(&["checkpoints", "compare", "1", "now"]).shown(), @r"
    exit: 0
    ----- stdout -----
    2 files changed (1 new, 1 modified)
      M src/a.txt
      A src/b.txt
    ");
    let world = world.at("repo/src");
    let run = world.run(&["checkpoints", "compare", "1", "now", "b.txt", "--json"]);
    assert_eq!(run.json()["files_changed"], serde_json::json!(["src/b.txt"]), "{run:?}");
    let by_path = world.run(&["checkpoints", "diff", "a.txt"]);
    assert!(by_path.stdout.starts_with("diff --git a/src/a.txt b/src/a.txt\n"), "{by_path:?}");
    assert_snapshot!(world.run(&["checkpoints", "show", "9"]).steady(), @r"
    exit: 2
    ----- stderr -----
    error: no checkpoint `9`
    hint: there are 2 of them, such as ckpt-002-xxxxxxxx, ckpt-001-xxxxxxxx
    ");
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
    let format = "--format=%(refname) %(contents:subject)";
    let seen = world.git(&["--git-dir=.git/aurora/git", "for-each-ref", format]);
    assert_eq!(seen, format!("refs/aurora/checkpoints/checkout/{} seen\n", id.trim()));
    assert_snapshot!(world.run(&["checkpoints", "branch", "1", "rescue"]).steady(), @r"
    exit: 0
    ----- stdout -----
    made branch rescue at [HASH] from ckpt-001-xxxxxxxx
    look at it with: git log -p -1 rescue
    ");
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
    assert_snapshot!(world.run(&["checkpoints", "prune"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: nothing says which checkpoints go
    hint: --keep-last 50, --older-than 30d, or the names of checkpoints
    ");
    assert_snapshot!(world.run(&["checkpoints", "prune", "--keep-last", "1"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: pruning needs a yes, and nobody is there to ask
    hint: --yes says it beforehand
    ");
    assert_snapshot!(world.run(&["checkpoints", "prune", "--keep-last", "1", "--dry-run"]).steady(), @r"
    exit: 0
    ----- stdout -----
    2 checkpoints would go, 1 stay:
      - ckpt-001-xxxxxxxx
      - ckpt-002-xxxxxxxx
    ");
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
    assert!(run.stdout.contains("2 too large (big.bin: 10 bytes, src/a.txt: 14 bytes)"), "{run:?}");
}

/// WSP-3: objects that are missing are a problem, and the exit code says so.
#[test]
fn verifying_finds_that_objects_are_missing() {
    let world = World::with_commit();
    world.write("repo/new.txt", "new\n");
    assert_eq!(world.run(&["checkpoint", "--json"]).code, Some(0));
    let packs = world.path("repo/.git/aurora/git/objects/pack");
    let first: Vec<_> = packs.read_dir().unwrap().flatten().map(|one| one.path()).collect();
    world.write("repo/other.txt", "other\n");
    assert_eq!(world.run(&["checkpoint", "--json"]).code, Some(0));
    let sound = world.run(&["checkpoints", "verify"]);
    assert_eq!(sound.code, Some(0), "{sound:?}");
    for file in first {
        std::fs::remove_file(file).unwrap();
    }
    let broken = world.run(&["checkpoints", "verify"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stdout.contains("ckpt-002-"), "{broken:?}");
    assert!(broken.stdout.contains("is missing"), "{broken:?}");
}
