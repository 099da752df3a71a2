//! Files at the edge of what Markdown is.

use super::*;

#[test]
fn boxes_in_code_comments_and_quotes_are_text() {
    check(
        "    - [ ] code\n\n```\n- [ ] fenced\n~~~\n- [ ] still\n```\n\n~~~~ md\n- [ ] x\n~~~\n- [ ] y\n\
         ~~~~\n<!-- - [ ] z\n\n- [ ] zz\n--> - [ ] zzz\n> - [ ] quoted\n\n<pre>\n- [ ] raw\n</pre>\n\
         -     [ ] five spaces\n- [-] cancelled\n- [~] dropped\n- [x](http://link)\n- [ ] real\n\n      \
         - [ ] code again\n\n`- [ ]` no\n",
        "t1 [ ] real \"    - [ ] code again\"",
    );
    check("- [ ] a\n<!-- open\n- [ ] b\n", "t1 [ ] a");
    check("- [ ] a <!-- open\n- [ ] b\n", "t1 [ ] a <!-- open\nt2 [ ] b");
    check("- [ ] a <!-- id: z,\n  agent: q --> b\n- [ ] c", "z [ ] a b @q\nt2 [ ] c");
    // A fence in an item ends with the item.
    check("- [ ] a\n  ```\n  x\n- [ ] b\n", "t1 [ ] a \"```\\nx\"\nt2 [ ] b");
    check("- ```\n  - [ ] a\n  ```\n- [ ] b\n", "t1 [ ] b");
}

#[test]
fn any_line_end_and_any_space_will_do() {
    let expected = "a [ ] one @x \"more\"\nt2 [x] two";
    for end in ["\n", "\r\n", "\r"] {
        let text = "- [ ] one\n<!-- id: a -->\n<!-- agent: x -->\n  more\n\n- [x] two";
        check(&text.replace('\n', end), expected);
        check(&format!("\u{feff}{}", text.replace('\n', end)), expected);
    }
    check("-\t[ ]\tone\t \n\t- [ ] two\n", "t1 [ ] two \"Part of: one\"");
    check(
        "   - [ ] in\n10. [ ] group\n  - [ ] child\n",
        "t1 [ ] in\nt2 [ ] child \"Part of: group\"",
    );
    check("- - [ ] inner\n- 1. [x] other", "t1 [ ] inner\nt2 [x] other");
    check("- plain\n  - [ ] inner\n", "t1 [ ] inner");
    check("- [ ] 漢字 émoji 👩‍💻 \u{202e}x\n", "t1 [ ] 漢字 émoji 👩‍💻 \u{202e}x");
    check("- - -\n***\n- [ ] a\n---\n- [ ] b\n", "t1 [ ] a\nt2 [ ] b");
}

#[test]
fn made_ids_do_not_collide_with_given_ones() {
    check(
        "- [ ] a\n- [ ] b <!-- id: t1 -->\n- [ ] c <!-- id: t1-2 -->\n",
        "t1-3 [ ] a\nt1 [ ] b\nt1-2 [ ] c",
    );
}

#[test]
fn a_name_that_two_titles_begin_with_is_not_taken() {
    check(
        "- [ ] 1.1 a\n- [ ] 1.1 b\n- [ ] c <!-- depends: 1.1 -->\n",
        "! 3:23: `1.1` is the name of more than one task (name a task by its id, or by the number \
         that its title begins with)",
    );
    check(
        "- [ ] g <!-- id: g -->\n  - [ ] a <!-- depends: g -->\n",
        "! 2:25: a task waits for `g`, the group that it stands in (take the dependency away)",
    );
}

#[test]
fn too_much_is_refused_with_its_reason() {
    let many = "- [ ] x\n".repeat(MAX_TASKS + 1);
    check(&many, "! 10001:3: more than 10000 boxes (split the file)");
    let large = " ".repeat(MAX_BYTES + 1);
    check(&large, "! 1:1: the file has 10485761 bytes; at most 10485760 are read (split it)");
    let deep: String = (0..20).map(|n| format!("{}- [ ] x\n", "  ".repeat(n))).collect();
    assert!(
        told(&deep).starts_with("! 17:35: a box inside more than 15 others"),
        "{}",
        told(&deep)
    );
    let groups = |name: &str, before: &str| {
        let tasks = "  - [ ] x\n".repeat(4_000);
        format!("- [ ] {name} <!-- id: {name}{before} -->\n{tasks}")
    };
    let cross = format!("{}{}", groups("a", ""), groups("b", ", depends: a"));
    assert!(told(&cross).contains("more than 200000 dependencies"), "{}", told(&cross));
}

/// The time is not asserted; what takes more than linear time would not come to an end here.
#[test]
fn hostile_files_are_read_in_one_pass() {
    let size = 100_000;
    for part in
        ["<!--", "-->", "`", "` ``", "- ", "[ ]", "\t", ">", "- [ ] <!-- a -->", "<!-- a -->`"]
    {
        let _ = read(&part.repeat(size / part.len()), "x");
        let _ = read(&format!("{part}\n").repeat(size / part.len()), "x");
        let _ = read(&format!("- [ ] a {}", part.repeat(size / part.len())), "x");
    }
    let runs: String = (1..900).map(|n| format!("{} ", "`".repeat(n))).collect();
    let _ = read(&format!("- [ ] a {runs} <!-- id: x -->"), "x");
    let nested: String = (0..1_000).map(|n| format!("{}- [ ] x\n", "  ".repeat(n))).collect();
    let _ = read(&nested, "x");
}
