//! Gates that are switched off in the environment: nobody is asked, and everybody can see it.

use crate::spawn::{Scratch, of};

const TASKS: &str = "# Work\n- [ ] Do it <!-- id: a -->\n";

/// PLN-4: with `APPROVAL_GATES=false` questions are answered, visibly and recorded as such.
#[test]
fn gates_that_are_off_are_said_aloud_and_recorded() {
    let mut scratch = Scratch::new("default: [{say: done}]\n", TASKS);
    scratch.world = scratch.world.with("APPROVAL_GATES", "false");
    let run = scratch.shown(&["spawn", "../tasks.md"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let warning = "warning: APPROVAL_GATES=false: approved without asking (spawn-";
    assert!(run.stdout.contains(warning), "{run:?}");
    let list = scratch.world.run(&["approvals", "list", "--all", "--json"]).json();
    let by = &list["questions"][0]["decision"]["by"];
    assert_eq!((&by["kind"], &by["surface"]), (&"rule".into(), &"environment".into()), "{list:#}");
    scratch.world.write("tasks.md", TASKS);
    let told = scratch.told(&["spawn", "../tasks.md", "--json", "--yes"]);
    let answerer = &of(&told.lines, "question_answered").next().unwrap()["answerer"];
    assert_eq!(answerer["surface"], "flag", "who says yes themselves is named as such");
}

/// PLN-4, APR-8: what named people must decide stays open all the same.
#[test]
fn what_people_must_decide_is_not_answered_by_the_environment() {
    let mut scratch = Scratch::new("default: [{say: done}]\n", TASKS);
    scratch.world = scratch.world.with("APPROVAL_GATES", "false");
    let rules = "people:\n  ana: {roles: [lead]}\n\
                 approvers:\n  - {when: {gate: preview}, who: [role:lead]}\n";
    scratch.world.write("repo/.aurora/approvals.yaml", rules);
    let run = scratch.shown(&["spawn", "../tasks.md"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(!run.stdout.contains("without asking"), "{run:?}");
}
