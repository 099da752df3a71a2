//! `approvals.yaml` as people write it: what holds, which rule wins, and what is refused where.

use aurora_model::{ActionType, Autonomy, GateKind, Tier, Who};

use super::{Asked, BUILT_IN, Rules, TEMPLATE};
use crate::approval::risk::{Classifier, DEFAULTS};

fn layer(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

fn rules(text: &str) -> Rules {
    Rules::read(&[layer("a.yaml", text)]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(text: &str) -> String {
    match Rules::read(&[layer("a.yaml", text)]) {
        Ok(_) => panic!("not refused: {text}"),
        Err(errors) => errors.to_string(),
    }
}

fn actions(names: &[&str]) -> Vec<ActionType> {
    names.iter().filter_map(|name| ActionType::parse(name)).collect()
}

const fn asked(
    gate: GateKind,
    tier: Tier,
    autonomy: Autonomy,
    actions: &[ActionType],
) -> Asked<'_> {
    Asked { gate, tier, autonomy, actions }
}

const fn operation(tier: Tier) -> Asked<'static> {
    asked(GateKind::Operation, tier, Autonomy::Supervised, &[])
}

#[test]
fn without_a_file_critical_waits_and_other_operations_end_after_four_hours() {
    // APR-6
    let rules = Rules::default();
    for tier in [Tier::Low, Tier::Medium, Tier::High] {
        let ruling = rules.ruling(&operation(tier));
        assert_eq!(ruling.timeout.policy, "deny", "{tier:?}");
        assert_eq!(ruling.timeout.settings["timeout_s"], 14_400);
        assert_eq!(ruling.timeout.chosen_by, BUILT_IN);
        assert_eq!(ruling.remind_every_s, Some(3600), "a quarter");
        assert_eq!(ruling.warn_before_s, Some(1440), "a tenth");
        assert_eq!((ruling.quorum, ruling.deciders.len()), (1, 0));
    }
    assert_eq!(rules.ruling(&operation(Tier::Critical)).timeout.policy, "wait");
    for gate in GateKind::ALL.into_iter().filter(|gate| *gate != GateKind::Operation) {
        let ruling = rules.ruling(&asked(gate, Tier::High, Autonomy::Full, &[]));
        assert_eq!(ruling.timeout.policy, "wait", "{gate:?}");
        assert_eq!((ruling.remind_every_s, ruling.warn_before_s), (None, None));
    }
    // What is critical, or reaches beyond the worktree, is for people without any file.
    assert!(rules.needs_person(&operation(Tier::Critical)));
    assert!(!rules.names_people(&operation(Tier::Critical)));
    assert!(!rules.needs_person(&operation(Tier::High)));
    for name in ["disk:wipe", "system:delete", "system:write"] {
        let kinds = actions(&["code:write", name]);
        let one = asked(GateKind::Operation, Tier::Low, Autonomy::Full, &kinds);
        assert!(rules.needs_person(&one), "{name}");
    }
    assert_eq!(rules.autonomy(Some("claude"), Some("backend")), Autonomy::Supervised);
}

#[test]
fn the_template_says_nothing_and_opened_it_says_the_defaults() {
    // APR-6
    let same = |text: &str| {
        let (rules, defaults) = (rules(text), Rules::default());
        for gate in GateKind::ALL {
            for tier in Tier::ALL {
                for level in Autonomy::ALL {
                    let asked = asked(gate, tier, level, &[]);
                    let (mut left, right) = (rules.ruling(&asked), defaults.ruling(&asked));
                    left.timeout.chosen_by.clone_from(&right.timeout.chosen_by);
                    assert_eq!(left, right, "{gate:?} {tier:?} {level:?}");
                }
            }
        }
        for (name, tier) in DEFAULTS {
            let action = ActionType::parse(name).expect("a type");
            assert_eq!(rules.tier(&action), *tier, "{name}");
        }
        assert_eq!(rules.autonomy(None, None), defaults.autonomy(None, None));
        rules
    };
    let closed = same(TEMPLATE);
    assert_eq!(closed.origins(), [BUILT_IN]);
    assert!(TEMPLATE.lines().all(|line| line.is_empty() || line.starts_with('#')));
    // A setting's line is `#key` or `#  key`; prose is `# Prose`.
    let is_setting =
        |rest: &&str| rest.starts_with("  ") || rest.starts_with(|c: char| c.is_lowercase());
    let open: Vec<&str> = TEMPLATE
        .lines()
        .map(|line| line.strip_prefix('#').filter(is_setting).unwrap_or(line))
        .collect();
    let open = same(&open.join("\n"));
    assert_eq!(open.origins(), ["a.yaml"]);
    let shown = open.show();
    for section in ["people", "autonomy", "risk", "notify"] {
        let origin = shown[section]["origin"].as_str().expect("an origin");
        assert!(origin.starts_with("a.yaml:"), "{section}: {origin}");
        assert_eq!(shown[section]["value"], Rules::default().show()[section]["value"], "{section}");
    }
}

const TEAM: &str = "people:\n  ana: {roles: [lead], login: adevops, email: ana@example.org}\n  \
                    ben: {roles: [lead, boss]}\n  cleo:\n";

#[test]
fn people_have_roles_and_logins() {
    // APR-8
    let rules = rules(TEAM);
    assert_eq!(rules.roles_of("ben"), ["lead", "boss"]);
    assert!(rules.roles_of("cleo").is_empty() && rules.roles_of("eve").is_empty());
    assert_eq!(rules.person_of_login("adevops"), Some("ana"));
    assert_eq!(rules.person_of_login("ana"), None, "ana logs in under another name");
    assert_eq!(rules.person_of_login("cleo"), Some("cleo"));
    assert_eq!(rules.people().count(), 3);
}

#[test]
fn the_agents_level_counts_before_its_roles_and_that_before_the_projects() {
    // APR-5
    let rules =
        rules("autonomy:\n  default: locked\n  roles: {backend: semi}\n  agents: {claude: full}\n");
    assert_eq!(rules.autonomy(Some("claude"), Some("backend")), Autonomy::Full);
    assert_eq!(rules.autonomy(Some("codex"), Some("backend")), Autonomy::Semi);
    assert_eq!(rules.autonomy(Some("codex"), Some("docs")), Autonomy::Locked);
    assert_eq!(rules.autonomy(None, None), Autonomy::Locked);
    assert_eq!(self::rules("autonomy: semi").autonomy(None, None), Autonomy::Semi);
}

#[test]
fn tiers_come_from_the_file_and_else_from_the_defaults() {
    // APR-4
    let rules =
        rules("risk:\n  \"deploy:staging\": critical\n  deploy: high\n  \"pay:salary\": low\n");
    let tier = |name: &str| rules.tier(&ActionType::parse(name).expect("a type"));
    assert_eq!(tier("deploy:staging"), Tier::Critical);
    assert_eq!(tier("deploy:production"), Tier::High);
    assert_eq!(tier("pay:salary"), Tier::Low);
    assert_eq!(tier("pay:bonus"), Tier::High, "unknown");
    assert_eq!(tier("docs:write"), Tier::Low);
}

#[test]
fn the_most_specific_rule_wins_whatever_the_order() {
    // APR-6: action type, category, tier, gate, autonomy, nothing; each beats all that follow.
    let conditions = [
        "{action: \"vcs:push\"}",
        "{action: vcs, tier: high, gate: operation, autonomy: supervised}",
        "{action: vcs}",
        "{tier: high, gate: operation, autonomy: supervised}",
        "{tier: high, gate: operation}",
        "{tier: high, autonomy: supervised}",
        "{tier: [high, critical]}",
        "{gate: operation, autonomy: supervised}",
        "{gate: operation}",
        "{autonomy: supervised}",
        "{action: all}",
    ];
    let push = actions(&["code:read", "vcs:push"]);
    let asked = asked(GateKind::Operation, Tier::High, Autonomy::Supervised, &push);
    for winner in 0..conditions.len() {
        for turned in [false, true] {
            // The winner and everything that it must beat, in either order.
            let mut list: Vec<usize> = (winner..conditions.len()).collect();
            if turned {
                list.reverse();
            }
            let mut text = String::from("timeouts:\n");
            for index in &list {
                let minutes = index + 1;
                let when = conditions[*index];
                text += &format!("  - {{when: {when}, policy: deny, timeout: {minutes}m}}\n");
            }
            let ruling = rules(&text).ruling(&asked);
            let line = 2 + list.iter().position(|index| *index == winner).expect("there");
            assert_eq!(ruling.timeout.chosen_by, format!("a.yaml:{line}:5"), "{text}");
            assert_eq!(ruling.timeout.settings["timeout_s"], 60 * (winner + 1));
        }
    }
}

#[test]
fn of_several_actions_the_most_dangerous_counts_and_of_equals_the_first_rule() {
    // APR-6
    let rules = rules(
        "timeouts:\n  - {when: {action: \"docs:write\"}, policy: deny, timeout: 1m}\n  \
         - {when: {action: \"db:admin\"}, policy: wait}\n  \
         - {when: {action: \"db:admin\"}, policy: deny}\n  - {policy: deny, timeout: 9m}\n",
    );
    let both = actions(&["docs:write", "db:admin"]);
    let ruling = rules.ruling(&asked(GateKind::Operation, Tier::Critical, Autonomy::Semi, &both));
    assert_eq!(ruling.timeout.chosen_by, "a.yaml:3:5");
    let other = actions(&["code:read"]);
    let ruling = rules.ruling(&asked(GateKind::Preview, Tier::Low, Autonomy::Semi, &other));
    assert_eq!(ruling.timeout.chosen_by, "a.yaml:5:5");
}

#[test]
fn the_short_form_of_the_design_is_the_rule_without_a_condition() {
    // APR-6
    let rules = rules(
        "approval_timeout:\n  policy: \"deny\"\n  timeout: 5\ntimeouts:\n  \
         - {when: {tier: critical}, policy: wait}\n",
    );
    let ruling = rules.ruling(&operation(Tier::Low));
    assert_eq!(ruling.timeout.settings["timeout_s"], 300);
    assert_eq!(ruling.timeout.chosen_by, "a.yaml:2:3");
    assert_eq!(rules.ruling(&operation(Tier::Critical)).timeout.policy, "wait");
    let single = self::rules("timeouts: {policy: deny, timeout: 1h}");
    let preview = asked(GateKind::Preview, Tier::Critical, Autonomy::Full, &[]);
    assert_eq!(single.ruling(&preview).timeout.policy, "deny", "a file counts before the defaults");
}

#[test]
fn named_people_and_a_quorum_need_people() {
    // APR-8
    let text = format!(
        "{TEAM}approvers:\n  - {{when: {{tier: critical}}, who: [role:lead], quorum: 2}}\n  \
         - {{when: {{action: deploy}}, who: cleo}}\n  - {{quorum: 1, who: anyone}}\n"
    );
    let rules = rules(&text);
    let ruling = rules.ruling(&operation(Tier::Critical));
    assert_eq!(ruling.deciders, [Who::Role("lead".to_owned())]);
    assert_eq!(ruling.quorum, 2);
    assert!(rules.needs_person(&operation(Tier::Critical)));
    assert!(!rules.needs_person(&operation(Tier::High)), "anyone is nobody in particular");
    let deploy = actions(&["deploy:production"]);
    let ruling = rules.ruling(&asked(GateKind::Operation, Tier::Critical, Autonomy::Full, &deploy));
    assert_eq!(ruling.deciders, [Who::Person("cleo".to_owned())]);
}

#[test]
fn the_first_of_a_chain_may_decide_from_the_beginning() {
    // APR-6
    let chain = "timeouts:\n  - policy: escalation\n    chain:\n      \
                 - {who: ana, timeout: 1h}\n      - {who: role:boss, timeout: 3h}\n";
    let ruling = rules(&format!("{TEAM}{chain}")).ruling(&operation(Tier::High));
    assert_eq!(ruling.deciders, [Who::Person("ana".to_owned())]);
    assert_eq!((ruling.remind_every_s, ruling.warn_before_s), (Some(3600), Some(1440)));
    let approvers = "approvers: [{who: cleo}]\n";
    let ruling = rules(&format!("{TEAM}{chain}{approvers}")).ruling(&operation(Tier::High));
    assert_eq!(ruling.deciders.len(), 2, "those of the chain are named as well");
}

#[test]
fn reminders_and_warnings_can_be_set_and_switched_off() {
    // APR-6
    let check = |more: &str, remind: Option<u64>, warn: Option<u64>| {
        let text = format!("timeouts: {{policy: deny, timeout: 4h{more}}}");
        let ruling = rules(&text).ruling(&operation(Tier::Low));
        assert_eq!((ruling.remind_every_s, ruling.warn_before_s), (remind, warn), "{more}");
    };
    check("", Some(3600), Some(1440));
    check(", remind_every: 10m", Some(600), Some(1440));
    check(", remind_every: never, warn_before: never", None, None);
    check(", warn_before: 90s", Some(3600), Some(90));
    let short = rules("timeouts: {policy: deny, timeout: 30s}").ruling(&operation(Tier::Low));
    assert_eq!((short.remind_every_s, short.warn_before_s), (None, Some(15)));
    // Nothing is approved by time without a warning a minute before.
    let text = "timeouts: {policy: tiered, allow_auto_approve: true, warn_before: never, \
                low: {timeout: 10m, on_timeout: approve}}";
    assert_eq!(rules(text).ruling(&operation(Tier::Low)).warn_before_s, Some(60));
    assert_eq!(rules(text).ruling(&operation(Tier::High)).warn_before_s, None);
    let waits = rules("timeouts: {policy: wait, remind_every: 1d}").ruling(&operation(Tier::High));
    assert_eq!(waits.remind_every_s, Some(86_400));
}

#[test]
fn a_later_layer_takes_the_place_of_whole_sections() {
    // APR-6
    let user = layer(
        "~/.aurora/approvals.yaml",
        &format!("{TEAM}autonomy: semi\ntimeouts: {{policy: wait}}\n"),
    );
    let project = layer(
        ".aurora/approvals.yaml",
        "timeouts: {when: {tier: high}, policy: deny}\napprovers: [{who: ana}]\n",
    );
    let rules = Rules::read(&[user, project]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(rules.autonomy(None, None), Autonomy::Semi);
    let ruling = rules.ruling(&operation(Tier::High));
    assert_eq!(ruling.timeout.chosen_by, ".aurora/approvals.yaml:1:11");
    assert_eq!(ruling.deciders, [Who::Person("ana".to_owned())]);
    let low = rules.ruling(&operation(Tier::Low));
    assert_eq!(low.timeout.chosen_by, BUILT_IN, "the user's rule is not there any more");
    assert_eq!(rules.origins(), ["~/.aurora/approvals.yaml", ".aurora/approvals.yaml"]);
}

#[test]
fn every_mistake_is_told_with_its_place_and_the_file_is_refused_whole() {
    // APR-6, APR-8
    let check = |text: &str, expected: &str| {
        let errors = refused(text);
        assert!(errors.contains(expected), "{text}\nexpected {expected}\ngot {errors}");
    };
    check("poeple: {}", "a.yaml:1:1: poeple: unknown key\n  hint: did you mean `people`?");
    check("- x", "a.yaml:1:1: expected a mapping with the keys people");
    check("autonomy: ful", "a.yaml:1:11: autonomy: expected locked, supervised, semi or full");
    check("autonomy: {agents: {claude: yes}}", "a.yaml:1:29: autonomy.agents.claude: expected");
    check("risk: {\"vcs:push\": severe}", "a.yaml:1:20: risk.vcs:push: expected low");
    check("risk: {\"a:b:c\": low}", "a.yaml:1:8: risk.a:b:c: `a:b:c` is no action type");
    check(
        "risk: {dploy: low}",
        "a.yaml:1:8: risk.dploy: there is no kind of action `dploy`\n  \
           hint: did you mean `deploy`?",
    );
    check("timeouts: [{when: {tier: high}}]", "a.yaml:1:12: timeouts.1: `policy` is missing");
    check("timeouts: [{policy: deney}]", "a.yaml:1:21: timeouts.1.policy: expected wait, deny");
    check("timeouts: [{policy: wait, remind_every: 0}]", "a.yaml:1:41: timeouts.1.remind_every:");
    check(
        "timeouts: [{policy: wait, when: {tiers: high}}]",
        "a.yaml:1:34: timeouts.1.when.tiers: unknown key",
    );
    check(
        "timeouts: [{policy: wait, when: {action: \"vcs:psuh\"}}]",
        "a.yaml:1:42: timeouts.1.when.action: there is no kind of action `vcs:psuh`\n  hint: did \
         you mean `vcs:push`?",
    );
    check("approvers: [{when: {tier: high}}]", "a.yaml:1:13: approvers.1: says neither");
    check("approvers: [{who: ana}]", "a.yaml:1:19: approvers.1.who: nobody is called `ana`");
    check(
        &format!("{TEAM}approvers: [{{who: [ana, bne]}}]"),
        "a.yaml:5:25: approvers.1.who: nobody is called `bne`\n  hint: did you mean `ben`?",
    );
    check(
        &format!("{TEAM}approvers: [{{who: role:laed}}]"),
        "nobody has the role `laed`\n  hint: did you mean `lead`?",
    );
    check(
        &format!("{TEAM}approvers: [{{who: role:boss, quorum: 2}}]"),
        "a.yaml:5:13: approvers.1: 2 must say yes, and only 1 can",
    );
    check(
        &format!("{TEAM}timeouts: [{{policy: escalation, chain: [{{who: eve, timeout: 1h}}]}}]"),
        "a.yaml:5:47: timeouts.1: nobody is called `eve`",
    );
    check("people: {anyone: {}}", "a.yaml:1:10: people.anyone: `anyone` is no name");
    check("people: {ana: {role: x}}", "a.yaml:1:16: people.ana.role: unknown key");
    check("people: {a: {login: x}, b: {login: x}}", "people.a logs in under the same name");
    check("autonomy: semi\nautonomy: full", "is given twice");
    let two = refused("autonomy: ful\nrisk: {\"vcs:push\": severe}");
    assert_eq!(two.matches("a.yaml:").count(), 2, "{two}");
}

#[test]
fn a_tier_above_low_that_time_would_approve_is_refused() {
    // APR-6
    for tier in ["medium", "high", "critical"] {
        let text = format!(
            "timeouts:\n  - policy: tiered\n    allow_auto_approve: true\n    \
             {tier}: {{timeout: 1h, on_timeout: approve}}\n"
        );
        let column = 5 + tier.len() + 2 + "{timeout: 1h, on_timeout: ".len();
        let errors = refused(&text);
        assert!(
            errors.starts_with(&format!("a.yaml:4:{column}: timeouts.1.{tier}.on_timeout: ")),
            "{errors}"
        );
    }
}

#[test]
fn the_schema_knows_every_section_and_policy() {
    // APR-6
    let schema = Rules::schema();
    for section in super::read::SECTIONS {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
    let policies = schema["$defs"]["timeout"]["oneOf"].as_array().expect("a list");
    assert_eq!(policies.len(), crate::approval::timeout::POLICIES.len());
    let text = schema.to_string();
    for reference in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = reference.split('"').next().expect("a name");
        assert!(schema["$defs"][name].is_object(), "{name}");
    }
}

const GUIDE: &str = include_str!("../../../../../docs/guides/approvals.md");

#[test]
fn every_example_of_the_guide_is_read() {
    // APR-6
    let blocks: Vec<&str> =
        GUIDE.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 5, "{}", blocks.len());
    for block in blocks {
        if block.starts_with("# .aurora/policies.yaml") {
            let (kind, name) = (crate::policy::LayerKind::Project, "guide".to_owned());
            let layer = crate::policy::LayerSource { kind, name, text: block.to_owned() };
            crate::Policy::load(&[layer]).unwrap_or_else(|errors| panic!("{errors}\n{block}"));
        } else {
            rules(block);
        }
    }
}

#[test]
fn the_guide_names_every_type_in_the_row_of_its_tier() {
    // APR-4
    for (name, tier) in DEFAULTS {
        let row = GUIDE.lines().find(|line| line.starts_with(&format!("| {} |", tier.name())));
        let row = row.unwrap_or_else(|| panic!("no row for {tier:?}"));
        assert!(row.split([',', '|']).any(|word| word.trim() == *name), "{name} in {row}");
    }
}
