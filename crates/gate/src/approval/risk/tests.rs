//! Calls and effects as action types, and action types as tiers.

use aurora_model::{
    Action, ActionType, Cause, Context, Count, EffectKind, PathRef, Tier, ToolCall, Touch,
};
use serde_json::json;

use super::{Classifier, TierMap, actions_of, actions_of_call, actions_of_tool, default_tier};

fn named(name: &str) -> ActionType {
    ActionType::parse(name).unwrap_or_else(|| panic!("{name}"))
}

fn path(text: &str) -> PathRef {
    let resolved = (!text.contains('$')).then(|| text.to_owned());
    PathRef { text: text.to_owned(), resolved, glob: text.contains('*') }
}

fn place() -> Context {
    Context {
        cwd: Some("/home/dev/shop".to_owned()),
        root: Some("/home/dev/shop".to_owned()),
        home: Some("/home/dev".to_owned()),
        branch: Some("topic".to_owned()),
        ..Context::default()
    }
}

fn names(actions: &[ActionType]) -> Vec<&str> {
    actions.iter().map(ActionType::as_str).collect()
}

#[test]
fn the_default_tiers_are_those_of_the_design_and_the_unknown_is_high() {
    // APR-4
    let check = |tier: Tier, actions: &str| {
        for action in actions.split(", ") {
            assert_eq!(default_tier(&named(action)), tier, "{action}");
            assert_eq!(TierMap::default().tier(&named(action)), tier, "{action}");
        }
    };
    check(Tier::Critical, "deploy:production, db:admin, org:fire");
    check(
        Tier::High,
        "deploy:staging, db:mutate, code:delete, vcs:push, comms:external, budget:exceed",
    );
    check(
        Tier::Medium,
        "code:write, code:create, code:refactor, vcs:commit, arch:decide, budget:spend, org:hire, \
         org:promote",
    );
    check(
        Tier::Low,
        "code:read, vcs:read, vcs:branch, test:run, test:write, docs:write, comms:internal, \
         db:query, memory:read",
    );
    check(Tier::High, "pay:salary, code:reads, tool:unknown, shell:run");
    assert_eq!(TierMap::default().strictest(&[]), Tier::High, "nobody knows what it is");
    let both = [named("code:read"), named("db:admin"), named("code:write")];
    assert_eq!(TierMap::default().strictest(&both), Tier::Critical);
}

#[test]
fn a_type_beats_its_category_beats_all_beats_the_default() {
    // APR-4
    let mut map = TierMap::default();
    map.set("deploy", Tier::Critical);
    map.set("deploy:preview", Tier::Low);
    let tier = |map: &TierMap, name: &str| map.tier(&named(name));
    assert_eq!(tier(&map, "deploy:staging"), Tier::Critical, "a category means its members");
    assert_eq!(tier(&map, "deploy:preview"), Tier::Low, "naming a type registers it");
    assert_eq!(tier(&map, "docs:write"), Tier::Low);
    map.set("all", Tier::High);
    assert_eq!(tier(&map, "docs:write"), Tier::High);
    assert_eq!(tier(&map, "deploy:staging"), Tier::Critical);
    assert!(map.known().any(|name| name == "deploy:preview"));
    assert!(!map.known().any(|name| name == "deploy"));
}

#[test]
fn each_effect_is_one_action() {
    // APR-4
    let change =
        |text: &str, touch| EffectKind::ChangePath { path: path(text), touch, recursive: false };
    let delete = |text: &str| EffectKind::DeleteFiles {
        paths: vec![path(text)],
        count: Count::Known(1),
        recursive: false,
    };
    let check = |effect: EffectKind, expected: &str| {
        assert_eq!(names(&actions_of(std::slice::from_ref(&effect))), [expected], "{effect:?}");
    };
    check(delete("src/a.rs"), "code:delete");
    check(delete("/etc/hosts"), "system:delete");
    check(delete("$X/a"), "system:delete");
    for (text, expected) in [
        ("src/a.rs", "code:write"),
        ("README.md", "docs:write"),
        ("docs/notes.txt", "docs:write"),
        ("docs/conf.py", "code:write"),
        ("requirements.txt", "code:write"),
        ("CLAUDE.md", "code:write"),
        (".claude/skills/x.md", "code:write"),
        ("tests/a.rs", "test:write"),
        ("src/cart.test.ts", "test:write"),
        ("test_cart.py", "test:write"),
        ("src/contest.rs", "code:write"),
        ("*.md", "code:write"),
        ("/etc/hosts", "system:write"),
        ("../other/README.md", "system:write"),
        (".git/hooks/pre-commit", "system:write"),
        ("$HOME/x.md", "system:write"),
    ] {
        check(change(text, Touch::Write), expected);
    }
    check(change("src/a.rs", Touch::Create), "code:create");
    check(change("README.md", Touch::Create), "docs:write");
    check(change("README.md", Touch::Mode), "code:write");
    check(change("tests/a.sh", Touch::Link), "code:create");
    let text = || "x".to_owned();
    check(EffectKind::ForcePush { how: text(), remote: None }, "vcs:push");
    check(EffectKind::PushMain { destination: text(), remote: None }, "vcs:push");
    check(EffectKind::DiscardWork { what: text() }, "code:delete");
    check(EffectKind::DropObject { object: text() }, "db:admin");
    check(EffectKind::EmptyTable { object: text() }, "db:mutate");
    check(EffectKind::ChangeAllRows { statement: text() }, "db:mutate");
    check(EffectKind::DestroyInfra { what: text() }, "deploy:production");
    check(EffectKind::WipeDisk { device: text() }, "disk:wipe");
    check(EffectKind::LoseRoot { path: text(), how: text() }, "disk:wipe");
    check(EffectKind::Opaque { what: text(), why: text(), cause: Cause::Dynamic }, "shell:opaque");
    check(EffectKind::UnknownTool { name: text() }, "tool:unknown");
    check(EffectKind::Network { target: text() }, "comms:external");
    let twice = [delete("a"), delete("b"), change("a", Touch::Write)];
    assert_eq!(names(&actions_of(&twice)), ["code:delete", "code:write"]);
}

#[test]
fn a_shell_line_is_what_its_effects_and_its_programs_are() {
    // APR-4: what nobody has mapped is never low.
    let check = |line: &str, expected: &[&str]| {
        let action = Action::Shell { command: line.to_owned() };
        let mut found = actions_of_call(&action, &place());
        found.sort();
        assert_eq!(names(&found), expected, "{line}");
    };
    check("ls -la src", &["code:read"]);
    check("cd src && grep -rn needle . | head -5", &["code:read"]);
    check("cargo test", &["test:run"]);
    check("timeout 60 cargo test", &["test:run"]);
    check("bash -lc 'pytest -q'", &["test:run"]);
    check("cargo test -p aurora-gate risk::tests", &["test:run"]);
    check("pytest -q tests/test_cart.py", &["test:run"]);
    check("cargo test --config target.x.runner=evil", &["shell:run"]);
    check("go test -exec evil ./...", &["shell:run"]);
    check("make test SHELL=./evil", &["shell:run"]);
    check("pytest ../other", &["shell:run"]);
    check("bash --rcfile evil -ic ls", &["code:read", "shell:run"]);
    check("sort -uo src/a.rs b", &["code:read", "code:write"]);
    check("find . -fprint src/a.rs", &["code:read", "code:write"]);
    check("cargo test && rm -rf src", &["code:delete", "shell:run"]);
    check("git status", &["vcs:read"]);
    check("git diff --output=src/a.rs", &["code:create", "shell:run"]);
    check("git checkout -- src", &["code:delete", "code:write", "vcs:branch"]);
    check("git commit -m x", &["vcs:commit"]);
    check("git push origin topic", &["vcs:push"]);
    check("git push origin main", &["vcs:push"]);
    check("git -c core.pager=x log", &["shell:run"]);
    check("echo hello > src/a.rs", &["code:read", "code:write"]);
    check("cargo publish > src/log.rs", &["code:write", "shell:run"]);
    check("cargo publish", &["shell:run"]);
    check("./ls", &["shell:run"]);
    check("rg --pre ./evil x", &["shell:run"]);
    check("rm src/a.rs", &["code:delete"]);
    check("mkdir src/new", &["code:create"]);
    check("cat $FILE", &["shell:run"]);
    check("curl https://example.org", &["comms:external"]);
    check("psql -c 'DROP TABLE users'", &["db:admin", "shell:run"]);
    check("LD_PRELOAD=./x.so ls", &["code:read", "shell:run"]);
    check("PATH=/tmp/x ls", &["code:read", "shell:run"]);
    check("for PATH in /tmp/x; do ls; done", &["code:read", "shell:run"]);
    check("bash -c 'PATH+=:/tmp/x ls'", &["code:read", "shell:run"]);
    check("export PATH=/tmp/x; ls", &["code:read", "shell:run"]);
    check("RUST_LOG=debug cargo test", &["test:run"]);
    check("", &["shell:run"]);
}

#[test]
fn a_tool_call_has_at_least_one_action() {
    // APR-4: tools that nobody has mapped are not low.
    let check = |name: &str, args: serde_json::Value, expected: &[&str]| {
        let call = ToolCall { name: name.to_owned(), args };
        let found = actions_of_call(&Action::Tool(call), &place());
        assert_eq!(names(&found), expected, "{name}");
    };
    check("Read", json!({"file_path": "a.rs"}), &["code:read"]);
    check("repo.read_file", json!({"path": "a.rs"}), &["code:read"]);
    check("Write", json!({"file_path": "a.rs", "content": "x"}), &["code:write"]);
    check("TodoWrite", json!({}), &["memory:note"]);
    check("WebFetch", json!({"url": "https://example.org"}), &["comms:external"]);
    check("CronCreate", json!({}), &["tool:unknown"]);
    check("mcp__db__query", json!({"x": 1}), &["tool:unknown"]);
    check("Bash", json!({"command": "cargo test"}), &["test:run"]);
    assert_eq!(actions_of_tool("Bash"), None);
    let sql = |text: &str| {
        let action = Action::Sql { text: text.to_owned(), dialect: Default::default() };
        actions_of_call(&action, &place())
    };
    assert_eq!(names(&sql("SELECT 1")), ["db:mutate"], "a select may call what changes things");
    assert_eq!(names(&sql("DROP TABLE users")), ["db:admin"]);
}

#[test]
fn apr_5_a_file_that_is_not_there_is_created_not_changed() {
    // APR-5
    let of = |names: &[&str]| -> Vec<ActionType> {
        names.iter().filter_map(|name| ActionType::parse(name)).collect()
    };
    for (before, after) in [
        (&["code:write"][..], &["code:create"][..]),
        (&["code:create", "code:write"], &["code:create"]),
        (&["docs:write", "system:write"], &["docs:write", "system:write"]),
    ] {
        assert_eq!(super::as_creation(of(before)), of(after), "{before:?}");
    }
}
