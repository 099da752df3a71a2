//! A setting's value, where it comes from, and who locked it.

use std::fmt;
use std::sync::Arc;

use aurora_model::Answer;
use serde_json::json;

use super::keys::{KeyRow, Preset, Tighter};
use crate::settings::Place;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere: it is built in.
    BuiltIn,
    /// In a layer's file.
    At(Arc<str>, Place),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => out.write_str("built-in defaults"),
            Self::At(file, at) => write!(out, "{file}:{}:{}", at.line, at.column),
        }
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// The entry.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

/// A value of one of the kinds that the table knows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Flag(bool),
    Whole(u64),
    Amount(f64),
    Word(String),
    Answer(Answer),
    List(Vec<Item>),
}

impl Value {
    /// The default of a row.
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Flag(flag) => Self::Flag(flag),
            Preset::Whole(number) => Self::Whole(number),
            Preset::Amount(number) => Self::Amount(number),
            Preset::Word(word) => Self::Word(word.to_owned()),
            Preset::Answer(answer) => Self::Answer(answer),
            Preset::List(list) => Self::List(
                list.iter()
                    .map(|text| Item { text: (*text).to_owned(), origin: Origin::BuiltIn })
                    .collect(),
            ),
        }
    }

    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Whole(number) => json!(number),
            Self::Amount(number) => json!(number),
            Self::Word(word) => json!(word),
            Self::Answer(answer) => json!(answer.name()),
            Self::List(items) => items.iter().map(|item| json!(item.text)).collect(),
        }
    }

    /// Whether this value may stand below a lock that holds `locked`.
    pub fn keeps(&self, locked: &Self, tighter: Tighter) -> bool {
        match (self, locked, tighter) {
            (Self::Answer(new), Self::Answer(old), Tighter::Stricter) => new >= old,
            (Self::Whole(new), Self::Whole(old), Tighter::Smaller) => new <= old,
            (Self::Amount(new), Self::Amount(old), Tighter::Smaller) => new <= old,
            (Self::Flag(new), _, Tighter::Only(word)) if new.to_string() == word => true,
            (Self::Word(new), _, Tighter::Only(word)) if new == word => true,
            (Self::List(new), Self::List(old), Tighter::More) => holds_all(new, old),
            (Self::List(new), Self::List(old), Tighter::Fewer) => {
                !new.is_empty() && (old.is_empty() || holds_all(old, new))
                    || new.is_empty() && old.is_empty()
            }
            _ => self == locked,
        }
    }
}

fn holds_all(list: &[Item], wanted: &[Item]) -> bool {
    wanted.iter().all(|item| list.iter().any(|other| other.text == item.text))
}

/// One effective setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Its row in the table of keys.
    pub row: &'static KeyRow,
    /// What holds.
    pub value: Value,
    /// Where the value comes from.
    pub origin: Origin,
    /// Where it was locked.
    pub locked: Option<Origin>,
}

impl Setting {
    /// The default of a row.
    pub fn preset(row: &'static KeyRow) -> Self {
        let value = Value::preset(row.preset);
        Self { row, value, origin: Origin::BuiltIn, locked: None }
    }

    /// Takes a layer's value; says why when a lock forbids it.
    pub fn set(&mut self, mut value: Value, origin: Origin) -> Result<(), String> {
        if self.row.adds_up
            && let (Value::List(new), Value::List(old)) = (&mut value, &self.value)
        {
            new.retain(|item| !old.iter().any(|other| other.text == item.text));
            new.splice(0..0, old.iter().cloned());
        }
        if let Some(by) = &self.locked
            && !value.keeps(&self.value, self.row.tighter)
        {
            return Err(format!(
                "is locked by {by} at {}: {} would loosen it",
                self.value.json(),
                value.json()
            ));
        }
        self.value = value;
        self.origin = origin;
        Ok(())
    }

    /// Where the value comes from, for a person: a list may come from several places.
    pub fn origin_text(&self) -> String {
        let Value::List(items) = &self.value else { return self.origin.to_string() };
        let mut places: Vec<String> = Vec::new();
        for item in items {
            let place = item.origin.to_string();
            if !places.contains(&place) {
                places.push(place);
            }
        }
        if places.is_empty() { self.origin.to_string() } else { places.join(", ") }
    }
}

impl PartialEq for KeyRow {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::keys::{KEYS, Key};

    fn list(items: &[&str]) -> Value {
        Value::List(
            items
                .iter()
                .map(|text| Item { text: (*text).to_owned(), origin: Origin::BuiltIn })
                .collect(),
        )
    }

    #[test]
    fn tighter_is_defined_for_each_kind_of_key() {
        // POL-2: which value may stand below a lock.
        let check = |key: Key, locked: Value, new: Value, expected: bool| {
            let row = &KEYS[key.index()];
            assert_eq!(new.keeps(&locked, row.tighter), expected, "{} {new:?}", row.path);
        };
        check(Key::Truncate, Value::Answer(Answer::Ask), Value::Answer(Answer::Deny), true);
        check(Key::Truncate, Value::Answer(Answer::Ask), Value::Answer(Answer::Ask), true);
        check(Key::Truncate, Value::Answer(Answer::Ask), Value::Answer(Answer::Allow), false);
        check(Key::FileDeleteMaxFiles, Value::Whole(5), Value::Whole(4), true);
        check(Key::FileDeleteMaxFiles, Value::Whole(5), Value::Whole(6), false);
        check(Key::MonthlyLimitUsd, Value::Amount(5.0), Value::Amount(5.5), false);
        check(Key::MonthlyLimitUsd, Value::Amount(5.0), Value::Amount(0.0), true);
        check(Key::AutoBranch, Value::Flag(false), Value::Flag(true), true);
        check(Key::AutoBranch, Value::Flag(true), Value::Flag(false), false);
        check(Key::FallbackToLlm, Value::Flag(true), Value::Flag(false), true);
        check(Key::HardLimitAction, Value::Word("warn".into()), Value::Word("reject".into()), true);
        check(
            Key::HardLimitAction,
            Value::Word("reject".into()),
            Value::Word("warn".into()),
            false,
        );
        check(Key::BranchPrefix, Value::Word("a/".into()), Value::Word("b/".into()), false);
        check(Key::BranchPrefix, Value::Word("a/".into()), Value::Word("a/".into()), true);
        check(Key::UnexpectedFileTypes, list(&["*.sh"]), list(&["*.sql", "*.sh"]), true);
        check(Key::UnexpectedFileTypes, list(&["*.sh"]), list(&["*.sql"]), false);
        check(Key::AllowedAreas, list(&["src/", "doc/"]), list(&["src/"]), true);
        check(Key::AllowedAreas, list(&["src/"]), list(&["src/", "doc/"]), false);
        check(Key::AllowedAreas, list(&["src/"]), list(&[]), false);
        check(Key::AllowedAreas, list(&[]), list(&["src/"]), true);
    }
}
