//! Reads the nodes of a policy file as the kinds of the two tables, and says what is wrong with them.

use aurora_model::{ActionType, Answer, Timestamp};

use super::fields::{Field, FieldKind};
use super::keys::Kind;
use super::setting::{Item, Origin, Value};
use crate::analysis::path::PatternSet;
use crate::settings::{MAX_ITEMS, Node, Place, Problems, Shape, shorten};

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

/// The beginning of a day in UTC.
pub(super) fn date(text: &str) -> Option<Timestamp> {
    let moment = Timestamp::parse(&format!("{text}T00:00:00Z"))?;
    moment.to_string().strip_suffix("T00:00:00.000Z").filter(|day| *day == text).map(|_| moment)
}

impl Reading<'_> {
    /// A value of a kind of the first table.
    pub fn value(&mut self, node: &Node, key: &str, kind: Kind) -> Option<Value> {
        match kind {
            Kind::Flag => self.problems.flag(node, key).map(Value::Flag),
            Kind::Whole(min, max) => self.problems.whole(node, key, min, max).map(Value::Whole),
            Kind::Amount(min, max) => self.problems.amount(node, key, min, max).map(Value::Amount),
            Kind::Choice(words) => {
                self.problems.choice_meant(node, key, words, answer_meant).map(Value::Word)
            }
            Kind::Answer => self.answer(node, key).map(Value::Answer),
            Kind::Text => self.problems.text(node, key).map(Value::Word),
            Kind::Patterns => {
                let Shape::List(nodes) = &node.shape else {
                    self.problems.mistyped(node, key, "a list of patterns");
                    return None;
                };
                self.patterns(nodes, node.at, key).map(Value::List)
            }
        }
    }

    /// `allow`, `prompt` or `deny`.
    pub fn answer(&mut self, node: &Node, key: &str) -> Option<Answer> {
        self.problems
            .choice_meant(node, key, &["allow", "prompt", "deny"], answer_meant)
            .and_then(|word| Answer::from_name(&word))
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
            let Some(text) =
                self.problems.text(node, key).filter(|text| self.pattern(text, node.at, key))
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

    /// The fields of an entry of the second table.
    pub fn entry(&mut self, node: &Node, key: &str, fields: &'static [Field]) -> Option<Given> {
        let Shape::Map(pairs) = &node.shape else {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            self.problems.mistyped(
                node,
                key,
                &format!("a mapping with the keys {}", names.join(", ")),
            );
            return None;
        };
        let mut found = Vec::new();
        let mut good = true;
        for pair in pairs {
            let path = format!("{key}.{}", pair.name);
            let Some(field) = fields.iter().find(|field| field.name == pair.name) else {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                self.problems.unknown_key(pair, &path, &names);
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

    fn field(&mut self, node: &Node, key: &str, kind: FieldKind) -> Option<FieldValue> {
        match kind {
            FieldKind::Flag => self.problems.flag(node, key).map(FieldValue::Flag),
            FieldKind::Text => self.problems.text(node, key).map(FieldValue::Text),
            FieldKind::Name => {
                let name = self.problems.text(node, key)?;
                self.name(&name, node.at, key).then_some(FieldValue::Text(name))
            }
            FieldKind::Texts => {
                let nodes = self.problems.one_or_more(node, key)?;
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    items.push(Item {
                        text: self.problems.text(node, key)?,
                        origin: (self.origin)(node.at),
                    });
                }
                Some(FieldValue::List(items))
            }
            FieldKind::Patterns => {
                let nodes = self.problems.one_or_more(node, key)?;
                self.patterns(nodes, node.at, key).map(FieldValue::List)
            }
            FieldKind::Kinds => {
                let nodes = self.problems.one_or_more(node, key)?;
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let text = self.problems.text(node, key)?;
                    if ActionType::parse(&text).is_none() {
                        let message = format!("`{}` is no action type", shorten(&text));
                        let hint = "write `category:action`, such as docs:write";
                        self.problems.add_with_hint(node.at, key, message, hint);
                        return None;
                    }
                    items.push(Item { text, origin: (self.origin)(node.at) });
                }
                Some(FieldValue::List(items))
            }
            FieldKind::Date => {
                let text = self.problems.text(node, key)?;
                if date(&text).is_none() {
                    let message = format!("`{}` is no day", shorten(&text));
                    self.problems.add_with_hint(node.at, key, message, "write it as 2026-12-31");
                    return None;
                }
                Some(FieldValue::Text(text))
            }
            FieldKind::Words => self.words(node, key).map(FieldValue::List),
            FieldKind::Choice { words, many } => {
                if !many {
                    return self
                        .problems
                        .choice_meant(node, key, words, answer_meant)
                        .map(FieldValue::Text);
                }
                let nodes = self.problems.one_or_more(node, key)?;
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let text = self.problems.choice_meant(node, key, words, answer_meant)?;
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
            let text = self.problems.text(node, key)?;
            return Some(text.split_whitespace().map(item).collect());
        }
        let mut words = Vec::new();
        for node in self.problems.one_or_more(node, key)? {
            words.push(item(&self.problems.text(node, key)?));
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
