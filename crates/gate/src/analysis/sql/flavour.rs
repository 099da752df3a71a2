//! How each database reads its text: which quotes, comments and client commands exist.

use aurora_model::SqlDialect;

/// What `[` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brackets {
    /// Subscripts and arrays.
    Operator,
    /// It opens a quoted identifier.
    Identifier,
    /// It opens a quoted identifier when what follows looks like a plain name.
    Plain,
}

/// The lexical rules of one database and its command-line client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flavour {
    /// `\'` does not end a string.
    pub backslash: bool,
    /// `#` starts a comment.
    pub hash_comment: bool,
    /// `--` is a comment only before a space.
    pub dash_needs_space: bool,
    /// Comments nest.
    pub nested_comments: bool,
    /// `/*! … */` is code.
    pub code_comments: bool,
    /// `$tag$ … $tag$` is a string.
    pub dollar: bool,
    /// `"…"` is a string rather than a name.
    pub double_is_string: bool,
    /// What `[` means.
    pub brackets: Brackets,
    /// Statements need no separator, so a statement may start anywhere.
    pub heads_anywhere: bool,
    /// A definition reaches up to the end of its batch.
    pub definition_takes_batch: bool,
    /// `BEGIN` opens a body only as `BEGIN ATOMIC`.
    pub bodies_are_atomic: bool,
    /// psql's backslash commands.
    pub psql: bool,
    /// mysql's named and backslash commands.
    pub mysql: bool,
    /// The dot commands of sqlite3 and duckdb.
    pub dots: bool,
    /// sqlcmd's `:r`, `!!` and `GO`.
    pub sqlcmd: bool,
    /// sqlplus's `@file`, `!cmd` and `/`.
    pub sqlplus: bool,
}

/// Nothing special: the rules that all others start from.
const PLAIN: Flavour = Flavour {
    backslash: false,
    hash_comment: false,
    dash_needs_space: false,
    nested_comments: false,
    code_comments: false,
    dollar: false,
    double_is_string: false,
    brackets: Brackets::Operator,
    heads_anywhere: false,
    definition_takes_batch: false,
    bodies_are_atomic: false,
    psql: false,
    mysql: false,
    dots: false,
    sqlcmd: false,
    sqlplus: false,
};

const POSTGRES: Flavour =
    Flavour { nested_comments: true, dollar: true, bodies_are_atomic: true, psql: true, ..PLAIN };

const MYSQL: Flavour = Flavour {
    backslash: true,
    hash_comment: true,
    dash_needs_space: true,
    code_comments: true,
    double_is_string: true,
    mysql: true,
    ..PLAIN
};

const SQLITE: Flavour = Flavour { brackets: Brackets::Identifier, dots: true, ..PLAIN };

const MSSQL: Flavour = Flavour {
    nested_comments: true,
    brackets: Brackets::Identifier,
    heads_anywhere: true,
    definition_takes_batch: true,
    sqlcmd: true,
    ..PLAIN
};

const GENERIC: Flavour = Flavour {
    nested_comments: true,
    code_comments: true,
    dollar: true,
    brackets: Brackets::Plain,
    heads_anywhere: true,
    psql: true,
    mysql: true,
    dots: true,
    sqlcmd: true,
    sqlplus: true,
    ..PLAIN
};

/// The other reading of a text whose dialect is not known and whose quoting is ambiguous.
pub(super) const GENERIC_BACKSLASH: Flavour =
    Flavour { backslash: true, hash_comment: true, nested_comments: false, ..GENERIC };

impl Flavour {
    /// The rules of a dialect.
    pub(super) const fn of(dialect: SqlDialect) -> Self {
        match dialect {
            SqlDialect::Generic => GENERIC,
            SqlDialect::Postgres => POSTGRES,
            SqlDialect::Mysql => MYSQL,
            SqlDialect::Sqlite => SQLITE,
            SqlDialect::Mssql => MSSQL,
        }
    }
}
