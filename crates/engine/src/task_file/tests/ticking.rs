//! Boxes are ticked, and nothing else changes.

use aurora_model::id::TaskId;

use super::*;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

fn tasks(text: &str) -> Vec<Task> {
    read(text, "tasks.md").unwrap().tasks
}

/// EXE-2: the file's formatting survives; the box is ticked.
#[test]
fn a_tick_changes_one_character() {
    let text = "\u{feff}# T\r\n\r\n*   [ ]  a <!-- id: a -->  \r\n\t\r\n* [X] b\r\n  * [ ] c";
    let ticked = tick(text, &tasks(text), &id("a"));
    assert_eq!(ticked, Ticked::Now(text.replacen("[ ]", "[x]", 1)));
    assert_eq!(tick("- [x] a <!-- id: a -->", &tasks(text), &id("a")), Ticked::Before);
}

#[test]
fn a_box_is_found_again_after_the_file_was_edited() {
    let before = tasks("- [ ] a\n- [ ] same\n- [ ] same\n- [ ] d <!-- id: dd -->\n");
    let check = |text: &str, name: &str, expected: Result<&str, NotFound>| {
        let expected = match expected {
            Ok(text) => Ticked::Now(text.to_owned()),
            Err(why) => Ticked::NotFound(why),
        };
        assert_eq!(tick(text, &before, &id(name)), expected, "{text}");
    };
    check("- [ ] new\n- [ ] a\n", "t1", Ok("- [ ] new\n- [x] a\n"));
    check("- [ ] a\n", "t3", Err(NotFound::Gone));
    check("- [ ] same\n- [ ] x\n- [ ] same", "t3", Ok("- [ ] same\n- [ ] x\n- [x] same"));
    check("- [ ] same\n", "t3", Err(NotFound::Ambiguous));
    check("- [ ] same\n- [ ] same\n- [ ] same\n", "t2", Err(NotFound::Ambiguous));
    check("- [ ] renamed <!-- id: dd -->\n", "dd", Ok("- [x] renamed <!-- id: dd -->\n"));
    check("- [ ] d\n", "dd", Ok("- [x] d\n"));
    check("- [ ] d <!-- id: dd -->\n- [ ] d <!-- id: dd -->", "dd", Err(NotFound::Ambiguous));
    check("```\n- [ ] a\n```\n", "t1", Err(NotFound::Gone));
    check("- [ ] a\n", "zz", Err(NotFound::Gone));
    // Somebody gave the second of two its id.
    check(
        "- [ ] same\n- [ ] same <!-- id: t3 -->",
        "t2",
        Ok("- [x] same\n- [ ] same <!-- id: t3 -->"),
    );
}

#[test]
fn a_group_is_ticked_when_all_below_it_are() {
    let check = |text: &str, expected: &str| assert_eq!(tick_groups(text), expected);
    check("- [ ] g\n  - [x] a\n  - [ ] b\n", "- [ ] g\n  - [x] a\n  - [ ] b\n");
    check(
        "- [ ] g\n  - [x] a\n  - [ ] h\n    - [x] b\n- [ ] c\n",
        "- [x] g\n  - [x] a\n  - [x] h\n    - [x] b\n- [ ] c\n",
    );
    check("- [x] g\n  - [ ] a\n", "- [x] g\n  - [ ] a\n");
}
