//! The screens before execution, at several widths.

use super::*;
use crate::output::style::Style;

fn canvas(width: usize) -> Canvas {
    Canvas { style: Style::plain().columns(width), unicode: true, framed: true }
}

fn task(id: &str, title: &str, agent: &str, gap: bool) -> TaskLine {
    TaskLine { id: id.into(), title: title.into(), agent: agent.into(), gap, ..TaskLine::default() }
}

fn goals() -> Decomposition {
    Decomposition {
        goal: "Improve memory indexing performance".into(),
        subgoals: vec![
            task("sg-1", "Profile current indexing performance", "code-developer", false),
            task("sg-2", "索引のボトルネックを特定する 🚀", "code-developer", false),
            TaskLine {
                after: vec!["sg-1".into(), "sg-2".into()],
                paths: vec!["src/embed/*.rs".into()],
                lines: Some(200),
                ..task("sg-3", "Optimize embedding generation", "performance-engineer", true)
            },
        ],
        notes: Vec::new(),
    }
}

fn run() -> Preview {
    let mut tasks = goals().subgoals;
    tasks[0].done = true;
    tasks[1].apart_from = vec!["sg-3".into()];
    tasks[1].files = Some(1);
    tasks.push(task("x", "\x1b[31mred\x1b[0m \u{202e}evil\nline", "a\x07b", false));
    Preview {
        goal: "Improve memory indexing performance".into(),
        tasks,
        max_parallel: 5,
        place: "~/.local/state/aurora/improve-memory".into(),
        uncommitted: 3,
        notes: vec!["no model is configured: gaps fail where the ad-hoc agent does".into()],
    }
}

/// REV-1: goal, numbered subgoals, the agent of each, gaps marked, counts.
#[test]
fn the_decomposition_summary_at_60_80_and_120_columns() {
    insta::assert_snapshot!(decomposition(canvas(60), &goals()), @r"
    ╭───────────────── Decomposition Summary ─────────────────╮
    │ Goal: Improve memory indexing performance               │
    │                                                         │
    │ Subgoals: 3                                             │
    │                                                         │
    │  1. Profile current indexing performance (sg-1)         │
    │     Agent: @code-developer                              │
    │                                                         │
    │  2. 索引のボトルネックを特定する 🚀 (sg-2)              │
    │     Agent: @code-developer                              │
    │                                                         │
    │  3. Optimize embedding generation (sg-3)                │
    │     Agent: performance-engineer ⚠ GAP                   │
    │     after: sg-1, sg-2                                   │
    │     scope: src/embed/*.rs; about 200 lines              │
    │                                                         │
    │ Summary:                                                │
    │   ✓ 2 subgoals assigned to available agents             │
    │   ⚠ 1 agent gap (will spawn ad-hoc or fallback)         │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(decomposition(canvas(80), &goals()), @r"
    ╭─────────────────────────── Decomposition Summary ───────────────────────────╮
    │ Goal: Improve memory indexing performance                                   │
    │                                                                             │
    │ Subgoals: 3                                                                 │
    │                                                                             │
    │  1. Profile current indexing performance (sg-1)                             │
    │     Agent: @code-developer                                                  │
    │                                                                             │
    │  2. 索引のボトルネックを特定する 🚀 (sg-2)                                  │
    │     Agent: @code-developer                                                  │
    │                                                                             │
    │  3. Optimize embedding generation (sg-3)                                    │
    │     Agent: performance-engineer ⚠ GAP                                       │
    │     after: sg-1, sg-2                                                       │
    │     scope: src/embed/*.rs; about 200 lines                                  │
    │                                                                             │
    │ Summary:                                                                    │
    │   ✓ 2 subgoals assigned to available agents                                 │
    │   ⚠ 1 agent gap (will spawn ad-hoc or fallback)                             │
    ╰─────────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(decomposition(canvas(120), &goals()), @r"
    ╭─────────────────────────────────────────────── Decomposition Summary ───────────────────────────────────────────────╮
    │ Goal: Improve memory indexing performance                                                                           │
    │                                                                                                                     │
    │ Subgoals: 3                                                                                                         │
    │                                                                                                                     │
    │  1. Profile current indexing performance (sg-1)                                                                     │
    │     Agent: @code-developer                                                                                          │
    │                                                                                                                     │
    │  2. 索引のボトルネックを特定する 🚀 (sg-2)                                                                          │
    │     Agent: @code-developer                                                                                          │
    │                                                                                                                     │
    │  3. Optimize embedding generation (sg-3)                                                                            │
    │     Agent: performance-engineer ⚠ GAP                                                                               │
    │     after: sg-1, sg-2                                                                                               │
    │     scope: src/embed/*.rs; about 200 lines                                                                          │
    │                                                                                                                     │
    │ Summary:                                                                                                            │
    │   ✓ 2 subgoals assigned to available agents                                                                         │
    │   ⚠ 1 agent gap (will spawn ad-hoc or fallback)                                                                     │
    ╰─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
    ");
}

/// REV-2: the preview has dependencies and the expected scope.
#[test]
fn the_execution_preview_at_60_80_and_120_columns() {
    insta::assert_snapshot!(preview(canvas(60), &run()), @r"
    ╭─────────────────── Execution Preview ───────────────────╮
    │ Goal: Improve memory indexing performance               │
    │ Tasks: 4 (5 at once)                                    │
    │ Work in: ~/.local/state/aurora/improve-memory           │
    │                                                         │
    │  1. [x] Profile current indexing performance (sg-1)     │
    │                                                         │
    │  2. [ ] 索引のボトルネックを特定する 🚀 (sg-2)          │
    │     Agent: @code-developer                              │
    │     not beside: sg-3                                    │
    │     scope: about 1 file                                 │
    │                                                         │
    │  3. [ ] Optimize embedding generation (sg-3)            │
    │     Agent: performance-engineer ⚠ GAP                   │
    │     after: sg-1, sg-2                                   │
    │     scope: src/embed/*.rs; about 200 lines              │
    │                                                         │
    │  4. [ ] \x1b[31mred\x1b[0m \u{202e}evil\nline (x)       │
    │     Agent: @a\x07b                                      │
    │                                                         │
    │ Summary:                                                │
    │   ✓ 2 tasks with available agents                       │
    │   ⚠ 1 gap (will spawn ad-hoc or fallback)               │
    │   ✓ 1 task ticked already, not run again                │
    │   ⚠ 3 files uncommitted are not part of it              │
    │   ⚠ no model is configured: gaps fail where the ad-hoc  │
    │     agent does                                          │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(preview(canvas(80), &run()), @r"
    ╭───────────────────────────── Execution Preview ─────────────────────────────╮
    │ Goal: Improve memory indexing performance                                   │
    │ Tasks: 4 (5 at once)                                                        │
    │ Work in: ~/.local/state/aurora/improve-memory                               │
    │                                                                             │
    │  1. [x] Profile current indexing performance (sg-1)                         │
    │                                                                             │
    │  2. [ ] 索引のボトルネックを特定する 🚀 (sg-2)                              │
    │     Agent: @code-developer                                                  │
    │     not beside: sg-3                                                        │
    │     scope: about 1 file                                                     │
    │                                                                             │
    │  3. [ ] Optimize embedding generation (sg-3)                                │
    │     Agent: performance-engineer ⚠ GAP                                       │
    │     after: sg-1, sg-2                                                       │
    │     scope: src/embed/*.rs; about 200 lines                                  │
    │                                                                             │
    │  4. [ ] \x1b[31mred\x1b[0m \u{202e}evil\nline (x)                           │
    │     Agent: @a\x07b                                                          │
    │                                                                             │
    │ Summary:                                                                    │
    │   ✓ 2 tasks with available agents                                           │
    │   ⚠ 1 gap (will spawn ad-hoc or fallback)                                   │
    │   ✓ 1 task ticked already, not run again                                    │
    │   ⚠ 3 files uncommitted are not part of it                                  │
    │   ⚠ no model is configured: gaps fail where the ad-hoc agent does           │
    ╰─────────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(preview(canvas(120), &run()), @r"
    ╭───────────────────────────────────────────────── Execution Preview ─────────────────────────────────────────────────╮
    │ Goal: Improve memory indexing performance                                                                           │
    │ Tasks: 4 (5 at once)                                                                                                │
    │ Work in: ~/.local/state/aurora/improve-memory                                                                       │
    │                                                                                                                     │
    │  1. [x] Profile current indexing performance (sg-1)                                                                 │
    │                                                                                                                     │
    │  2. [ ] 索引のボトルネックを特定する 🚀 (sg-2)                                                                      │
    │     Agent: @code-developer                                                                                          │
    │     not beside: sg-3                                                                                                │
    │     scope: about 1 file                                                                                             │
    │                                                                                                                     │
    │  3. [ ] Optimize embedding generation (sg-3)                                                                        │
    │     Agent: performance-engineer ⚠ GAP                                                                               │
    │     after: sg-1, sg-2                                                                                               │
    │     scope: src/embed/*.rs; about 200 lines                                                                          │
    │                                                                                                                     │
    │  4. [ ] \x1b[31mred\x1b[0m \u{202e}evil\nline (x)                                                                   │
    │     Agent: @a\x07b                                                                                                  │
    │                                                                                                                     │
    │ Summary:                                                                                                            │
    │   ✓ 2 tasks with available agents                                                                                   │
    │   ⚠ 1 gap (will spawn ad-hoc or fallback)                                                                           │
    │   ✓ 1 task ticked already, not run again                                                                            │
    │   ⚠ 3 files uncommitted are not part of it                                                                          │
    │   ⚠ no model is configured: gaps fail where the ad-hoc agent does                                                   │
    ╰─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
    ");
}

/// REV-1: readable without colour, without UTF-8 and without a terminal.
#[test]
fn the_preview_in_ascii_and_without_a_terminal() {
    insta::assert_snapshot!(preview(Canvas { unicode: false, ..canvas(60) }, &run()), @r"
    +------------------- Execution Preview -------------------+
    | Goal: Improve memory indexing performance               |
    | Tasks: 4 (5 at once)                                    |
    | Work in: ~/.local/state/aurora/improve-memory           |
    |                                                         |
    |  1. [x] Profile current indexing performance (sg-1)     |
    |                                                         |
    |  2. [ ] ?????????????? ? (sg-2)                         |
    |     Agent: @code-developer                              |
    |     not beside: sg-3                                    |
    |     scope: about 1 file                                 |
    |                                                         |
    |  3. [ ] Optimize embedding generation (sg-3)            |
    |     Agent: performance-engineer ! GAP                   |
    |     after: sg-1, sg-2                                   |
    |     scope: src/embed/*.rs; about 200 lines              |
    |                                                         |
    |  4. [ ] \x1b[31mred\x1b[0m \u{202e}evil\nline (x)       |
    |     Agent: @a\x07b                                      |
    |                                                         |
    | Summary:                                                |
    |   + 2 tasks with available agents                       |
    |   ! 1 gap (will spawn ad-hoc or fallback)               |
    |   + 1 task ticked already, not run again                |
    |   ! 3 files uncommitted are not part of it              |
    |   ! no model is configured: gaps fail where the ad-hoc  |
    |     agent does                                          |
    +---------------------------------------------------------+
    ");
    insta::assert_snapshot!(preview(Canvas { framed: false, ..canvas(80) }, &run()), @r"
    Execution Preview
    Goal: Improve memory indexing performance
    Tasks: 4 (5 at once)
    Work in: ~/.local/state/aurora/improve-memory

     1. [x] Profile current indexing performance (sg-1)

     2. [ ] 索引のボトルネックを特定する 🚀 (sg-2)
        Agent: @code-developer
        not beside: sg-3
        scope: about 1 file

     3. [ ] Optimize embedding generation (sg-3)
        Agent: performance-engineer ⚠ GAP
        after: sg-1, sg-2
        scope: src/embed/*.rs; about 200 lines

     4. [ ] \x1b[31mred\x1b[0m \u{202e}evil\nline (x)
        Agent: @a\x07b

    Summary:
      ✓ 2 tasks with available agents
      ⚠ 1 gap (will spawn ad-hoc or fallback)
      ✓ 1 task ticked already, not run again
      ⚠ 3 files uncommitted are not part of it
      ⚠ no model is configured: gaps fail where the ad-hoc agent does
    ");
}

#[test]
fn many_tasks_are_counted_beyond_what_anybody_reads() {
    let tasks = (0..1_000).map(|n| task("t", &format!("task {n}"), "a", false)).collect();
    let shown = preview(canvas(80), &Preview { tasks, ..run() });
    assert!(shown.contains("… and 800 more"));
    assert!(shown.contains("1000 tasks with available agents"));
}
