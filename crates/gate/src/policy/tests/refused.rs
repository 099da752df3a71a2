//! Policy files that are refused: where, why, and with which advice.

use super::{PRD, load, project};

#[test]
fn errors_say_where_what_and_what_to_do() {
    // POL-1: unknown and mistyped keys, with line, column and a suggestion when it is near.
    let check = |text: &str, expected: &[&str]| {
        let errors = load(&[project(text)]).expect_err(text).to_string();
        let lines: Vec<&str> = errors.lines().collect();
        assert_eq!(lines, expected, "for {text:?}");
    };
    check(
        "budgte:\n  x: 1\n",
        &["p.yaml:1:1: budgte: unknown key", "  hint: did you mean `budget`?"],
    );
    check(
        "destructive:\n  git_force_psuh: deny\n",
        &[
            "p.yaml:2:3: destructive.git_force_psuh: unknown key",
            "  hint: did you mean `git_force_push`?",
        ],
    );
    check(
        "protected_paths: []\n",
        &[
            "p.yaml:1:1: protected_paths: unknown key",
            "  hint: `protected_paths` belongs below `safety`",
        ],
    );
    check(
        "locked: true\n",
        &[
            "p.yaml:1:1: locked: unknown key",
            "  hint: `locked: true` stands inside a section or an operation",
        ],
    );
    check(
        "destructive:\n  truncate:\n    action: ask\n",
        &[
            "p.yaml:3:13: destructive.truncate.action: expected allow, prompt or deny, found `ask`",
            "  hint: did you mean `prompt`?",
        ],
    );
    check(
        "destructive: {drop_table: denny}\n",
        &[
            "p.yaml:1:27: destructive.drop_table.action: expected allow, prompt or deny, found `denny`",
            "  hint: did you mean `deny`?",
        ],
    );
    check(
        "destructive:\n  file_delete:\n    max_files: \"5\"\n",
        &[
            "p.yaml:3:16: destructive.file_delete.max_files: expected a whole number from 0 to \
             1000000000, found `5`",
            "  hint: without the quotes it is not text",
        ],
    );
    check(
        "budget:\n  warn_at_percent: 101\n  hard_limit_action: stop\n",
        &[
            "p.yaml:2:20: budget.warn_at_percent: expected a whole number from 0 to 100, found `101`",
            "p.yaml:3:22: budget.hard_limit_action: expected reject or warn, found `stop`",
        ],
    );
    check(
        "safety:\n  auto_branch: yes\n",
        &["p.yaml:2:16: safety.auto_branch: expected true or false, found `yes`"],
    );
    check(
        "safety:\n  branch_prefix: 5\n",
        &[
            "p.yaml:2:18: safety.branch_prefix: expected text, found `5`",
            "  hint: to mean the text, put it in quotes: \"5\"",
        ],
    );
    check(
        "safety:\n  protected_paths: .env\n",
        &["p.yaml:2:20: safety.protected_paths: expected a list of patterns, found `.env`"],
    );
    check(
        "safety:\n  protected_paths:\n    - .env\n    - \"!.env\"\n",
        &[
            "p.yaml:4:7: safety.protected_paths: the pattern `!.env` takes something away again",
            "  hint: layers only add patterns; write the pattern so that it does not match",
        ],
    );
    check(
        "budget:\n",
        &[
            "p.yaml:1:1: budget: has no value; expected a mapping",
            "  hint: give it a value, or remove the key",
        ],
    );
    check(
        "budget:\n  monthly_limit_usd:\n",
        &[
            "p.yaml:2:3: budget.monthly_limit_usd: has no value; expected a number from 0 to \
             1000000000",
            "  hint: give it a value, or remove the key",
        ],
    );
    check("- a\n", &["p.yaml:1:1: expected a mapping of settings, found a list"]);
    check(
        "safety:\n  auto_branch: true\nsafety:\n  auto_branch: false\n",
        &["p.yaml:3:1: safety: is given twice, first in line 1", "  hint: keep one of the two"],
    );
}

#[test]
fn yamls_looser_forms_are_refused() {
    let check = |text: &str, expected: &str| {
        let errors = load(&[project(text)]).expect_err(text);
        assert!(errors.to_string().contains(expected), "{text:?} gives {errors}");
        assert_eq!(errors.0.len(), 1, "{errors}");
    };
    check("budget: &b {}\n", "p.yaml:1:9: budget: anchors");
    check(
        "safety:\n  protected_paths:\n    - *.pem\n",
        "p.yaml:3:7: safety.protected_paths: aliases",
    );
    check("safety: {protected_paths: [*a]}\n", "must stand in quotes");
    check("budget: !x {}\n", "tags (`!name`) are not allowed");
    check("budget: {monthly_limit_usd: !!int 5}\n", "tags");
    check("budget: {}\n---\nbudget: {}\n", "one YAML document");
    check("budget:\n\twarn_at_percent: 5\n", "p.yaml:2:1: a tab indents this line");
    check("budget: {a: [}\n", "is not valid YAML");
    check("? [a]\n: b\n", "a key must be text");
    check("# \u{202e}txt\n", "U+202E");
    check("a: \0\n", "U+0000");
    check("<<: {}\n", "unknown key");
}

#[test]
fn large_and_deep_files_are_errors_and_no_crash() {
    let check = |text: String, expected: &str| {
        let errors = load(&[project(&text)]).expect_err(expected);
        assert!(errors.to_string().contains(expected), "{errors}");
    };
    check("#".repeat(257 * 1024), "the limit is 262144");
    check("[".repeat(8192), "recursion limit exceeded");
    check("[".repeat(200), "nested more than 32 deep");
    check("{".repeat(8192), "");
    check("- ".repeat(60_000), "nested more than 32 deep");
    check("a: ".repeat(60_000), "");
    check(
        (0..30_000).fold(String::new(), |text, n| text + &format!("{n:x}:\n")),
        "more than 1000 keys",
    );
    check("? ".repeat(60_000), "");
    let list = "- x\n".repeat(50_000);
    check(format!("safety:\n  protected_paths:\n{list}"), "");
}

#[test]
fn mangled_files_are_answered_without_a_crash() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % 1_000_003).expect("small") % below
    };
    let bits = [
        "\n", "  ", "- ", ": ", "#", "'", "\"", "|\n", ">-\n", "{", "}", "[", "]", "&a", "*a", "!",
        "%", "---\n", "...\n", "?", ",", "\t", "\\", "~", "\r\n", "ä", "@", "`", "<<: ",
    ];
    for _ in 0..4000 {
        let mut text: Vec<char> = PRD.chars().collect();
        for _ in 0..=next(4) {
            let at = next(text.len());
            let until = (at + next(12)).min(text.len());
            text.splice(at..until, bits[next(bits.len())].chars());
        }
        let text: String = text.into_iter().collect();
        let _ = load(&[project(&text)]);
    }
}

#[test]
fn entries_of_the_further_keys_are_checked_too() {
    // POL-10
    let check = |text: &str, expected: &str| {
        let errors = load(&[project(text)]).expect_err(text);
        assert!(errors.to_string().contains(expected), "{text:?} gives {errors}");
    };
    check("path_rules: [{role: dev, action: deny}]", "path_rules.1: `paths` is missing");
    check("path_rules: [{paths: [a], action: allow}]", "expected prompt or deny");
    check("path_rules: [{path: [a]}]", "did you mean `paths`?");
    check("path_rules: {a: 1}", "path_rules: expected a list, found a mapping");
    check("contracts: {api: {lock: x}}", "contracts.api: `paths` is missing");
    check("contracts: {\"a b\": {paths: [x]}}", "`a b` is no name");
    check("contracts: [a]", "contracts: expected a mapping of names, found a list");
    check("roles: {dev: {tools: []}}", "roles.dev.tools: is an empty list");
    check("roles: {dev: [Read]}", "expected a mapping with the keys tools, locked, found a list");
    check("rules: [{id: a, action: deny}]", "rules.1: `when` is missing");
    check("rules: [{id: a, when: {}, action: deny}]", "rules.1: `when` names no condition");
    check("rules: [{id: a.b, when: {program: x}, action: deny}]", "`a.b` is no name");
    check("rules: [{id: a, when: {program: x}, action: nope}]", "expected allow, prompt or deny");
    check("rules: [{id: a, when: {operation: git_push}, action: deny}]", "rules.1.when.operation");
    check(
        "rules: [{id: a, when: {program: x}, action: deny}, {id: a, when: {tool: x}, action: deny}]",
        "the id `a` is used twice",
    );
    check(
        "rules: [{id: a, when: {path: \"a[b\"}, action: deny}]",
        "rules.1.when.path: `a[b` is no pattern",
    );
}
