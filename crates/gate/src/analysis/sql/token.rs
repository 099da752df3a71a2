//! The pieces that a SQL text falls into.

use std::borrow::Cow;

use aurora_model::Span;

/// Stands for a value that is not known beforehand.
pub(super) const UNKNOWN: char = '\u{FFFC}';

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a plain name, with `@` and `#` where they belong to names.
    Word,
    /// A quoted name; the text is the name.
    Ident,
    /// A string; the text is its value.
    Str,
    /// A number.
    Num,
    /// An operator or a lone character.
    Op,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `;`
    Semi,
    /// `;` while another delimiter ends statements.
    InnerSemi,
    /// The end of a statement by other means: `GO`, `\g`, a delimiter.
    Break,
}

/// One token with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text, without quotes and with escapes undone.
    pub text: Cow<'a, str>,
    /// Its place.
    pub span: Span,
    /// Where the text stands unchanged in the source, when it does.
    pub verbatim: Option<usize>,
}

impl Token<'_> {
    /// Whether it is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// Whether it is one of these keywords.
    pub(super) fn is_any(&self, keywords: &[&str]) -> bool {
        self.kind == Kind::Word && keywords.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Whether it is this operator.
    pub(super) fn is_op(&self, op: &str) -> bool {
        self.kind == Kind::Op && self.text == op
    }

    /// Whether it can be a name.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Ident)
    }

    /// Whether a part of it is not known.
    pub(super) fn is_unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }

    /// Whether it ends a statement.
    pub(super) fn ends_statement(&self) -> bool {
        matches!(self.kind, Kind::Semi | Kind::Break)
    }
}

/// Whether the token at an index is this keyword.
pub(super) fn word_at(tokens: &[Token<'_>], index: usize, keyword: &str) -> bool {
    tokens.get(index).is_some_and(|token| token.is(keyword))
}

/// Whether the token at an index is of this kind.
pub(super) fn kind_at(tokens: &[Token<'_>], index: usize, kind: Kind) -> bool {
    tokens.get(index).is_some_and(|token| token.kind == kind)
}

/// Whose command line a client command belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    /// psql: `\name args`.
    Psql,
    /// mysql: `\! cmd`, `source file` …
    Mysql,
    /// sqlite3, duckdb: `.name args`.
    Dot,
    /// sqlcmd: `:r file`, `!!cmd`.
    Sqlcmd,
    /// sqlplus and relatives: `@file`, `!cmd`.
    Sqlplus,
}

/// A command to the client rather than to the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meta<'a> {
    /// Whose.
    pub client: Client,
    /// The command without its line's end, from its introducing character on.
    pub text: &'a str,
    /// Its place.
    pub span: Span,
}

/// A text, taken apart.
#[derive(Debug, Default)]
pub(super) struct Lexed<'a> {
    /// What goes to the database.
    pub tokens: Vec<Token<'a>>,
    /// What the client does itself.
    pub metas: Vec<Meta<'a>>,
    /// Where the content of a quote or comment starts that never ends.
    pub unterminated: Option<usize>,
    /// Another database would have read the text differently.
    pub ambiguous: bool,
}
