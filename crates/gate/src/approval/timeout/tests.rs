//! The four policies as tables of cases: what is due when, and what a settings file may say.

use aurora_model::{ActionType, Autonomy, Tier, TimeoutRule, Timestamp, Who};

use super::{Check, Due, GRACE_MS, POLICIES, TimeoutPolicy, View, kind_of, of};
use crate::settings::{self, Problems};

const MINUTE: i64 = 60_000;
/// A Sunday in the hour that daylight saving skips in much of Europe: UTC knows nothing of it.
const ASKED: i64 = 1_774_746_000_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp { unix_ms: ASKED + minutes * MINUTE }
}

fn view(tier: Tier) -> View<'static> {
    const NONE: &[ActionType] = &[];
    View {
        tier,
        autonomy: Autonomy::Supervised,
        actions: NONE,
        asked_at: at(0),
        step: 0,
        step_at: at(0),
        warned_at: None,
    }
}

/// Reads a policy as it stands in a file, or the first thing that is wrong with it.
fn read(text: &str) -> Result<Box<dyn TimeoutPolicy>, String> {
    let mut problems = Problems::new("a.yaml");
    let node = settings::read(text, &mut problems).expect("a tree");
    let settings::Shape::Map(pairs) = &node.shape else { panic!("{text}") };
    let name = pairs.iter().find(|pair| pair.name == "policy").expect("a policy");
    let settings::Shape::Scalar { text: name, .. } = &name.value.shape else { panic!("{text}") };
    let policy = (kind_of(name).expect("a known policy").read)(&node, "timeouts.1", &mut problems);
    match problems.finish().first() {
        Some(error) => Err(error.to_string()),
        None => Ok(policy.expect("no problem, so a policy")),
    }
}

fn policy(text: &str) -> Box<dyn TimeoutPolicy> {
    let policy = read(text).unwrap_or_else(|error| panic!("{error}"));
    // What is kept with a request says the same as what was read.
    let name = text.lines().next().and_then(|line| line.strip_prefix("policy: ")).expect("first");
    let rule = TimeoutRule {
        policy: name.to_owned(),
        settings: policy.settings(),
        chosen_by: "a test".to_owned(),
    };
    let restored = of(&rule);
    assert_eq!(restored.settings(), policy.settings(), "{text}");
    assert_eq!(format!("{restored:?}"), format!("{policy:?}"), "{text}");
    restored
}

/// What is due in a word, when to look again, when it ends; minutes after it was asked.
fn said(check: &Check) -> String {
    let minutes = |moment: Option<Timestamp>| match moment {
        Some(moment) => ((moment.unix_ms - ASKED) / MINUTE).to_string(),
        None => "never".to_owned(),
    };
    let due = match &check.due {
        None => "nothing".to_owned(),
        Some(Due::Deny { .. }) => "deny".to_owned(),
        Some(Due::Approve { .. }) => "approve".to_owned(),
        Some(Due::Escalate { step, to, .. }) => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            format!("step {step} to {}", to.join("+"))
        }
    };
    format!("{due}, look {}, ends {}", minutes(check.wake_at), minutes(check.expires_at))
}

#[test]
fn waiting_never_acts() {
    // APR-6
    let wait = policy("policy: wait");
    for tier in Tier::ALL {
        for minutes in [-1_000_000, 0, 1, 1_000_000_000] {
            let check = wait.check_timeout(&view(tier), at(minutes));
            assert_eq!(said(&check), "nothing, look never, ends never");
        }
    }
}

#[test]
fn denying_ends_it_after_its_time() {
    // APR-6
    for (text, minutes, expected) in [
        ("policy: deny", 0, "nothing, look 240, ends 240"),
        ("policy: deny", 239, "nothing, look 240, ends 240"),
        ("policy: deny", 240, "deny, look never, ends 240"),
        ("policy: deny", 1_000_000, "deny, look never, ends 240"),
        ("policy: deny", -1_000_000, "nothing, look 240, ends 240"),
        ("policy: deny\ntimeout: 90m", 89, "nothing, look 90, ends 90"),
        ("policy: deny\ntimeout: 5", 5, "deny, look never, ends 5"),
        ("policy: deny\ntimeout: 2d", 2879, "nothing, look 2880, ends 2880"),
    ] {
        let check = policy(text).check_timeout(&view(Tier::High), at(minutes));
        assert_eq!(said(&check), expected, "{text} at {minutes}");
        if let Some(Due::Deny { reason }) = check.due {
            assert!(reason.starts_with("nobody decided within "), "{reason}");
        }
    }
}

#[test]
fn each_tier_has_its_own_time_and_end() {
    // APR-6
    let text = "policy: tiered\nallow_auto_approve: true\nlow: {timeout: 10m, on_timeout: approve}\n\
                medium: {timeout: 1h}\nhigh: {on_timeout: wait}";
    for (tier, minutes, expected) in [
        (Tier::Low, 9, "nothing, look 10, ends 10"),
        (Tier::Low, 10, "approve, look never, ends 10"),
        (Tier::Medium, 59, "nothing, look 60, ends 60"),
        (Tier::Medium, 60, "deny, look never, ends 60"),
        (Tier::High, 1_000_000, "nothing, look never, ends never"),
        (Tier::Critical, 1_000_000, "nothing, look never, ends never"),
    ] {
        let check = policy(text).check_timeout(&view(tier), at(minutes));
        assert_eq!(said(&check), expected, "{tier:?} at {minutes}");
    }
    let timed = policy("policy: tiered\ncritical: {timeout: 2d}");
    let check = timed.check_timeout(&view(Tier::Critical), at(2880));
    assert_eq!(said(&check), "deny, look never, ends 2880", "who gives a time wants an end");
    let plain = policy("policy: tiered").check_timeout(&view(Tier::Low), at(240));
    assert_eq!(
        said(&plain),
        "deny, look never, ends 240",
        "nothing is approved unless somebody says so"
    );
}

#[test]
fn a_yes_by_time_comes_a_while_after_the_warning() {
    // APR-6: a machine that slept over the deadline warns first, and waits after that.
    let text = "policy: tiered\nallow_auto_approve: true\nlow: {timeout: 10m, on_timeout: approve}";
    let policy = policy(text);
    assert!(policy.may_approve());
    for (warned, now, expected) in [
        (9, 10, "approve, look never, ends 10"),
        (100, 100, "nothing, look 101, ends 10"),
        (100, 101, "approve, look never, ends 10"),
    ] {
        let view = View { warned_at: Some(at(warned)), ..view(Tier::Low) };
        assert_eq!(said(&policy.check_timeout(&view, at(now))), expected, "{warned} {now}");
    }
    assert_eq!(GRACE_MS, MINUTE);
}

#[test]
fn nothing_above_low_is_approved_by_time_and_low_only_for_who_wants_it() {
    // APR-6: a config error with its place.
    for tier in ["medium", "high", "critical"] {
        let text =
            format!("policy: tiered\nallow_auto_approve: true\n{tier}:\n  on_timeout: approve\n");
        let error = read(&text).expect_err("refused");
        assert!(error.starts_with("a.yaml:4:15: "), "{error}");
        assert!(error.contains(&format!("what is {tier} is never approved by time")), "{error}");
    }
    let error = read("policy: tiered\nlow: {on_timeout: approve}").expect_err("refused");
    assert!(error.starts_with("a.yaml:2:19: ") && error.contains("allow_auto_approve"), "{error}");
    // Nor by what stands in the log.
    let forged = r#"{"low":{"timeout_s":1,"on_timeout":"deny"},"medium":{"timeout_s":1,
        "on_timeout":"approve"},"high":{"timeout_s":1,"on_timeout":"deny"},
        "critical":{"timeout_s":1,"on_timeout":"approve"}}"#;
    let rule = TimeoutRule {
        policy: "tiered".to_owned(),
        settings: serde_json::from_str(forged).expect("JSON"),
        chosen_by: String::new(),
    };
    let check = of(&rule).check_timeout(&view(Tier::Critical), at(1_000_000));
    assert_eq!(said(&check), "nothing, look never, ends never");
}

const CHAIN: &str = "policy: escalation\nchain:\n  - {who: ana, timeout: 1h}\n  \
                     - {who: [ben, role:lead], timeout: 2h}\n  - {who: anyone, timeout: 30m}";

#[test]
fn each_step_is_taken_once_and_then_it_is_over() {
    // APR-6: rows are step, when it was taken, now, and what is said.
    for (step, taken, now, expected) in [
        (0, 0, 59, "nothing, look 60, ends 210"),
        (0, 0, 60, "step 1 to ben+role:lead, look never, ends 210"),
        (0, 0, 1000, "step 1 to ben+role:lead, look never, ends 1150"),
        (1, 60, 60, "nothing, look 180, ends 210"),
        (1, 1000, 1000, "nothing, look 1120, ends 1150"),
        (1, 60, 180, "step 2 to anyone, look never, ends 210"),
        (2, 180, 180, "nothing, look 210, ends 210"),
        (2, 180, 210, "deny, look never, ends 210"),
        (3, 210, 9999, "nothing, look never, ends never"),
        (u32::MAX, 0, 9999, "nothing, look never, ends never"),
    ] {
        let view = View { step, step_at: at(taken), ..view(Tier::High) };
        let check = policy(CHAIN).check_timeout(&view, at(now));
        assert_eq!(said(&check), expected, "step {step} at {now}");
    }
    let chain = policy(CHAIN);
    assert_eq!(chain.first(), [Who::Person("ana".to_owned())]);
    assert_eq!(chain.names().len(), 4);
    let waits = policy(&format!("{CHAIN}\non_exhausted: wait"));
    let view = View { step: 2, step_at: at(180), ..view(Tier::High) };
    assert_eq!(said(&waits.check_timeout(&view, at(9999))), "nothing, look never, ends never");
}

#[test]
fn no_clock_however_wrong_makes_a_policy_fail() {
    // APR-6: far past, far future, and times that do not fit into a number.
    let forever = r#"{"timeout_s":18446744073709551615}"#;
    let deny =
        (kind_of("deny").expect("deny").restore)(&serde_json::from_str(forever).expect("JSON"));
    let deny = deny.expect("a policy");
    let texts = ["policy: wait", "policy: deny", "policy: tiered", CHAIN];
    let policies = texts.map(policy).into_iter().chain([deny]);
    for policy in policies {
        for asked in [i64::MIN, -1, 0, i64::MAX] {
            for now in [i64::MIN, 0, i64::MAX] {
                let moment = Timestamp { unix_ms: asked };
                let view = View {
                    asked_at: moment,
                    step_at: moment,
                    warned_at: Some(moment),
                    ..view(Tier::Low)
                };
                let check = policy.check_timeout(&view, Timestamp { unix_ms: now });
                assert!(check.due.is_none() || check.wake_at.is_none(), "{policy:?}");
                if now < asked {
                    assert_eq!(check.due, None, "{policy:?}: nothing is due before it was asked");
                }
            }
        }
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    // APR-6
    for (text, expected) in [
        ("policy: deny\ntimeout: soon", "a.yaml:2:10: timeouts.1.timeout: expected a time such as"),
        ("policy: deny\ntimeuot: 4h", "a.yaml:2:1: timeouts.1.timeuot: unknown key"),
        ("policy: deny\ntimeout: 0", "a.yaml:2:10: timeouts.1.timeout: expected a time"),
        ("policy: wait\ntimeout: 4h", "a.yaml:2:1: timeouts.1.timeout: unknown key"),
        ("policy: tiered\nlow: 4h", "a.yaml:2:6: timeouts.1.low: expected a mapping"),
        ("policy: tiered\nlow: {on_timeout: alow}", "a.yaml:2:19: timeouts.1.low.on_timeout:"),
        ("policy: tiered\nhigh: {until: 4h}", "a.yaml:2:8: timeouts.1.high.until: unknown key"),
        ("policy: escalation", "a.yaml:1:1: timeouts.1: `chain` is missing"),
        ("policy: escalation\nchain: []", "a.yaml:2:8: timeouts.1.chain: must have 1 to 20"),
        ("policy: escalation\nchain: [{who: ana}]", "a.yaml:2:9: timeouts.1.chain.1: `timeout`"),
        (
            "policy: escalation\nchain: [{who: 'a b', timeout: 1h}]",
            "a.yaml:2:15: timeouts.1.chain.1.who: `a b` is nobody",
        ),
        (
            "policy: escalation\nchain: [{who: ana, timeout: 1h}]\non_exhausted: approve",
            "a.yaml:3:15: timeouts.1.on_exhausted: expected deny or wait",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(expected), "{text}\n{error}");
    }
}

#[test]
fn a_policy_that_this_version_does_not_know_waits() {
    // APR-6
    for (name, settings) in [("vote", "{}"), ("deny", "{}"), ("tiered", "{}"), ("escalation", "{}")]
    {
        let rule = TimeoutRule {
            policy: name.to_owned(),
            settings: serde_json::from_str(settings).expect("JSON"),
            chosen_by: String::new(),
        };
        let check = of(&rule).check_timeout(&view(Tier::Low), at(1_000_000));
        assert_eq!(check, Check::default(), "{name}");
    }
    for kind in &POLICIES {
        assert!((kind.schema)().is_object() && kind.doc.ends_with('.'), "{}", kind.name);
    }
}
