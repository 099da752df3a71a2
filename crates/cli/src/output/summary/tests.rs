//! The screen at the end.

use super::*;
use crate::output::style::Style;

fn canvas(width: usize) -> Canvas {
    Canvas { style: Style::plain().columns(width), unicode: true, framed: true }
}

fn ended(title: &str, status: Status) -> Ended {
    Ended { title: title.into(), status, agent: "code-developer".into(), ..Ended::default() }
}

fn run() -> Summary {
    let tasks = vec![
        Ended {
            seconds: Some(67),
            checkpoint: Some("ckpt-002-bbbbbbbb".into()),
            cost: "$0.12".into(),
            ..ended("Profile current indexing performance", Status::Completed)
        },
        Ended {
            seconds: Some(31),
            fallback: true,
            checkpoint: Some("ckpt-003-cccccccc".into()),
            ..ended("索引のボトルネックを特定する", Status::Completed)
        },
        Ended { why: "Agent timeout after 120s".into(), ..ended("Optimize", Status::Failed) },
        Ended { why: "depends on sg-3".into(), ..ended("Publish", Status::Skipped) },
        ended("Old", Status::Before),
        ended("Large", Status::Asked),
        Ended { gap: true, ..ended("Rest", Status::Pending) },
    ];
    Summary {
        goal: "Improve memory indexing performance".into(),
        run: "spawn-1705234567-3f9a".into(),
        outcome: "interrupted by SIGINT".into(),
        tasks,
        cost: "$0.42".into(),
        seconds: 190,
        place: "/home/me/.local/state/aurora/improve".into(),
        branch: "aurora/improve-memory-indexing".into(),
        next: vec![
            ("look".into(), "git diff main...aurora/improve-memory-indexing".into()),
            ("take over".into(), "git merge aurora/improve-memory-indexing".into()),
            ("resume".into(), "aur spawn --resume spawn-1705234567-3f9a".into()),
        ],
        notes: vec!["the box of “Optimize” could not be found again".into()],
        ..Summary::default()
    }
}

/// EXE-5: what was done, by which way, where it is and how to resume; AGT-4: a fallback is marked.
#[test]
fn the_summary_at_60_80_and_120_columns() {
    insta::assert_snapshot!(summary(canvas(60), &run()), @r"
    ╭──────────────────────── Summary ────────────────────────╮
    │ Goal: Improve memory indexing performance               │
    │ Run spawn-1705234567-3f9a: interrupted by SIGINT        │
    │                                                         │
    │  ✓ Profile current indexing performance                 │
    │    completed · @code-developer · 67s ·                  │
    │      ckpt-002-bbbbbbbb · $0.12                          │
    │  ✓ 索引のボトルネックを特定する                         │
    │    completed · @code-developer (fallback: model) · 31s  │
    │      · ckpt-003-cccccccc                                │
    │  ✗ Optimize                                             │
    │    failed · @code-developer · Agent timeout after 120s  │
    │  ⚠ Publish                                              │
    │    skipped · @code-developer · depends on sg-3          │
    │  ✓ Old                                                  │
    │    done before                                          │
    │  ⚠ Large                                                │
    │    waiting for an answer · @code-developer              │
    │  · Rest                                                 │
    │    not begun · code-developer ⚠ GAP                     │
    │                                                         │
    │ 7 tasks, 2 completed, 1 done before, 1 skipped, 1       │
    │   failed, 1 waiting for an answer, 1 not begun, 190s,   │
    │   $0.42                                                 │
    │ ⚠ the box of “Optimize” could not be found again        │
    ╰─────────────────────────────────────────────────────────╯

    The work is in /home/me/.local/state/aurora/improve (branch aurora/improve-memory-indexing)
      look:       git diff main...aurora/improve-memory-indexing
      take over:  git merge aurora/improve-memory-indexing
      resume:     aur spawn --resume spawn-1705234567-3f9a
    ");
    insta::assert_snapshot!(summary(canvas(80), &run()), @r"
    ╭────────────────────────────────── Summary ──────────────────────────────────╮
    │ Goal: Improve memory indexing performance                                   │
    │ Run spawn-1705234567-3f9a: interrupted by SIGINT                            │
    │                                                                             │
    │  ✓ Profile current indexing performance                                     │
    │    completed · @code-developer · 67s · ckpt-002-bbbbbbbb · $0.12            │
    │  ✓ 索引のボトルネックを特定する                                             │
    │    completed · @code-developer (fallback: model) · 31s · ckpt-003-cccccccc  │
    │  ✗ Optimize                                                                 │
    │    failed · @code-developer · Agent timeout after 120s                      │
    │  ⚠ Publish                                                                  │
    │    skipped · @code-developer · depends on sg-3                              │
    │  ✓ Old                                                                      │
    │    done before                                                              │
    │  ⚠ Large                                                                    │
    │    waiting for an answer · @code-developer                                  │
    │  · Rest                                                                     │
    │    not begun · code-developer ⚠ GAP                                         │
    │                                                                             │
    │ 7 tasks, 2 completed, 1 done before, 1 skipped, 1 failed, 1 waiting for an  │
    │   answer, 1 not begun, 190s, $0.42                                          │
    │ ⚠ the box of “Optimize” could not be found again                            │
    ╰─────────────────────────────────────────────────────────────────────────────╯

    The work is in /home/me/.local/state/aurora/improve (branch aurora/improve-memory-indexing)
      look:       git diff main...aurora/improve-memory-indexing
      take over:  git merge aurora/improve-memory-indexing
      resume:     aur spawn --resume spawn-1705234567-3f9a
    ");
    insta::assert_snapshot!(summary(canvas(120), &run()), @r"
    ╭────────────────────────────────────────────────────── Summary ──────────────────────────────────────────────────────╮
    │ Goal: Improve memory indexing performance                                                                           │
    │ Run spawn-1705234567-3f9a: interrupted by SIGINT                                                                    │
    │                                                                                                                     │
    │  ✓ Profile current indexing performance                                                                             │
    │    completed · @code-developer · 67s · ckpt-002-bbbbbbbb · $0.12                                                    │
    │  ✓ 索引のボトルネックを特定する                                                                                     │
    │    completed · @code-developer (fallback: model) · 31s · ckpt-003-cccccccc                                          │
    │  ✗ Optimize                                                                                                         │
    │    failed · @code-developer · Agent timeout after 120s                                                              │
    │  ⚠ Publish                                                                                                          │
    │    skipped · @code-developer · depends on sg-3                                                                      │
    │  ✓ Old                                                                                                              │
    │    done before                                                                                                      │
    │  ⚠ Large                                                                                                            │
    │    waiting for an answer · @code-developer                                                                          │
    │  · Rest                                                                                                             │
    │    not begun · code-developer ⚠ GAP                                                                                 │
    │                                                                                                                     │
    │ 7 tasks, 2 completed, 1 done before, 1 skipped, 1 failed, 1 waiting for an answer, 1 not begun, 190s, $0.42         │
    │ ⚠ the box of “Optimize” could not be found again                                                                    │
    ╰─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯

    The work is in /home/me/.local/state/aurora/improve (branch aurora/improve-memory-indexing)
      look:       git diff main...aurora/improve-memory-indexing
      take over:  git merge aurora/improve-memory-indexing
      resume:     aur spawn --resume spawn-1705234567-3f9a
    ");
}

#[test]
fn the_summary_in_ascii_and_without_a_terminal() {
    insta::assert_snapshot!(summary(Canvas { unicode: false, ..canvas(60) }, &run()), @r#"
    +------------------------ Summary ------------------------+
    | Goal: Improve memory indexing performance               |
    | Run spawn-1705234567-3f9a: interrupted by SIGINT        |
    |                                                         |
    |  + Profile current indexing performance                 |
    |    completed - @code-developer - 67s -                  |
    |      ckpt-002-bbbbbbbb - $0.12                          |
    |  + ??????????????                                       |
    |    completed - @code-developer (fallback: model) - 31s  |
    |      - ckpt-003-cccccccc                                |
    |  x Optimize                                             |
    |    failed - @code-developer - Agent timeout after 120s  |
    |  ! Publish                                              |
    |    skipped - @code-developer - depends on sg-3          |
    |  + Old                                                  |
    |    done before                                          |
    |  ! Large                                                |
    |    waiting for an answer - @code-developer              |
    |  - Rest                                                 |
    |    not begun - code-developer ! GAP                     |
    |                                                         |
    | 7 tasks, 2 completed, 1 done before, 1 skipped, 1       |
    |   failed, 1 waiting for an answer, 1 not begun, 190s,   |
    |   $0.42                                                 |
    | ! the box of "Optimize" could not be found again        |
    +---------------------------------------------------------+

    The work is in /home/me/.local/state/aurora/improve (branch aurora/improve-memory-indexing)
      look:       git diff main...aurora/improve-memory-indexing
      take over:  git merge aurora/improve-memory-indexing
      resume:     aur spawn --resume spawn-1705234567-3f9a
    "#);
    insta::assert_snapshot!(summary(Canvas { framed: false, ..canvas(80) }, &run()), @r"
    Summary
    Goal: Improve memory indexing performance
    Run spawn-1705234567-3f9a: interrupted by SIGINT

     ✓ Profile current indexing performance
       completed · @code-developer · 67s · ckpt-002-bbbbbbbb · $0.12
     ✓ 索引のボトルネックを特定する
       completed · @code-developer (fallback: model) · 31s · ckpt-003-cccccccc
     ✗ Optimize
       failed · @code-developer · Agent timeout after 120s
     ⚠ Publish
       skipped · @code-developer · depends on sg-3
     ✓ Old
       done before
     ⚠ Large
       waiting for an answer · @code-developer
     · Rest
       not begun · code-developer ⚠ GAP

    7 tasks, 2 completed, 1 done before, 1 skipped, 1 failed, 1 waiting for an
      answer, 1 not begun, 190s, $0.42
    ⚠ the box of “Optimize” could not be found again

    The work is in /home/me/.local/state/aurora/improve (branch aurora/improve-memory-indexing)
      look:       git diff main...aurora/improve-memory-indexing
      take over:  git merge aurora/improve-memory-indexing
      resume:     aur spawn --resume spawn-1705234567-3f9a
    ");
}
