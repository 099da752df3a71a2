//! What is read out of tasks files as people write them.

mod edges;
mod random;
mod ticking;

use super::*;

/// The tasks of a text, one line each.
fn told(text: &str) -> String {
    match read(text, "tasks.md") {
        Ok(file) => file.tasks.iter().map(line).collect::<Vec<_>>().join("\n"),
        Err(problems) => {
            problems.iter().map(|problem| format!("! {problem}")).collect::<Vec<_>>().join("\n")
        }
    }
}

fn line(task: &Task) -> String {
    let mut out = format!("{} [{}] {}", task.id, if task.done { 'x' } else { ' ' }, task.title);
    if let Some(agent) = &task.agent {
        out.push_str(&format!(" @{agent}"));
    }
    if !task.depends_on.is_empty() {
        let ids: Vec<&str> = task.depends_on.iter().map(|id| id.as_str()).collect();
        out.push_str(&format!(" after {}", ids.join(" ")));
    }
    if !task.scope.is_unknown() {
        let scope = &task.scope;
        out.push_str(&format!(" {:?} {:?} {:?}", scope.paths, scope.files, scope.lines));
    }
    if !task.details.is_empty() {
        out.push_str(&format!(" {:?}", task.details));
    }
    out
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(told(text), expected);
}

/// EXE-2: a checkbox list with ids, agents and dependencies as HTML comments.
#[test]
fn a_list_with_comments_is_read() {
    check(
        "# Improve indexing\n\nSome prose.\n\n\
         - [ ] Profile **indexing** <!-- id: sg-1, agent: @code-developer -->\n\
         - [x] Find `hot` [spots](http://x)\n  <!-- agent: perf -->\n  <!-- depends: sg-1 -->\n\
         * [X] Third\n\
         + [ ] Fourth <!-- files: src/a.rs, src/b/*.rs; lines: 200 -->\n\
         1. [ ] Fifth <!-- @agent: x --> rest\n\
         2) [ ] 1.1 Sixth\n",
        "sg-1 [ ] Profile **indexing** @code-developer\n\
         t2 [x] Find `hot` [spots](http://x) @perf after sg-1\n\
         t3 [x] Third\n\
         t4 [ ] Fourth [\"src/a.rs\", \"src/b/*.rs\"] None Some(200)\n\
         t5 [ ] Fifth rest @x\n\
         t6 [ ] 1.1 Sixth",
    );
}

/// EXE-2: the same in the front matter.
#[test]
fn front_matter_says_goal_plan_and_what_is_known_of_tasks() {
    let text = "---\ntitle: not ours\ngoal: \"Make it fast\"\nplan: 0004-add-caching\n\
                agent: '@all-rounder' # unless said otherwise\nmax_parallel: 3\ntasks:\n  \
                sg-1: {agent: a, depends-on: [sg-2, 2.1]}\n  sg-2:\n    agent: b\n    files:\n      \
                - src/x.rs\n      - 4\n---\n# Heading\n- [ ] sg-1: One\n- [ ] Two <!-- id: sg-2 -->\n\
                - [ ] 2.1 Three\n";
    check(
        text,
        "t1 [ ] sg-1: One @a after sg-2 t3\n\
         sg-2 [ ] Two @b [\"src/x.rs\"] Some(4) None\n\
         t3 [ ] 2.1 Three @all-rounder",
    );
    let file = read(text, "tasks.md").unwrap();
    assert_eq!((file.goal.as_str(), file.max_parallel), ("Make it fast", Some(3)));
    assert_eq!(file.plan.unwrap().as_str(), "0004-add-caching");
    assert_eq!(file.lines, [16, 17, 18]);
}

#[test]
fn the_goal_is_said_or_is_the_first_heading_or_the_name() {
    let goal = |text: &str| read(text, "add-caching.md").unwrap().goal;
    assert_eq!(goal("---\ngoal: A\n---\n# B\n- [ ] x"), "A");
    assert_eq!(goal("text\n## B ##\n# C\n- [ ] x"), "B");
    assert_eq!(goal("B\n===\n\n- [ ] x"), "B");
    assert_eq!(goal("```\n# no\n```\n- [ ] x\n\n  # inside\n"), "add-caching");
    assert_eq!(goal("---\n\n- [ ] x\n\n---\n"), "add-caching");
}

/// EXE-2: the text below an item is the task's.
#[test]
fn details_belong_to_the_task_above() {
    check(
        "- [ ] one\n  <!-- id: a -->\n  first\n\n  - point\n    - [~] dropped\n\n  ```sh\n  - [ ] no \
         task\n  ```\n\n      code\n\nprose\n\n- [ ] two\nlazy\n- [ ] three\n\n    \tkept\n",
        "a [ ] one \"first\\n\\n- point\\n  - [~] dropped\\n\\n```sh\\n- [ ] no task\\n```\\n\\n    \
         code\"\nt2 [ ] two \"lazy\"\nt3 [ ] three \"  \\tkept\"",
    );
}

#[test]
fn a_box_with_boxes_below_is_a_group() {
    check(
        "- [ ] 1.0 Backend <!-- agent: back, id: g -->\n  All of it.\n  - [ ] 1.1 a\n    - more\n  - \
         [x] 1.2 b <!-- agent: other -->\n- [ ] 2.0 Front <!-- depends: 1.0 -->\n\t- [ ] 2.1 c\n\t\t\
         - [ ] deep <!-- depends: 1.1 -->\n- [ ] end <!-- depends: g, 2.0 -->\n",
        "t1 [ ] 1.1 a @back \"Part of: 1.0 Backend\\nAll of it.\\n\\n- more\"\n\
         t2 [x] 1.2 b @other \"Part of: 1.0 Backend\\nAll of it.\"\n\
         t3 [ ] deep after t1 t2 \"Part of: 2.0 Front > 2.1 c\"\n\
         t4 [ ] end after t1 t2 t3",
    );
}

/// EXE-2: everything that is wrong is told at once, with its place and what to do.
#[test]
fn all_problems_are_told_at_once() {
    check(
        "- [ ] a <!-- id: a, depends: b -->\n- [ ] b <!-- id: b, depends: a -->\n\
         - [ ] c <!-- id: a -->\n- [ ] d <!-- id: dd, dependson: a -->\n\
         - [ ] e <!-- depends: bb, t5 -->\n- [ ]\n- [ ] f <!-- id: no/name -->\n- [] g\n\
         - [ ]h\n- [ ] ü i <!-- agent: x y -->\n- [ ] j <!-- lines: many, lines: 3 -->\n",
        "! 1:3: tasks wait for each other: a -> b -> a (take one of these dependencies away)\n\
         ! 3:18: the id `a` is already taken in line 1 (give each task its own)\n\
         ! 4:22: unknown key `dependson` (did you mean `depends-on`?)\n\
         ! 5:23: `bb` is no task (did you mean `b`?)\n\
         ! 5:27: `t5` waits for itself (take the dependency away)\n\
         ! 6:3: a box without a text (say what is to be done)\n\
         ! 7:18: `no/name` cannot be an id (use letters, digits, `.`, `_` and `-`, up to 120)\n\
         ! 8:3: `[]` is no box; write `[ ]` (or take the brackets away)\n\
         ! 9:3: a space is missing behind the box (or take the brackets away)\n\
         ! 10:23: `x y` cannot be the name of an agent (use letters, digits, `.`, `_` and `-`; put \
         `,` between pairs)\n\
         ! 11:21: `many` is no number of lines (write a whole number)\n\
         ! 11:27: `lines` is said twice about one task (say it once)",
    );
    check(
        "# Nothing\n\ntext",
        "! 3:1: no task in it (write one per line: `- [ ] what is to be done`)",
    );
    check("", "! 1:1: no task in it (write one per line: `- [ ] what is to be done`)");
    check(
        "---\nmax-parallel: 0\nplan: a b\nagent:\nmax-paralel: 2\ntasks:\n  zz: {agent: a}\n  t1: \
         [a]\n  what\n---\n- [ ] x <!-- id: x-1 -->\n",
        "! 2:15: `0` is no number of tasks (write a whole number from 1 on)\n\
         ! 3:7: `a b` cannot be the name of a plan (use letters, digits, `.`, `_` and `-`)\n\
         ! 4:1: `agent` has no value (write `key: value`)\n\
         ! 5:1: unknown key `max-paralel` in the front matter (did you mean `max-parallel`?)\n\
         ! 7:3: no box is the task `zz` (write `<!-- id: … -->` beside the box)\n\
         ! 8:3: what is said about `t1` cannot be read (write `{agent: …, depends-on: […]}`, or lines \
         set in below)\n\
         ! 9:3: this is no task with what is said about it (write `sg-1: {agent: …, depends-on: […]}`)",
    );
}

#[test]
fn other_comments_are_left_alone() {
    check(
        "- [ ] a <!-- see the agent: it knows --> \n- [ ] b <!-- note: files -->\n- [ ] c <!-- \
         prettier-ignore -->\n- [ ] d <!-- agent: -->\n",
        "! 4:14: `agent` needs one value (write `key: value`)",
    );
    check(
        "- [ ] a <!-- see the agent: it knows -->\n- [ ] `<!-- id: no -->` <!-- id: yes -->\n",
        "t1 [ ] a\nyes [ ] `<!-- id: no -->`",
    );
}
