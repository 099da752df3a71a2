//! What must not change a verdict, and what must: wrappers, quoting and nesting never make one
//! milder, and a command that is only mentioned is no command.

use super::corpus::{Case, cases};

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Ways to run any text all the same.
const NESTINGS: &[&str] = &[
    "bash -c Q",
    "sh -c Q",
    "/usr/bin/env bash -c Q",
    "sudo bash -c Q",
    "bash -lc Q",
    "bash -xec Q",
    "eval Q",
    "env X=1 sh -c Q",
    "timeout 30 bash -c Q",
    "nohup sh -c Q >/dev/null 2>&1 &",
    "ssh build-host Q",
    "docker exec -i app sh -c Q",
    "su - deploy -c Q",
    "xargs -I@@ sh -c Q",
    "trap Q EXIT",
    "bash <<< Q",
    "echo Q | bash",
    "printf '%s' Q | sh -s",
    "X=Q; eval \"$X\"",
    "X=Q; bash -c \"$X\"",
    "(L\n)",
    "{ L\n}",
    "true && { L\n}",
    "if true; then\nL\nfi",
    "while true; do\nL\ndone",
    "for i in 1; do\nL\ndone",
    "f() {\nL\n}; f",
    "function g {\nL\n}",
    "case x in *)\nL\n;; esac",
    "echo \"$(\nL\n)\"",
    "cat <(\nL\n)",
    "bash <<'OUTER_END'\nL\nOUTER_END",
    "ls -la\nL\necho done",
    "git() { command git \"$@\"; }\nL",
    "(git() { :; }; rm() { :; })\nL",
    "false && git() { :; }\nL",
    "if c; then git() { :; }; psql() { :; }; fi\nL",
    "false && F=\nL",
    "if c; then D=-n; fi\nL",
    "alias git=echo rm=true\nL",
    "exec 3< notes.txt\nL",
    "nice -n 5 bash -c Q",
    "watch -n 5 Q",
    "flock /tmp/lock -c Q",
    "script -qc Q /dev/null",
    "python3 -c 'import os; os.system(P)'",
];

/// Ways to put a wrapper before a single simple command.
const PREFIXES: &[&str] = &[
    "sudo",
    "sudo -u deploy",
    "doas",
    "env",
    "env -i",
    "env A=1 B=2",
    "timeout 10",
    "timeout -k 5 10s",
    "nice",
    "nice -n 10",
    "ionice -c 3",
    "nohup",
    "setsid",
    "time",
    "stdbuf -oL",
    "command",
    "exec",
    "xargs",
    "xargs -0",
    "xargs -n 1 -P 4",
    "sudo env A=1 nice",
    "A=1",
    "\\time -v",
    "!",
    "chronic",
    "sudo -E -H -u root --",
    "busybox",
    "unbuffer",
    "strace -f",
    "taskset -c 0",
    "systemd-run --user",
];

/// Ways to mention text without running it.
const MENTIONS: &[&str] = &[
    "echo Q",
    "printf '%s\\n' Q",
    "grep -rn Q src",
    "rg -F Q",
    "git commit -m Q",
    "git commit --allow-empty --message=Q",
    "git log --grep Q",
    "cat > notes.md <<'OUTER_END'\nL\nOUTER_END",
    "# L1",
    ": Q",
    "logger -t aurora Q",
    "git tag -a v1 -m Q",
    "gh issue create --title x --body Q",
    "test -n Q",
    "[[ Q == x ]]",
    "X=Q",
    "python3 -c 'print(P)'",
    "jq -n --arg x Q '$x'",
];

/// What stands for a mark.
fn fill(mark: &str, line: &str) -> String {
    let escaped = line.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    match mark {
        "Q" => quoted(line),
        "P" => format!("\"{escaped}\"").replace('\'', r"'\''"),
        _ => line.trim_end().to_owned(),
    }
}

/// Filled in order, so that letters inside the line are not taken for marks.
fn filled(template: &str, line: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['Q', 'P', 'L']) {
        let (before, tail) = rest.split_at(at);
        let lone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push_str(before);
        let mark = &tail[..1];
        let after = &tail[1..];
        let lone = lone && !after.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !lone {
            out.push_str(mark);
            rest = after;
            continue;
        }
        if mark == "L" && after.starts_with('1') {
            out.push_str(line.lines().next().unwrap_or(""));
            rest = &after[1..];
            continue;
        }
        out.push_str(&fill(mark, line));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Lines that end in a here-document or comment cannot be put on one line with something behind.
fn nests_cleanly(case: &Case) -> bool {
    case.is_own() && !case.run.contains("OUTER_END")
}

fn is_simple(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    !line.contains(['\n', '|', '&', ';', '(', ')', '<', '>', '`', '{', '#'])
        && !first.contains(['=', '"', '\'', '\\', '$'])
        && !matches!(
            first,
            "if" | "for"
                | "while"
                | "until"
                | "case"
                | "eval"
                | "alias"
                | "trap"
                | "source"
                | "."
                | "cd"
                | "!"
                | "time"
                | "function"
                | "exec"
                | "command"
                | "builtin"
                | "export"
                | "coproc"
        )
}

#[test]
fn pol_8_nesting_never_makes_a_verdict_milder() {
    let mut milder = Vec::new();
    let mut tried = 0;
    for case in cases().iter().filter(|case| case.expect != "allow" && nests_cleanly(case)) {
        let plain = case.judge(&case.run).decision;
        for template in NESTINGS {
            let line = filled(template, &case.run);
            let nested = case.judge(&line);
            tried += 1;
            if nested.decision < plain {
                milder.push(format!(
                    "{} in `{template}`: {}\n{line}",
                    case.id,
                    nested.decision.name()
                ));
            }
        }
    }
    assert!(tried > 1000);
    assert!(milder.is_empty(), "{} of {tried} milder:\n{}", milder.len(), milder.join("\n"));
}

#[test]
fn pol_8_a_wrapper_before_a_command_never_makes_a_verdict_milder() {
    let mut milder = Vec::new();
    for case in cases()
        .iter()
        .filter(|case| case.is_own() && case.expect != "allow" && is_simple(&case.run))
    {
        let plain = case.judge(&case.run).decision;
        for prefix in PREFIXES {
            let line = format!("{prefix} {}", case.run);
            let wrapped = case.judge(&line);
            if wrapped.decision < plain {
                milder.push(format!("{}: {line}: {}", case.id, wrapped.decision.name()));
            }
        }
    }
    assert!(milder.is_empty(), "{} milder:\n{}", milder.len(), milder.join("\n"));
}

#[test]
fn pol_8_a_command_that_is_only_mentioned_is_allowed() {
    let mut stopped = Vec::new();
    for case in cases().iter().filter(|case| case.expect != "allow" && nests_cleanly(case)) {
        for template in MENTIONS {
            let line = filled(template, &case.run);
            let verdict = case.judge(&line);
            if verdict.decision != aurora_model::Answer::Allow {
                stopped.push(format!(
                    "{} in `{template}`: {:?}",
                    case.id,
                    verdict.reasons.first().map(|r| &r.message)
                ));
            }
        }
    }
    assert!(stopped.is_empty(), "{} stopped:\n{}", stopped.len(), stopped.join("\n"));
}
