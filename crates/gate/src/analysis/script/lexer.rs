//! One tolerant lexer for all scripting languages: strings, comments, names and punctuation.

use aurora_model::Span;

use super::super::shell::machine::ScriptLang;

/// A part of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Lit(String),
    /// A variable's name, with its sigil if the language writes one.
    Var(String),
    /// An expression, by its place in the code.
    Code(Span),
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A name, a keyword or a variable.
    Ident,
    /// A number.
    Num,
    /// A string.
    Str(Vec<Part>),
    /// A template literal, which a name in front of it may interpret.
    Template(Vec<Part>),
    /// Text that the language itself gives to a shell (backticks, `qx`, `%x`).
    Shell(Vec<Part>),
    /// A list of words (`qw`, `%w`).
    Words(Vec<String>),
    /// A file pattern that the language itself expands (`<*.c>`).
    Glob(Vec<Part>),
    /// A regular expression; the code that is its replacement (`s/x/code/e`).
    Regex(Option<Span>),
    /// An operator or other punctuation.
    Op,
    /// An opening bracket.
    Open(u8),
    /// A closing bracket.
    Close(u8),
    /// A line's end, with the indentation of the next line.
    Newline(usize),
}

/// A token with its place in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// The lexer's state; `literal.rs` holds its reading of strings.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    pub(super) src: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) lang: ScriptLang,
    pub(super) tokens: Vec<Token>,
    /// Where the body of the last here-document ends, when the current line has one.
    pub(super) heredoc_end: Option<usize>,
    brackets: Vec<u8>,
}

const OPS: &[&str] = &[
    "===", "!==", "**=", "...", "<=>", "||=", "&&=", "//=", "?->", "<<=", ">>=", "??=", "==", "!=",
    "<=", ">=", "&&", "||", "->", "=>", "::", "..", "+=", "-=", "*=", "/=", ".=", "++", "--", "**",
    "//", "<<", ">>", "?.", "&.", "??", "=~", "!~", "|=", "&=", ":=", "~=",
];

/// Words after which an operand follows, so that a slash opens a regular expression.
const OPERAND_FOLLOWS: &[&str] = &[
    "and", "assert", "await", "case", "delete", "do", "else", "elsif", "grep", "if", "in", "map",
    "new", "not", "or", "print", "puts", "return", "split", "throw", "typeof", "unless", "until",
    "void", "when", "while", "yield",
];

/// The tokens of `code` between two places.
pub fn tokens(lang: ScriptLang, code: &str, range: Span) -> Vec<Token> {
    let mut lexer = Lexer {
        src: code,
        bytes: code.as_bytes(),
        at: range.start,
        end: range.end.min(code.len()),
        lang,
        tokens: Vec::new(),
        heredoc_end: None,
        brackets: Vec::new(),
    };
    lexer.run();
    lexer.tokens
}

impl Lexer<'_> {
    pub(super) fn byte(&self, offset: usize) -> u8 {
        let at = self.at + offset;
        if at < self.end { self.bytes.get(at).copied().unwrap_or(0) } else { 0 }
    }

    pub(super) fn rest(&self) -> &str {
        self.src.get(self.at..self.end).unwrap_or("")
    }

    pub(super) fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token { kind, span: Span::new(start, self.at) });
    }

    pub(super) fn char_len(&self) -> usize {
        self.rest().chars().next().map_or(1, char::len_utf8)
    }

    /// Whether the token before ends an operand: then a slash divides and `<` compares.
    pub(super) fn after_operand(&self) -> bool {
        let Some(last) = self.tokens.last() else { return false };
        match &last.kind {
            Kind::Ident => {
                let text = self.src.get(last.span.start..last.span.end).unwrap_or("");
                OPERAND_FOLLOWS.binary_search(&text).is_err()
            }
            Kind::Op => {
                matches!(self.src.get(last.span.start..last.span.end), Some("++" | "--"))
            }
            Kind::Open(_) | Kind::Newline(_) => false,
            Kind::Close(b'}') => false,
            _ => true,
        }
    }

    fn run(&mut self) {
        if self.at == 0 && self.rest().starts_with("#!") {
            self.skip_line();
        }
        if self.lang == ScriptLang::Python {
            self.newline();
        }
        while self.at < self.end {
            let before = self.at;
            self.one();
            if self.at == before {
                self.at += self.char_len();
            }
        }
    }

    fn one(&mut self) {
        let start = self.at;
        match self.byte(0) {
            b'\n' => self.line_end(),
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\\' if self.byte(1) == b'\n' => self.at += 2,
            b'\\' if self.byte(1) == b'\r' && self.byte(2) == b'\n' => self.at += 3,
            _ if self.comment() || self.literal() => {}
            byte @ (b'(' | b'[' | b'{') => {
                self.brackets.push(byte);
                self.at += 1;
                self.push(Kind::Open(byte), start);
            }
            byte @ (b')' | b']' | b'}') => {
                self.brackets.pop();
                self.at += 1;
                self.push(Kind::Close(byte), start);
            }
            b'0'..=b'9' => self.number(),
            _ if self.ident() => {}
            _ => self.operator(),
        }
    }

    fn operator(&mut self) {
        let start = self.at;
        let len = OPS.iter().find(|op| self.rest().starts_with(**op)).map_or(1, |op| op.len());
        self.at += len.max(if len == 1 { self.char_len() } else { 0 });
        self.push(Kind::Op, start);
    }

    fn number(&mut self) {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric()
            || self.byte(0) == b'_'
            || (self.byte(0) == b'.' && self.byte(1).is_ascii_digit())
        {
            self.at += 1;
        }
        self.push(Kind::Num, start);
    }

    fn line_end(&mut self) {
        self.at += 1;
        if let Some(end) = self.heredoc_end.take() {
            self.at = end.max(self.at);
        }
        let significant = match self.lang {
            ScriptLang::Python => self.brackets.is_empty(),
            ScriptLang::Ruby | ScriptLang::Awk => {
                !matches!(self.brackets.last(), Some(b'(' | b'['))
            }
            _ => false,
        };
        if significant {
            self.newline();
        }
    }

    /// Notes a line's end, unless the next line is empty, a comment or goes on with a call.
    fn newline(&mut self) {
        let start = self.at;
        let mut indent = 0;
        while matches!(self.byte(0), b' ' | b'\t') {
            indent += if self.byte(0) == b'\t' { 8 } else { 1 };
            self.at += 1;
        }
        let empty = matches!(self.byte(0), b'\n' | b'\r' | b'#') || self.at >= self.end;
        let goes_on = self.lang == ScriptLang::Ruby
            && (self.byte(0) == b'.' || self.rest().starts_with("&."));
        if !empty && !goes_on {
            self.push(Kind::Newline(indent), start);
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.end && self.byte(0) != b'\n' {
            self.at += 1;
        }
    }

    fn skip_past(&mut self, close: &str) {
        let found = self.rest().find(close).map(|offset| offset + close.len());
        self.at = found.map_or(self.end, |offset| self.at + offset);
    }

    fn comment(&mut self) -> bool {
        use ScriptLang::{Awk, JavaScript, Lua, Perl, Php, Python, Ruby};
        let (first, second) = (self.byte(0), self.byte(1));
        match self.lang {
            Python | Ruby | Awk | Perl if first == b'#' => {
                self.skip_line();
                true
            }
            Php if first == b'#' && second != b'[' => {
                self.skip_line();
                true
            }
            Perl | Ruby
                if first == b'=' && self.at_line_start() && second.is_ascii_alphabetic() =>
            {
                let close = if self.lang == Perl { "\n=cut" } else { "\n=end" };
                self.skip_past(close);
                self.skip_line();
                true
            }
            JavaScript | Php if first == b'/' && second == b'/' => {
                self.skip_line();
                true
            }
            JavaScript | Php if first == b'/' && second == b'*' => {
                self.skip_past("*/");
                true
            }
            Lua if first == b'-' && second == b'-' => {
                self.at += 2;
                if self.byte(0) != b'[' || !self.lua_long(true) {
                    self.skip_line();
                }
                true
            }
            Php if self.rest().starts_with("<?") => {
                self.at += if self.rest().starts_with("<?php") { 5 } else { 2 };
                true
            }
            Php if first == b'?' && second == b'>' => {
                self.at += 2;
                true
            }
            _ => false,
        }
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.bytes.get(self.at - 1) == Some(&b'\n')
    }

    fn ident(&mut self) -> bool {
        let start = self.at;
        let sigils: &[u8] = match self.lang {
            ScriptLang::Perl if !self.after_operand() => b"$@%&",
            ScriptLang::Perl => b"$@",
            ScriptLang::Php => b"$",
            ScriptLang::Ruby => b"$@",
            ScriptLang::JavaScript => b"#@",
            _ => b"",
        };
        let mut at = self.at;
        while at < self.end && self.bytes.get(at).is_some_and(|byte| sigils.contains(byte)) {
            at += 1;
        }
        let sigil = at > start;
        let name_start = at;
        while at < self.end {
            let Some(&byte) = self.bytes.get(at) else { break };
            let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            let dollar = byte == b'$' && self.lang == ScriptLang::JavaScript;
            let package = self.lang == ScriptLang::Perl
                && self.bytes.get(at..at + 3).is_some_and(|next| {
                    next.starts_with(b"::") && next.last().is_some_and(u8::is_ascii_alphabetic)
                });
            if package {
                at += 2;
            } else if word || dollar {
                at += 1;
            } else {
                break;
            }
        }
        if at == name_start {
            // A variable such as `$_`, `$!` or `$@` of Perl and Ruby; `$` before a bracket is not one.
            let sigils = self.src.get(start..at).unwrap_or("");
            let special = sigil
                && matches!(self.lang, ScriptLang::Perl | ScriptLang::Ruby)
                && self.bytes.get(at).is_some_and(|byte| {
                    b"!/\\,;.&0^|#".contains(byte)
                        || (sigils == "$" && b"`'\"@<>+~?".contains(byte))
                        || (sigils == "*" && *byte == b'`')
                });
            if !special {
                return self.lone_sigil(sigil);
            }
            at += 1;
        } else if self.lang == ScriptLang::Ruby
            && matches!(self.bytes.get(at), Some(b'!' | b'?'))
            && !matches!(self.bytes.get(at + 1), Some(b'=' | b'~'))
        {
            at += 1;
        }
        self.at = at.min(self.end);
        self.push(Kind::Ident, start);
        true
    }

    /// `$`, `@` before a bracket (`@{…}`, `$$x`) is dropped: what follows is what counts.
    fn lone_sigil(&mut self, sigil: bool) -> bool {
        if sigil && self.lang == ScriptLang::Perl && self.byte(1) == b'{' {
            self.at += 1;
            return true;
        }
        false
    }
}
