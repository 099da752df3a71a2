//! From text to tokens, by the rules of one database and of its client; it never fails.

use std::borrow::Cow;

use aurora_model::Span;

use super::flavour::{Brackets, Flavour};
use super::quote::{Escapes, unhex, unquote};
use super::token::{Client, Kind, Lexed, Meta, Token};

/// Takes a text apart.
pub(super) fn lex(src: &str, flavour: Flavour) -> Lexed<'_> {
    let mut lexer = Lexer {
        src,
        bytes: src.as_bytes(),
        pos: 0,
        flavour,
        out: Lexed::default(),
        statement: 0,
        fresh_line: true,
        code_comments: 0,
        delimiter: None,
        data_follows: false,
        copy_never_ends: false,
    };
    while lexer.pos < lexer.bytes.len() {
        lexer.step();
    }
    lexer.out
}

/// The reader's place in the text.
pub(super) struct Lexer<'a> {
    pub(super) src: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    pub(super) flavour: Flavour,
    pub(super) out: Lexed<'a>,
    /// Index of the first token of the statement that is being read.
    statement: usize,
    /// Only blanks stand between the last line's end and here.
    pub(super) fresh_line: bool,
    /// How many `/*!` are open.
    code_comments: usize,
    /// What ends a statement instead of `;`.
    pub(super) delimiter: Option<&'a str>,
    /// Lines of data follow after this one.
    pub(super) data_follows: bool,
    /// No line `\.` follows, so that it is not looked for again.
    copy_never_ends: bool,
}

impl<'a> Lexer<'a> {
    /// The byte at some distance from here, zero past the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// The text between two places.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.src.get(start..end.min(self.src.len())).unwrap_or("")
    }

    /// The text from here on.
    pub(super) fn rest(&self) -> &'a str {
        self.src.get(self.pos..).unwrap_or("")
    }

    /// Whether no token of a statement has been read yet.
    pub(super) fn between_statements(&self) -> bool {
        self.statement >= self.out.tokens.len()
    }

    /// Moves to the end of the line and gives what was passed.
    pub(super) fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or("");
        self.pos += line.len();
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Records a command to the client that reaches up to here.
    pub(super) fn meta(&mut self, client: Client, start: usize) {
        let text = self.slice(start, self.pos).trim_end();
        let span = Span::new(start, start + text.len());
        self.out.metas.push(Meta { client, text, span });
    }

    /// Adds a token that reaches up to here and whose text is what stands there.
    fn plain(&mut self, kind: Kind, start: usize) {
        let text = Cow::Borrowed(self.slice(start, self.pos));
        self.push(kind, text, start, Some(start));
    }

    /// Adds a token that reaches up to here.
    pub(super) fn push(
        &mut self,
        kind: Kind,
        text: Cow<'a, str>,
        start: usize,
        verbatim: Option<usize>,
    ) {
        let span = Span::new(start, self.pos);
        self.fresh_line = false;
        let token = Token { kind, text, span, verbatim };
        let ends = token.ends_statement();
        self.out.tokens.push(token);
        if ends {
            self.statement = self.out.tokens.len();
        }
    }

    /// Reads one token, comment or blank.
    fn step(&mut self) {
        let start = self.pos;
        if let Some(delimiter) = self.delimiter
            && self.rest().starts_with(delimiter)
        {
            self.pos += delimiter.len();
            self.plain(Kind::Break, start);
            return;
        }
        let c = self.peek(0);
        if c == b'\n' {
            self.pos += 1;
            self.fresh_line = true;
            if std::mem::take(&mut self.data_follows) {
                self.skip_copy_data();
            }
            return;
        }
        if c <= b' ' || c == 0x7f || self.rest().starts_with('\u{FEFF}') {
            self.pos += if c == 0xef { 3 } else { 1 };
            return;
        }
        if self.comment() || self.client_command() {
            return;
        }
        match c {
            b'\'' => self.string(start, Escapes::None),
            b'"' if self.flavour.double_is_string => self.string(start, Escapes::None),
            b'"' | b'`' => self.ident(start, c),
            b'[' if self.bracket_is_quote() => self.ident(start, b']'),
            b'$' if self.flavour.dollar && self.dollar_string() => {}
            b'(' => self.single(Kind::Open),
            b')' => self.single(Kind::Close),
            b',' => self.single(Kind::Comma),
            b';' if self.delimiter.is_some() => self.single(Kind::InnerSemi),
            b';' => {
                self.data_follows |= self.starts_copy_data();
                self.single(Kind::Semi);
            }
            b'0'..=b'9' => self.number(),
            _ if self.word_starts() => self.word(),
            _ => self.operator(),
        }
    }

    /// One character that is a token.
    fn single(&mut self, kind: Kind) {
        let start = self.pos;
        self.pos += 1;
        self.plain(kind, start);
    }

    /// An operator: the longest of the few that matter, else one character.
    fn operator(&mut self) {
        let start = self.pos;
        let pair = self.bytes.get(start..start + 2).unwrap_or(&[]);
        self.pos += match pair {
            b"||" | b":=" | b"+=" | b"::" | b"<>" | b"!=" | b">=" | b"<=" | b"<<" | b">>" => 2,
            _ => self.rest().chars().next().map_or(1, char::len_utf8),
        };
        self.out.ambiguous |= self.slice(start, self.pos).starts_with('#');
        self.plain(Kind::Op, start);
    }

    /// A comment, or a bracket of a comment that holds code.
    fn comment(&mut self) -> bool {
        match (self.peek(0), self.peek(1)) {
            (b'-', b'-') if !self.flavour.dash_needs_space || self.peek(2) <= b' ' => {
                self.take_line();
                true
            }
            (b'#', _) if self.flavour.hash_comment => {
                self.take_line();
                true
            }
            (b'#', _) if self.flavour.dots && self.fresh_line && self.between_statements() => {
                self.take_line();
                true
            }
            (b'/', b'*') if self.flavour.code_comments && self.opens_code_comment() => true,
            (b'*', b'/') if self.code_comments > 0 => {
                self.code_comments -= 1;
                self.pos += 2;
                true
            }
            (b'/', b'*') => {
                self.block_comment();
                true
            }
            _ => false,
        }
    }

    /// `/*!50000` or `/*M!`: what follows is code.
    fn opens_code_comment(&mut self) -> bool {
        let skip = match (self.peek(2), self.peek(3)) {
            (b'!', _) => 3,
            (b'M', b'!') => 4,
            _ => return false,
        };
        self.pos += skip;
        while self.peek(0).is_ascii_digit() {
            self.pos += 1;
        }
        self.code_comments += 1;
        true
    }

    fn block_comment(&mut self) {
        let inside = self.pos + 2;
        let mut depth = 1_usize;
        self.pos = inside;
        while self.pos < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'*', b'/') => {
                    self.pos += 2;
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                (b'/', b'*') => {
                    self.out.ambiguous = true;
                    self.pos += 2;
                    depth += usize::from(self.flavour.nested_comments);
                }
                _ => self.pos += 1,
            }
        }
        self.out.unterminated.get_or_insert(inside);
    }

    /// A string, from its opening quote on; `start` is where its prefix starts.
    fn string(&mut self, start: usize, escapes: Escapes) {
        let quote = self.peek(0);
        let escapes = match escapes {
            Escapes::None if self.flavour.backslash => Escapes::Simple,
            other => other,
        };
        let inside = self.pos + 1;
        self.pos = inside;
        let end = self.find_close(quote, matches!(escapes, Escapes::Simple | Escapes::Numeric));
        let raw = self.slice(inside, end);
        let text = unquote(raw, char::from(quote), escapes);
        let verbatim = matches!(text, Cow::Borrowed(_)).then_some(inside);
        self.push(Kind::Str, text, start, verbatim);
    }

    /// Moves behind the closing quote and says where it stands.
    fn find_close(&mut self, quote: u8, backslash: bool) -> usize {
        let inside = self.pos;
        while self.pos < self.bytes.len() {
            let c = self.peek(0);
            if c == b'\\' {
                self.out.ambiguous = true;
                self.pos += if backslash { 2 } else { 1 };
            } else if c == quote && self.peek(1) == quote {
                self.pos += 2;
            } else if c == quote {
                self.pos += 1;
                return self.pos - 1;
            } else {
                self.pos += 1;
            }
        }
        self.pos = self.bytes.len();
        self.out.unterminated.get_or_insert(inside);
        self.pos
    }

    /// A quoted name.
    fn ident(&mut self, start: usize, close: u8) {
        let inside = self.pos + 1;
        self.pos = inside;
        let end = self.find_close(close, false);
        let text = unquote(self.slice(inside, end), char::from(close), Escapes::None);
        let verbatim = matches!(text, Cow::Borrowed(_)).then_some(inside);
        self.push(Kind::Ident, text, start, verbatim);
    }

    fn bracket_is_quote(&self) -> bool {
        match self.flavour.brackets {
            Brackets::Operator => false,
            Brackets::Identifier => true,
            Brackets::Plain => {
                let inside = self.rest().bytes().skip(1).take(128);
                let mut seen = false;
                for byte in inside {
                    match byte {
                        b']' => return seen,
                        b'a'..=b'z' | b'A'..=b'Z' | b'_' => seen = true,
                        b'0'..=b'9' | b' ' | b'-' | b'.' => {}
                        0x80.. => seen = true,
                        _ => return false,
                    }
                }
                false
            }
        }
    }

    /// `$tag$ … $tag$`; says whether it was one.
    fn dollar_string(&mut self) -> bool {
        let start = self.pos;
        let rest = self.rest();
        let Some(length) = rest.bytes().skip(1).position(|byte| byte == b'$') else { return false };
        let Some(tag) = rest.get(..length + 2) else { return false };
        let name = tag.trim_matches('$');
        let good = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !good {
            return false;
        }
        let inside = start + tag.len();
        let body = self.src.get(inside..).unwrap_or("");
        let length = body.find(tag);
        self.pos = length.map_or(self.bytes.len(), |length| inside + length + tag.len());
        let end = length.map_or(self.bytes.len(), |length| inside + length);
        if length.is_none() {
            self.out.unterminated.get_or_insert(inside);
        }
        let text = Cow::Borrowed(self.slice(inside, end));
        self.push(Kind::Str, text, start, Some(inside));
        true
    }

    fn number(&mut self) {
        let start = self.pos;
        let digit = |c: u8| word_byte(c) && c != b'$';
        while digit(self.peek(0)) || (self.peek(0) == b'.' && self.peek(1).is_ascii_digit()) {
            self.pos += 1;
        }
        let hex = self.slice(start, self.pos).strip_prefix("0x").and_then(unhex);
        if let Some(text) = hex.filter(|text| !text.is_empty()) {
            self.push(Kind::Str, Cow::Owned(text), start, None);
        } else {
            self.plain(Kind::Num, start);
        }
    }

    fn word_starts(&self) -> bool {
        match self.peek(0) {
            b'@' => word_byte(self.peek(1)) || self.peek(1) == b'@',
            b'#' => self.flavour.sqlcmd && (word_byte(self.peek(1)) || self.peek(1) == b'#'),
            c => word_byte(c) && c != b'$',
        }
    }

    fn word(&mut self) {
        let start = self.pos;
        while matches!(self.peek(0), b'@' | b'#') && self.word_starts() {
            self.pos += 1;
        }
        loop {
            let c = self.peek(0);
            let hash = c == b'#' && self.flavour.sqlcmd && !self.flavour.hash_comment;
            let at_end = self.delimiter.is_some_and(|end| self.rest().starts_with(end));
            if !(word_byte(c) || hash) || at_end {
                break;
            }
            self.pos += 1;
        }
        let text = self.slice(start, self.pos);
        if self.peek(0) == b'\'' && self.prefixed_string(start, text) {
            return;
        }
        if self.peek(0) == b'&' && self.peek(1) == b'\'' && text.eq_ignore_ascii_case("u") {
            self.pos += 1;
            self.string(start, Escapes::Unicode);
            return;
        }
        self.plain(Kind::Word, start);
    }

    /// `E'…'`, `N'…'`, `X'…'`, `q'[…]'`; says whether it was one.
    fn prefixed_string(&mut self, start: usize, prefix: &str) -> bool {
        match prefix {
            "e" | "E" if self.flavour.dollar => self.string(start, Escapes::Numeric),
            "n" | "N" | "b" | "B" | "r" | "R" => self.string(start, Escapes::None),
            "x" | "X" => {
                self.string(start, Escapes::None);
                if let Some(token) = self.out.tokens.last_mut()
                    && let Some(text) = unhex(&token.text)
                {
                    token.text = Cow::Owned(text);
                    token.verbatim = None;
                }
            }
            "q" | "Q" | "nq" | "NQ" if self.flavour.sqlplus => return self.oracle_string(start),
            _ => return false,
        }
        true
    }

    /// Oracle's `q'[ … ]'`.
    fn oracle_string(&mut self, start: usize) -> bool {
        let close = match self.peek(1) {
            b'[' => "]'",
            b'{' => "}'",
            b'(' => ")'",
            b'<' => ">'",
            b'!' => "!'",
            b'|' => "|'",
            b'~' => "~'",
            _ => return false,
        };
        let inside = self.pos + 2;
        let body = self.src.get(inside..).unwrap_or("");
        let length = body.find(close).unwrap_or_else(|| {
            self.out.unterminated.get_or_insert(inside);
            body.len()
        });
        self.pos = (inside + length + close.len()).min(self.bytes.len());
        let text = Cow::Borrowed(self.slice(inside, inside + length));
        self.push(Kind::Str, text, start, Some(inside));
        true
    }

    /// Whether the statement just read is a `COPY … FROM STDIN`, so that data follows.
    pub(super) fn starts_copy_data(&self) -> bool {
        if !self.flavour.psql || self.copy_never_ends {
            return false;
        }
        let statement = self.out.tokens.get(self.statement..).unwrap_or(&[]);
        statement.first().is_some_and(|token| token.is("copy"))
            && statement
                .windows(2)
                .any(|pair| matches!(pair, [from, stdin] if from.is("from") && stdin.is("stdin")))
    }

    /// Moves behind the line `\.` that ends the data, if there is one.
    fn skip_copy_data(&mut self) {
        let mut at = self.pos;
        for line in self.rest().split_inclusive('\n') {
            if line.trim_end() == "\\." {
                self.pos = at + line.len();
                return;
            }
            at += line.len();
        }
        self.copy_never_ends = true;
    }
}

/// Whether a byte may stand inside a plain name.
pub(super) const fn word_byte(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$') || c >= 0x80
}
