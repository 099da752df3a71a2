//! Policy files from the outside: what is taken, what is refused and where, and what then holds.

mod refused;

use aurora_model::{Action, Context, Effect, EffectKind, Span};
use serde_json::json;

use super::*;
use crate::analysis::Simple;

fn layer(kind: LayerKind, name: &str, text: &str) -> LayerSource {
    LayerSource { kind, name: name.to_owned(), text: text.to_owned() }
}

fn project(text: &str) -> LayerSource {
    layer(LayerKind::Project, "p.yaml", text)
}

/// Splits at spaces: enough of a shell for rules' examples. `…` is a word that is not known.
fn words(action: &Action, _: &Context) -> Analysis {
    match action {
        Action::Shell { command } => Analysis {
            commands: vec![Simple {
                argv: command
                    .split_whitespace()
                    .map(|word| (word != "…").then(|| word.to_owned()))
                    .collect(),
                span: Span::new(0, command.len()),
            }],
            ..Analysis::default()
        },
        Action::Tool(call) => Analysis {
            effects: vec![Effect {
                in_script: false,
                kind: EffectKind::UnknownTool { name: call.name.clone() },
                span: Span::default(),
            }],
            ..Analysis::default()
        },
        _ => Analysis::default(),
    }
}

fn load(layers: &[LayerSource]) -> Result<Policy, SettingsErrors> {
    Policy::load_with(layers, &words)
}

fn value(policy: &Policy, key: &str) -> serde_json::Value {
    let entry = policy.entries().into_iter().find(|entry| entry.key == key);
    entry.unwrap_or_else(|| panic!("no entry {key}")).value
}

/// What a policy says, without where it comes from.
fn values(policy: &Policy) -> String {
    policy.digest_text()
}

/// The PRD's own example, with the values of §4.4.
const PRD: &str = r#"
budget:
  monthly_limit_usd: 100.0
  warn_at_percent: 80
  hard_limit_action: reject  # reject | warn
agent_recovery:
  timeout_seconds: 120
  max_retries: 2
  fallback_to_llm: true
destructive:
  file_delete:
    action: prompt           # prompt | allow | deny
    max_files: 5             # Prompt if deleting more than N files
  git_force_push:
    action: deny             # Never allow force push
  git_push_main:
    action: prompt           # Prompt before pushing to main/master
  drop_table:
    action: deny             # Never allow DROP TABLE
  truncate:
    action: prompt           # Prompt before TRUNCATE
safety:
  auto_branch: true          # Create feature branch before changes
  branch_prefix: "aurora/"   # Branch naming: aurora/goal-slug
  max_files_modified: 20     # Anomaly if exceeds
  max_lines_changed: 1000    # Anomaly if exceeds
  protected_paths:           # Never modify these
    - ".git/"
    - "node_modules/"
    - "vendor/"
    - ".env"
    - "*.pem"
    - "*.key"
anomalies:
  scope_multiplier: 3        # Alert if scope > 3x expected
  unexpected_file_types:     # Alert if modifying these
    - "*.sql"
    - "*.sh"
    - "Dockerfile"
"#;

#[test]
fn the_prds_own_file_says_what_is_built_in() {
    // POL-1: exactly the keys of the PRD, and its values as defaults.
    let policy = load(&[project(PRD)]).expect("the PRD's file loads");
    assert_eq!(values(&policy), values(&Policy::builtin()));
    let paths: Vec<&str> = keys::KEYS.iter().map(|row| row.path).collect();
    let known = |key: &str| paths.contains(&key);
    assert!(known("budget.monthly_limit_usd") && known("anomalies.unexpected_file_types"));
}

#[test]
fn files_that_say_nothing_change_nothing() {
    for text in
        ["", "\n\n", "# only a comment\n", "---\n", "---\n# x\n...\n", "\u{feff}# bom\n", "{}"]
    {
        let policy = load(&[project(text)]).unwrap_or_else(|errors| panic!("{text:?}: {errors}"));
        assert_eq!(values(&policy), values(&Policy::builtin()), "{text:?}");
    }
}

#[test]
fn the_template_says_the_defaults_commented_out_or_not() {
    let policy = load(&[project(TEMPLATE)]).expect("the template loads");
    assert_eq!(values(&policy), values(&Policy::builtin()));
    // A setting's line is `#key` or `#  key`; prose is `# Prose`.
    let mut settings = 0;
    let open: Vec<&str> = TEMPLATE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with("     ") && !rest.starts_with("      ") => line,
            Some(rest)
                if rest.starts_with("  ") || rest.starts_with(|c: char| c.is_lowercase()) =>
            {
                settings += 1;
                rest
            }
            _ => line,
        })
        .filter(|line| !line.starts_with("#     "))
        .collect();
    let open: Vec<&str> = open.into_iter().filter(|line| !line.starts_with("       ")).collect();
    assert!(settings > 40, "{settings}");
    let policy = load(&[project(&open.join("\n"))]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(values(&policy), values(&Policy::builtin()));
    for row in &keys::KEYS {
        let name = row.path.rsplit('.').next().expect("a name");
        assert!(TEMPLATE.contains(&format!("  {name}:")), "{} is not in the template", row.path);
        assert!(
            !policy.origin(row.key).starts_with("built-in")
                || row.path.contains("areas")
                || row.adds_up,
            "{} is not set by the opened template",
            row.path
        );
    }
}

#[test]
fn the_templates_examples_load() {
    let examples: String = TEMPLATE
        .lines()
        .filter_map(|line| line.strip_prefix("#     "))
        .fold(String::new(), |text, line| text + line + "\n");
    let policy = load(&[project(&examples)]).unwrap_or_else(|errors| panic!("{errors}"));
    let keys: Vec<String> = policy.entries().into_iter().map(|entry| entry.key).collect();
    for key in ["path_rules.1", "contracts.api", "roles.reviewer", "rules.no-publish"] {
        assert!(keys.iter().any(|one| one == key), "{key}");
    }
}

#[test]
fn later_layers_replace_and_protected_paths_add_up() {
    // POL-2
    let user = layer(
        LayerKind::User,
        "u.yaml",
        "destructive:\n  truncate: deny\nsafety:\n  protected_paths: [\"*.crt\", .env]\n",
    );
    let project = layer(
        LayerKind::Project,
        "p.yaml",
        "destructive:\n  truncate:\n    action: allow\nanomalies:\n  unexpected_file_types: [\"*.lock\"]\n",
    );
    let explicit = layer(LayerKind::Explicit, "x.yaml", "safety:\n  protected_paths: [db/]\n");
    let policy = load(&[user, project, explicit]).expect("loads");
    assert_eq!(value(&policy, "destructive.truncate.action"), "allow");
    assert_eq!(value(&policy, "anomalies.unexpected_file_types"), json!(["*.lock"]));
    assert_eq!(
        value(&policy, "safety.protected_paths"),
        json!([".git/", "node_modules/", "vendor/", ".env", "*.pem", "*.key", "*.crt", "db/"])
    );
    let origin = |key: &str| {
        policy.entries().into_iter().find(|entry| entry.key == key).expect("an entry").origin
    };
    assert_eq!(origin("destructive.truncate.action"), "p.yaml:3:13");
    assert_eq!(origin("destructive.drop_table.action"), "built-in defaults");
    assert_eq!(origin("safety.protected_paths"), "built-in defaults, u.yaml:4:21, x.yaml:2:21");
}

#[test]
fn a_lock_lets_lower_layers_tighten_and_not_loosen() {
    // POL-2
    let check = |above: &str, below: &str, expected: Option<&str>| {
        let layers =
            [layer(LayerKind::User, "u.yaml", above), layer(LayerKind::Project, "p.yaml", below)];
        match (load(&layers), expected) {
            (Ok(_), None) => {}
            (Ok(_), Some(expected)) => panic!("{above:?} {below:?} loads, not: {expected}"),
            (Err(errors), None) => panic!("{errors}"),
            (Err(errors), Some(expected)) => {
                assert!(errors.to_string().contains(expected), "{errors}");
            }
        }
    };
    let op = "destructive:\n  truncate:\n    action: prompt\n    locked: true\n";
    check(op, "destructive: {truncate: deny}", None);
    check(op, "destructive: {truncate: prompt}", None);
    check(op, "destructive: {drop_table: allow}", None);
    check(
        op,
        "destructive: {truncate: allow}",
        Some(
            "p.yaml:1:25: destructive.truncate.action: is locked by u.yaml:4:5 at \"prompt\": \
             \"allow\" would loosen it",
        ),
    );
    check(op, "destructive: {truncate: {locked: false}}", Some("cannot unlock it"));
    check(op, "destructive: {truncate: {locked: true}}", None);
    let section = "destructive: {locked: true, file_delete: {max_files: 3}}";
    check(
        section,
        "destructive: {file_delete: {max_files: 4}}",
        Some("is locked by u.yaml:1:15 at 3"),
    );
    check(section, "destructive: {file_delete: {max_files: 2}}", None);
    check(section, "destructive: {git_discard: allow}", Some("is locked by u.yaml:1:15"));
    let safety = "safety: {locked: true}";
    check(safety, "safety: {protected_paths: [x]}", None);
    check(safety, "safety: {protected_paths: []}", None);
    check(safety, "safety: {auto_branch: false}", Some("is locked"));
    check(safety, "safety: {branch_prefix: x/}", Some("is locked"));
    check(safety, "safety: {max_lines_changed: 10}", None);
    check("anomalies: {locked: true}", "anomalies: {unexpected_file_types: []}", Some("is locked"));
    check(
        "areas: {allowed_areas: [src/], locked: true}",
        "areas: {allowed_areas: []}",
        Some("locked"),
    );
    let contract = "contracts: {api: {paths: [a, b], locked: true}}";
    check(
        contract,
        "contracts: {api: {paths: [a]}}",
        Some("contracts.api: is locked by u.yaml:1:13"),
    );
    check(contract, "contracts: {api: {paths: [a, b, c]}}", None);
    let role = "roles: {dev: {tools: [Read, Edit], locked: true}}";
    check(role, "roles: {dev: {tools: [Read, Bash]}}", Some("roles.dev: is locked"));
    check(role, "roles: {dev: {tools: [Read]}}", None);
    let rule = "rules: [{id: a, when: {program: x}, action: prompt, locked: true}]";
    check(rule, "rules: [{id: a, when: {program: x}, action: deny}]", None);
    check(rule, "rules: [{id: a, when: {program: x}, action: allow}]", Some("rules.1: is locked"));
    check(rule, "rules: [{id: a, when: {program: y}, action: deny}]", Some("rules.1: is locked"));
    check(
        "rules: [{id: a, when: {program: x}, action: deny}]",
        "rules: [{id: a, when: {program: x}, action: prompt}]",
        None,
    );
}

#[test]
fn a_lock_outlives_the_layers_below_it() {
    let layers = [
        layer(LayerKind::User, "u.yaml", "destructive: {truncate: {action: prompt, locked: true}}"),
        layer(LayerKind::Project, "p.yaml", "destructive: {truncate: deny}"),
        layer(LayerKind::Explicit, "x.yaml", "destructive: {truncate: prompt}"),
    ];
    let errors = load(&layers).expect_err("what was tightened below a lock stays").to_string();
    assert!(
        errors.contains("x.yaml:1:25: destructive.truncate.action: is locked by u.yaml"),
        "{errors}"
    );
}

#[test]
fn a_rules_examples_are_checked_on_loading() {
    // POL-9: the examples that rules carry.
    let rule = |examples: &str| {
        project(&format!(
            "rules:\n  - id: publish\n    when: {{argv: \"npm publish **\"}}\n    action: prompt\n{examples}"
        ))
    };
    assert!(
        load(&[rule("    match: [npm publish, \"npm publish …\"]\n    not_match: npm pack\n")])
            .is_ok()
    );
    let errors = load(&[rule("    match:\n      - npm publish\n      - npm pack\n")])
        .expect_err("a wrong match");
    assert_eq!(
        errors.to_string(),
        "p.yaml:7:9: rules.publish.match: the example `npm pack` is not matched\n  hint: change \
         the rule's `when`, or move the example"
    );
    let errors =
        load(&[rule("    not_match: [npm publish --tag x]\n")]).expect_err("a wrong not_match");
    assert!(errors.to_string().contains("rules.publish.not_match: the example"), "{errors}");
    let tool = "rules:\n  - id: t\n    when: {tool: \"mcp__db__*\"}\n    action: allow\n    \
                match: 'mcp__db__read {\"q\": 1}'\n    not_match: mcp__fs__read\n";
    let policy = load(&[project(tool)]).expect("loads");
    let outcomes = example::check_examples_with(&policy, &words);
    let own: Vec<bool> =
        outcomes.iter().filter(|one| one.rule == "rules.t").map(|one| one.ok).collect();
    assert_eq!(own, [true, true]);
    assert!(outcomes.iter().any(|one| one.rule == "destructive.git_force_push"));
}

const RICH: &str = r#"
destructive:
  git_discard: {action: allow, locked: true}
safety:
  locked: true
  protected_paths: ["a \"quoted\" name", 'tab\here']
budget: {monthly_limit_usd: 0.0000001}
areas: {allowed_areas: [src/, docs/**], forbidden_areas: [src/gen/]}
path_rules:
  - {role: [dev, qa], paths: infra/, action: prompt, reason: "ops' own"}
contracts:
  "12": {paths: [openapi.yaml], lock: api, locked: true}
roles:
  "true": {tools: ["*"]}
rules:
  - id: r1
    when: {program: [npm, pnpm], argv: ["*", publish, "**"], has: --tag, tool: shell}
    action: deny
    reason: |
      two
      lines
    match: [npm publish --tag x]
  - {id: r2, when: {operation: file_delete, path: build/}, action: allow, locked: true}
"#;

#[test]
fn the_effective_policy_can_be_loaded_again() {
    for text in [PRD, RICH] {
        let policy = load(&[project(text)]).unwrap_or_else(|errors| panic!("{errors}"));
        for with_origin in [false, true] {
            let yaml = policy.to_yaml(with_origin);
            let again = load(&[project(&yaml)]).unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
            assert_eq!(values(&again), values(&policy), "{yaml}");
        }
    }
    let yaml = load(&[project(RICH)]).expect("loads").to_yaml(true);
    assert!(yaml.contains("    action: allow  # p.yaml:3:25"), "{yaml}");
    assert!(yaml.contains("  auto_branch: true  # built-in defaults"), "{yaml}");
    assert!(yaml.contains("  locked: true  # p.yaml:5:3"), "{yaml}");
}

#[test]
fn the_digest_text_changes_with_what_holds_and_only_then() {
    let digest = |text: &str| load(&[project(text)]).expect("loads").digest_text();
    assert_eq!(
        digest("destructive: {truncate: deny}"),
        digest("destructive:\n  truncate:\n    action: \"deny\"\n")
    );
    assert_ne!(digest("destructive: {truncate: deny}"), digest("destructive: {truncate: prompt}"));
    assert_ne!(digest("safety: {locked: true}"), digest(""));
    assert_ne!(digest("rules: [{id: a, when: {program: x}, action: deny}]"), digest(""));
}

#[test]
fn the_schema_knows_every_key_and_nothing_else() {
    // POL-1
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for row in &keys::KEYS {
        let mut at = &schema;
        for name in row.path.split('.') {
            let object = if at["anyOf"].is_array() { &at["anyOf"][1] } else { at };
            assert_eq!(object["additionalProperties"], false, "{}", row.path);
            at = &object["properties"][name];
        }
        assert_eq!(at["description"], row.doc, "{}", row.path);
        assert_eq!(at["default"], Value::preset(row.preset).json(), "{}", row.path);
    }
    let rule = &schema["properties"]["rules"]["items"];
    assert_eq!(rule["required"], json!(["id", "when", "action"]));
    assert_eq!(rule["properties"]["action"]["enum"], json!(["allow", "prompt", "deny"]));
    assert_eq!(
        schema["properties"]["destructive"]["properties"]["truncate"]["anyOf"][0]["enum"][2],
        "deny"
    );
}

#[test]
fn every_rule_can_be_explained() {
    // POL-9
    let policy = load(&[project(RICH)]).expect("loads");
    let ids = rule_ids(&policy);
    for id in &ids {
        let explanation = explain(&policy, id).unwrap_or_else(|| panic!("no explanation of {id}"));
        assert_eq!(&explanation.id, id);
        assert!(!explanation.meaning.is_empty() && !explanation.title.is_empty(), "{id}");
    }
    for id in [
        "destructive.git_force_push",
        "safety.protected_paths",
        "rules.r1",
        "contracts.12",
        "plan.allowed_areas",
        "areas.allowed_areas",
        "path_rules.1",
        "roles.true",
    ] {
        assert!(ids.iter().any(|one| one == id), "{id}");
    }
    let check = |name: &str, id: &str| {
        assert_eq!(explain(&policy, name).map(|one| one.id).as_deref(), Some(id), "{name}");
    };
    check("git_force_push", "destructive.git_force_push");
    check("protected_path", "safety.protected_paths");
    check("r2", "rules.r2");
    assert_eq!(explain(&policy, "nothing_like_it"), None);
    let discard = explain(&policy, "git_discard").expect("an explanation");
    assert_eq!(discard.value, "allow");
    assert_eq!(discard.origin, "p.yaml:3:25");
    assert_eq!(discard.locked.as_deref(), Some("p.yaml:3:32"));
    assert!(discard.instead.is_some() && !discard.matches.is_empty());
}
