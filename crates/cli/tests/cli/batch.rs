//! `aur policy check --batch`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::harness::World;

const BATCH: [&str; 3] = ["policy", "check", "--batch"];

#[test]
fn every_line_is_answered_in_order_whatever_it_holds() {
    let input = concat!(
        r#"{"id": "a", "command": "git status"}"#,
        "\n",
        "\n",
        r#"{"id": "b", "command": "git push --force"}"#,
        "\n",
        "garbage\n",
        r#"{"id": "c", "command": "#,
        "\n",
        r#"{"id": 7, "command": 3}"#,
        "\n",
        r#"{"id": "d"}"#,
        "\n",
        r#"{"id": "e", "command": "ls", "sql": "x"}"#,
        "\n",
        r#"{"id": "f", "command": ["git", "push", "--force"]}"#,
        "\r\n",
        r#"{"command": "ls"}"#,
    );
    let run = World::new().run_with(&BATCH, input.as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let lines = run.json_lines();
    let told: Vec<String> = lines
        .iter()
        .map(|line| {
            let error = line.get("error").and_then(|error| error.as_str()).unwrap_or("-");
            format!("{} {} {} | {error}", line["id"], line["decision"], line["operation"])
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    "a" "allow" "none" | -
    "b" "deny" "git_force_push" | -
    null "deny" "none" | line 4: this is not JSON: expected value (column 1)
    "c" "deny" "none" | line 5: this is not JSON: EOF while parsing a value (column 23)
    7 "deny" "none" | line 6: command: expected a string or a list of strings
    "d" "deny" "none" | line 7: no `command`, `sql`, `patch` or `tool`
    "e" "deny" "none" | line 8: more than one of `command`, `sql`, `patch` and `tool`
    "f" "deny" "git_force_push" | -
    null "allow" "none" | -
    "#);
    for line in &lines {
        let keys: Vec<_> = line.as_object().unwrap().keys().filter(|key| *key != "error").collect();
        assert_eq!(keys, ["id", "decision", "operation", "rule", "reasons", "effects"]);
        assert!(line["rule"].is_string() && line["effects"].is_array(), "{line}");
        assert!(line["reasons"].as_array().unwrap().iter().all(|reason| reason.is_string()));
    }
}

#[test]
fn a_line_happens_where_its_context_says() {
    let line = |command: &str, context: &str| {
        format!("{{\"id\": \"x\", \"command\": \"{command}\", \"context\": {context}}}\n")
    };
    let world = World::new();
    let input = [
        // Without a context the line happens here: on main.
        "{\"id\": \"x\", \"command\": \"git push\"}\n".to_owned(),
        line("git push", r#"{"cwd": "/nowhere/app", "home": "/nowhere", "branch": "main"}"#),
        line("git push", r#"{"cwd": "/nowhere/app", "home": "/nowhere", "branch": "dev"}"#),
        line("git pf", r#"{"cwd": "/nowhere", "aliases": {"pf": "push --force"}}"#),
        line("git push", &format!("{{\"cwd\": {:?}}}", world.path("repo"))),
        line("rm -rf ../app", r#"{"cwd": "/nowhere/app", "root": "/nowhere/app"}"#),
        line("git push", r#"{"cwd": 3}"#),
        line("ls", r#"{"cwd": null, "future": {"a": 1}}"#),
    ]
    .concat();
    let run = world.run_with(&BATCH, input.as_bytes());
    let told: Vec<String> =
        run.json_lines().iter().map(|l| format!("{} {}", l["decision"], l["operation"])).collect();
    assert_snapshot!(told.join("\n"), @r#"
    "prompt" "git_push_main"
    "prompt" "git_push_main"
    "allow" "none"
    "deny" "git_force_push"
    "prompt" "git_push_main"
    "deny" "protected_path"
    "deny" "none"
    "allow" "none"
    "#);
}

#[test]
fn sql_patches_and_tools_have_lines_of_their_own() {
    let input = concat!(
        r#"{"id": 1, "sql": "DROP TABLE t", "dialect": "postgres"}"#,
        "\n",
        r#"{"id": 2, "patch": "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+b\n"}"#,
        "\n",
        r#"{"id": 3, "tool": "Bash", "args": {"command": "git push --force"}}"#,
        "\n",
    );
    let run = World::new().run_with(&BATCH, input.as_bytes());
    let told: Vec<String> =
        run.json_lines().iter().map(|l| format!("{} {}", l["decision"], l["operation"])).collect();
    assert_snapshot!(told.join("\n"), @r#"
    "deny" "drop_table"
    "deny" "protected_path"
    "deny" "git_force_push"
    "#);
}

#[test]
fn long_lines_nul_and_bytes_that_are_not_utf_8_are_answered() {
    let mut input = br#"{"id": "nul", "command": "git push\u0000 --force"}"#.to_vec();
    input.extend(b"\n{\"id\": \"raw nul\", \"command\": \"a\0b\"}\n");
    input.extend(b"{\"id\": \"bytes\", \"command\": \"git push --force \xff\"}\n");
    let mega = format!("{{\"id\": \"mega\", \"command\": \"echo {}\"}}\n", "a".repeat(1024 * 1024));
    input.extend(mega.as_bytes());
    let long = format!("{{\"id\": \"long\", \"command\": \"{}\"}}\n", "a".repeat(3 * 1024 * 1024));
    input.extend(long.as_bytes());
    input.extend(b"{\"id\": \"after\", \"command\": \"ls\"}");
    let run = World::new().run_with(&BATCH, &input);
    assert_eq!(run.code, Some(0));
    let lines = run.json_lines();
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str().unwrap_or("?")).collect();
    assert_eq!(ids, ["nul", "raw nul", "bytes", "mega", "long", "after"]);
    for line in &lines[..3] {
        assert_ne!(line["decision"], "allow", "{line}");
    }
    assert_eq!(lines[4]["error"], "line 5: longer than 2 MiB");
    assert_eq!(lines[5]["decision"], "allow");
}

/// POL-1: a policy that cannot be read never falls back to defaults.
#[test]
fn without_a_policy_every_line_is_denied_with_the_reason() {
    let world = World::new();
    world
        .write("repo/.aurora/policies.yaml", "destructive:\n  git_forse_push:\n    action: deny\n");
    let input = "{\"id\": \"a\", \"command\": \"ls\"}\nx\n";
    let run = world.run_with(&BATCH, input.as_bytes());
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.starts_with("error: .aurora/policies.yaml:2:3: "), "{run:?}");
    let lines = run.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["decision"], "deny");
    for line in &lines {
        let error = line["error"].as_str().unwrap();
        assert!(error.starts_with(".aurora/policies.yaml:2:3: "), "{error}");
    }
}

#[test]
fn whoever_waits_for_an_answer_before_the_next_line_gets_it() {
    let world = World::new();
    let mut child = world.command(&BATCH).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in ["a", "b", "c"] {
        writeln!(stdin, "{{\"id\": \"{id}\", \"command\": \"ls\"}}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.starts_with(&format!("{{\"id\":\"{id}\",")), "{answer}");
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let world = World::new();
    let mut child = world.command(&BATCH).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let line = "{\"id\": \"a\", \"command\": \"ls\"}\n";
    let _ = stdin.write_all(line.repeat(10_000).as_bytes());
    drop(stdin);
    let run = world.finish(child);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn nothing_on_stdin_is_no_answer() {
    assert_snapshot!(World::new().run(&BATCH).shown(), @"exit: 0");
}
