//! The screens on which something is decided.

use aurora_model::{Answer, Operation, Span};

use super::*;
use crate::output::style::Style;

fn canvas(width: usize) -> Canvas {
    Canvas { style: Style::plain().columns(width), unicode: true, framed: true }
}

fn failure() -> Failed {
    Failed {
        parent: "Improve memory indexing performance".into(),
        title: "Optimize embedding generation".into(),
        agent: "performance-engineer".into(),
        gap: true,
        error: "Agent timeout after 120s".into(),
        attempt: Some((2, 2)),
        output: vec!["compiling 漢字 \x1b[2J".into()],
        completed: 2,
        total: 6,
        remaining: 3,
        dependents: 1,
    }
}

fn reason(rule: &str, message: &str, instead: Option<&str>) -> Reason {
    Reason {
        answer: Answer::Ask,
        operation: Operation::FileDelete,
        rule: rule.into(),
        message: message.into(),
        span: Span { start: 0, end: 0 },
        instead: instead.map(Into::into),
        origin: ".aurora/policies.yaml:12:5".into(),
    }
}

fn question() -> Gated {
    Gated {
        parent: "Improve memory indexing performance".into(),
        title: "Remove the old index".into(),
        agent: "code-developer".into(),
        reasons: vec![
            reason("destructive.file_delete", "deletes 7 files below data/", Some("git rm")),
            reason("rules.no-sql", "writes *.sql", None),
        ],
        dependents: 2,
        ..Gated::default()
    }
}

/// EXE-4: what failed, with the counts that a decision needs.
#[test]
fn the_failure_at_60_80_and_120_columns() {
    insta::assert_snapshot!(failed(canvas(60), &failure()), @r"
    ╭────────────────────── Task Failed ──────────────────────╮
    │ Parent: Improve memory indexing performance             │
    │                                                         │
    │ Failed: Optimize embedding generation                   │
    │ Agent: performance-engineer ⚠ GAP                       │
    │ Error: Agent timeout after 120s (attempt 2/2)           │
    │   compiling 漢字                                        │
    │                                                         │
    │ Completed: 2/6                                          │
    │ Remaining: 3 tasks (depend on this task: 1)             │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(failed(canvas(80), &failure()), @r"
    ╭──────────────────────────────── Task Failed ────────────────────────────────╮
    │ Parent: Improve memory indexing performance                                 │
    │                                                                             │
    │ Failed: Optimize embedding generation                                       │
    │ Agent: performance-engineer ⚠ GAP                                           │
    │ Error: Agent timeout after 120s (attempt 2/2)                               │
    │   compiling 漢字                                                            │
    │                                                                             │
    │ Completed: 2/6                                                              │
    │ Remaining: 3 tasks (depend on this task: 1)                                 │
    ╰─────────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(failed(canvas(120), &failure()), @r"
    ╭──────────────────────────────────────────────────── Task Failed ────────────────────────────────────────────────────╮
    │ Parent: Improve memory indexing performance                                                                         │
    │                                                                                                                     │
    │ Failed: Optimize embedding generation                                                                               │
    │ Agent: performance-engineer ⚠ GAP                                                                                   │
    │ Error: Agent timeout after 120s (attempt 2/2)                                                                       │
    │   compiling 漢字                                                                                                    │
    │                                                                                                                     │
    │ Completed: 2/6                                                                                                      │
    │ Remaining: 3 tasks (depend on this task: 1)                                                                         │
    ╰─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(failed(Canvas { unicode: false, ..canvas(60) }, &failure()), @r"
    +---------------------- Task Failed ----------------------+
    | Parent: Improve memory indexing performance             |
    |                                                         |
    | Failed: Optimize embedding generation                   |
    | Agent: performance-engineer ! GAP                       |
    | Error: Agent timeout after 120s (attempt 2/2)           |
    |   compiling ??                                          |
    |                                                         |
    | Completed: 2/6                                          |
    | Remaining: 3 tasks (depend on this task: 1)             |
    +---------------------------------------------------------+
    ");
}

/// EXE-6: a task that the gate asks about is shown with each rule and where it was written.
#[test]
fn the_questions_of_the_policy() {
    insta::assert_snapshot!(gated(canvas(60), &question()), @r"
    ╭─────────────────── Task Needs a Yes ────────────────────╮
    │ Parent: Improve memory indexing performance             │
    │                                                         │
    │ Task: Remove the old index                              │
    │ Agent: @code-developer                                  │
    │                                                         │
    │ Reasons:                                                │
    │   deletes 7 files below data/                           │
    │     rule destructive.file_delete                        │
    │       (.aurora/policies.yaml:12:5)                      │
    │     instead: git rm                                     │
    │   writes *.sql                                          │
    │     rule rules.no-sql (.aurora/policies.yaml:12:5)      │
    │                                                         │
    │ 2 tasks depend on it                                    │
    ╰─────────────────────────────────────────────────────────╯
    ");
    let changes = Gated {
        changed: Some((31, 1)),
        paths: vec!["+ src/new.rs".into(), "~ 漢.rs".into(), "- a\x1b.rs".into()],
        place: Some("/home/me/.local/state/aurora/desks/repo/improve.desk-1".into()),
        look: Some("git --git-dir=/home/me/repo/.git/aurora/git diff 8ff6811e 29a65754".into()),
        dependents: 1,
        ..question()
    };
    insta::assert_snapshot!(gated(canvas(80), &changes), @r"
    ╭──────────────────────────── Changes Need a Yes ─────────────────────────────╮
    │ Parent: Improve memory indexing performance                                 │
    │                                                                             │
    │ Task: Remove the old index                                                  │
    │ Agent: @code-developer                                                      │
    │ Changed: 31 files, 1 line                                                   │
    │   + src/new.rs                                                              │
    │   ~ 漢.rs                                                                   │
    │   - a\x1b.rs                                                                │
    │   and 28 more                                                               │
    │ Held in: /home/me/.local/state/aurora/desks/repo/improve.desk-1             │
    │                                                                             │
    │ Reasons:                                                                    │
    │   deletes 7 files below data/                                               │
    │     rule destructive.file_delete (.aurora/policies.yaml:12:5)               │
    │     instead: git rm                                                         │
    │   writes *.sql                                                              │
    │     rule rules.no-sql (.aurora/policies.yaml:12:5)                          │
    │                                                                             │
    │ 1 task depends on it                                                        │
    ╰─────────────────────────────────────────────────────────────────────────────╯

    Look at the changes: git --git-dir=/home/me/repo/.git/aurora/git diff 8ff6811e 29a65754
    ");
    let many = Gated { reasons: vec![reason("r", "m", None); 15], ..question() };
    assert!(gated(canvas(80), &many).contains("and 3 more"));
    let many = Gated { paths: vec!["+ a".into(); 25], changed: Some((25, 25)), ..question() };
    assert!(gated(canvas(80), &many).contains("and 5 more"));
}

/// EXE-4: the cause is said once, above the lines that came before it.
#[test]
fn the_cause_of_a_failure_is_not_repeated() {
    let shown = Failed {
        error: "coder: no network (exit code 1)".into(),
        attempt: None,
        output: vec!["working".into(), " \x1b[31mno network\x1b[0m".into()],
        ..failure()
    };
    let text = failed(canvas(60), &shown);
    assert_eq!(text.matches("no network").count(), 1, "{text}");
    assert!(text.contains("  working"), "{text}");
}
