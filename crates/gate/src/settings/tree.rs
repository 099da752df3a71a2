//! YAML text as a small tree in which every key and value knows its place; strict where YAML is loose.

use std::mem;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::error::{Place, Problems};

/// Larger files are refused.
const MAX_BYTES: usize = 256 * 1024;
/// Deeper nesting is refused.
const MAX_DEPTH: usize = 32;

/// Mappings with more keys are refused.
const MAX_KEYS: usize = 1000;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it starts.
    pub at: Place,
    /// What it is.
    pub shape: Shape,
}

/// The three things that YAML knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Text; `plain` when it was written without quotes, so that it may mean a number or a flag.
    Scalar {
        /// The text.
        text: String,
        /// Whether it was written without quotes.
        plain: bool,
    },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file, without duplicate keys.
    Map(Vec<Pair>),
}

/// One key of a mapping with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The key.
    pub name: String,
    /// Where the key stands.
    pub at: Place,
    /// The value.
    pub value: Node,
}

impl Node {
    /// What it is, for an error message.
    #[must_use]
    pub fn kind(&self) -> String {
        match &self.shape {
            Shape::Scalar { text, plain: true } if is_null(text) => "nothing".to_owned(),
            Shape::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Shape::List(_) => "a list".to_owned(),
            Shape::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Whether there is no value at all (`key:` or `key: null`).
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(&self.shape, Shape::Scalar { text, plain: true } if is_null(text))
    }
}

/// What YAML reads as null.
fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A piece of a text that fits into a message.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(60).collect();
    if short.len() < text.trim_end().len() {
        short.push('…');
    }
    short
}

/// Reads YAML text; nothing when the file is empty or has a problem (which is then noted).
pub fn read(text: &str, problems: &mut Problems) -> Option<Node> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}", text.len());
        problems.add(Place::START, "", message);
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !characters_are_plain(text, problems) {
        return None;
    }
    Reader::new(text).run(problems)
}

/// Refuses characters that make a file mean something other than what an editor shows.
fn characters_are_plain(text: &str, problems: &mut Problems) -> bool {
    for (number, line) in text.split('\n').enumerate() {
        let mut indenting = true;
        for (column, char) in line.strip_suffix('\r').unwrap_or(line).chars().enumerate() {
            let at = Place { line: number + 1, column: column + 1 };
            indenting &= matches!(char, ' ' | '\t');
            if indenting && char == '\t' {
                problems.add_with_hint(at, "", "a tab indents this line", "indent with spaces");
                return false;
            }
            if (char.is_control() && char != '\t') || is_deceptive(char) {
                let message = format!("the character U+{:04X} is not allowed here", char as u32);
                problems.add(at, "", message);
                return false;
            }
        }
    }
    true
}

/// Characters that reorder or hide text on the screen.
const fn is_deceptive(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// A list or mapping that is still open.
enum Open {
    List(Place, Vec<Node>),
    Map(Place, Vec<Pair>, Option<(String, Place)>),
}

/// Turns the parser's events into a tree.
struct Reader<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

/// Reading went as far as it could: the problem is noted.
struct Stop;

impl<'t> Reader<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, open: Vec::new(), root: None, documents: 0 }
    }

    fn run(mut self, problems: &mut Problems) -> Option<Node> {
        let mut parser = Parser::new_from_str(self.text);
        while let Some(event) = parser.next_event() {
            let step = match event {
                Ok((event, span)) => self.take(event, place(span.start), problems),
                Err(error) => {
                    self.syntax(&error, problems);
                    Err(Stop)
                }
            };
            if step.is_err() {
                return None;
            }
        }
        self.root
    }

    fn take(&mut self, event: Event<'_>, at: Place, problems: &mut Problems) -> Result<(), Stop> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return self.refuse(at, "a settings file is one YAML document", problems);
                }
            }
            Event::Alias(_) => return self.refuse_alias(at, problems),
            Event::Scalar(text, style, anchor, tag) => {
                self.plain_node(anchor, tag.is_some(), at, problems)?;
                let plain = style == ScalarStyle::Plain;
                self.scalar(text.into_owned(), plain, at, problems)?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.plain_node(anchor, tag.is_some(), at, problems)?;
                self.open_up(Open::List(at, Vec::new()), at, problems)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.plain_node(anchor, tag.is_some(), at, problems)?;
                self.open_up(Open::Map(at, Vec::new(), None), at, problems)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(problems),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// Refuses anchors and tags: they let a value stand elsewhere or mean something else.
    fn plain_node(
        &self,
        anchor: usize,
        tagged: bool,
        at: Place,
        problems: &mut Problems,
    ) -> Result<(), Stop> {
        if anchor > 0 {
            return self.refuse(at, "anchors (`&name`) are not allowed", problems);
        }
        if tagged {
            return self.refuse(at, "tags (`!name`) are not allowed", problems);
        }
        Ok(())
    }

    fn open_up(&mut self, new: Open, at: Place, problems: &mut Problems) -> Result<(), Stop> {
        if let Some(Open::Map(_, _, None)) = self.open.last() {
            return self.refuse(at, "a key must be text", problems);
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep");
            return self.refuse(at, &message, problems);
        }
        self.open.push(new);
        Ok(())
    }

    fn close(&mut self, problems: &mut Problems) {
        let node = match self.open.pop() {
            Some(Open::List(at, items)) => Node { at, shape: Shape::List(items) },
            Some(Open::Map(at, pairs, _)) => Node { at, shape: Shape::Map(pairs) },
            None => return,
        };
        self.value(node, problems);
    }

    fn scalar(
        &mut self,
        text: String,
        plain: bool,
        at: Place,
        problems: &mut Problems,
    ) -> Result<(), Stop> {
        if let Some(Open::Map(_, pairs, key @ None)) = self.open.last_mut() {
            if pairs.len() < MAX_KEYS {
                *key = Some((text, at));
                return Ok(());
            }
            let message = format!("a mapping with more than {MAX_KEYS} keys");
            return self.refuse(at, &message, problems);
        }
        self.value(Node { at, shape: Shape::Scalar { text, plain } }, problems);
        Ok(())
    }

    fn value(&mut self, mut node: Node, problems: &mut Problems) {
        let path = self.path();
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, pairs, key)) => {
                let Some((name, at)) = mem::take(key) else { return };
                if node.is_nothing() {
                    // An absent value has no place of its own: its key has.
                    node.at = at;
                }
                if let Some(first) = pairs.iter().find(|pair| pair.name == name) {
                    let message = format!("is given twice, first in line {}", first.at.line);
                    problems.add_with_hint(at, &path, message, "keep one of the two");
                } else {
                    pairs.push(Pair { name, at, value: node });
                }
            }
        }
    }

    /// The dotted key that is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            if let Open::Map(_, _, Some((name, _))) = open {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
        }
        path
    }

    fn refuse(&self, at: Place, message: &str, problems: &mut Problems) -> Result<(), Stop> {
        problems.add(at, &self.path(), message);
        Err(Stop)
    }

    fn refuse_alias(&self, at: Place, problems: &mut Problems) -> Result<(), Stop> {
        problems.add_with_hint(
            at,
            &self.path(),
            "aliases (`*name`) are not allowed",
            "a pattern that starts with `*` must stand in quotes: \"*.pem\"",
        );
        Err(Stop)
    }

    fn syntax(&self, error: &ScanError, problems: &mut Problems) {
        let at = place(*error.marker());
        if self.starts_alias(at) {
            let _ = self.refuse_alias(at, problems);
            return;
        }
        problems.add(at, &self.path(), format!("is not valid YAML: {}", error.info()));
    }

    /// Whether an unquoted `*` stands at, or as the last item before, this place.
    fn starts_alias(&self, at: Place) -> bool {
        let Some(line) = self.text.lines().nth(at.line.saturating_sub(1)) else { return false };
        let until: String = line.chars().take(at.column + 1).collect();
        until.trim_start().trim_start_matches(['-', ' ']).starts_with('*')
            || until
                .split([':', '[', ','])
                .next_back()
                .is_some_and(|word| word.trim_start().starts_with('*'))
    }
}

fn place(marker: Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}
