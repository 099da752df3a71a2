//! What SQL text would destroy: statement heads on real tokens, constants followed into dynamic SQL,
//! and the commands that a database's client keeps to itself.

mod client;
mod constant;
mod dynamic;
mod files;
mod flavour;
mod head;
mod lex;
mod meta;
mod quote;
mod rows;
mod statement;
mod token;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use aurora_model::{Span, SqlDialect};

use flavour::{Flavour, GENERIC_BACKSLASH};
use meta::Deed;
use token::{Lexed, Token};

pub use files::{copied_files, with_variables};

/// How deep constants may hold constants that are code.
const MAX_NESTING: usize = 8;

/// How much may be read again, counted in bytes and tokens: this and four times the text.
const BUDGET: usize = 64 << 10;

/// How many findings of one kind are worth reporting.
const MAX_OF_A_KIND: usize = 64;

/// One thing that SQL text would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlFinding {
    /// What.
    pub kind: SqlKind,
    /// Which bytes of the text do it.
    pub span: Span,
}

/// What SQL text would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlKind {
    /// A table, schema or database is dropped.
    Drop {
        /// `table users`, `database shop` …
        object: String,
    },
    /// A table or partition is emptied.
    Truncate {
        /// Which.
        object: String,
    },
    /// DELETE or UPDATE without a condition.
    ChangeAllRows {
        /// `DELETE FROM users`, `UPDATE users` …
        statement: String,
    },
    /// A shell runs a command; what is not known of it is U+FFFC.
    Shell {
        /// The command.
        command: String,
    },
    /// More SQL is read from a file.
    Include {
        /// Its name as written.
        file: String,
    },
    /// A file is written by the client.
    Write {
        /// Its name as written.
        file: String,
    },
    /// SQL runs that cannot be seen beforehand.
    Opaque {
        /// Why.
        why: String,
    },
}

impl SqlKind {
    /// The place of the kind among the kinds.
    const fn number(&self) -> usize {
        match self {
            Self::Drop { .. } => 0,
            Self::Truncate { .. } => 1,
            Self::ChangeAllRows { .. } => 2,
            Self::Shell { .. } => 3,
            Self::Include { .. } => 4,
            Self::Write { .. } => 5,
            Self::Opaque { .. } => 6,
        }
    }
}

/// Everything that a text would do that a policy may ask about. U+FFFC in it stands for a value
/// that is not known.
#[must_use]
pub fn analyse(text: &str, dialect: SqlDialect) -> Vec<SqlFinding> {
    let (mut findings, ambiguous) = read(text, Flavour::of(dialect));
    if ambiguous && dialect == SqlDialect::Generic {
        for finding in read(text, GENERIC_BACKSLASH).0 {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// The findings of one reading, and whether another reading is possible.
fn read(text: &str, flavour: Flavour) -> (Vec<SqlFinding>, bool) {
    let mut reader = Reader {
        flavour,
        findings: Vec::new(),
        counts: [0; 7],
        variables: BTreeMap::new(),
        nesting: 0,
        budget: text.len().saturating_mul(4).saturating_add(BUDGET),
        place: Place::Offset(0),
        procedural: false,
    };
    let ambiguous = reader.text(text);
    (reader.findings, ambiguous)
}

/// Where a nested text stands in the judged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Verbatim, from this byte on.
    Offset(usize),
    /// Made of what stands here.
    Within(Span),
}

/// One pass over a text and the constants in it.
struct Reader {
    flavour: Flavour,
    findings: Vec<SqlFinding>,
    /// How many findings there are of each kind.
    counts: [usize; 7],
    /// Values of variables, names in lower case; unknown parts are U+FFFC.
    variables: BTreeMap<String, String>,
    nesting: usize,
    budget: usize,
    place: Place,
    /// Inside a procedural block, where `EXECUTE name` runs a variable's text.
    procedural: bool,
}

impl Reader {
    /// Reads one text; says whether another reading is possible.
    fn text(&mut self, text: &str) -> bool {
        let lexed = lex::lex(text, self.flavour);
        let (mut at, mut seen) = (0, 0);
        for meta in &lexed.metas {
            let before = lexed.tokens.partition_point(|token| token.span.start < meta.span.start);
            // Only whole statements are read before the command, so that a client command in the
            // middle of a statement does not tear it.
            let new = lexed.tokens.get(seen..before).unwrap_or(&[]);
            if let Some(last) = new.iter().rposition(Token::ends_statement) {
                self.statements(lexed.tokens.get(at..=seen + last).unwrap_or(&[]));
                at = seen + last + 1;
            }
            seen = before;
            self.client_command(text, meta);
        }
        self.statements(lexed.tokens.get(at..).unwrap_or(&[]));
        self.file_functions(&lexed.tokens);
        self.beyond_the_end(text, &lexed);
        lexed.ambiguous
    }

    /// A quote that never ends may hide code from us that another reader would run.
    fn beyond_the_end(&mut self, text: &str, lexed: &Lexed<'_>) {
        let Some(start) = lexed.unterminated else { return };
        if self.nesting > 0 {
            return;
        }
        let mut second = Self {
            flavour: self.flavour,
            findings: Vec::new(),
            counts: [0; 7],
            variables: BTreeMap::new(),
            nesting: 1,
            budget: self.budget,
            place: Place::Offset(start),
            procedural: false,
        };
        second.text(text.get(start..).unwrap_or(""));
        if let Some(first) = second.findings.first() {
            let why = "a quote that never ends hides a dangerous statement".to_owned();
            self.findings.push(SqlFinding { kind: SqlKind::Opaque { why }, span: first.span });
        }
    }

    fn client_command(&mut self, text: &str, meta: &token::Meta<'_>) {
        for deed in meta::deeds(meta) {
            match deed {
                Deed::Shell(command) => self.report(SqlKind::Shell { command }, meta.span),
                Deed::Include(file) => self.report(SqlKind::Include { file }, meta.span),
                Deed::Write(file) => self.report(SqlKind::Write { file }, meta.span),
                Deed::Opaque(why) => self.opaque(why, meta.span),
                Deed::Set(name, value) => {
                    self.variables.insert(name, value);
                }
                Deed::Sql(skip) => {
                    let start = meta.span.start + skip;
                    let inner = text.get(start..meta.span.end).unwrap_or("");
                    self.nested(inner, Some(start), meta.span, false);
                    if let Some(file) = files::copied_by_client(inner) {
                        self.report(SqlKind::Write { file }, meta.span);
                    }
                }
            }
        }
    }

    /// Reads code that was found in a constant.
    fn nested(&mut self, text: &str, verbatim: Option<usize>, span: Span, procedural: bool) {
        if self.nesting >= MAX_NESTING || self.budget < text.len() {
            self.opaque("dynamic SQL is nested too deeply", span);
            return;
        }
        self.budget -= text.len();
        let place = match (self.place, verbatim) {
            (Place::Offset(base), Some(start)) => Place::Offset(base + start),
            (Place::Offset(base), None) => {
                Place::Within(Span::new(base + span.start, base + span.end))
            }
            (within @ Place::Within(_), _) => within,
        };
        let outer = (self.place, self.procedural);
        (self.place, self.procedural) = (place, procedural);
        self.nesting += 1;
        self.text(text);
        self.nesting -= 1;
        (self.place, self.procedural) = outer;
    }

    /// Takes from what may be read; says whether there was enough.
    fn spend(&mut self, cost: usize) -> bool {
        let enough = self.budget >= cost;
        self.budget = self.budget.saturating_sub(cost);
        enough
    }

    fn report(&mut self, kind: SqlKind, span: Span) {
        let span = match self.place {
            Place::Offset(base) => Span::new(base + span.start, base + span.end),
            Place::Within(outer) => outer,
        };
        let finding = SqlFinding { kind, span };
        let Some(count) = self.counts.get_mut(finding.kind.number()) else { return };
        // What a shell or a file does is judged by itself, so none of those may be left out.
        let matters = matches!(finding.kind, SqlKind::Shell { .. } | SqlKind::Include { .. });
        if (*count < MAX_OF_A_KIND || matters) && self.findings.last() != Some(&finding) {
            *count += 1;
            self.findings.push(finding);
        }
    }

    fn opaque(&mut self, why: &str, span: Span) {
        self.report(SqlKind::Opaque { why: why.to_owned() }, span);
    }
}
