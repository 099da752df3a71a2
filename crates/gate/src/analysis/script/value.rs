//! What an expression is known to be, and the few operations on constants that scripts use to build text.

use super::UNKNOWN;

/// A value as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nobody knows.
    Unknown,
    /// Text; [`UNKNOWN`] stands for parts that nobody knows.
    Str(String),
    /// A path object.
    Path(String),
    /// A number.
    Num(i64),
    /// Truth.
    Bool(bool),
    /// A list or tuple.
    List(Vec<Value>),
    /// A dictionary or options object.
    Dict(Vec<(String, Value)>),
    /// A module, a function, an object, by its dotted name.
    Name(String),
    /// A method of a value.
    Method(Box<Value>, String),
    /// Any number of files that match a pattern.
    Glob(String),
    /// One of these.
    OneOf(Vec<Value>),
    /// Something that came from the network.
    Net,
    /// What a file holds.
    File,
}

impl Value {
    /// Text, as a constant.
    pub fn str(text: &str) -> Self {
        Self::string(text.to_owned())
    }

    /// Text that a script put together, unless it is too long to be kept.
    pub fn string(text: String) -> Self {
        if text.len() > MAX_TEXT { Self::Unknown } else { Self::Str(text) }
    }

    /// A path that a script put together, unless it is too long to be kept.
    pub fn path(text: String) -> Self {
        if text.len() > MAX_TEXT { Self::Unknown } else { Self::Path(text) }
    }

    /// A pattern that a script put together, unless it is too long to be kept.
    pub fn glob(text: String) -> Self {
        if text.len() > MAX_TEXT { Self::Unknown } else { Self::Glob(text) }
    }

    /// A list that a script put together, unless it is too large to be kept.
    pub fn list(values: Vec<Value>) -> Self {
        if values.len() > MAX_ITEMS { Self::Unknown } else { Self::List(values).bounded() }
    }

    /// One of these, unless they are too many to be kept.
    pub fn one_of(values: Vec<Value>) -> Self {
        Self::OneOf(values).bounded()
    }

    /// A dictionary, unless it is too large to be kept.
    pub fn dict(entries: Vec<(String, Value)>) -> Self {
        Self::Dict(entries).bounded()
    }

    fn bounded(self) -> Self {
        match self.size(MAX_DEPTH) {
            Some(size) if size <= MAX_TEXT * 2 => self,
            _ => Self::Unknown,
        }
    }

    /// About how many bytes it takes; nothing when it is nested too deeply.
    pub fn size(&self, depth: u8) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        let inner = match self {
            Self::Str(text) | Self::Path(text) | Self::Name(text) | Self::Glob(text) => text.len(),
            Self::List(values) | Self::OneOf(values) => {
                values.iter().try_fold(0, |sum, value| Some(sum + value.size(depth)?))?
            }
            Self::Dict(entries) => entries
                .iter()
                .try_fold(0, |sum, (key, value)| Some(sum + key.len() + value.size(depth)?))?,
            Self::Method(owner, name) => owner.size(depth)? + name.len(),
            Self::Unknown | Self::Num(_) | Self::Bool(_) | Self::Net | Self::File => 0,
        };
        Some(inner + 16)
    }

    /// Its text where strings are built: unknown values become [`UNKNOWN`].
    pub fn text(&self) -> String {
        match self {
            Self::Str(text) | Self::Path(text) => text.clone(),
            Self::Num(number) => number.to_string(),
            Self::OneOf(values) if values.len() == 1 => {
                values.first().map_or_else(|| UNKNOWN.to_string(), Self::text)
            }
            _ => UNKNOWN.to_string(),
        }
    }

    /// Its text, or nothing if none of it is known.
    pub fn known(&self) -> Option<String> {
        let text = self.text();
        let known = !text.chars().all(|c| c == UNKNOWN || c.is_whitespace());
        (known || text.is_empty()).then_some(text)
    }

    /// Whether it is certainly true.
    pub fn truthy(&self) -> bool {
        matches!(self, Self::Bool(true)) || matches!(self, Self::Num(number) if *number != 0)
    }

    /// The elements that a loop over it sees, as one value.
    pub fn each(self) -> Self {
        match self {
            Self::List(values) => Self::one_of(values),
            Self::Glob(pattern) => Self::Glob(pattern),
            Self::Str(_) => Self::Unknown,
            _ => Self::Unknown,
        }
    }

    /// The values it may be.
    pub fn choices(&self) -> &[Value] {
        match self {
            Self::OneOf(values) => values,
            other => std::slice::from_ref(other),
        }
    }

    /// What an index or key selects.
    pub fn index(&self, key: &Value) -> Self {
        match (self, key) {
            (Self::List(values), Self::Num(at)) => {
                let at = if *at < 0 { values.len() as i64 + at } else { *at };
                let found = usize::try_from(at).ok().and_then(|at| values.get(at));
                found.cloned().unwrap_or(Self::Unknown)
            }
            (Self::Dict(entries), Self::Str(key)) => {
                let found = entries.iter().find(|(name, _)| name == key);
                found.map_or(Self::Unknown, |(_, value)| value.clone())
            }
            (Self::Name(name), Self::Str(key)) => {
                let owner = name.strip_suffix(".__dict__").unwrap_or(name);
                Self::Name(format!("{owner}.{key}"))
            }
            (Self::Net, _) => Self::Net,
            _ => Self::Unknown,
        }
    }
}

/// Longer texts are not kept: one that is put together from itself doubles with each step.
pub const MAX_TEXT: usize = 64 * 1024;

/// Longer lists are not kept either.
const MAX_ITEMS: usize = 4096;

/// How deep lists stand in one another.
pub const MAX_DEPTH: u8 = 16;

/// Two texts after one another.
pub fn concat(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::List(a), Value::List(b)) => Value::list([a.as_slice(), b.as_slice()].concat()),
        (Value::List(a), _) => {
            let mut values = a.clone();
            values.push(Value::Unknown);
            Value::list(values)
        }
        (Value::Num(a), Value::Num(b)) => Value::Num(a.saturating_add(*b)),
        _ => {
            let text = left.text() + &right.text();
            let known = text.chars().any(|c| c != UNKNOWN);
            if known { Value::string(text) } else { Value::Unknown }
        }
    }
}

/// Texts with another between them.
pub fn join(values: &[Value], separator: &str) -> Value {
    let mut text = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        text.push_str(&value.text());
        if text.len() > MAX_TEXT {
            return Value::Unknown;
        }
    }
    Value::Str(text)
}

/// A text in which another is replaced.
pub fn replace(text: &str, from: &str, to: &str) -> Value {
    let found = text.matches(from).count();
    if found.saturating_mul(to.len()) > MAX_TEXT {
        return Value::Unknown;
    }
    Value::string(text.replace(from, to))
}

/// A text or list a number of times.
pub fn repeat(value: &Value, times: &Value) -> Value {
    let Value::Num(times) = times else { return Value::Unknown };
    let times = usize::try_from(*times).unwrap_or(0);
    match value {
        Value::Str(text) if text.len().saturating_mul(times) <= MAX_TEXT => {
            Value::Str(text.repeat(times))
        }
        Value::List(values) if values.len().saturating_mul(times) <= MAX_ITEMS => {
            // Each element may be large, so that the size is asked for before copies are made.
            match value.size(MAX_DEPTH) {
                Some(size) if size.saturating_mul(times) <= MAX_TEXT * 2 => {
                    let copies = std::iter::repeat_n(values.as_slice(), times);
                    Value::list(copies.flatten().cloned().collect())
                }
                _ => Value::Unknown,
            }
        }
        _ => Value::Unknown,
    }
}

/// A path below another.
pub fn join_path(base: &str, name: &str) -> String {
    if name.starts_with('/') || base.is_empty() {
        name.to_owned()
    } else if base.ends_with('/') {
        format!("{base}{name}")
    } else {
        format!("{base}/{name}")
    }
}

/// Splits as a shell would, for `shlex.split` and `str.split`.
pub fn split_words(text: &str, quotes: bool) -> Vec<Value> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut started = false;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') if quotes => {
                quote = Some(c);
                started = true;
            }
            (None, c) if c.is_whitespace() => {
                if started {
                    words.push(Value::Str(std::mem::take(&mut word)));
                }
                started = false;
            }
            _ => {
                word.push(c);
                started = true;
            }
        }
    }
    if started {
        words.push(Value::Str(word));
    }
    words
}

/// The words of a line, with quotes taken off.
#[must_use]
pub fn split_shell(text: &str) -> Vec<String> {
    split_words(text, true).iter().map(Value::text).collect()
}

/// The text that base64 stands for.
#[must_use]
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut buffer, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            _ => return None,
        };
        buffer = (buffer << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((buffer >> bits) & 0xff).unwrap_or(0));
        }
    }
    Some(out)
}

/// The bytes that hexadecimal digits stand for.
#[must_use]
pub fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes = digits.chunks(2).filter_map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    });
    Some(bytes.collect())
}

/// Fills `{}`, `{0}` and `{name}` of a format string.
pub fn format_braces(format: &str, pos: &[Value], named: &[(String, Value)]) -> Value {
    let mut out = String::new();
    let mut rest = format;
    let mut next = 0;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        if out.len() > MAX_TEXT {
            return Value::Unknown;
        }
        if let Some(after) = after.strip_prefix('{') {
            out.push('{');
            rest = after;
            continue;
        }
        let Some((field, after)) = after.split_once('}') else {
            rest = after;
            break;
        };
        let key = field.split([':', '!']).next().unwrap_or("");
        let value = if key.is_empty() {
            next += 1;
            pos.get(next - 1)
        } else if let Ok(at) = key.parse::<usize>() {
            pos.get(at)
        } else {
            named.iter().find(|(name, _)| name == key).map(|(_, value)| value)
        };
        out.push_str(&value.map_or_else(|| UNKNOWN.to_string(), Value::text));
        rest = after;
    }
    out.push_str(rest);
    Value::string(out)
}

/// Fills `%s` and its relatives of a format string.
pub fn format_percent(format: &str, values: &[Value]) -> Value {
    let mut out = String::new();
    let mut next = 0;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        while chars.peek().is_some_and(|c| !c.is_ascii_alphabetic()) {
            chars.next();
        }
        if chars.next().is_some() {
            out.push_str(&values.get(next).map_or_else(|| UNKNOWN.to_string(), Value::text));
            next += 1;
            if out.len() > MAX_TEXT {
                return Value::Unknown;
            }
        }
    }
    Value::string(out)
}
