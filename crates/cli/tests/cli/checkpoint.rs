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
      in total: [DIR]/repo/.git/aurora/features/checkout/checkpoints/ckpt-001-xxxxxxxx.cumulative.diff

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
      in total: [DIR]/repo/.git/aurora/features/checkout/checkpoints/ckpt-002-xxxxxxxx.cumulative.diff

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

/// WSP-3, WSP-4: what somebody says is kept also where no file changed, and a rollback goes there.
#[test]
fn a_message_is_recorded_also_where_nothing_changed() {
    let world = World::with_commit();
    world.write("repo/a.txt", "1\n");
    world.run(&["checkpoint", "-m", "v1"]);
    world.write("repo/a.txt", "2\n");
    world.run(&["rollback", "--yes"]);
    world.run(&["rollback", "--undo", "--yes"]);
    assert_snapshot!(world.run(&["checkpoint", "-m", "v2 is good"]).steady(), @r"
    exit: 0
    ----- stdout -----
    ckpt-005-xxxxxxxx  no file changed since ckpt-004-xxxxxxxx
    ");
    world.write("repo/a.txt", "3\n");
    let plan = world.run(&["rollback", "--dry-run"]).steady();
    assert!(plan.contains("back to ckpt-005-xxxxxxxx (asked, just now): v2 is good"), "{plan}");
    world.run(&["rollback", "--yes"]);
    assert_eq!(world.read("repo/a.txt"), "2\n");
    // Without a message too: the latest is one that a rollback made by itself.
    let asked = world.run(&["checkpoint", "--json"]).json();
    assert_eq!((&asked["unchanged"], &asked["kind"]), (&false.into(), &"asked".into()));
    assert_eq!(world.run(&["checkpoint", "--json"]).json()["unchanged"], true);
}

/// WSP-3: after pruning what was asked for, the hint leads to a checkpoint that a rollback finds.
#[test]
fn a_new_checkpoint_can_be_asked_for_after_pruning() {
    let world = World::with_commit();
    world.write("repo/a.txt", "1\n");
    world.run(&["checkpoint"]);
    world.write("repo/a.txt", "2\n");
    world.run(&["rollback", "--yes"]);
    world.run(&["checkpoints", "prune", "1", "--yes"]);
    let none = world.run(&["rollback", "--yes"]);
    assert!(none.stderr.contains("`aur checkpoint` makes one"), "{none:?}");
    assert_eq!(world.run(&["checkpoint"]).code, Some(0));
    assert_eq!(world.run(&["rollback", "--yes"]).code, Some(0));
}

/// WSP-3: a diff for people holds what a file holds that only the user may read.
#[test]
fn diffs_for_people_are_only_the_users_to_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::with_commit();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let folder = world.path("repo/.aurora/features/checkout/checkpoints");
    std::fs::create_dir_all(&folder).unwrap();
    world.write("repo/.gitignore", ".env\n");
    world.write("repo/.env", "TOKEN=secret\n");
    let made = world.run(&["checkpoint", "--with-secrets", "--json"]).json();
    assert_eq!(mode(&folder), 0o700);
    for key in ["diff_incremental", "diff_cumulative"] {
        let path = made[key].as_str().unwrap().replace("[DIR]/", "");
        assert!(world.read(&path).contains("+TOKEN=secret"), "{key}");
        assert_eq!(mode(&world.path(&path)), 0o600, "{key}");
    }
}

/// WSP-3: both diffs are files, and the second one reaches back to where the chain began.
#[test]
fn a_checkpoint_has_its_diff_and_the_diff_since_the_beginning() {
    let world = World::with_commit();
    world.write("repo/a.txt", "a\n");
    world.run(&["checkpoint"]);
    world.write("repo/b.txt", "b\n");
    let made = world.run(&["checkpoint", "--json"]).json();
    let diff = |key: &str| world.read(&made[key].as_str().unwrap().replace("[DIR]/", ""));
    assert_eq!(diff("diff_incremental"), world.run(&["checkpoints", "diff", "2"]).stdout);
    let since = world.run(&["checkpoints", "diff", "2", "--cumulative"]).stdout;
    assert_eq!(diff("diff_cumulative"), since);
    assert!(since.contains("+++ b/a.txt\n") && since.contains("+++ b/b.txt\n"), "{since}");
    // What is too much for a file is printed on demand only.
    (0..200).for_each(|number| world.write(&format!("repo/many/{number}"), "x\n"));
    let many = world.run(&["checkpoint", "--json"]).json();
    assert!(many["diff_incremental"].is_string() && many["diff_cumulative"].is_null(), "{many}");
}

/// WSP-3: how bad a violation is, is said where it is noted and where it is shown.
#[test]
fn violations_are_told_with_their_severity() {
    let world = World::with_commit();
    std::os::unix::fs::symlink("/etc/passwd", world.path("repo/out")).unwrap();
    assert_snapshot!(world.run(&["checkpoint"]).steady(), @r"
    exit: 0
    ----- stdout -----
    ckpt-001-xxxxxxxx  1 file changed (1 new)
    ----- stderr -----
    violation (error): out: the link leads out of the worktree, to `/etc/passwd` (point it at something inside the worktree, or copy what it points at)
    ");
    let shown = world.run(&["checkpoints", "show"]).stdout;
    assert!(shown.contains("\nviolation (error): out: "), "{shown}");
}

/// WSP-3: too much at once is refused with what to do about it.
#[test]
fn too_much_at_once_names_the_option() {
    let world = World::with_commit();
    world.write("repo/big.bin", &"x".repeat(5000));
    assert_snapshot!(world.run(&["checkpoint", "--max-total", "4K"]).shown(), @r"
    exit: 1
    ----- stderr -----
    error: more than 4 KiB are new in this checkpoint: `big.bin` (4.8 KiB)
    hint: ignore what need not be kept, or allow more, as in `aur checkpoint --max-total 8G`
    ");
    let empty = World::new();
    std::fs::create_dir_all(empty.path("fresh")).unwrap();
    let empty = empty.at("fresh");
    empty.shell("git init --quiet .");
    let first = empty.run(&["checkpoint"]);
    assert!(first.stdout.contains("no commit yet, and no file to record"), "{first:?}");
}

/// WSP-1, WSP-3: what was recorded in a worktree can be read when the worktree is gone.
#[test]
fn checkpoints_of_a_removed_worktree_can_be_read() {
    let world = World::with_commit();
    let made = world.run(&["worktree", "add", "login", "--json"]).json();
    let folder = made["path"].as_str().unwrap().replace("[DIR]/", "");
    world.write(&format!("{folder}/new.txt"), "new\n");
    world.run(&["worktree", "remove", "login", "--yes"]);
    world.write("repo/a.txt", "a\n");
    world.run(&["checkpoint", "-m", "mine"]);
    assert_snapshot!(world.run(&["checkpoints", "list", "--all-features"]).steady(), @r"
    exit: 0
    ----- stdout -----
    checkout:
    CHECKPOINT         WHEN                            KIND   FILES  MESSAGE
    ckpt-001-xxxxxxxx  just now  [WHEN]  asked      1  mine

    login:
    CHECKPOINT         WHEN                            KIND    FILES  MESSAGE
    ckpt-001-xxxxxxxx  just now  [WHEN]  safety      1  before the worktree `login` was removed
    ");
    let one = world.run(&["checkpoints", "show", "--feature", "login", "--json"]).json();
    assert_eq!(one["files_changed_total"], serde_json::json!(["new.txt"]));
    let patch = world.run(&["checkpoints", "diff", "--feature", "login"]).stdout;
    assert!(patch.starts_with("diff --git a/new.txt b/new.txt\n"), "{patch}");
    let args = ["checkpoints", "compare", "latest", "now", "--feature", "login", "--json"];
    let differ = world.run(&args).json();
    assert_eq!(differ["files_changed"], serde_json::json!(["a.txt", "new.txt"]));
    let list = world.run(&["checkpoints", "list", "--feature", "login", "--json"]).json();
    assert_eq!(list["total"], 1);
    assert_eq!(list["checkpoints"][0]["files_changed_count"], 1);
    assert_eq!(list["checkpoints"][0]["skipped_count"], 0);
    assert_snapshot!(world.run(&["checkpoints", "list", "--feature", "x"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: no checkpoints of a feature `x`
    hint: there are those of checkout, login
    ");
}

/// WSP-3: what is staged and in no file is said, with what shows it.
#[test]
fn what_is_staged_apart_from_the_worktree_is_shown() {
    let world = World::with_commit();
    world.write("repo/a.txt", "staged\n");
    world.git(&["add", "a.txt"]);
    world.write("repo/a.txt", "edited\n");
    world.run(&["checkpoint"]);
    let shown = world.run(&["checkpoints", "show"]).stdout;
    let line =
        shown.lines().find(|line| line.starts_with("staged apart from the worktree: 1 file;"));
    let command = line.and_then(|line| line.split('`').nth(1)).expect(&shown);
    let root = world.path("").to_string_lossy().trim_end_matches('/').to_owned();
    let listed = world.shell(&command.replace("[DIR]", &root).replace('\'', ""));
    assert!(listed.contains("a.txt"), "{listed}");
}

/// WSP-3: a checkpoint after a damaged one is made, and the damage is said aloud.
#[test]
fn a_checkpoint_beside_a_damaged_one_is_made_and_says_so() {
    let world = World::with_commit();
    world.git(&["checkout", "--quiet", "-b", "gone"]);
    world.write("repo/only-there", "x\n");
    world.git(&["add", "--all"]);
    world.git(&["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "there"]);
    assert_eq!(world.run(&["checkpoint"]).code, Some(0));
    world.git(&["checkout", "--quiet", "-"]);
    world.git(&["branch", "--quiet", "-D", "gone"]);
    world.git(&["update-ref", "-d", "refs/aurora/keep/checkout"]);
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "--quiet", "--prune=now"]);
    let made = world.run(&["checkpoint"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stderr.contains("the checkpoint before this one is damaged"), "{made:?}");
    let verified = world.run(&["checkpoints", "verify"]);
    assert!(verified.stdout.contains("2 checkpoints looked at, 1 problem found"), "{verified:?}");
}
