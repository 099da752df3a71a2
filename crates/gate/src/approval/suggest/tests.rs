//! What is proposed from a history, what never is, and that a proposal can only answer what asks.

use aurora_model::{Action, Answer, Autonomy, Context, Tier, Timestamp, ToolCall};
use serde_json::json;

use super::{Past, Proposal, Said, Wish, back_test, suggest};
use crate::approval::risk::{Classifier, TierMap, actions_of_call};
use crate::approval::tighten_call;
use crate::policy::{LayerKind, LayerSource, Policy};

const NOW: Timestamp = Timestamp { unix_ms: 1_774_746_000_000 };
const WISH: Wish = Wish { min: 3, now: NOW, days: 30 };

fn place() -> Context {
    Context {
        cwd: Some("/home/dev/shop".to_owned()),
        root: Some("/home/dev/shop".to_owned()),
        home: Some("/home/dev".to_owned()),
        branch: Some("topic".to_owned()),
        now: Some(NOW),
        ..Context::default()
    }
}

fn tool(name: &str, args: serde_json::Value) -> Action {
    Action::Tool(ToolCall { name: name.to_owned(), args })
}

fn write(path: &str) -> Action {
    tool("Write", json!({ "file_path": path, "content": "x" }))
}

fn bash(line: &str) -> Action {
    tool("Bash", json!({ "command": line }))
}

fn past(action: Action, said: Said) -> Past {
    let tier = TierMap::default().strictest(&actions_of_call(&action, &place()));
    let id = format!("{action:?}{said:?}");
    let (level, context) = (Autonomy::Supervised, place());
    Past { id, action, context, level, tier, said, at: NOW }
}

fn yes(action: Action) -> Past {
    past(action, Said::Yes)
}

fn layer(text: &str) -> LayerSource {
    let (kind, name) = (LayerKind::Project, "p.yaml".to_owned());
    LayerSource { kind, name, text: text.to_owned() }
}

fn proposed(history: &[Past], policy: &str) -> Vec<Proposal> {
    let map = TierMap::default();
    suggest(history, &[layer(policy)], &map, &WISH).unwrap_or_else(|errors| panic!("{errors}"))
}

fn with(rule: &str, policy: &str) -> Policy {
    let both = [layer(policy), layer(rule)];
    Policy::load(&both).unwrap_or_else(|errors| panic!("{errors}\n{rule}"))
}

fn answer(action: &Action, policy: &Policy, level: Autonomy, context: &Context) -> Answer {
    let verdict = crate::judge(action, policy, context);
    tighten_call(verdict.decision, action, policy, context, level)
}

const DOCS: [&str; 4] = ["docs/a.md", "docs/b.md", "docs/c.md", "docs/d.md"];

#[test]
fn what_people_always_allow_becomes_one_narrow_rule_that_ends() {
    // APR-3
    let history: Vec<Past> = DOCS.map(|path| yes(write(path))).to_vec();
    let found = proposed(&history, "");
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.kind.as_str(), one.tier), ("docs:write", Tier::Low));
    assert_eq!(one.expires, "2026-04-28");
    for part in [
        "\"kind\":\"docs:write\"",
        "\"tool\":\"Write\"",
        "\"path\":\"/docs/*.md\"",
        "levels: [supervised]",
        "action: allow",
        "expires: 2026-04-28",
    ] {
        assert!(one.yaml.contains(part), "{part}\n{}", one.yaml);
    }
    assert_eq!(one.back_test.rightly.len(), 4);
    assert!(one.back_test.wrongly.is_empty());

    // It answers that, and nothing beside it.
    let policy = with(&one.yaml, "");
    let check = |action: Action, level, expected| {
        assert_eq!(answer(&action, &policy, level, &place()), expected, "{action:?} {level:?}");
    };
    check(write("docs/new.md"), Autonomy::Supervised, Answer::Allow);
    check(write("docs/new.md"), Autonomy::Locked, Answer::Ask);
    check(write("docs/deeper/new.md"), Autonomy::Supervised, Answer::Ask);
    check(write("docs/conf.py"), Autonomy::Supervised, Answer::Ask);
    check(write("docs/../src/a.md"), Autonomy::Supervised, Answer::Ask);
    check(tool("Edit", json!({ "file_path": "docs/a.md" })), Autonomy::Supervised, Answer::Ask);
    check(tool("delete_file", json!({ "path": "docs/a.md" })), Autonomy::Supervised, Answer::Ask);
    check(bash("rm docs/a.md"), Autonomy::Supervised, Answer::Ask);
    check(bash("echo x > docs/a.md"), Autonomy::Supervised, Answer::Ask);
    check(bash("chmod 777 docs/a.md"), Autonomy::Supervised, Answer::Ask);
}

#[test]
fn a_rule_that_has_ended_or_of_which_nobody_knows_the_day_answers_nothing() {
    // APR-3
    let history: Vec<Past> = DOCS.map(|path| yes(write(path))).to_vec();
    let policy = with(&proposed(&history, "")[0].yaml, "");
    let on = |now: Option<&str>| {
        let now = now.map(|day| Timestamp::parse(day).expect("a moment"));
        let context = Context { now, ..place() };
        answer(&write("docs/a.md"), &policy, Autonomy::Supervised, &context)
    };
    assert_eq!(on(Some("2026-04-27T23:59:59.999Z")), Answer::Allow);
    assert_eq!(on(Some("2026-04-28T00:00:00Z")), Answer::Ask);
    assert_eq!(on(Some("2031-01-01T00:00:00Z")), Answer::Ask);
    assert_eq!(on(None), Answer::Ask);
}

#[test]
fn what_somebody_refused_is_not_proposed() {
    // APR-3
    let mut history: Vec<Past> = DOCS.map(|path| yes(write(path))).to_vec();
    history.push(past(write("docs/secret.md"), Said::No));
    assert!(proposed(&history, "").is_empty());
    // Nor when the no was about more than that.
    history.pop();
    history.push(past(bash("echo x > docs/a.md && echo y > src/a.rs"), Said::No));
    assert_eq!(proposed(&history, "").len(), 1, "another tool is another shape");
    let mut shells: Vec<Past> = DOCS.map(|path| yes(bash(&format!("echo x > {path}")))).to_vec();
    assert_eq!(proposed(&shells, "").len(), 1);
    shells.push(past(bash("echo x > docs/a.md && echo y > src/a.rs"), Said::No));
    assert!(proposed(&shells, "").is_empty());
}

#[test]
fn what_nobody_answered_in_time_counts_against_a_rule() {
    // APR-3
    let mut history: Vec<Past> = DOCS.map(|path| yes(write(path))).to_vec();
    history.push(past(write("docs/e.md"), Said::Nothing));
    history.push(yes(write("src/a.rs")));
    let found = proposed(&history, "");
    assert_eq!(found[0].back_test.rightly.len(), 4);
    assert_eq!(found[0].back_test.wrongly.len(), 1);
    assert_eq!(found[0].back_test.wrongly[0].1, Said::Nothing);
    assert_eq!(found[0].back_test.still_asked, 1);
}

#[test]
fn nothing_is_proposed_above_medium_or_for_what_cannot_be_named() {
    // APR-3
    let check = |name: &str, actions: Vec<Action>| {
        let history: Vec<Past> = actions.into_iter().map(yes).collect();
        assert_eq!(proposed(&history, ""), [], "{name}");
    };
    let four = |line: &str| vec![bash(line), bash(line), bash(line), bash(line)];
    check("a push", four("git push origin topic"));
    check("an unknown program", four("./deploy.sh"));
    check("a program that nobody has classified", four("cargo publish"));
    check("deleting", four("rm src/a.rs"));
    check("the network", four("curl https://example.org"));
    check("a word that is not known", four("echo x > docs/$NAME.md"));
    check("outside", vec![write("/etc/a.md"); 4]);
    check("hidden", vec![write(".github/workflows/a.yml"); 4]);
    check("our own settings", vec![write(".aurora/approvals.yaml"); 4]);
    check("several folders at once", four("echo x > docs/a.md; echo x > src/a.rs"));
    check("too seldom", vec![write("docs/a.md"), write("docs/b.md")]);
    let map = TierMap::default();
    for proposal in proposed(&DOCS.map(|path| yes(write(path))), "") {
        let kind = aurora_model::ActionType::parse(&proposal.kind).expect("a kind");
        assert!(map.tier(&kind) <= Tier::Medium);
    }
    // A tier that was recorded as high stays out even where the map is milder by now.
    let history = DOCS.map(|path| Past { tier: Tier::High, ..yes(write(path)) });
    assert!(proposed(&history, "").is_empty());
    let locked = DOCS.map(|path| Past { level: Autonomy::Locked, ..yes(write(path)) });
    assert!(proposed(&locked, "").is_empty());
}

#[test]
fn local_commits_are_named_by_their_program() {
    // APR-3
    let lines = ["git add -A", "git commit -m one", "git commit -m 'two words'", "git add src"];
    let history: Vec<Past> = lines.map(|line| yes(bash(line))).to_vec();
    let found = proposed(&history, "");
    let [one] = found.as_slice() else { panic!("{found:?}") };
    let policy = with(&one.yaml, "");
    let check = |line: &str, expected| {
        let answer = answer(&bash(line), &policy, Autonomy::Supervised, &place());
        assert_eq!(answer, expected, "{line}");
    };
    check("git commit -m three", Answer::Allow);
    check("git commit -m three && git push origin topic", Answer::Ask);
    check("git push origin topic", Answer::Ask);
    check("git switch -c other", Answer::Ask);
    check("PATH=/tmp/x git commit -m three", Answer::Ask);
    check("./git commit -m three", Answer::Ask);
}

#[test]
fn a_proposed_rule_only_answers_what_asks_and_every_denial_stays() {
    // APR-3: the rule is laid over policies that deny, lock or prompt the same thing in other ways.
    let history: Vec<Past> = DOCS.map(|path| yes(write(path))).to_vec();
    let rule = proposed(&history, "").remove(0).yaml;
    for policy in [
        "rules: [{id: no-docs, when: {path: docs/}, action: deny}]",
        "rules: [{id: no-docs, when: {tool: Write}, action: deny}]",
        "safety: {protected_paths: [docs/]}",
        "areas: {forbidden_areas: [docs/]}",
        "path_rules: [{paths: docs/, action: deny}]",
        "path_rules: [{paths: docs/, action: prompt}]",
        "rules: [{id: ask-docs, when: {path: docs/}, action: prompt}]",
    ] {
        let before = with("", policy);
        let after = with(&rule, policy);
        let action = write("docs/a.md");
        let full = |policy: &Policy| crate::judge(&action, policy, &place()).decision;
        assert_eq!(full(&after), full(&before), "{policy}");
        let level = answer(&action, &after, Autonomy::Supervised, &place());
        assert_eq!(level, full(&before), "{policy}");
        assert_ne!(level, Answer::Allow, "{policy}");
        let test = back_test(&rule, &history, &[layer(policy)], &WISH).expect("it loads");
        assert!(test.rightly.is_empty() && test.wrongly.is_empty(), "{policy}: {test:?}");
    }
    // Nothing that the policy denies without the rule is anything else with it.
    let before = with("", "");
    let after = with(&rule, "");
    for line in [
        "git push --force",
        "dd if=/dev/zero of=/dev/sda",
        "rm -rf /",
        "rm -rf docs",
        "eval $X",
        "echo x > docs/a.md",
        "curl x | sh",
        "psql -c 'DROP TABLE users'",
        "cat docs/a.md",
    ] {
        let judged = |policy: &Policy| crate::judge(&bash(line), policy, &place()).decision;
        assert_eq!(judged(&after), judged(&before), "{line}");
    }
}

#[test]
fn a_prompt_of_the_policy_that_people_class_as_mild_can_be_answered_too() {
    // APR-3: whoever says that deleting is medium can be spared the question about one sort of file.
    let mut map = TierMap::default();
    map.set("code:delete", Tier::Medium);
    let policy = "destructive: {file_delete: {action: prompt, max_files: 0}}";
    let lines = ["rm build/a.o", "rm build/b.o", "rm build/c.o"];
    let history: Vec<Past> = lines
        .map(|line| Past { tier: Tier::Medium, level: Autonomy::Full, ..yes(bash(line)) })
        .to_vec();
    let found = suggest(&history, &[layer(policy)], &map, &WISH).expect("it loads");
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert!(!one.yaml.contains("levels:"), "{}", one.yaml);
    let after = with(&one.yaml, policy);
    let judged = |line: &str| crate::judge(&bash(line), &after, &place()).decision;
    assert_eq!(judged("rm build/d.o"), Answer::Allow);
    assert_eq!(judged("rm src/a.rs"), Answer::Ask);
    assert_eq!(judged("rm -r build"), Answer::Ask);
}

#[test]
fn a_rule_for_a_level_names_a_kind_and_ends_or_is_refused() {
    // APR-3
    for (rule, expected) in [
        (
            "{id: a, when: {tool: Write}, action: allow, levels: semi, expires: 2026-12-31}",
            "ends some day",
        ),
        ("{id: a, when: {kind: 'docs:write'}, action: allow, levels: semi}", "ends some day"),
        ("{id: a, when: {kind: 'docs:write'}, action: deny}", "are for rules that allow"),
        ("{id: a, when: {tool: Write}, action: prompt, expires: 2026-12-31}", "are for rules that"),
        ("{id: a, when: {kind: docs}, action: allow}", "`docs` is no action type"),
        ("{id: a, when: {tool: Write}, action: allow, expires: 2026-02-31}", "is no day"),
        (
            "{id: a, when: {kind: 'docs:write'}, action: allow, levels: locked, expires: 2026-12-31}",
            "expected supervised or semi",
        ),
    ] {
        let errors = Policy::load(&[layer(&format!("rules: [{rule}]"))]).expect_err(rule);
        assert!(errors.to_string().contains(expected), "{rule}\n{errors}");
    }
}
