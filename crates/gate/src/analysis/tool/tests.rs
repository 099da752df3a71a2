//! Tool calls as effects.

use aurora_model::{Context, ToolCall};
use serde_json::{Value, json};

use super::{TOOLS, analyse};
use crate::judge::describe;

fn effects(name: &str, args: Value) -> Vec<String> {
    let context = Context {
        cwd: Some("/home/u/proj".to_owned()),
        root: Some("/home/u/proj".to_owned()),
        home: Some("/home/u".to_owned()),
        ..Context::default()
    };
    let analysis = analyse(&ToolCall { name: name.to_owned(), args }, &context);
    let mut out: Vec<String> = analysis.effects.iter().map(describe).collect();
    out.extend(analysis.refused.map(|why| format!("refused: {why}")));
    out
}

#[test]
fn the_tools_are_in_order() {
    assert!(TOOLS.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn int_1_known_tools_do_what_their_arguments_say() {
    for (name, args, expected) in [
        ("Read", json!({"file_path": ".env"}), vec![]),
        ("Bash", json!({"command": "rm -rf x"}), vec!["deletes `x` and everything below it"]),
        (
            "shell",
            json!({"command": ["bash", "-lc", "rm -rf x"]}),
            vec!["deletes `x` and everything below it"],
        ),
        (
            "Write",
            json!({"file_path": "/home/u/proj/.env", "content": ""}),
            vec!["writes to `/home/u/proj/.env`"],
        ),
        (
            "Edit",
            json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"}),
            vec!["writes to `a.rs`"],
        ),
        ("delete_file", json!({"path": "a.rs"}), vec!["deletes `a.rs`"]),
        (
            "move_file",
            json!({"source": "a", "destination": "b"}),
            vec!["renames or replaces `a`", "renames or replaces `b`"],
        ),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n-y\n*** Delete File: d\n*** End Patch"}),
            vec!["creates `a`", "writes to `b`", "renames or replaces `c`", "deletes `d`"],
        ),
    ] {
        assert_eq!(effects(name, args), expected, "{name}");
    }
}

#[test]
fn int_1_every_argument_that_a_tool_might_heed_is_judged() {
    for (name, args, expected) in [
        (
            "Write",
            json!({"file_path": "ok.txt", "path": ".env"}),
            vec!["writes to `ok.txt`", "writes to `.env`"],
        ),
        ("Write", json!({"file_path": "a", "path": "a"}), vec!["writes to `a`"]),
        ("Write", json!({"file_path": "a", "path": null}), vec!["writes to `a`"]),
        (
            "Bash",
            json!({"command": "ls", "cmd": "rm -rf x"}),
            vec!["deletes `x` and everything below it"],
        ),
        ("delete_file", json!({"path": "a", "file_path": "b"}), vec!["deletes `b`", "deletes `a`"]),
        (
            "move_file",
            json!({"from": "a", "source": "b", "to": "c", "dest": "d"}),
            vec![
                "renames or replaces `a`",
                "renames or replaces `b`",
                "renames or replaces `c`",
                "renames or replaces `d`",
            ],
        ),
        (
            "apply_patch",
            json!({
                "patch": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
                "input": "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch",
            }),
            vec!["creates `a`", "creates `.env`"],
        ),
    ] {
        assert_eq!(effects(name, args.clone()), expected, "{name} {args}");
    }
    let call = ToolCall {
        name: "apply_patch".to_owned(),
        args: json!({
            "patch": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
            "input": "*** Begin Patch\n*** Add File: b\n+x\n+y\n*** End Patch",
        }),
    };
    let scope = analyse(&call, &Context::default()).scope.map(|scope| (scope.files, scope.lines));
    assert_eq!(scope, Some((2, 3)));
    let found = effects("Write", json!({"file_path": "a", "directory": "/srv", "workdir": "/opt"}));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn int_1_wrong_arguments_and_unknown_tools_are_not_harmless() {
    for (name, args) in [
        ("Bash", json!({})),
        ("Bash", json!({"command": 7})),
        ("Bash", json!({"command": ["a", 7]})),
        ("Write", json!({"path": 3})),
        ("Bash", json!({"command": "ls", "cmd": 7})),
        ("Bash", json!({"command": "ls", "input": ["a", 7]})),
        ("apply_patch", json!({"input": "*** Begin Patch\n*** Add File: a\n+x"})),
        ("mcp__fs__read", json!({"path": "x"})),
        ("frobnicate", json!(null)),
    ] {
        assert!(!effects(name, args.clone()).is_empty(), "{name} {args}");
    }
}

#[test]
fn int_1_what_an_unknown_tool_shows_is_judged_too() {
    let found = effects("mcp__db__query", json!({"sql": "drop table users"}));
    assert!(found.iter().any(|effect| effect.contains("drops table users")), "{found:?}");
    let found = effects("mcp__sh__run", json!({"command": "git push --force"}));
    assert!(found.iter().any(|effect| effect.starts_with("force-pushes")), "{found:?}");
    let found = effects("mcp__fs__write_file", json!({"path": ".env", "content": ""}));
    assert!(found.iter().any(|effect| effect == "writes to `.env`"), "{found:?}");
}
