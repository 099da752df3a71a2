//! Undoing the quoting of strings and names.

use std::borrow::Cow;

/// Which escapes a string knows besides the doubled quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// None.
    None,
    /// MySQL's: a backslash and one character.
    Simple,
    /// PostgreSQL's `E''`: also octal, hexadecimal and Unicode numbers.
    Numeric,
    /// `U&''`: a backslash and four hexadecimal digits, or `\+` and six.
    Unicode,
}

/// The value of a quoted text, given what stands between the quotes.
pub(super) fn unquote(raw: &str, quote: char, escapes: Escapes) -> Cow<'_, str> {
    let escaped = escapes != Escapes::None && raw.contains('\\');
    if !escaped && !raw.contains(quote) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c == quote && chars.peek() == Some(&quote) {
            chars.next();
            out.push(quote);
        } else if c == '\\' && escaped {
            escape(&mut chars, escapes, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Reads one escape after its backslash.
fn escape(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    escapes: Escapes,
    out: &mut String,
) {
    if escapes == Escapes::Unicode {
        let long = chars.peek() == Some(&'+');
        if long {
            chars.next();
        }
        out.push(number(chars, 16, if long { 6 } else { 4 }, 0).unwrap_or('\\'));
        return;
    }
    let Some(c) = chars.next() else { return };
    let numeric = escapes == Escapes::Numeric;
    out.push(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' if numeric => '\u{c}',
        'Z' if !numeric => '\u{1a}',
        'x' if numeric => number(chars, 16, 2, 0).unwrap_or('x'),
        'u' if numeric => number(chars, 16, 4, 0).unwrap_or('u'),
        'U' if numeric => number(chars, 16, 8, 0).unwrap_or('U'),
        '0'..='7' if numeric => number(chars, 8, 2, c.to_digit(8).unwrap_or(0)).unwrap_or(c),
        '0' => '\0',
        other => other,
    });
}

/// Reads up to `most` digits and makes a character of them.
fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
    start: u32,
) -> Option<char> {
    let mut value = start;
    let mut seen = radix == 8;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        chars.next();
        seen = true;
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    if seen { char::from_u32(value) } else { None }
}

/// The text that hexadecimal digits spell, byte by byte.
pub(super) fn unhex(digits: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut high = None;
    for c in digits.chars() {
        let digit = u8::try_from(c.to_digit(16)?).ok()?;
        match high.take() {
            None => high = Some(digit),
            Some(first) => bytes.push(first << 4 | digit),
        }
    }
    if high.is_some() {
        return None;
    }
    // UTF-16 is what SQL Server makes of N'…' and of its hexadecimal constants cast to nvarchar.
    bytes.retain(|byte| *byte != 0);
    String::from_utf8(bytes).ok()
}
