//! Effects made by hand, judged: what asks, what denies, by which rule and with which words.

mod own_rules;

use aurora_model::{
    Action, Answer, Cause, Context, Count, Effect, EffectKind, Operation, PathRef, Plan, Span,
    ToolCall, Touch, Verdict,
};

use super::{Subject, check_scope, describe, judge_effects};
use crate::Policy;
use crate::analysis::{Analysis, ChangeScope, Simple};
use crate::policy::{LayerKind, LayerSource};

fn policy(text: &str) -> Policy {
    let (kind, name) = (LayerKind::Project, "p.yaml".to_owned());
    Policy::load(&[LayerSource { kind, name, text: text.to_owned() }])
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn path(text: &str) -> PathRef {
    let resolved = (!text.contains('$')).then(|| text.to_owned());
    PathRef { text: text.to_owned(), resolved, glob: text.contains('*') }
}

fn at(kind: EffectKind, start: usize, end: usize) -> Effect {
    Effect::new(kind, Span::new(start, end))
}

fn delete(paths: &[&str], count: Count, recursive: bool) -> EffectKind {
    EffectKind::DeleteFiles { paths: paths.iter().map(|one| path(one)).collect(), count, recursive }
}

fn write(text: &str) -> EffectKind {
    EffectKind::ChangePath { path: path(text), touch: Touch::Write, recursive: false }
}

fn rename_all(text: &str) -> EffectKind {
    EffectKind::ChangePath { path: path(text), touch: Touch::Rename, recursive: true }
}

fn discard() -> EffectKind {
    EffectKind::DiscardWork { what: "uncommitted changes".into() }
}

fn effects(kinds: Vec<EffectKind>) -> Analysis {
    let effects = kinds.into_iter().enumerate().map(|(n, kind)| at(kind, n * 10, n * 10 + 9));
    Analysis { effects: effects.collect(), ..Analysis::default() }
}

/// A command of known words; `…` is a word that is not known.
fn simple(line: &str, start: usize) -> Simple {
    let argv = line.split(' ').map(|word| (word != "…").then(|| word.to_owned())).collect();
    Simple { argv, span: Span::new(start, start + line.len()) }
}

const SHELL: Subject<'_> = Subject { tool: Some("shell") };

fn place() -> Context {
    let root = Some("/home/dev/shop".to_owned());
    Context { cwd: root.clone(), root, home: Some("/home/dev".into()), ..Context::default() }
}

fn judged(analysis: &Analysis, policy: &Policy) -> Verdict {
    judge_effects(analysis, &SHELL, policy, &place())
}

/// Decision and rule in one word each.
fn short(verdict: &Verdict) -> String {
    format!("{} {}", verdict.decision.name(), verdict.rule.as_deref().unwrap_or("-"))
}

#[test]
fn every_operation_gets_its_default_answer() {
    // POL-3
    let builtin = Policy::builtin();
    let check = |kind: EffectKind, expected: &str| {
        let verdict = judged(&effects(vec![kind.clone()]), &builtin);
        assert_eq!(short(&verdict), expected, "{kind:?}");
        for reason in &verdict.reasons {
            assert_eq!(reason.origin, "built-in defaults");
            assert!(reason.instead.is_some() && !reason.message.is_empty());
            assert_eq!(reason.operation, kind.operation());
        }
    };
    let push = EffectKind::ForcePush { how: "--force".into(), remote: Some("origin".into()) };
    check(push, "deny destructive.git_force_push");
    let main = EffectKind::PushMain { destination: "main".into(), remote: None };
    check(main, "prompt destructive.git_push_main");
    check(EffectKind::DropObject { object: "table users".into() }, "deny destructive.drop_table");
    check(EffectKind::EmptyTable { object: "logs".into() }, "prompt destructive.truncate");
    check(discard(), "prompt destructive.git_discard");
    let rows = EffectKind::ChangeAllRows { statement: "DELETE FROM users".into() };
    check(rows, "prompt destructive.sql_delete_all");
    let opaque = EffectKind::Opaque {
        what: "`$X`".into(),
        why: "its name is computed".into(),
        cause: Cause::Dynamic,
    };
    check(opaque, "prompt destructive.opaque_exec");
    let infra = EffectKind::DestroyInfra { what: "terraform destroy".into() };
    check(infra, "prompt destructive.infra_destroy");
    check(EffectKind::WipeDisk { device: "/dev/sda".into() }, "deny destructive.disk_wipe");
    check(EffectKind::UnknownTool { name: "x".into() }, "prompt destructive.unknown_tool");
    check(EffectKind::Network { target: "example.com".into() }, "allow -");
    check(write("src/a.rs"), "allow -");
}

#[test]
fn deletions_ask_when_many_recursive_or_unknown() {
    // POL-3
    let check = |kinds: Vec<EffectKind>, text: &str, expected: &str| {
        assert_eq!(short(&judged(&effects(kinds.clone()), &policy(text))), expected, "{kinds:?}");
    };
    let known = |count| delete(&["a", "b"], Count::Known(count), false);
    let asks = "prompt destructive.file_delete";
    check(vec![known(5)], "", "allow -");
    check(vec![known(6)], "", asks);
    check(vec![known(3), known(2)], "", "allow -");
    check(vec![known(3), known(3)], "", asks);
    check(vec![known(u64::MAX), known(u64::MAX)], "", asks);
    check(vec![delete(&["build"], Count::Known(1), true)], "", asks);
    check(vec![delete(&["*.log"], Count::Unknown, false)], "", asks);
    check(vec![known(1)], "destructive: {file_delete: {max_files: 0}}", asks);
    check(vec![known(6)], "destructive: {file_delete: {max_files: 6}}", "allow -");
    check(vec![known(6)], "destructive: {file_delete: deny}", "deny destructive.file_delete");
    check(
        vec![delete(&["x"], Count::Unknown, true)],
        "destructive: {file_delete: allow}",
        "allow -",
    );
}

#[test]
fn the_sum_of_deletions_is_one_reason_over_all_of_them() {
    let known = |count| delete(&["a"], Count::Known(count), false);
    let verdict = judged(&effects(vec![known(4), discard(), known(3)]), &Policy::builtin());
    let sum = &verdict.reasons[0];
    assert_eq!(sum.span, Span::new(0, 29));
    assert_eq!(sum.message, "deletes 7 files in all, more than max_files (5, built-in defaults)");
    assert_eq!(verdict.reasons.len(), 2);
}

#[test]
fn the_strictest_reason_decides_and_comes_first() {
    let main = EffectKind::PushMain { destination: "main".into(), remote: None };
    let force = EffectKind::ForcePush { how: "-f".into(), remote: None };
    let verdict = judged(&effects(vec![discard(), main, force]), &Policy::builtin());
    assert_eq!(verdict.decision, Answer::Deny);
    assert_eq!(verdict.operation, Operation::GitForcePush);
    let rules: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule.as_str()).collect();
    let expected =
        ["destructive.git_force_push", "destructive.git_discard", "destructive.git_push_main"];
    assert_eq!(rules, expected);
    assert_eq!(verdict.effects.len(), 3);
}

#[test]
fn protected_paths_are_never_changed() {
    // POL-4
    let check = |kind: EffectKind, expected: &str| {
        let verdict = judged(&effects(vec![kind.clone()]), &Policy::builtin());
        assert_eq!(short(&verdict), expected, "{kind:?}");
    };
    let denies = "deny safety.protected_paths";
    check(write(".env"), denies);
    check(write("certs/server.pem"), denies);
    check(write("node_modules/x/index.js"), denies);
    check(write(".env.local"), "allow -");
    check(write(".github/ci.yml"), "allow -");
    check(write("$FILE"), "allow -");
    check(delete(&["a", ".env"], Count::Known(2), false), denies);
    check(delete(&[".git"], Count::Known(1), true), denies);
    check(delete(&["."], Count::Known(1), true), denies);
    check(delete(&["/home/dev/shop"], Count::Known(1), true), denies);
    check(delete(&["/home/dev"], Count::Known(1), true), denies);
    check(delete(&["/"], Count::Known(1), true), denies);
    check(delete(&["/home/*"], Count::Unknown, true), denies);
    check(delete(&["/*"], Count::Unknown, true), denies);
    check(delete(&["/home/other"], Count::Known(1), true), "prompt destructive.file_delete");
    check(delete(&["/home/dev/shopping"], Count::Known(1), true), "prompt destructive.file_delete");
    check(delete(&["/home/dev/*.log"], Count::Unknown, true), "prompt destructive.file_delete");
    check(rename_all("/home/dev"), denies);
    check(rename_all("src"), "allow -");
}

#[test]
fn a_protected_paths_origin_is_its_own_line() {
    let policy = policy("safety:\n  protected_paths:\n    - db/\n");
    let verdict = judged(&effects(vec![write("db/schema.rb")]), &policy);
    assert_eq!(verdict.operation, Operation::ProtectedPath);
    assert_eq!(verdict.reasons[0].origin, "p.yaml:3:7");
    assert_eq!(
        verdict.reasons[0].message,
        "writes to `db/schema.rb`: `db/schema.rb` is protected by `db/`"
    );
}

#[test]
fn areas_of_policy_and_plan_bound_changes() {
    // POL-10
    let check = |text: &str, plan: Plan, kind: EffectKind, expected: &str| {
        let context = Context { plan: Some(plan), ..place() };
        let analysis = effects(vec![kind.clone()]);
        let verdict = judge_effects(&analysis, &SHELL, &policy(text), &context);
        assert_eq!(short(&verdict), expected, "{text} {kind:?}");
        if expected.contains("areas") {
            assert_eq!(verdict.operation, Operation::Area);
        }
    };
    let list = |items: &[&str]| items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
    let none = Plan::default;
    check("areas: {allowed_areas: [src/**]}", none(), write("src/a.rs"), "allow -");
    check(
        "areas: {allowed_areas: [src/**]}",
        none(),
        write("lib/a.rs"),
        "deny areas.allowed_areas",
    );
    check("areas: {allowed_areas: [src/**]}", none(), write("$X"), "prompt areas.allowed_areas");
    check("areas: {allowed_areas: [src/**]}", none(), write("/tmp/log"), "allow -");
    check(
        "areas: {allowed_areas: [src/**]}",
        none(),
        write("/etc/hosts"),
        "deny areas.allowed_areas",
    );
    check(
        "areas: {forbidden_areas: [gen/]}",
        none(),
        write("gen/a.rs"),
        "deny areas.forbidden_areas",
    );
    check(
        "areas: {forbidden_areas: [src/gen/]}",
        none(),
        rename_all("src"),
        "deny areas.forbidden_areas",
    );
    check(
        "areas: {protected_areas: [spec/]}",
        none(),
        write("spec/a"),
        "deny areas.protected_areas",
    );
    check("areas: {protected_areas: [spec/]}", none(), discard(), "prompt destructive.git_discard");
    let plan = || Plan {
        allowed_areas: list(&["src/**"]),
        forbidden_areas: list(&["src/auth/**"]),
        ..Plan::default()
    };
    check("", plan(), write("src/a.rs"), "allow -");
    check("", plan(), write("src/auth/a.rs"), "deny plan.forbidden_areas");
    check("", plan(), write("docs/a.md"), "deny plan.allowed_areas");
    check("areas: {allowed_areas: [docs/]}", plan(), write("src/a.rs"), "deny areas.allowed_areas");
    let broken = Plan { allowed_areas: list(&["a[b"]), ..Plan::default() };
    check("", broken, write("src/a.rs"), "deny plan.allowed_areas");
}

#[test]
fn path_rules_hold_for_roles_and_contracts_for_whoever_lacks_the_lock() {
    // POL-10
    let text = "path_rules:\n  - {not_role: ops, paths: infra/, reason: \"ops' own\"}\n  \
                - {role: [dev, qa], paths: \"*.lock\", action: prompt}\n\
                contracts: {api: {paths: [openapi.yaml], lock: openapi}}\n";
    let policy = policy(text);
    let check = |role: Option<&str>, locks: &[&str], changed: &str, expected: &str| {
        let held_locks = locks.iter().map(|&lock| lock.to_owned()).collect();
        let context = Context { role: role.map(str::to_owned), held_locks, ..place() };
        let verdict = judge_effects(&effects(vec![write(changed)]), &SHELL, &policy, &context);
        assert_eq!(short(&verdict), expected, "{role:?} {changed}");
    };
    check(Some("dev"), &[], "infra/main.tf", "deny path_rules.1");
    check(None, &[], "infra/main.tf", "deny path_rules.1");
    check(Some("ops"), &[], "infra/main.tf", "allow -");
    check(Some("dev"), &[], "Cargo.lock", "prompt path_rules.2");
    check(Some("ops"), &[], "Cargo.lock", "allow -");
    check(None, &[], "Cargo.lock", "allow -");
    check(None, &[], "openapi.yaml", "deny contracts.api");
    check(None, &["api"], "openapi.yaml", "deny contracts.api");
    check(None, &["openapi"], "openapi.yaml", "allow -");
}

#[test]
fn a_role_calls_only_its_own_tools() {
    // POL-10
    let policy = policy("roles: {reviewer: {tools: [Read, \"mcp__docs__*\"]}}");
    let check = |role: Option<&str>, action: Action, expected: &str| {
        let context = Context { role: role.map(str::to_owned), ..place() };
        let subject = Subject::of(&action);
        let verdict = judge_effects(&Analysis::default(), &subject, &policy, &context);
        assert_eq!(short(&verdict), expected, "{role:?} {action:?}");
    };
    let tool =
        |name: &str| Action::Tool(ToolCall { name: name.into(), args: serde_json::json!({}) });
    check(Some("reviewer"), tool("Read"), "allow -");
    check(Some("reviewer"), tool("mcp__docs__search"), "allow -");
    check(Some("reviewer"), tool("Edit"), "deny roles.reviewer");
    check(Some("reviewer"), Action::Shell { command: "ls".into() }, "deny roles.reviewer");
    check(Some("reveiwer"), tool("Read"), "prompt roles");
    check(None, tool("Edit"), "allow -");
}

#[test]
fn a_change_that_is_larger_than_allowed_or_planned_asks() {
    // POL-4, POL-5
    let builtin = Policy::builtin();
    let check = |files, lines, expected: Option<(u64, u64)>, answer: &str| {
        let plan = expected.map(|(files, lines)| Plan {
            expected_files: Some(files),
            expected_lines: Some(lines),
            ..Plan::default()
        });
        let verdict = check_scope(files, lines, &builtin, &Context { plan, ..place() });
        assert_eq!(short(&verdict), answer, "{files} {lines}");
    };
    check(20, 1000, None, "allow -");
    check(21, 10, None, "prompt safety.max_files_modified");
    check(1, 1001, None, "prompt safety.max_lines_changed");
    check(3, 30, Some((1, 10)), "allow -");
    check(4, 30, Some((1, 10)), "prompt anomalies.scope_multiplier");
    check(3, 31, Some((1, 10)), "prompt anomalies.scope_multiplier");
    check(1, 0, Some((0, 0)), "prompt anomalies.scope_multiplier");
}

#[test]
fn a_patchs_lines_and_file_types_are_judged() {
    // POL-5
    let judged = |kinds: Vec<EffectKind>, text: &str| {
        let scope = Some(ChangeScope { files: 1, lines: 5 });
        let analysis = Analysis { scope, ..effects(kinds) };
        judge_effects(&analysis, &Subject { tool: Some("patch") }, &policy(text), &place())
    };
    assert_eq!(short(&judged(vec![write("x")], "safety: {max_lines_changed: 5}")), "allow -");
    let verdict = judged(vec![write("x")], "safety: {max_lines_changed: 4}");
    assert_eq!(short(&verdict), "prompt safety.max_lines_changed");
    assert!(verdict.reasons[0].message.contains("changes 5 lines"));
    let verdict = judged(vec![write("x"), write("db/a.sql")], "");
    assert_eq!(short(&verdict), "prompt anomalies.unexpected_file_types");
    assert_eq!(verdict.operation, Operation::FileType);
    let verdict =
        judged(vec![write("x"), write("y"), write("x")], "safety: {max_files_modified: 1}");
    assert!(verdict.reasons[0].message.starts_with("changes 2 files"), "{verdict:?}");
    // The same change by a command is no patch: only patches are anomalies.
    let by_command =
        judge_effects(&effects(vec![write("db/a.sql")]), &SHELL, &policy(""), &place());
    assert_eq!(short(&by_command), "allow -");
}

#[test]
fn the_files_that_hold_the_gate_are_not_changed_unasked() {
    for (path, expected) in [
        (".aurora/policies.yaml", "prompt safety.own_files"),
        (".aurora/approvals.yaml", "prompt safety.own_files"),
        ("/home/dev/.aurora/approvals.yaml", "prompt safety.own_files"),
        ("/home/dev/.aurora/policies.yaml", "prompt safety.own_files"),
        (".claude/settings.json", "prompt safety.own_files"),
        (".claude/commands/x.md", "allow -"),
        ("docs/policies.yaml", "allow -"),
    ] {
        assert_eq!(short(&judged(&effects(vec![write(path)]), &policy(""))), expected, "{path}");
    }
}

#[test]
fn every_example_of_the_built_in_rules_holds() {
    for outcome in crate::policy::check_examples(&Policy::builtin()) {
        assert!(outcome.ok, "{outcome:?}");
    }
}

#[test]
fn a_patch_that_cannot_be_read_with_certainty_is_denied() {
    let analysis = Analysis { refused: Some("line 3: odd".into()), ..Analysis::default() };
    let verdict = judged(&analysis, &policy("destructive: {opaque_exec: allow}"));
    assert_eq!(short(&verdict), "deny patch.readable");
}

#[test]
fn effects_are_described_in_words() {
    let check = |kind: EffectKind, expected: &str| {
        assert_eq!(describe(&at(kind, 0, 1)), expected);
    };
    check(
        EffectKind::ForcePush { how: "--force".into(), remote: Some("origin".into()) },
        "force-pushes to origin (`--force`): history on the remote is rewritten",
    );
    check(
        EffectKind::ForcePush { how: ":topic".into(), remote: None },
        "removes refs on the remote (`:topic`): what only they hold is lost there",
    );
    check(
        EffectKind::PushMain { destination: "master".into(), remote: Some("origin".into()) },
        "pushes to `master` on origin",
    );
    check(delete(&["a"], Count::Known(1), false), "deletes `a`");
    check(
        delete(&["a", "b", "c", "d", "e"], Count::Known(5), false),
        "deletes 5 files (`a`, `b`, `c` and 2 more)",
    );
    check(delete(&["*.o"], Count::Unknown, false), "deletes an unknown number of files (`*.o`)");
    check(delete(&["a"], Count::Unknown, true), "deletes `a` and everything below it");
    check(write("a\x1b[2J"), "writes to `a\\u{1b}[2J`");
    check(rename_all("src"), "renames or replaces `src` and everything below it");
    check(
        EffectKind::DropObject { object: "table t".into() },
        "drops table t, with everything in it",
    );
}
