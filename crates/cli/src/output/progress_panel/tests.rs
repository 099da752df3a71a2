//! The panel of a run on its way.

use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::output::style::Style;

fn canvas(width: usize) -> Canvas {
    Canvas { style: Style::plain().columns(width), unicode: true, framed: true }
}

fn running(title: &str, seconds: u64) -> Running {
    Running {
        title: title.into(),
        agent: "code-developer".into(),
        attempt: (1, 2),
        seconds,
        last: "reading src/bm25.rs\t漢字 \x1b[31m".into(),
        ..Running::default()
    }
}

fn progress(running: Vec<Running>) -> Progress {
    Progress {
        parent: "Improve memory indexing performance".into(),
        completed: 2,
        total: 6,
        running,
        cost: "$0.42".into(),
        ..Progress::default()
    }
}

fn three() -> Progress {
    let mut all = vec![
        running("Identify bottlenecks in BM25 scoring", 45),
        running("埋め込み生成を最適化する、とても長い題名なので切り詰められるはずです", 601),
        running("Parallel indexing", 3),
    ];
    all[1].attempt = (2, 2);
    all[1].gap = true;
    all[2].fallback = true;
    all[2].last.clear();
    Progress {
        failed: 1,
        skipped: 2,
        parked: 1,
        note: "stopping: one more Ctrl+C kills".into(),
        ..progress(all)
    }
}

fn shown(canvas: Canvas, progress: &Progress, max: usize) -> String {
    panel(canvas, progress, max).join("\n")
}

/// EXE-3: parent, progress bar, the running task with agent and seconds.
#[test]
fn one_running_task_at_60_80_and_120_columns() {
    let one = progress(vec![running("Identify bottlenecks in BM25 scoring", 45)]);
    insta::assert_snapshot!(shown(canvas(60), &one, 40), @r"
    ╭─────────────────────── Executing ───────────────────────╮
    │ Parent: Improve memory indexing performance             │
    │                                                         │
    │ Progress: [██████░░░░░░░░░░░░░░] 2/6                    │
    │ Cost: $0.42                                             │
    │                                                         │
    │ Current: Identify bottlenecks in BM25 scoring           │
    │ Agent: @code-developer                                  │
    │ Status: Running (45s)                                   │
    │   reading src/bm25.rs 漢字                              │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(shown(canvas(80), &one, 40), @r"
    ╭───────────────────────────────── Executing ─────────────────────────────────╮
    │ Parent: Improve memory indexing performance                                 │
    │                                                                             │
    │ Progress: [██████░░░░░░░░░░░░░░] 2/6                                        │
    │ Cost: $0.42                                                                 │
    │                                                                             │
    │ Current: Identify bottlenecks in BM25 scoring                               │
    │ Agent: @code-developer                                                      │
    │ Status: Running (45s)                                                       │
    │   reading src/bm25.rs 漢字                                                  │
    ╰─────────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(shown(canvas(120), &one, 40), @r"
    ╭───────────────────────────────────────────────────── Executing ─────────────────────────────────────────────────────╮
    │ Parent: Improve memory indexing performance                                                                         │
    │                                                                                                                     │
    │ Progress: [██████░░░░░░░░░░░░░░] 2/6                                                                                │
    │ Cost: $0.42                                                                                                         │
    │                                                                                                                     │
    │ Current: Identify bottlenecks in BM25 scoring                                                                       │
    │ Agent: @code-developer                                                                                              │
    │ Status: Running (45s)                                                                                               │
    │   reading src/bm25.rs 漢字                                                                                          │
    ╰─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯
    ");
}

/// EXE-3: all tasks that run at once are shown.
#[test]
fn three_running_tasks_with_room_and_without() {
    insta::assert_snapshot!(shown(canvas(60), &three(), 40), @r"
    ╭─────────────────────── Executing ───────────────────────╮
    │ Parent: Improve memory indexing performance             │
    │                                                         │
    │ Progress: [██████░░░░░░░░░░░░░░] 2/6                    │
    │           1 failed, 2 skipped, 1 waiting for you        │
    │ Cost: $0.42                                             │
    │                                                         │
    │ ▸ Identify bottlenecks in BM25 scoring                  │
    │   @code-developer · Running (45s)                       │
    │   reading src/bm25.rs 漢字                              │
    │                                                         │
    │ ▸ 埋め込み生成を最適化する、とても長い題名なので切り詰… │
    │   code-developer ⚠ GAP · Running (10m01s, attempt 2/2)  │
    │   reading src/bm25.rs 漢字                              │
    │                                                         │
    │ ▸ Parallel indexing                                     │
    │   @code-developer · Running (3s, fallback: model)       │
    │                                                         │
    │ stopping: one more Ctrl+C kills                         │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(shown(canvas(60), &three(), 12), @r"
    ╭─────────────────────── Executing ───────────────────────╮
    │ Parent: Improve memory indexing performance             │
    │                                                         │
    │ Progress: [██████░░░░░░░░░░░░░░] 2/6                    │
    │           1 failed, 2 skipped, 1 waiting for you        │
    │ Cost: $0.42                                             │
    │ ▸ 45s @code-developer Identify bottlenecks in BM25 sco… │
    │ ▸ 10m01s @code-developer 埋め込み生成を最適化する、と…  │
    │ ▸ 3s @code-developer Parallel indexing                  │
    │                                                         │
    │ stopping: one more Ctrl+C kills                         │
    ╰─────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(shown(Canvas { unicode: false, ..canvas(60) }, &three(), 40), @r"
    +----------------------- Executing -----------------------+
    | Parent: Improve memory indexing performance             |
    |                                                         |
    | Progress: [######--------------] 2/6                    |
    |           1 failed, 2 skipped, 1 waiting for you        |
    | Cost: $0.42                                             |
    |                                                         |
    | > Identify bottlenecks in BM25 scoring                  |
    |   @code-developer - Running (45s)                       |
    |   reading src/bm25.rs ??                                |
    |                                                         |
    | > ??????????????????????????????????                    |
    |   code-developer ! GAP - Running (10m01s, attempt 2/2)  |
    |   reading src/bm25.rs ??                                |
    |                                                         |
    | > Parallel indexing                                     |
    |   @code-developer - Running (3s, fallback: model)       |
    |                                                         |
    | stopping: one more Ctrl+C kills                         |
    +---------------------------------------------------------+
    ");
}

#[test]
fn the_frame_is_straight_at_any_width() {
    for width in 40..=200 {
        for line in panel(canvas(width), &three(), 40) {
            assert_eq!(line.width(), width - 1, "{line}");
        }
    }
}

/// EXE-3: line by line where there is no terminal.
#[test]
fn a_step_is_one_line() {
    let step = |what, facts: &[&str]| Step {
        what,
        id: "sg-2".into(),
        title: "Find \x1b[31mhot\nspots".into(),
        of: (2, 6),
        facts: facts.iter().map(|fact| (*fact).to_owned()).collect(),
    };
    let plain = Canvas { framed: false, ..canvas(80) };
    let check = |step: &Step, expected: &str| assert_eq!(line(plain, step), expected);
    check(&step(Happened::Started, &["@a"]), r"[2/6] sg-2 started: Find \x1b[31mhot\nspots (@a)");
    check(
        &step(Happened::Completed, &["@a", "67s", "ckpt-003"]),
        r"[2/6] sg-2 completed: Find \x1b[31mhot\nspots (@a, 67s, ckpt-003)",
    );
    check(&step(Happened::Failed, &[]), r"[2/6] sg-2 failed: Find \x1b[31mhot\nspots");
}

/// EXE-3: on a terminal a long step is broken at words, below its own beginning.
#[test]
fn a_long_step_is_broken_on_a_terminal() {
    let step = Step {
        what: Happened::Failed,
        id: "sg-2".into(),
        title: "Find the places that take too long".into(),
        of: (2, 6),
        facts: vec!["coder: no network (exit code 1)".into()],
    };
    insta::assert_snapshot!(line(canvas(44), &step), @r"
    [2/6] sg-2 failed: Find the places that
          take too long (coder: no network
          (exit code 1))
    ");
}

#[test]
fn time_is_told_in_the_unit_that_fits() {
    let told: Vec<String> = [0, 45, 599, 600, 35_999, 36_000].map(seconds).into();
    assert_eq!(told, ["0s", "45s", "599s", "10m00s", "599m59s", "10h00m"]);
}
