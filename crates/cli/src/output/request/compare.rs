//! What an edit changes: the old arguments and the new, one by one.

use serde_json::{Map, Value};

use crate::output::escape;
use crate::output::style::Style;

/// The arguments that differ: what was there, and what would be.
#[must_use]
pub fn compared(old: &Value, new: &Value, style: Style) -> String {
    let none = Map::new();
    let (old, new) = (old.as_object().unwrap_or(&none), new.as_object().unwrap_or(&none));
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut out = String::new();
    for name in names.into_iter().filter(|name| old.get(*name) != new.get(*name)) {
        for (value, sign) in [(old.get(name), '-'), (new.get(name), '+')] {
            let Some(value) = value else { continue };
            for line in lines(name, value) {
                let line = format!("{sign} {}", escape::line(&line));
                let line = if sign == '-' { style.bad(&line) } else { style.good(&line) };
                out.push_str(&format!("{line}\n"));
            }
        }
    }
    out
}

fn lines(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if text.contains('\n') => {
            let head = std::iter::once(format!("{name}:"));
            head.chain(text.lines().map(|line| format!("  {line}"))).collect()
        }
        Value::String(text) => vec![format!("{name}: {text}")],
        Value::Object(_) | Value::Array(_) => {
            format!("{name}: {value:#}").lines().map(ToOwned::to_owned).collect()
        }
        other => vec![format!("{name}: {other}")],
    }
}
