//! `aur policy check` on one action.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;

use crate::harness::World;

/// POL-9: the answer names the operation, underlines the cause, and says rule and origin.
#[test]
fn a_denial_underlines_its_cause_and_names_its_rule() {
    let run = World::new().run(&["policy", "check", "--", "ls && git push --force | cat"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stdout.starts_with("DENY  git_force_push\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n  ls && git push --force | cat\n        ^^^"), "{}", run.stdout);
    let rule = "\n  rule: destructive.git_force_push = deny (built-in defaults)\n";
    assert!(run.stdout.contains(rule), "{}", run.stdout);
    assert!(run.stdout.contains("\n  instead: "), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn several_arguments_are_a_programs_and_one_is_a_line() {
    let world = World::new();
    for args in [
        &["policy", "check", "--", "git", "push", "--force"][..],
        &["policy", "check", "--", "git push --force"],
        &["policy", "check", "--", "git push --force | cat"],
    ] {
        assert_eq!(world.run(args).code, Some(3), "{args:?}");
    }
    let quoted =
        world.run(&["policy", "check", "--", "git", "commit", "-m", "x; git push --force"]);
    assert_eq!(quoted.code, Some(0), "{quoted:?}");
    let piped = world.run_with(&["policy", "check", "--", "-"], b"git push --force\n");
    assert_eq!(piped.code, Some(3), "{piped:?}");
}

#[test]
fn a_harmless_line_is_allowed() {
    assert_snapshot!(World::new().run(&["policy", "check", "--", "git", "status"]).shown(), @r"
    exit: 0
    ----- stdout -----
    ALLOW  nothing here that the policy asks about

      git status
    ");
}

/// `git diff` in a clean worktree prints nothing, and nothing is what it would change.
#[test]
fn an_empty_patch_changes_nothing() {
    let world = World::new();
    let patch = ["policy", "check", "--patch", "-"];
    for text in ["", "\n", " \n\t\n"] {
        let run = world.run_with(&patch, text.as_bytes());
        assert_eq!(run.shown(), "exit: 0\n----- stdout -----\nALLOW  the patch is empty");
    }
    world.write("repo/empty.patch", "");
    assert_eq!(world.run(&["policy", "check", "--patch", "empty.patch"]).code, Some(0));
    let json = world.run_with(&["policy", "check", "--json", "--patch", "-"], b"").json();
    assert_eq!((&json["decision"], &json["effects"]), (&"allow".into(), &serde_json::json!([])));
    assert_ne!(world.run_with(&patch, b"garbage\n").code, Some(0));
}

#[test]
fn a_tool_without_a_command_is_shown_as_its_call() {
    let world = World::new();
    let check = |tool: &str, args: &str| {
        world.run(&["policy", "check", "--tool", tool, "--args", args]).stdout
    };
    let read = check("Read", r#"{"file_path": "a\u001b[2J.rs"}"#);
    let expected = "\n\n  Read {\"file_path\":\"a\\u001b[2J.rs\"}\n";
    assert!(read.starts_with("ALLOW  ") && read.contains(expected), "{read}");
    let write = check("Write", r#"{"file_path": ".env", "content": "x"}"#);
    let expected = "\n\n  Write {\"file_path\":\".env\",\"content\":\"x\"}\n";
    assert!(write.starts_with("DENY  ") && write.contains(expected), "{write}");
    let long = check("Read", &format!("{{\"file_path\": \"{}\"}}", "a".repeat(500)));
    assert!(long.lines().all(|line| line.chars().count() <= 80), "{long}");
}

#[test]
fn long_lines_of_an_answer_are_broken_at_the_width() {
    let world = World::new();
    let check = ["policy", "check", "--", "bash -c 'git push --force origin dev'"];
    let wide = world.with("COLUMNS", "300").run(&check).stdout;
    for columns in ["40", "60", "80", "0", ""] {
        let limit = columns.parse().ok().filter(|columns| *columns > 0).unwrap_or(80);
        let narrow = World::new().with("COLUMNS", columns).run(&check).stdout;
        for line in narrow.lines() {
            assert!(line.chars().count() <= limit, "{columns}: {line}");
        }
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&narrow), words(&wide));
        assert!(narrow.contains("\n    "), "{narrow}");
    }
}

#[test]
fn what_a_person_decides_ends_with_4() {
    let run = World::new().run(&["policy", "check", "--", "rm -rf build"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stdout.starts_with("ASK  file_delete\n"), "{}", run.stdout);
}

#[test]
fn further_reasons_follow_the_strictest() {
    let run = World::new().run(&["policy", "check", "--", "rm -rf build; git push --force"]);
    assert_eq!(run.code, Some(3));
    let (first, second) = run.stdout.split_once("\nalso ").expect("a second reason");
    assert!(first.starts_with("DENY  git_force_push\n"), "{first}");
    assert!(second.starts_with("ASK  file_delete\n"), "{second}");
}

#[test]
fn json_is_the_whole_verdict_with_the_text_that_its_spans_point_into() {
    let run = World::new().run(&["policy", "check", "--json", "--", "ls; git push --force"]);
    assert_eq!(run.code, Some(3));
    let json = run.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["decision", "operation", "rule", "reasons", "effects", "wanted", "text"]);
    assert_eq!(json["decision"], "deny");
    assert_eq!(json["operation"], "git_force_push");
    assert_eq!(json["rule"], "destructive.git_force_push");
    assert_eq!(json["text"], "ls; git push --force");
    assert_eq!(json["effects"][0]["effect"], "force_push");
    let allowed = World::new().run(&["policy", "check", "--json", "--", "ls"]).json();
    assert_eq!((&allowed["decision"], &allowed["rule"]), (&"allow".into(), &"".into()));
}

/// POL-8: SQL, patches and tool calls are judged by the same gate.
#[test]
fn sql_patches_and_tool_calls_are_judged_too() {
    let world = World::new();
    let code = |args: &[&str], stdin: &str| world.run_with(args, stdin.as_bytes()).code;
    assert_eq!(code(&["policy", "check", "--sql", "DROP TABLE users"], ""), Some(3));
    assert_eq!(
        code(&["policy", "check", "--sql", "-", "--dialect", "mysql"], "drop table t"),
        Some(3)
    );
    assert_eq!(code(&["policy", "check", "--sql", "-- DROP TABLE users\nSELECT 1"], ""), Some(0));
    let patch = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(code(&["policy", "check", "--patch", "-"], patch), Some(3));
    world.write("repo/change.patch", &patch.replace(".env", "src/a.rs"));
    assert_eq!(code(&["policy", "check", "--patch", "change.patch"], ""), Some(0));
    let bash = r#"{"command": "git push --force"}"#;
    assert_eq!(code(&["policy", "check", "--tool", "Bash", "--args", bash], ""), Some(3));
    assert_eq!(code(&["policy", "check", "--tool", "Bash", "--args", "-"], bash), Some(3));
    let write = r#"{"file_path": ".env", "content": "x"}"#;
    assert_eq!(code(&["policy", "check", "--tool", "Write", "--args", write], ""), Some(3));
    let unknown = code(&["policy", "check", "--tool", "Teleport", "--args", "{}"], "");
    assert!(
        unknown == Some(4) || unknown == Some(3),
        "unknown tools are not harmless: {unknown:?}"
    );
}

#[test]
fn the_checked_out_branch_and_its_upstream_come_from_gits_files() {
    let world = World::new();
    assert_eq!(world.run(&["policy", "check", "--", "git push"]).code, Some(4));
    let feature = ["policy", "check", "--branch", "feature", "--", "git push"];
    assert_eq!(world.run(&feature).code, Some(0));
    world.write("repo/.git/HEAD", "ref: refs/heads/feature\n");
    assert_eq!(world.run(&["policy", "check", "--", "git push"]).code, Some(0));
    let world = world.at("elsewhere");
    let there = ["policy", "check", "--branch", "main", "--cwd", "../repo", "--", "git push"];
    assert_eq!(world.run(&there).code, Some(4));
}

#[test]
fn a_linked_worktree_has_its_own_branch_and_the_shared_configuration() {
    let world = World::new().at("linked/deep");
    world.write("linked/.git", "gitdir: ../repo/.git/worktrees/linked\n");
    world.write("repo/.git/worktrees/linked/HEAD", "ref: refs/heads/topic\n");
    world.write("repo/.git/worktrees/linked/commondir", "../..\n");
    world.write("repo/.git/config", "[alias]\n\tpf = push --force\n");
    assert_eq!(world.run(&["policy", "check", "--", "git push"]).code, Some(0));
    assert_eq!(world.run(&["policy", "check", "--", "git pf"]).code, Some(3));
}

#[test]
fn an_alias_of_the_user_or_of_an_included_file_is_known() {
    let world = World::new();
    assert_ne!(world.run(&["policy", "check", "--", "git pf"]).code, Some(3));
    world.write("home/.gitconfig", "[include]\n\tpath = more/aliases\n");
    world.write("home/more/aliases", "[alias]\n\tpf = \"push --force\" ; quick\n");
    assert_eq!(world.run(&["policy", "check", "--", "git pf"]).code, Some(3));
    world.write("home/more/aliases", "[include]\n\tpath = aliases\n");
    assert_ne!(
        world.run(&["policy", "check", "--", "git pf"]).code,
        None,
        "a loop of includes ends"
    );
}

#[test]
fn a_script_that_the_line_runs_is_read() {
    let world = World::new();
    world.write("repo/deploy.sh", "#!/bin/sh\ngit push --force\n");
    let run = world.run(&["policy", "check", "--json", "--", "bash deploy.sh"]);
    assert_eq!(run.json()["operation"], "git_force_push", "{}", run.stdout);
}

#[test]
fn hostile_text_cannot_fool_the_terminal() {
    let text = "echo \u{1b}[2J\u{202e}; rm -rf \u{200b}x";
    let run = World::new().run(&["policy", "check", "--", text]);
    assert_ne!(run.code, Some(0), "{run:?}");
    let bad = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}".contains(c));
    assert!(!run.stdout.contains(bad), "{:?}", run.stdout);
}

#[test]
fn an_argument_that_is_not_utf_8_gets_an_answer() {
    let world = World::new();
    let bad = OsStr::from_bytes(b"\xff\xfe");
    let words = ["policy", "check", "--", "git", "push", "--force"].map(OsStr::new);
    let run = world.run(&[&words[..], &[bad]].concat());
    assert_eq!(run.code, Some(3), "{run:?}");
    let harmless = ["policy", "check", "--", "ls"].map(OsStr::new);
    let run = world.run(&[&harmless[..], &[bad]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn a_megabyte_gets_an_answer_that_fits_the_screen() {
    let text = format!("echo {}; git push --force", "a".repeat(1024 * 1024));
    let run = World::new().run_with(&["policy", "check", "--", "-"], text.as_bytes());
    assert!(matches!(run.code, Some(3 | 4)), "{:?} {}", run.code, run.stderr);
    assert!(run.stdout.len() < 4000, "{}", run.stdout.len());
}

#[test]
fn deep_nesting_gets_an_answer() {
    for text in ["{".repeat(8192), "$(".repeat(4096), "(".repeat(8192)] {
        let run = World::new().run_with(&["policy", "check", "--", "-"], text.as_bytes());
        assert!(matches!(run.code, Some(3 | 4)), "{:?} {}", run.code, run.stderr);
    }
}

#[test]
fn wrong_usage_is_one_clear_message() {
    let world = World::new();
    assert_snapshot!(world.run(&["policy", "check", "--tool", "X", "--args", "{"]).shown(), @r#"
    exit: 2
    ----- stderr -----
    error: cannot read --args as JSON: EOF while parsing an object at line 1 column 1
    hint: write it like --args '{"command": "ls"}'
    "#);
    assert_snapshot!(world.run(&["policy", "check", "--patch", "gone.patch"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: cannot read gone.patch: No such file or directory (os error 2)
    ");
    assert_snapshot!(world.run(&["policy", "check", "--cwd", "gone", "--", "ls"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: gone is not a folder
    ");
    for args in [
        &["policy", "check"][..],
        &["policy", "check", "ls"],
        &["polcy"],
        &["policy", "check", "--"],
    ] {
        let run = world.run(args);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with("error: "), "{run:?}");
    }
}
