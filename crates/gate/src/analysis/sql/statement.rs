//! Where statements end, which of them only define or describe something, and where inside them
//! another statement starts.

use super::Reader;
use super::token::{Kind, Token, kind_at, word_at};

/// What a definition defines: its body runs later, if ever.
const DEFINED: [&str; 15] = [
    "function",
    "procedure",
    "proc",
    "trigger",
    "event",
    "package",
    "rule",
    "view",
    "type",
    "macro",
    "task",
    "policy",
    "routine",
    "aggregate",
    "operator",
];

/// The definitions whose body may hold `BEGIN … END`.
const WITH_BODY: [&str; 8] =
    ["function", "procedure", "proc", "trigger", "event", "package", "task", "routine"];

/// Other things that are created: whatever follows is not a body.
const WITHOUT_BODY: [&str; 14] = [
    "table",
    "index",
    "database",
    "schema",
    "user",
    "role",
    "sequence",
    "extension",
    "server",
    "publication",
    "subscription",
    "tablespace",
    "login",
    "stage",
];

/// Statements that speak about other statements without running them.
const HARMLESS: [&str; 11] = [
    "grant", "revoke", "deny", "audit", "noaudit", "comment", "show", "help", "security", "lock",
    "unlock",
];

/// Words that are followed by a new statement.
const OPENERS: [&str; 8] = ["begin", "then", "else", "loop", "do", "atomic", "query", "analyze"];

/// Words that start a statement which is certainly not part of a declaration.
const VERBS: [&str; 20] = [
    "drop", "delete", "update", "truncate", "select", "insert", "create", "alter", "with",
    "commit", "rollback", "grant", "revoke", "call", "exec", "execute", "do", "copy", "explain",
    "prepare",
];

impl Reader {
    /// Reads a run of tokens, statement by statement.
    pub(super) fn statements(&mut self, tokens: &[Token<'_>]) {
        let mut bodies = true;
        let mut start = 0;
        while start < tokens.len() {
            let (mut end, whole) = self.statement_end(tokens, start, bodies);
            if !whole {
                // A body that never ends is none: a name was taken for its BEGIN.
                bodies = false;
                end = self.statement_end(tokens, start, false).0;
            }
            let statement = tokens.get(start..end).unwrap_or(&[]);
            if !statement.is_empty() {
                self.statement(statement);
            }
            if tokens.get(end).is_some_and(|token| token.text == "\\gexec") {
                self.run_results(statement);
            }
            start = end + 1;
        }
    }

    /// Where the statement ends, and whether its body was complete.
    fn statement_end(&self, tokens: &[Token<'_>], start: usize, bodies: bool) -> (usize, bool) {
        let rest = tokens.get(start..).unwrap_or(&[]);
        let defined = definition(rest);
        let bodied = bodies
            && defined
                .and_then(|index| rest.get(index))
                .is_some_and(|token| token.is_any(&WITH_BODY));
        let batch = defined.is_some() && self.flavour.definition_takes_batch;
        let mut depth = 0_usize;
        let mut had_body = false;
        let mut declares = false;
        for (index, token) in rest.iter().enumerate() {
            match token.kind {
                Kind::Break => return (start + index, true),
                Kind::Semi if batch => {}
                Kind::Semi if !bodied => return (start + index, true),
                Kind::Semi if depth > 0 => {}
                Kind::Semi if declares && !had_body && declaration_follows(rest, index) => {}
                Kind::Semi => return (start + index, true),
                Kind::Word if bodied && Some(index) > defined.map(|at| at + 1) => {
                    if self.opens_body(rest, index) {
                        depth += 1;
                        had_body = true;
                    } else if token.is("case") && !word_at(rest, index.wrapping_sub(1), "end") {
                        depth += usize::from(depth > 0);
                    } else if token.is("end") && !closes_inner(rest, index) {
                        depth = depth.saturating_sub(1);
                    } else if token.is_any(&["as", "is"]) {
                        declares |= self.flavour.sqlplus && !kind_at(rest, index + 1, Kind::Str);
                    }
                }
                _ => {}
            }
        }
        (tokens.len(), depth == 0)
    }

    fn opens_body(&self, tokens: &[Token<'_>], index: usize) -> bool {
        word_at(tokens, index, "begin")
            && !tokens.get(index.wrapping_sub(1)).is_some_and(|token| token.is_op("."))
            && (!self.flavour.bodies_are_atomic || word_at(tokens, index + 1, "atomic"))
    }

    /// Reads one statement.
    pub(super) fn statement(&mut self, tokens: &[Token<'_>]) {
        let Some(first) = tokens.first() else { return };
        if first.kind == Kind::Word && first.is_unknown() {
            self.opaque("a statement starts with a value that is not known", first.span);
            return;
        }
        if first.is_op(":") && self.flavour.psql {
            return self.psql_variable(tokens);
        }
        if first.is_any(&["explain", "describe", "desc"]) {
            if let Some(inner) = explained(tokens) {
                self.statement(inner);
            }
            return;
        }
        if definition(tokens).is_some() || describes(tokens) {
            return;
        }
        self.assignments(tokens);
        self.heads(tokens);
    }

    /// Looks at every place in a statement where a statement may start.
    fn heads(&mut self, tokens: &[Token<'_>]) {
        let mut depth = 0_usize;
        let with = word_at(tokens, 0, "with");
        let prepare = word_at(tokens, 0, "prepare");
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::Word => {
                    let before = index.checked_sub(1).and_then(|at| tokens.get(at));
                    let opened = match before {
                        None => true,
                        Some(before) => {
                            before.kind == Kind::InnerSemi
                                || before.is_any(&OPENERS)
                                || before.is_op(">>")
                                || with && depth == 0 && before.kind == Kind::Close
                                || prepare && before.is("as")
                        }
                    };
                    let inside = before.is_some_and(|before| before.kind == Kind::Open);
                    if opened {
                        self.head(tokens, index);
                    } else if inside {
                        // A list of columns may start with a column of that name.
                        if token.is("update") || word_at(tokens, index + 1, "from") {
                            self.rows(tokens, index);
                        }
                    } else {
                        self.loose_head(tokens, index, depth);
                    }
                    if kind_at(tokens, index + 1, Kind::Open) {
                        self.function(tokens, index);
                    }
                }
                _ => {}
            }
        }
    }

    /// A place where only some databases, or procedural code, start a statement.
    fn loose_head(&mut self, tokens: &[Token<'_>], index: usize, depth: usize) {
        let Some(token) = tokens.get(index) else { return };
        if self.procedural && token.is("execute") {
            return self.head(tokens, index);
        }
        if self.procedural && word_at(tokens, index.wrapping_sub(1), "in") {
            return self.rows(tokens, index);
        }
        if !self.flavour.heads_anywhere || depth > 0 {
            return;
        }
        let before = index.checked_sub(1).and_then(|at| tokens.get(at));
        let part = before.is_some_and(|before| {
            before.is_any(&["on", "for", "of", "after", "before", "or", "key", "with", "instead"])
                || before.kind == Kind::Comma
                || before.is_op(".")
        });
        if part {
            return;
        }
        let next = tokens.get(index + 1);
        let exact = self.flavour.definition_takes_batch;
        let starts = if token.is("drop") {
            true
        } else if token.is("truncate") {
            next.is_some_and(|next| next.is("table"))
        } else if token.is("delete") {
            exact && next.is_some_and(|next| next.is_any(&["from", "top"]) || next.is_name())
        } else if token.is("update") {
            exact && next.is_some_and(Token::is_name)
        } else {
            token.is_any(&["exec", "execute"])
        };
        if starts {
            self.head(tokens, index);
        }
    }
}

/// Where a definition says what it defines, when the statement is one.
fn definition(tokens: &[Token<'_>]) -> Option<usize> {
    let first = tokens.first()?;
    if !first.is_any(&["create", "alter"]) {
        return None;
    }
    for (index, token) in tokens.iter().enumerate().take(16).skip(1) {
        if token.ends_statement() || token.is_any(&WITHOUT_BODY) {
            return None;
        }
        if token.is_any(&DEFINED) {
            return Some(index);
        }
    }
    None
}

/// Whether a statement only speaks about others: rights, comments, publications.
fn describes(tokens: &[Token<'_>]) -> bool {
    let Some(first) = tokens.first() else { return false };
    let second = tokens.get(1);
    first.is_any(&HARMLESS)
        || first.is("alter")
            && second.is_some_and(|token| {
                token.is_any(&["publication", "extension", "default", "role", "user", "group"])
            })
}

/// Whether an `END` closes something that was not counted.
fn closes_inner(tokens: &[Token<'_>], index: usize) -> bool {
    tokens.get(index + 1).is_some_and(|next| next.is_any(&["if", "loop", "while", "repeat", "for"]))
}

/// Whether what follows a `;` still belongs to the declarations before a body's BEGIN.
fn declaration_follows(tokens: &[Token<'_>], semicolon: usize) -> bool {
    tokens.get(semicolon + 1).is_some_and(|next| next.is_name() && !next.is_any(&VERBS))
}

/// The statement that an EXPLAIN really runs, if it does.
fn explained<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let mut runs = false;
    let mut index = 1;
    if kind_at(tokens, 1, Kind::Open) {
        let close = tokens.iter().position(|token| token.kind == Kind::Close)?;
        let options = tokens.get(2..close)?;
        runs = options.iter().enumerate().any(|(at, option)| {
            option.is_any(&["analyze", "analyse"])
                && !options.get(at + 1).is_some_and(|value| {
                    value.is_any(&["false", "off"]) || value.text == "0" || value.text == "off"
                })
        });
        index = close + 1;
    }
    while let Some(token) = tokens.get(index) {
        if token.is_any(&["analyze", "analyse"]) {
            runs = true;
        } else if token.is_any(&VERBS) || token.is_unknown() {
            return if runs { tokens.get(index..) } else { None };
        }
        index += 1;
    }
    None
}
