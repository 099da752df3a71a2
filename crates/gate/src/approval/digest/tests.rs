//! RFC 8785's own examples, and that no field of an action can change unnoticed.

use aurora_model::{AgentName, Autonomy, RunId, Subject, Target, TaskId, Tier};
use serde_json::{Value, json};

use super::*;

fn digest(digit: char) -> Digest {
    Digest::parse(&digit.to_string().repeat(64)).unwrap()
}

fn subject() -> Subject {
    Subject {
        project: "/home/ada/shop".to_owned(),
        run: RunId::parse("run-7"),
        task: TaskId::parse("sg-1"),
        agent: AgentName::parse("claude"),
        tool: "shell".to_owned(),
        schema: 1,
        args: json!({
            "command": "rm -r old",
            "deep": [{"a": [1, 2.5, null, true, ""], "b": {}}, []],
            "€": -0.5,
        }),
        targets: vec![
            Target::Path { path: "src/old.rs".to_owned(), content: Some(digest('c')) },
            Target::Path { path: "src/new.rs".to_owned(), content: None },
            Target::Ref { name: "refs/heads/main".to_owned(), commit: Some("4f2a".to_owned()) },
            Target::Ref { name: "refs/heads/new".to_owned(), commit: None },
            Target::Table { name: "orders".to_owned() },
            Target::Tree { path: "src".to_owned(), tree: "9b1c".to_owned() },
        ],
        policy: digest('b'),
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
    }
}

// APR-3: the vectors of RFC 8785, section 3.2.2 and 3.2.3.
#[test]
fn apr_3_the_examples_of_the_rfc_come_out_byte_for_byte() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let value: Value = serde_json::from_str(text).unwrap();
    let expected = "{\"literals\":[null,true,false],\
                    \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
                    \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical(&value).as_deref(), Some(expected));

    // By UTF-16 units: the emoji is two of them and stands before U+FB33.
    let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let value: Value = serde_json::from_str(text).unwrap();
    let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
    assert_eq!(canonical(&value).as_deref(), Some(expected));

    // Every control character, and nothing else, is escaped; text is not normalised.
    let value = json!("\u{0}\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}\u{2028}e\u{301}é</\"\\");
    let expected =
        "\"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\u{2028}e\u{301}é</\\\"\\\\\"";
    assert_eq!(canonical(&value).as_deref(), Some(expected));
}

// APR-3: the vectors of RFC 8785, appendix B.
#[test]
fn apr_3_numbers_are_written_as_the_rfc_writes_them() {
    let vectors = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in vectors {
        assert_eq!(canonical(&f64::from_bits(bits)).as_deref(), Some(expected), "{bits:016x}");
    }
    for bits in [0x7fff_ffff_ffff_ffff, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000] {
        assert_eq!(canonical(&f64::from_bits(bits)), None, "{bits:016x}");
    }
}

// APR-3: a yes to one number is no yes to the number beside it.
#[test]
fn apr_3_numbers_that_a_double_cannot_hold_have_no_canonical_form_and_are_still_told_apart() {
    let with = |args: Value| digest_of(&Subject { args, ..subject() });
    for exact in [0_u64, 1, (1 << 53) - 1, 1 << 53, (1 << 53) + 2, 1 << 63] {
        assert!(canonical(&json!(exact)).is_some(), "{exact}");
    }
    for inexact in [(1_u64 << 53) + 1, u64::MAX, (1 << 63) + 1] {
        assert_eq!(canonical(&json!({ "n": [inexact] })), None, "{inexact}");
    }
    assert_eq!(canonical(&json!(i64::MIN + 1)), None);
    assert!(canonical(&json!(i64::MIN)).is_some());
    let all = [
        with(json!((1_u64 << 53) - 1)),
        with(json!(1_u64 << 53)),
        with(json!((1_u64 << 53) + 1)),
        with(json!((1_u64 << 53) + 2)),
        with(json!((1_u64 << 53) + 3)),
        with(json!(u64::MAX)),
        with(json!(u64::MAX - 1)),
        with(json!(u64::MAX.to_string())),
        with(json!("9007199254740993")),
        with(Value::Null),
    ];
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
    assert_eq!(with(json!(u64::MAX)), with(json!(u64::MAX)));
}

// APR-3: the order of names and the way of writing a number are no difference.
#[test]
fn apr_3_what_means_the_same_has_the_same_digest() {
    let read = |text: &str| {
        let args: Value = serde_json::from_str(text).unwrap();
        digest_of(&Subject { args, ..subject() })
    };
    let one = read(r#"{"a": 1, "b": {"x": [1e2, "é"], "y": null}}"#);
    assert_eq!(one, read(r#"{"b":{"y":null,"x":[100.0,"\u00e9"]},"a":1.0}"#));
    assert_ne!(one, read(r#"{"b":{"y":null,"x":["\u00e9",100]},"a":1}"#));
}

/// Everything that differs from a value in one place: a leaf changed, something taken away, added,
/// or in another order.
fn neighbours(value: &Value) -> Vec<Value> {
    let mut all = vec![json!({ "entirely": "else" })];
    match value {
        Value::Null => all.extend([json!(0), json!(""), json!(false), json!([])]),
        Value::Bool(is) => all.extend([json!(!is), Value::Null]),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            all.extend([json!(7), json!(number + 1.0), json!(-number - 1.0)]);
            all.push(json!(number.to_string()));
        }
        Value::String(text) => {
            all.extend([json!(format!("{text} ")), json!(format!("{text}\u{0}")), Value::Null]);
            all.extend(
                ["low", "critical", "full", "locked", "7", "table"].map(|other| json!(other)),
            );
            all.push(json!(text.replace('c', "d")));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for other in neighbours(item) {
                    let mut changed = items.clone();
                    changed[index] = other;
                    all.push(changed.into());
                }
                let mut less = items.clone();
                less.remove(index);
                all.push(less.into());
                let mut turned = items.clone();
                turned.rotate_left(index);
                all.push(turned.into());
            }
            let twice = items.iter().chain(items.first()).cloned().collect();
            all.push(Value::Array(twice));
        }
        Value::Object(members) => {
            for (name, member) in members {
                for other in neighbours(member) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), other);
                    all.push(changed.into());
                }
                let mut renamed = members.clone();
                renamed.remove(name);
                all.push(renamed.clone().into());
                renamed.insert(format!("{name}_"), member.clone());
                all.push(renamed.into());
            }
            let mut more = members.clone();
            more.insert("more".to_owned(), Value::Null);
            all.push(more.into());
        }
    }
    all
}

// APR-3: every field of the action, changed, changes the digest, however deep it is.
#[test]
fn apr_3_every_change_of_every_field_changes_the_digest() {
    let subject = subject();
    // A field that is added and not named here does not compile: it must be in the canonical JSON.
    let Subject {
        project: _,
        run: _,
        task: _,
        agent: _,
        tool: _,
        schema: _,
        args: _,
        targets: _,
        policy: _,
        tier: _,
        autonomy: _,
    } = &subject;
    let written = serde_json::to_value(&subject).unwrap();
    let fields: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 11, "{fields:?}");

    let own = digest_of(&subject);
    let mut touched = std::collections::BTreeSet::new();
    let mut different = 0;
    for changed in neighbours(&written) {
        let Ok(other) = serde_json::from_value::<Subject>(changed.clone()) else { continue };
        assert_eq!(other == subject, digest_of(&other) == own, "{changed}");
        if other != subject {
            different += 1;
            let read = serde_json::to_value(&other).unwrap();
            touched.extend(fields.iter().filter(|name| read[**name] != written[**name]).copied());
        }
    }
    assert_eq!(touched.len(), fields.len(), "only {touched:?} were changed");
    assert!(different > 100, "{different}");
}
