//! Reads the values of a settings file as what they must be, and says what is wrong with them.

use serde_json::Value;

use super::error::Problems;
use super::suggest::nearest;
use super::tree::{Node, Pair, Shape, shorten};

/// Longer lists are refused.
pub(crate) const MAX_ITEMS: usize = 1000;

/// Whether YAML would read plain text as something other than text.
fn is_not_text(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "" | "~" | "null" | "true" | "false")
        || text.parse::<f64>().is_ok()
}

impl Problems {
    /// Notes that a value is of the wrong kind.
    pub fn mistyped(&mut self, node: &Node, key: &str, expected: &str) {
        let found = node.kind();
        let message = if node.is_nothing() {
            format!("has no value; expected {expected}")
        } else {
            format!("expected {expected}, found {found}")
        };
        let hint = match &node.shape {
            _ if node.is_nothing() => Some("give it a value, or remove the key".to_owned()),
            Shape::Scalar { text, plain: false } if is_not_text(text) => {
                Some("without the quotes it is not text".to_owned())
            }
            _ => None,
        };
        match hint {
            Some(hint) => self.add_with_hint(node.at, key, message, hint),
            None => self.add(node.at, key, message),
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self, node: &Node, key: &str) -> Option<bool> {
        match &node.shape {
            Shape::Scalar { text, plain: true } if text == "true" => Some(true),
            Shape::Scalar { text, plain: true } if text == "false" => Some(false),
            _ => {
                self.mistyped(node, key, "true or false");
                None
            }
        }
    }

    /// A whole number in these bounds.
    pub fn whole(&mut self, node: &Node, key: &str, min: u64, max: u64) -> Option<u64> {
        if let Shape::Scalar { text, plain: true } = &node.shape {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let padded = text.len() > 1 && text.starts_with('0');
            let number = if digits && !padded { text.parse::<u64>().ok() } else { None };
            if let Some(number) = number.filter(|number| (min..=max).contains(number)) {
                return Some(number);
            }
        }
        self.mistyped(node, key, &format!("a whole number from {min} to {max}"));
        None
    }

    /// A number in these bounds.
    pub fn amount(&mut self, node: &Node, key: &str, min: f64, max: f64) -> Option<f64> {
        if let Shape::Scalar { text, plain: true } = &node.shape {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && text.starts_with(|char: char| char.is_ascii_digit())
                && !text.ends_with('.');
            let number = if plain { text.parse::<f64>().ok() } else { None };
            if let Some(number) = number.filter(|number| (min..=max).contains(number)) {
                return Some(number);
            }
        }
        self.mistyped(node, key, &format!("a number from {min} to {max}"));
        None
    }

    /// One of these words.
    pub fn choice(&mut self, node: &Node, key: &str, words: &[&str]) -> Option<String> {
        self.choice_meant(node, key, words, |_| None)
    }

    /// One of these words; `meant` knows words that people also try.
    pub fn choice_meant(
        &mut self,
        node: &Node,
        key: &str,
        words: &[&str],
        meant: impl Fn(&str) -> Option<&'static str>,
    ) -> Option<String> {
        let Shape::Scalar { text, .. } = &node.shape else {
            self.mistyped(node, key, &listed(words));
            return None;
        };
        if words.contains(&text.as_str()) {
            return Some(text.clone());
        }
        let meant = meant(text)
            .filter(|word| words.contains(word))
            .or_else(|| nearest(text, words.iter().copied()));
        match meant {
            Some(word) if !node.is_nothing() => self.add_with_hint(
                node.at,
                key,
                format!("expected {}, found {}", listed(words), node.kind()),
                format!("did you mean `{word}`?"),
            ),
            _ => self.mistyped(node, key, &listed(words)),
        }
        None
    }

    /// Text that is not empty.
    pub fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        match &node.shape {
            Shape::Scalar { text, plain } if !(text.is_empty() || *plain && is_not_text(text)) => {
                Some(text.clone())
            }
            Shape::Scalar { text, plain: true } if !node.is_nothing() => {
                self.add_with_hint(
                    node.at,
                    key,
                    format!("expected text, found {}", node.kind()),
                    format!("to mean the text, put it in quotes: \"{}\"", shorten(text)),
                );
                None
            }
            Shape::Scalar { plain: false, .. } => {
                self.add(node.at, key, "is empty");
                None
            }
            _ => {
                self.mistyped(node, key, "text");
                None
            }
        }
    }

    /// The nodes of "one or a list of them".
    pub fn one_or_more<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n [Node]> {
        match &node.shape {
            Shape::Scalar { .. } => Some(std::slice::from_ref(node)),
            Shape::List(nodes) if nodes.is_empty() => {
                self.add(node.at, key, "is an empty list");
                None
            }
            Shape::List(nodes) if nodes.len() <= MAX_ITEMS => Some(nodes),
            Shape::List(_) => {
                self.add(node.at, key, format!("a list of more than {MAX_ITEMS} entries"));
                None
            }
            Shape::Map(_) => {
                self.mistyped(node, key, "text or a list of texts");
                None
            }
        }
    }

    /// Notes a key that is not known here.
    pub fn unknown_key(&mut self, pair: &Pair, path: &str, names: &[&str]) {
        let hint = match nearest(&pair.name, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known here: {}", names.join(", ")),
        };
        self.add_with_hint(pair.at, path, "unknown key", hint);
    }
}

fn listed(words: &[&str]) -> String {
    match words {
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

impl Node {
    /// The value as JSON: what is written without quotes means a number, a flag or nothing where
    /// it looks like one.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.shape {
            Shape::Scalar { .. } if self.is_nothing() => Value::Null,
            Shape::Scalar { text, plain: true } => plain_json(text),
            Shape::Scalar { text, .. } => Value::String(text.clone()),
            Shape::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Shape::Map(pairs) => {
                pairs.iter().map(|pair| (pair.name.clone(), pair.value.to_json())).collect()
            }
        }
    }
}

fn plain_json(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::String(text.to_owned()),
        },
    }
}
