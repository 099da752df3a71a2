//! What comments say about a task: `<!-- id: sg-2, agent: code-developer, depends-on: sg-1 -->`.

use aurora_gate::settings::nearest;
use aurora_model::id::{AgentName, TaskId};

/// What can be said, in the order in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Id,
    Agent,
    DependsOn,
    Files,
    Lines,
    Mode,
}

const KEYS: [(&str, Key); 8] = [
    ("id", Key::Id),
    ("agent", Key::Agent),
    ("depends_on", Key::DependsOn),
    ("depends", Key::DependsOn),
    ("files", Key::Files),
    ("scope", Key::Files),
    ("lines", Key::Lines),
    ("mode", Key::Mode),
];

impl Key {
    fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_").to_ascii_lowercase();
        KEYS.iter().find(|(known, _)| *known == name).map(|(_, key)| *key)
    }
}

/// A word and the byte at which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub at: usize,
    pub value: String,
    /// Whether it stood in quotes.
    pub quoted: bool,
}

/// A key with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub at: usize,
    pub key: String,
    pub values: Vec<Given>,
}

/// Something wrong at a byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub at: usize,
    pub what: String,
    pub hint: String,
}

/// What is said about one box.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub id: Option<Given>,
    pub agent: Option<AgentName>,
    pub depends_on: Vec<Given>,
    pub paths: Vec<String>,
    pub files: Option<u32>,
    pub lines: Option<u32>,
    seen: Vec<Key>,
}

/// The pairs of a comment; nothing where it is not clearly metadata: every part is `key: value`, and
/// at least one key is known.
pub(super) fn pairs(inside: &str, at: usize) -> Option<Vec<Pair>> {
    let known = |pairs: &Vec<Pair>| pairs.iter().any(|pair| Key::from_name(&pair.key).is_some());
    all_pairs(inside, at).filter(known)
}

/// The pairs of a text; nothing where it does not begin with a key.
pub(super) fn all_pairs(inside: &str, at: usize) -> Option<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (start, part) in parts(inside) {
        let lead = part.len() - part.trim_start().len();
        let (at, part) = (at + start + lead, part.trim());
        if part.is_empty() {
            continue;
        }
        let (at, part) = match key_of(part) {
            Some((key, rest)) => {
                pairs.push(Pair { at, key: key.to_owned(), values: Vec::new() });
                (at + part.len() - rest.len(), rest)
            }
            None => (at, part),
        };
        let pair = pairs.last_mut()?;
        pair.values.extend(value(part, at));
    }
    Some(pairs)
}

/// Parts between commas, semicolons and line ends that do not stand in quotes, each with its first byte.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '\n' | '\r' => quoted = false,
            _ => {}
        }
        if !quoted && matches!(c, ',' | ';' | '\n' | '\r') {
            parts.push((start, text.get(start..at).unwrap_or_default()));
            start = at + 1;
        }
    }
    parts.push((start, text.get(start..).unwrap_or_default()));
    parts
}

/// A part that begins with a key.
fn key_of(part: &str) -> Option<(&str, &str)> {
    let (key, rest) = part.split_once(':')?;
    let key = key.trim_end();
    let key = key.strip_prefix('@').unwrap_or(key);
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(sound))
        .then_some((key, rest))
}

/// One value, out of its quotes or brackets.
pub(super) fn value(text: &str, at: usize) -> Option<Given> {
    let opened = text.trim_start().trim_start_matches('[').trim_start();
    let at = at + text.len() - opened.len();
    let text = opened.trim_end();
    if let Some(inside) = text.strip_prefix('"') {
        let inside = inside.trim_end_matches(']').trim_end();
        let inside = inside.strip_suffix('"').unwrap_or(inside);
        return Some(Given { at, value: unescaped(inside), quoted: true });
    }
    let text = if text.contains('[') { text } else { text.trim_end_matches(']').trim_end() };
    (!text.is_empty()).then(|| Given { at, value: text.to_owned(), quoted: false })
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// A value as it can stand in a comment.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./*?@+{}".contains(c);
    let bare = !value.is_empty() && value.chars().all(plain);
    if bare && value.parse::<u32>().is_err() {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            // A line end would end the value, and `-->` the comment.
            c if c.is_control() => out.push(' '),
            '"' | '\\' | '>' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Metadata {
    /// Takes the pairs of a comment; says what is wrong with them.
    pub fn take(&mut self, pairs: Vec<Pair>) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for pair in pairs {
            if let Err(what) = self.take_pair(pair) {
                wrong.push(what);
            }
        }
        wrong
    }

    fn take_pair(&mut self, pair: Pair) -> Result<(), Wrong> {
        let wrong = |at: usize, what: String, hint: &str| Wrong { at, what, hint: hint.to_owned() };
        let Some(key) = Key::from_name(&pair.key) else {
            let hint = match nearest(&pair.key, KEYS.iter().map(|(name, _)| *name)) {
                Some(near) => format!("did you mean `{}`?", near.replace('_', "-")),
                None => "known are id, agent, depends-on, files, lines, mode".to_owned(),
            };
            return Err(wrong(pair.at, format!("unknown key `{}`", pair.key), &hint));
        };
        if self.seen.contains(&key) {
            let what = format!("`{}` is said twice about one task", pair.key);
            return Err(wrong(pair.at, what, "say it once"));
        }
        self.seen.push(key);
        if matches!(key, Key::DependsOn) {
            self.depends_on.extend(pair.values);
            return Ok(());
        }
        if matches!(key, Key::Files) {
            self.take_files(pair.values);
            return Ok(());
        }
        let key_name = pair.key;
        let mut values = pair.values.into_iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            let what = format!("`{key_name}` needs one value");
            return Err(wrong(pair.at, what, "write `key: value`"));
        };
        match key {
            Key::Id if TaskId::parse(&value.value).is_none() => {
                let what = format!("`{}` cannot be an id", value.value);
                Err(wrong(value.at, what, "use letters, digits, `.`, `_` and `-`, up to 120"))
            }
            Key::Id => {
                self.id = Some(value);
                Ok(())
            }
            Key::Agent => {
                let agent = agent(&value).ok_or_else(|| no_agent(&value))?;
                self.agent = Some(agent);
                Ok(())
            }
            Key::Lines => {
                let Ok(lines) = value.value.replace('_', "").parse() else {
                    let what = format!("`{}` is no number of lines", value.value);
                    return Err(wrong(value.at, what, "write a whole number"));
                };
                self.lines = Some(lines);
                Ok(())
            }
            Key::DependsOn | Key::Files | Key::Mode => Ok(()),
        }
    }

    /// Paths and patterns; a bare number says how many files.
    fn take_files(&mut self, values: Vec<Given>) {
        for given in values {
            match given.value.parse() {
                Ok(count) if !given.quoted => self.files = Some(count),
                _ => self.paths.push(given.value),
            }
        }
    }
}

/// The agent's name, with or without the `@` that people write.
pub(super) fn agent(given: &Given) -> Option<AgentName> {
    AgentName::parse(given.value.strip_prefix('@').unwrap_or(&given.value))
}

/// Says that something cannot be the name of an agent.
pub(super) fn no_agent(given: &Given) -> Wrong {
    Wrong {
        at: given.at,
        what: format!("`{}` cannot be the name of an agent", given.value),
        hint: "use letters, digits, `.`, `_` and `-`; put `,` between pairs".to_owned(),
    }
}
