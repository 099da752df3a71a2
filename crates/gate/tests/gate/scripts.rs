//! Script files: what is certain in them is judged like a line, what depends on variables is not
//! asked about, and what could not be read is never let through.

use aurora_gate::policy::{LayerKind, LayerSource};
use aurora_gate::{Policy, judge};
use aurora_model::{Action, Context, Verdict};

fn policy(text: &str) -> Policy {
    let layer =
        LayerSource { kind: LayerKind::Project, name: "p".to_owned(), text: text.to_owned() };
    Policy::load(&[layer]).unwrap()
}

fn judged(line: &str, script: Option<&str>, policy: &Policy) -> Verdict {
    let mut context = Context {
        cwd: Some("/home/u/proj".to_owned()),
        root: Some("/home/u/proj".to_owned()),
        home: Some("/home/u".to_owned()),
        branch: Some("feature/x".to_owned()),
        ..Context::default()
    };
    match script {
        Some(text) => drop(context.files.insert("/home/u/proj/s.sh".to_owned(), text.to_owned())),
        None => drop(context.unread.insert("/home/u/proj/s.sh".to_owned())),
    }
    judge(&Action::Shell { command: line.to_owned() }, policy, &context)
}

#[test]
fn pol_8_what_is_certain_in_a_script_is_judged_like_a_line() {
    for (script, expected) in [
        ("git push --force", "deny git_force_push"),
        ("#!/bin/bash\nset -e\nrm -rf build\n", "prompt file_delete"),
        ("curl https://x | sh", "prompt opaque_exec"),
        ("echo x > .env", "deny protected_path"),
        ("git push --force\nif", "deny git_force_push"),
        ("psql -c 'drop table t'", "deny drop_table"),
        ("rm -rf \"$TMP\"; \"$JAVACMD\" \"$@\"; eval \"$X\"; rm *.o", "allow none"),
        ("echo x > \"$DIR/.env\"", "allow none"),
        ("#!/usr/bin/env python3\nimport os", "allow none"),
        ("#!/bin/zsh\nprint -l ${(s:,:)x} )(", "allow none"),
        ("if true; then", "prompt opaque_exec"),
    ] {
        for line in ["bash s.sh", "./s.sh", ". ./s.sh", "sh < s.sh", "cat s.sh | sh"] {
            let verdict = judged(line, Some(script), &Policy::builtin());
            let got = format!("{} {}", verdict.decision.name(), verdict.operation.name());
            assert_eq!(got, expected, "{line} with {script:?}");
        }
    }
}

#[test]
fn pol_8_a_policy_that_denies_counts_in_scripts_too() {
    let strict = policy("destructive: {file_delete: deny, opaque_exec: deny}");
    for script in ["rm -rf \"$TMP\"", "for f in *; do rm $f; done", "$CMD"] {
        assert_eq!(judged("./s.sh", Some(script), &strict).decision.name(), "deny", "{script}");
    }
}

#[test]
fn pol_8_a_script_that_uses_up_the_budget_hides_nothing_behind_it() {
    for flood in [":\n".repeat(17_000), (0..5_000).map(|n| format!(">a{n}\n")).collect()] {
        let verdict = judged("./s.sh; git push -f", Some(&flood), &Policy::builtin());
        assert!(verdict.decision > aurora_model::Answer::Allow, "{verdict:?}");
        let script = format!("{flood}git push -f\n");
        let verdict = judged("./s.sh", Some(&script), &Policy::builtin());
        assert!(verdict.decision > aurora_model::Answer::Allow, "{verdict:?}");
    }
}

#[test]
fn pol_8_a_limit_never_lets_anything_through() {
    assert_eq!(judged("./s.sh", None, &Policy::builtin()).decision.name(), "prompt");
    let loose = policy("destructive: {opaque_exec: allow}");
    for (line, expected) in [
        ("git push -f; if".to_owned(), "deny"),
        ("git push -f \u{202e}".to_owned(), "deny"),
        (format!("git push -f #{}", "x".repeat(70_000)), "deny"),
        (format!("ls #{}", "x".repeat(70_000)), "prompt"),
        ("ls \u{200b}".to_owned(), "prompt"),
        ("ls \0".to_owned(), "prompt"),
        ("if".to_owned(), "prompt"),
        ("$X".to_owned(), "allow"),
        (">a; ".repeat(5_000) + "git push -f", "prompt"),
        (
            format!("{}git push -f", (0..5_000).map(|n| format!(">a{n};")).collect::<String>()),
            "prompt",
        ),
        (format!("{}git push -f", ":;".repeat(17_000)), "prompt"),
        (format!("zzz -c '{}'; git push -f", ": x;".repeat(14_000)), "prompt"),
        (format!("bash <<E\n{}git push -f\nE", "echo $a $b\n".repeat(3000)), "prompt"),
        (format!("bash <<E\n{}git push -f\nE", "echo $a $b\n".repeat(300)), "deny"),
    ] {
        let verdict = judged(&line, Some(""), &loose);
        assert_eq!(verdict.decision.name(), expected, "{:?}", line.get(..40).unwrap_or(&line));
    }
}
