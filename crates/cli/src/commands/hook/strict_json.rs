//! Finds what reading JSON and writing it again would lose: doubled keys, and how numbers are written.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Reads JSON in which no object has a key twice.
pub fn check_keys(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<UniqueKeys>(text).map(|_| ())
}

struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the key `{key}` is there twice")));
            }
            seen.insert(key);
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

/// A number that would be written in another way than it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The line that it stands in, from 1.
    pub line: usize,
    /// As it is written.
    pub old: String,
    /// As it would be written.
    pub new: String,
}

/// The first number of a JSON text that would not be written back as it is.
#[must_use]
pub fn rewritten_number(text: &str) -> Option<Rewritten> {
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '"' => {
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    if c == '\\' {
                        chars.next();
                    }
                }
            }
            '-' | '0'..='9' => {
                let mut old = String::from(c);
                let in_number = |c: &char| c.is_ascii_digit() || "+-.eE".contains(*c);
                while let Some(c) = chars.next_if(in_number) {
                    old.push(c);
                }
                let new = serde_json::from_str::<Value>(&old).unwrap_or_default().to_string();
                if new != old {
                    return Some(Rewritten { line, old, new });
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_there_twice_is_found_at_any_depth() {
        for good in ["{}", r#"{"a": {"a": 1}, "b": [{"a": null}, {"a": "x"}, true, -1, 2.5]}"#] {
            assert!(check_keys(good).is_ok(), "{good}");
        }
        for bad in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "\u0061": 2}}]"#] {
            let problem = check_keys(bad).unwrap_err().to_string();
            assert!(problem.starts_with("the key `a` is there twice"), "{problem}");
        }
    }

    #[test]
    fn a_number_that_would_change_is_found() {
        for same in ["1", "-7", "1.5", "0.1", "18446744073709551615", r#""1e3 \" 1.0e5""#, "{}"] {
            assert_eq!(rewritten_number(same), None, "{same}");
        }
        for (text, line, old) in [
            (r#"{"a": 1e3}"#, 1, "1e3"),
            ("{\n\"a\": [1.50]}", 2, "1.50"),
            ("[-0]", 1, "-0"),
            ("\n\n123456789012345678901234567890", 3, "123456789012345678901234567890"),
            ("0.1000000000000000055511151231257827", 1, "0.1000000000000000055511151231257827"),
        ] {
            let found = rewritten_number(text).map(|found| (found.line, found.old));
            assert_eq!(found, Some((line, old.to_owned())), "{text}");
        }
    }
}
