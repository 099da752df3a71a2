//! Rules that users wrote: what they stop, and what they waive.

use aurora_model::{Count, EffectKind, Operation, Span};

use super::{at, delete, discard, effects, judged, place, policy, short, simple, write};
use crate::analysis::{Analysis, Simple};
use crate::judge::{Subject, judge_effects};

#[test]
fn own_rules_stop_commands_operations_paths_and_tools() {
    let rule = |when: &str, action: &str| {
        policy(&format!("rules: [{{id: own, when: {when}, action: {action}, reason: because}}]"))
    };
    let check = |when: &str, action: &str, line: &str, kinds: Vec<EffectKind>, expected: &str| {
        let analysis = Analysis { commands: vec![simple(line, 0)], ..effects(kinds) };
        assert_eq!(short(&judged(&analysis, &rule(when, action))), expected, "{when} {line}");
    };
    check("{program: terraform}", "deny", "terraform apply", vec![], "deny rules.own");
    check("{program: terraform}", "deny", "/opt/terraform apply", vec![], "deny rules.own");
    check("{program: terraform}", "deny", "echo terraform", vec![], "allow -");
    check("{program: terraform}", "deny", "… apply", vec![], "prompt rules.own");
    check("{argv: npm publish **}", "prompt", "npm publish x", vec![], "prompt rules.own");
    check("{argv: npm publish **}", "deny", "npm …", vec![], "prompt rules.own");
    check("{program: npm, has: --force}", "deny", "npm i --force", vec![], "deny rules.own");
    check("{program: npm, has: --force}", "deny", "npm i", vec![], "allow -");
    check("{program: npm, has: --force}", "deny", "npm i …", vec![], "prompt rules.own");
    check("{operation: git_discard}", "deny", "git x", vec![discard()], "deny rules.own");
    check("{path: infra/}", "deny", "x", vec![write("infra/a")], "deny rules.own");
    check("{path: infra/}", "deny", "x", vec![write("$X")], "prompt rules.own");
    check("{path: infra/}", "deny", "x", vec![write("src/a")], "allow -");
    check(
        "{program: sed, path: infra/}",
        "deny",
        "sed x",
        vec![write("infra/a")],
        "deny rules.own",
    );
    check("{program: sed, path: infra/}", "deny", "cat x", vec![write("infra/a")], "allow -");
    check("{tool: shell}", "deny", "x", vec![], "deny rules.own");
    check("{tool: Edit}", "deny", "x", vec![], "allow -");
}

#[test]
fn an_own_rules_words_reach_the_reason() {
    let text = "rules:\n  - {id: own, when: {program: x}, action: deny, reason: why, instead: y}\n";
    let analysis = Analysis { commands: vec![simple("x a", 4)], ..Analysis::default() };
    let verdict = judged(&analysis, &policy(text));
    let reason = &verdict.reasons[0];
    assert_eq!(reason.operation, Operation::CustomRule);
    assert_eq!(reason.message, "matches the rule `own`: why");
    assert_eq!(reason.instead.as_deref(), Some("y"));
    assert_eq!(reason.origin, "p.yaml:2:5");
    assert_eq!(reason.span, Span::new(4, 7));
}

#[test]
fn a_rule_that_cannot_be_evaluated_denies() {
    let argv = vec![Some("x".repeat(3000)); 3000];
    let commands = vec![Simple { argv, span: Span::new(0, 9) }];
    let analysis = Analysis { commands, ..Analysis::default() };
    let verdict =
        judged(&analysis, &policy("rules: [{id: own, when: {argv: a b}, action: prompt}]"));
    assert_eq!(short(&verdict), "deny rules.own");
}

#[test]
fn an_allow_rule_waives_a_prompt_of_exactly_what_it_matches() {
    let rule = |when: &str, more: &str| {
        policy(&format!("rules: [{{id: ok, when: {when}, action: allow}}]\n{more}"))
    };
    let check = |when: &str, more: &str, line: &str, kind: EffectKind, expected: &str| {
        let effects = vec![at(kind, 0, line.len())];
        let analysis = Analysis { effects, commands: vec![simple(line, 0)], ..Analysis::default() };
        assert_eq!(short(&judged(&analysis, &rule(when, more))), expected, "{when} {line}");
    };
    let rm = || delete(&["build"], Count::Known(1), true);
    let asks = "prompt destructive.file_delete";
    check("{argv: rm -rf build}", "", "rm -rf build", rm(), "allow -");
    check("{argv: rm -rf build}", "", "rm -rf build src", rm(), asks);
    check("{argv: rm -rf **}", "", "rm -rf …", rm(), asks);
    check("{program: rm}", "", "rm -rf build", rm(), "allow -");
    check(
        "{argv: rm -rf build}",
        "destructive: {file_delete: deny}",
        "rm -rf build",
        rm(),
        "deny destructive.file_delete",
    );
    check(
        "{argv: rm -rf build}",
        "destructive: {file_delete: {locked: true}}",
        "rm -rf build",
        rm(),
        asks,
    );
    check(
        "{argv: rm -rf .git}",
        "",
        "rm -rf .git",
        delete(&[".git"], Count::Known(1), true),
        "deny safety.protected_paths",
    );
    check("{operation: file_delete, path: build/}", "", "rm -rf build", rm(), "allow -");
    check("{operation: file_delete, path: build/}", "", "rm -rf …", rm(), asks);
    check(
        "{operation: file_delete, path: build/}",
        "",
        "rm -rf build src",
        delete(&["build", "src"], Count::Known(2), true),
        asks,
    );
    check("{tool: shell}", "", "rm -rf build", rm(), asks);
    check("{tool: shell, program: rm}", "", "rm -rf build", rm(), "allow -");
    check("{tool: Edit, program: rm}", "", "rm -rf build", rm(), asks);
}

#[test]
fn a_waiver_for_an_outer_command_does_not_reach_the_inner_one() {
    let policy = policy("rules: [{id: ok, when: {program: bash}, action: allow}]");
    let outer = "bash -c rm_-rf_x";
    let commands = vec![simple(outer, 0), simple("rm -rf x", 8)];
    let effects = vec![at(delete(&["x"], Count::Known(1), true), 8, 16)];
    let verdict = judged(&Analysis { effects, commands, ..Analysis::default() }, &policy);
    assert_eq!(short(&verdict), "prompt destructive.file_delete");
}

#[test]
fn what_is_waived_does_not_count_towards_the_sum() {
    let policy = policy("rules: [{id: ok, when: {argv: rm a b c d}, action: allow}]");
    let four = || delete(&["a"], Count::Known(4), false);
    let effects = vec![at(four(), 0, 10), at(four(), 14, 24)];
    let commands = vec![simple("rm a b c d", 0), simple("rm e f g h", 14)];
    let verdict = judged(&Analysis { effects, commands, ..Analysis::default() }, &policy);
    assert_eq!(short(&verdict), "allow -");
}

#[test]
fn an_allow_rule_waives_an_unknown_tool_and_another_rules_prompt() {
    let policy = policy(
        "rules:\n  - {id: db, when: {tool: \"mcp__db__*\"}, action: allow}\n  \
         - {id: publish, when: {argv: npm publish **}, action: prompt}\n  \
         - {id: dry, when: {argv: npm publish --dry-run}, action: allow}\n",
    );
    let tool = effects(vec![EffectKind::UnknownTool { name: "mcp__db__read".into() }]);
    let subject = Subject { tool: Some("mcp__db__read") };
    assert_eq!(short(&judge_effects(&tool, &subject, &policy, &place())), "allow -");
    let subject = Subject { tool: Some("mcp__fs__read") };
    let verdict = judge_effects(&tool, &subject, &policy, &place());
    assert_eq!(short(&verdict), "prompt destructive.unknown_tool");
    let line = |line: &str| Analysis { commands: vec![simple(line, 0)], ..Analysis::default() };
    assert_eq!(short(&judged(&line("npm publish --dry-run"), &policy)), "allow -");
    assert_eq!(short(&judged(&line("npm publish --tag x"), &policy)), "prompt rules.publish");
}
