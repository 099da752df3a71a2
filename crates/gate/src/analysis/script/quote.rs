//! The lexer's reading of what stands between quotes: escapes, and expressions inside text.

use aurora_model::Span;

use super::super::shell::machine::ScriptLang;
use super::lexer::{Lexer, Part};

/// What a string does with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Nothing is special.
    Raw,
    /// Only the quote and the backslash itself can be escaped.
    Quote,
    /// C's escapes.
    Full,
}

/// How expressions stand in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolate {
    /// Not at all.
    No,
    /// `{expr}`
    Braces,
    /// `${expr}`
    DollarBraces,
    /// `#{expr}`
    HashBraces,
    /// `$x`, `${x}`, `@x`, `{$x}`
    Variables,
}

/// The bracket that closes another, or the quote itself.
pub(super) fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

impl Lexer<'_> {
    pub(super) fn quoted(
        &mut self,
        quote: u8,
        escape: Escape,
        interpolate: Interpolate,
    ) -> Vec<Part> {
        self.delimited(&[quote], 0, escape, interpolate)
    }

    /// Reads up to `close` (or the end of input), past it, and gives what stood before it.
    pub(super) fn delimited(
        &mut self,
        close: &[u8],
        nest: u8,
        escape: Escape,
        interpolate: Interpolate,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut depth = 0_usize;
        while self.at < self.end {
            let byte = self.byte(0);
            if !close.is_empty() && self.rest().as_bytes().starts_with(close) && depth == 0 {
                self.at += close.len();
                break;
            }
            if byte == b'\\' {
                self.escaped(escape, &mut text);
                continue;
            }
            if let Some(part) = self.interpolated(interpolate, &mut text) {
                if !text.is_empty() {
                    parts.push(Part::Lit(std::mem::take(&mut text)));
                }
                parts.push(part);
                continue;
            }
            if nest != 0 && byte == nest {
                depth += 1;
            } else if depth > 0 && close.first() == Some(&byte) {
                depth -= 1;
            }
            let len = self.char_len();
            text.push_str(self.src.get(self.at..self.at + len).unwrap_or(""));
            self.at += len;
        }
        if !text.is_empty() {
            parts.push(Part::Lit(text));
        }
        parts
    }

    pub(super) fn escaped(&mut self, escape: Escape, text: &mut String) {
        let next = self.byte(1);
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            text.push('\\');
            return;
        };
        self.at += c.len_utf8();
        match escape {
            Escape::Raw => {
                text.push('\\');
                text.push(c);
            }
            Escape::Quote => {
                if !matches!(c, '\'' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
            Escape::Full => match next {
                b'n' => text.push('\n'),
                b't' => text.push('\t'),
                b'r' => text.push('\r'),
                b'e' => text.push('\u{1b}'),
                b'\n' => {}
                b'x' => self.code_point(16, 2, text),
                b'u' => self.code_point(16, 4, text),
                b'0'..=b'7' => {
                    self.at -= 1;
                    self.code_point(8, 3, text);
                }
                _ => text.push(c),
            },
        }
    }

    pub(super) fn code_point(&mut self, radix: u32, most: usize, text: &mut String) {
        let braces = self.byte(0) == b'{';
        self.at += usize::from(braces);
        let most = if braces { 6 } else { most };
        let mut value = 0;
        let mut count = 0;
        while count < most {
            let Some(digit) = char::from(self.byte(0)).to_digit(radix) else { break };
            value = value * radix + digit;
            count += 1;
            self.at += 1;
        }
        if braces && self.byte(0) == b'}' {
            self.at += 1;
        }
        text.push(char::from_u32(value).unwrap_or('\u{FFFD}'));
    }

    pub(super) fn interpolated(
        &mut self,
        interpolate: Interpolate,
        text: &mut String,
    ) -> Option<Part> {
        let (first, second) = (self.byte(0), self.byte(1));
        match interpolate {
            Interpolate::No => None,
            Interpolate::Braces if matches!(first, b'{' | b'}') && second == first => {
                text.push(char::from(first));
                self.at += 2;
                // The pair stands for one character, which is text and no expression.
                Some(Part::Lit(String::new()))
            }
            Interpolate::Braces if first == b'{' => Some(self.braced(1)),
            Interpolate::DollarBraces if first == b'$' && second == b'{' => Some(self.braced(2)),
            Interpolate::HashBraces if first == b'#' && second == b'{' => Some(self.braced(2)),
            Interpolate::Variables => self.variable(),
            _ => None,
        }
    }

    /// An expression in braces that open after `skip` bytes.
    pub(super) fn braced(&mut self, skip: usize) -> Part {
        self.at += skip;
        let start = self.at;
        let mut depth = 1_usize;
        let mut quote = 0;
        while self.at < self.end {
            match self.byte(0) {
                byte if quote != 0 => {
                    if byte == b'\\' {
                        self.at += 1;
                    } else if byte == quote {
                        quote = 0;
                    }
                }
                byte @ (b'"' | b'\'' | b'`') => quote = byte,
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.end);
        let span = Span::new(start, self.at);
        self.at = (self.at + 1).min(self.end);
        Part::Code(span)
    }

    /// `$x`, `${x}`, `@x`, `{$x->y}` in strings of Perl and PHP.
    pub(super) fn variable(&mut self) -> Option<Part> {
        let (first, second) = (self.byte(0), self.byte(1));
        if first == b'{' && second == b'$' && self.lang == ScriptLang::Php {
            return Some(self.braced(1));
        }
        let sigil = first == b'$' || (first == b'@' && self.lang == ScriptLang::Perl);
        if !sigil {
            return None;
        }
        if second == b'{' {
            let sigil = char::from(first);
            let Part::Code(span) = self.braced(2) else { return None };
            let name = self.src.get(span.start..span.end).unwrap_or("");
            let simple = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            return Some(if simple {
                Part::Var(format!("{sigil}{name}"))
            } else {
                Part::Code(span)
            });
        }
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let special = first == b'$' && b"&!@0".contains(&second) && self.lang == ScriptLang::Perl;
        if !word(second) && !special {
            return None;
        }
        let start = self.at;
        self.at += 2;
        while word(second) && word(self.byte(0)) {
            self.at += 1;
        }
        let name = self.src.get(start..self.at).unwrap_or("").to_owned();
        let subscript = match self.byte(0) {
            b'[' => true,
            b'{' => self.lang == ScriptLang::Perl,
            b'-' => {
                self.byte(1) == b'>' && (matches!(self.byte(2), b'[' | b'{') || word(self.byte(2)))
            }
            _ => false,
        };
        if !subscript {
            return Some(Part::Var(name));
        }
        self.skip_subscripts();
        Some(Part::Var(super::UNKNOWN.to_string()))
    }

    pub(super) fn skip_subscripts(&mut self) {
        loop {
            if self.byte(0) == b'-' && self.byte(1) == b'>' {
                self.at += 2;
                while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'_' {
                    self.at += 1;
                }
            }
            let open = self.byte(0);
            if !matches!(open, b'[' | b'{') {
                return;
            }
            let close = closing(open);
            self.at += 1;
            self.delimited(&[close], open, Escape::Raw, Interpolate::No);
        }
    }
}
