//! Reads the nodes of a policy file as the kinds of the two tables, and says what is wrong with them.

use aurora_model::Answer;

use super::error::{Place, Problems};
use super::fields::{Field, FieldKind};
use super::keys::Kind;
use super::setting::{Item, Origin, Value};
use super::suggest::nearest;
use super::tree::{Node, Pair, Shape, shorten};
use crate::analysis::path::PatternSet;

/// Longer lists are refused.
const MAX_ITEMS: usize = 1000;

/// What reading needs to know about the file.
pub(super) struct Reading<'f> {
    /// Where the problems go.
    pub problems: &'f mut Problems,
    /// The origin of what stands at a place in this file.
    pub origin: &'f dyn Fn(Place) -> Origin,
}

/// The words for the three answers that people also try.
fn answer_meant(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "ask" | "confirm" | "approve" | "warn" => Some("prompt"),
        "block" | "never" | "forbid" | "reject" | "no" | "false" | "disallow" => Some("deny"),
        "yes" | "true" | "ok" | "permit" | "always" => Some("allow"),
        _ => None,
    }
}

/// Whether YAML would read plain text as something other than text.
fn is_not_text(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "" | "~" | "null" | "true" | "false")
        || text.parse::<f64>().is_ok()
}

impl Reading<'_> {
    /// Notes that a value is of the wrong kind.
    fn mistyped(&mut self, node: &Node, key: &str, expected: &str) {
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
            Some(hint) => self.problems.add_with_hint(node.at, key, message, hint),
            None => self.problems.add(node.at, key, message),
        }
    }

    /// A value of a kind of the first table.
    pub fn value(&mut self, node: &Node, key: &str, kind: Kind) -> Option<Value> {
        match kind {
            Kind::Flag => self.flag(node, key).map(Value::Flag),
            Kind::Whole(min, max) => self.whole(node, key, min, max).map(Value::Whole),
            Kind::Amount(min, max) => self.amount(node, key, min, max).map(Value::Amount),
            Kind::Choice(words) => self.choice(node, key, words).map(Value::Word),
            Kind::Answer => self.answer(node, key).map(Value::Answer),
            Kind::Text => self.text(node, key).map(Value::Word),
            Kind::Patterns => {
                let Shape::List(nodes) = &node.shape else {
                    self.mistyped(node, key, "a list of patterns");
                    return None;
                };
                self.patterns(nodes, node.at, key).map(Value::List)
            }
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

    fn whole(&mut self, node: &Node, key: &str, min: u64, max: u64) -> Option<u64> {
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

    fn amount(&mut self, node: &Node, key: &str, min: f64, max: f64) -> Option<f64> {
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

    /// `allow`, `prompt` or `deny`.
    pub fn answer(&mut self, node: &Node, key: &str) -> Option<Answer> {
        self.choice(node, key, &["allow", "prompt", "deny"])
            .and_then(|word| Answer::from_name(&word))
    }

    /// One of these words.
    fn choice(&mut self, node: &Node, key: &str, words: &[&str]) -> Option<String> {
        let Shape::Scalar { text, .. } = &node.shape else {
            self.mistyped(node, key, &listed(words));
            return None;
        };
        if words.contains(&text.as_str()) {
            return Some(text.clone());
        }
        let meant = answer_meant(text)
            .filter(|word| words.contains(word))
            .or_else(|| nearest(text, words.iter().copied()));
        match meant {
            Some(word) if !node.is_nothing() => self.problems.add_with_hint(
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
    fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        match &node.shape {
            Shape::Scalar { text, plain } if !(text.is_empty() || *plain && is_not_text(text)) => {
                Some(text.clone())
            }
            Shape::Scalar { text, plain: true } if !node.is_nothing() => {
                self.problems.add_with_hint(
                    node.at,
                    key,
                    format!("expected text, found {}", node.kind()),
                    format!("to mean the text, put it in quotes: \"{}\"", shorten(text)),
                );
                None
            }
            Shape::Scalar { plain: false, .. } => {
                self.problems.add(node.at, key, "is empty");
                None
            }
            _ => {
                self.mistyped(node, key, "text");
                None
            }
        }
    }

    /// A list of patterns, each checked on its own so that the wrong one is pointed at.
    fn patterns(&mut self, nodes: &[Node], at: Place, key: &str) -> Option<Vec<Item>> {
        if nodes.len() > MAX_ITEMS {
            self.problems.add(at, key, format!("a list of more than {MAX_ITEMS} entries"));
            return None;
        }
        let mut items: Vec<Item> = Vec::with_capacity(nodes.len());
        let mut good = true;
        for node in nodes {
            let Some(text) = self.text(node, key).filter(|text| self.pattern(text, node.at, key))
            else {
                good = false;
                continue;
            };
            if !items.iter().any(|item| item.text == text) {
                items.push(Item { text, origin: (self.origin)(node.at) });
            }
        }
        good.then_some(items)
    }

    fn pattern(&mut self, text: &str, at: Place, key: &str) -> bool {
        if text.starts_with('!') {
            let message = format!("the pattern `{}` takes something away again", shorten(text));
            let hint = "layers only add patterns; write the pattern so that it does not match";
            self.problems.add_with_hint(at, key, message, hint);
            return false;
        }
        match PatternSet::new(&[text]) {
            Ok(_) => true,
            Err(bad) => {
                let message = format!("`{}` is no pattern: {}", shorten(&bad.pattern), bad.why);
                self.problems.add(at, key, message);
                false
            }
        }
    }

    /// The nodes of "one or a list of them".
    fn one_or_more<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n [Node]> {
        match &node.shape {
            Shape::Scalar { .. } => Some(std::slice::from_ref(node)),
            Shape::List(nodes) if nodes.is_empty() => {
                self.problems.add(node.at, key, "is an empty list");
                None
            }
            Shape::List(nodes) if nodes.len() <= MAX_ITEMS => Some(nodes),
            Shape::List(_) => {
                self.problems.add(node.at, key, format!("a list of more than {MAX_ITEMS} entries"));
                None
            }
            Shape::Map(_) => {
                self.mistyped(node, key, "text or a list of texts");
                None
            }
        }
    }

    /// The fields of an entry of the second table.
    pub fn entry(&mut self, node: &Node, key: &str, fields: &'static [Field]) -> Option<Given> {
        let Shape::Map(pairs) = &node.shape else {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            self.mistyped(node, key, &format!("a mapping with the keys {}", names.join(", ")));
            return None;
        };
        let mut found = Vec::new();
        let mut good = true;
        for pair in pairs {
            let path = format!("{key}.{}", pair.name);
            let Some(field) = fields.iter().find(|field| field.name == pair.name) else {
                self.unknown_field(pair, &path, fields);
                good = false;
                continue;
            };
            match self.field(&pair.value, &path, field.kind) {
                Some(value) => found.push((field.name, value)),
                None => good = false,
            }
        }
        for field in fields.iter().filter(|field| field.required) {
            if !pairs.iter().any(|pair| pair.name == field.name) {
                let message = format!("`{}` is missing", field.name);
                self.problems.add_with_hint(node.at, key, message, field.doc);
                good = false;
            }
        }
        good.then_some(Given { at: node.at, found })
    }

    fn unknown_field(&mut self, pair: &Pair, path: &str, fields: &'static [Field]) {
        let names = fields.iter().map(|field| field.name);
        match nearest(&pair.name, names.clone()) {
            Some(name) => {
                let hint = format!("did you mean `{name}`?");
                self.problems.add_with_hint(pair.at, path, "unknown key", hint);
            }
            None => {
                let hint = format!("known here: {}", names.collect::<Vec<_>>().join(", "));
                self.problems.add_with_hint(pair.at, path, "unknown key", hint);
            }
        }
    }

    fn field(&mut self, node: &Node, key: &str, kind: FieldKind) -> Option<FieldValue> {
        match kind {
            FieldKind::Flag => self.flag(node, key).map(FieldValue::Flag),
            FieldKind::Text => self.text(node, key).map(FieldValue::Text),
            FieldKind::Name => {
                let name = self.text(node, key)?;
                self.name(&name, node.at, key).then_some(FieldValue::Text(name))
            }
            FieldKind::Texts => {
                let nodes = self.one_or_more(node, key)?;
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    items
                        .push(Item { text: self.text(node, key)?, origin: (self.origin)(node.at) });
                }
                Some(FieldValue::List(items))
            }
            FieldKind::Patterns => {
                let nodes = self.one_or_more(node, key)?;
                self.patterns(nodes, node.at, key).map(FieldValue::List)
            }
            FieldKind::Words => self.words(node, key).map(FieldValue::List),
            FieldKind::Choice { words, many } => {
                if !many {
                    return self.choice(node, key, words).map(FieldValue::Text);
                }
                let nodes = self.one_or_more(node, key)?;
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let text = self.choice(node, key, words)?;
                    items.push(Item { text, origin: (self.origin)(node.at) });
                }
                Some(FieldValue::List(items))
            }
            FieldKind::Block(fields) => self.entry(node, key, fields).map(FieldValue::Block),
        }
    }

    fn words(&mut self, node: &Node, key: &str) -> Option<Vec<Item>> {
        let origin = (self.origin)(node.at);
        let item = |text: &str| Item { text: text.to_owned(), origin: origin.clone() };
        if let Shape::Scalar { .. } = &node.shape {
            let text = self.text(node, key)?;
            return Some(text.split_whitespace().map(item).collect());
        }
        let mut words = Vec::new();
        for node in self.one_or_more(node, key)? {
            words.push(item(&self.text(node, key)?));
        }
        Some(words)
    }

    /// Whether a name can stand in a rule's id.
    pub fn name(&mut self, name: &str, at: Place, key: &str) -> bool {
        let good = !name.is_empty()
            && name.len() <= 64
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !good {
            let message = format!("`{}` is no name", shorten(name));
            let hint = "use up to 64 letters, digits, `-` and `_`";
            self.problems.add_with_hint(at, key, message, hint);
        }
        good
    }
}

fn listed(words: &[&str]) -> String {
    match words {
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// The fields of an entry that were given.
#[derive(Debug)]
pub(super) struct Given {
    /// Where the entry starts.
    pub at: Place,
    found: Vec<(&'static str, FieldValue)>,
}

/// A field's value.
#[derive(Debug)]
pub(super) enum FieldValue {
    Flag(bool),
    Text(String),
    List(Vec<Item>),
    Block(Given),
}

impl Given {
    /// Takes a field out.
    fn take(&mut self, name: &str) -> Option<FieldValue> {
        let index = self.found.iter().position(|(field, _)| *field == name)?;
        Some(self.found.swap_remove(index).1)
    }

    /// Whether a flag is set.
    pub fn flag(&mut self, name: &str) -> bool {
        matches!(self.take(name), Some(FieldValue::Flag(true)))
    }

    /// A text field.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            Some(FieldValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list field; empty when it was not given.
    pub fn list(&mut self, name: &str) -> Vec<Item> {
        match self.take(name) {
            Some(FieldValue::List(items)) => items,
            _ => Vec::new(),
        }
    }

    /// A block of further fields.
    pub fn block(&mut self, name: &str) -> Option<Self> {
        match self.take(name) {
            Some(FieldValue::Block(entry)) => Some(entry),
            _ => None,
        }
    }
}
