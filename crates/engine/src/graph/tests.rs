//! The graph's answers on small lists, and on large ones in time.

use aurora_model::task::Scope;

use super::*;

fn task(id: &str, depends_on: &[&str], paths: &[&str]) -> Task {
    Task {
        id: TaskId::parse(id).unwrap(),
        title: id.to_owned(),
        details: String::new(),
        agent: None,
        depends_on: depends_on.iter().map(|id| TaskId::parse(id).unwrap()).collect(),
        scope: Scope {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..Scope::default()
        },
        done: false,
    }
}

fn names(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" ")
}

/// EXE-2: a cycle is named in the order in which its tasks wait.
#[test]
fn cycles_are_named_in_order() {
    let check = |tasks: &[Task], expected: &[&str]| {
        let cycles: Vec<String> =
            Graph::of(tasks).cycles().iter().map(|cycle| names(cycle)).collect();
        assert_eq!(cycles, expected);
    };
    check(&[task("a", &[], &[]), task("b", &["a"], &[])], &[]);
    check(&[task("a", &["a"], &[])], &["a a"]);
    let three = [task("a", &["b"], &[]), task("b", &["c"], &[]), task("c", &["b"], &[])];
    check(&three, &["b c b"]);
    let two = [
        task("a", &["b"], &[]),
        task("b", &["a"], &[]),
        task("c", &["d"], &[]),
        task("d", &["c"], &[]),
    ];
    check(&two, &["a b a", "c d c"]);
}

#[test]
fn waves_hold_what_can_be_done_at_once() {
    let tasks = [
        task("a", &[], &[]),
        task("b", &["a"], &[]),
        task("c", &["a"], &[]),
        task("d", &["b", "c"], &[]),
        task("e", &[], &[]),
        task("x", &["y"], &[]),
        task("y", &["x"], &[]),
    ];
    let waves: Vec<String> = Graph::of(&tasks).waves().iter().map(|wave| names(wave)).collect();
    assert_eq!(waves, ["a e", "b c", "d"]);
}

/// EXE-4: all that waits for a task is counted, not only what waits for it directly.
#[test]
fn dependents_are_counted_through_others() {
    let tasks = [
        task("a", &[], &[]),
        task("b", &["a"], &[]),
        task("c", &["b"], &[]),
        task("d", &["a", "c"], &[]),
        task("e", &[], &[]),
    ];
    let graph = Graph::of(&tasks);
    assert_eq!(names(&graph.dependents(&tasks[0].id)), "b c d");
    assert_eq!(names(&graph.dependents(&tasks[2].id)), "d");
    assert_eq!(names(&graph.dependents(&tasks[4].id)), "");
    assert_eq!(names(&graph.dependents(&TaskId::parse("zzz").unwrap())), "");
}

#[test]
fn paths_and_patterns_overlap_or_do_not() {
    let check = |left: &str, right: &str, expected: bool| {
        assert_eq!(patterns_overlap(left, right), expected, "{left} {right}");
        assert_eq!(patterns_overlap(right, left), expected, "{right} {left}");
    };
    check("src/a.rs", "./src//a.rs", true);
    check("src/a.rs", "src/b.rs", false);
    check("src", "src/a.rs", true);
    check("src/", "srcs/a.rs", false);
    check("src/*.rs", "src/a.rs", true);
    check("src/*.rs", "src/a.py", false);
    check("src/*.rs", "src/*.py", false);
    check("src/a*.rs", "src/b*.rs", false);
    check("src/a*", "src/*b", true);
    check("src/**", "src/x/y/z", true);
    check("src/**", "docs/x", false);
    check("**/*.rs", "docs/x", true);
    check("src/[ab].rs", "src/a.rs", true);
    check("src/[ab].rs", "src/ab.rs", false);
    check("src/{a,b/c}.rs", "src/z.rs", true);
    check("src/?.rs", "src/ab.rs", false);
    check("", "anything", true);
    check("größe/*", "größe/漢字", true);
}

/// EXE-2: tasks that touch the same files are kept apart, unless one waits for the other anyway.
#[test]
fn tasks_with_paths_in_common_are_kept_apart() {
    let tasks = [
        task("a", &[], &["src/a.rs"]),
        task("b", &["a"], &["src/a.rs"]),
        task("c", &[], &["src/*.rs"]),
        task("d", &["b"], &["src"]),
        task("e", &[], &["docs/x.md"]),
        task("f", &[], &[]),
    ];
    let apart: Vec<String> = apart(&tasks).iter().map(|row| names(row)).collect();
    assert_eq!(apart, ["c", "c", "a b d", "c", "", ""]);
}

#[test]
fn ten_thousand_tasks_in_one_row_are_no_trouble() {
    let tasks: Vec<Task> = (0..10_000)
        .map(|n| {
            let before = format!("t{}", n - 1);
            let before: &[&str] = if n == 0 { &[] } else { &[&before] };
            task(&format!("t{n}"), before, &[&format!("src/{n}.rs")])
        })
        .collect();
    let graph = Graph::of(&tasks);
    assert!(graph.cycles().is_empty());
    assert_eq!(graph.waves().len(), 10_000);
    assert_eq!(graph.dependents(&tasks[0].id).len(), 9_999);
    assert!(apart(&tasks).iter().all(Vec::is_empty));
}
