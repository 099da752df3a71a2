//! DELETE and UPDATE: do they reach every row?

use aurora_model::Span;

use super::head::{is_temporary, names};
use super::token::{Kind, Token, kind_at, word_at};
use super::{Reader, SqlKind};

/// Words between the verb and the table.
const MODIFIERS: [&str; 10] = [
    "low_priority",
    "quick",
    "ignore",
    "only",
    "or",
    "replace",
    "rollback",
    "abort",
    "fail",
    "from",
];

/// Words that start the next statement where none is needed to end the one before.
const NEXT: [&str; 16] = [
    "select", "insert", "delete", "drop", "truncate", "exec", "execute", "declare", "while",
    "return", "print", "create", "alter", "commit", "rollback", "merge",
];

/// Words that end a condition.
const AFTER_WHERE: [&str; 9] =
    ["returning", "order", "limit", "option", "settings", "with", "then", "allow", "using"];

/// What bounds a DELETE or UPDATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Nothing: every row changes.
    None,
    /// A condition or a limit.
    Some,
    /// Text that is not known may bound it.
    Unknown,
}

impl Reader {
    /// Reads a DELETE or UPDATE whose verb stands here, if it is one.
    pub(super) fn rows(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(verb) = tokens.get(index) else { return };
        let deletes = verb.is("delete");
        if !deletes && !verb.is("update") {
            return;
        }
        let mut at = index + 1;
        let mut from = false;
        while let Some(token) = tokens.get(at).filter(|token| token.is_any(&MODIFIERS)) {
            from |= token.is("from");
            at += 1;
        }
        if word_at(tokens, at, "top") {
            return;
        }
        let Some(table) = tokens.get(at) else { return };
        let (list, span) = names(tokens, at, verb.span);
        let not_a_statement =
            table.is_any(&["set", "where", "when", "on", "cascade", "statistics"])
                || matches!(table.kind, Kind::Comma | Kind::Close | Kind::Str) && !from
                || kind_at(tokens, at + 1, Kind::Comma) && !from && !deletes && !sets(tokens, at)
                || list.is_empty() && !from;
        if not_a_statement || list.iter().any(|name| is_temporary(name)) {
            return;
        }
        if self.budget == 0 {
            return self.opaque("too many statements inside one another", verb.span);
        }
        let end = self.end_of_rows(tokens, at);
        self.spend(end - index);
        let body = tokens.get(at..end).unwrap_or(&[]);
        if !deletes && !sets(body, 0) {
            return;
        }
        let name = list.join(", ");
        match bound(body) {
            Bound::Some => {}
            Bound::Unknown => {
                self.opaque("whether the statement has a condition is not known", span);
            }
            Bound::None => {
                let statement =
                    if deletes { format!("DELETE FROM {name}") } else { format!("UPDATE {name}") };
                self.report(SqlKind::ChangeAllRows { statement }, span);
            }
        }
    }

    /// Where the statement that has its table here ends.
    fn end_of_rows(&self, tokens: &[Token<'_>], from: usize) -> usize {
        let mut depth = 0_usize;
        let mut cases = 0_usize;
        for (index, token) in tokens.iter().enumerate().skip(from) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => return index,
                Kind::Close => depth -= 1,
                Kind::InnerSemi => return index,
                Kind::Word if depth == 0 && index > from => {
                    if token.is("case") {
                        cases += 1;
                    } else if token.is("end") {
                        if cases == 0 {
                            return index;
                        }
                        cases -= 1;
                    } else if cases == 0
                        && !kind_at(tokens, index + 1, Kind::Open)
                        && self.flavour.heads_anywhere
                        && (token.is_any(&NEXT)
                            || self.flavour.definition_takes_batch
                                && token.is_any(&["if", "else", "begin", "use"]))
                    {
                        return index;
                    }
                }
                _ => {}
            }
        }
        tokens.len()
    }

    /// ClickHouse's `ALTER TABLE x DELETE WHERE …` and `ALTER TABLE x UPDATE … WHERE …`.
    pub(super) fn mutation(&mut self, tokens: &[Token<'_>], index: usize, table: &str, span: Span) {
        let Some(verb) = tokens.get(index) else { return };
        let deletes = verb.is("delete") && word_at(tokens, index + 1, "where");
        let updates =
            verb.is("update") && tokens.get(index + 2).is_some_and(|token| token.is_op("="));
        if !deletes && !updates {
            return;
        }
        let body = tokens.get(index + 1..).unwrap_or(&[]);
        if self.spend(body.len()) && bound(body) == Bound::None {
            let verb = verb.text.to_ascii_uppercase();
            let statement = format!("ALTER TABLE {table} {verb}");
            self.report(SqlKind::ChangeAllRows { statement }, span);
        }
    }
}

/// Whether a SET follows outside parentheses.
fn sets(tokens: &[Token<'_>], from: usize) -> bool {
    let mut depth = 0_usize;
    tokens.iter().skip(from).any(|token| {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is("set")
    })
}

/// What bounds a statement, given everything from its table on.
fn bound(tokens: &[Token<'_>]) -> Bound {
    let mut depth = 0_usize;
    let mut unknown = false;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Word if depth == 0 => {
                if token.is("where") {
                    let condition = tokens.get(index + 1..).unwrap_or(&[]);
                    if !always_true(condition_of(condition)) {
                        return Bound::Some;
                    }
                } else if token.is_any(&["limit", "fetch"]) && index > 0 {
                    return Bound::Some;
                } else if index > 0 && token.is_unknown() {
                    // After a name or a value, a bare unknown can only be a clause.
                    unknown |= tokens.get(index - 1).is_some_and(|before| {
                        matches!(before.kind, Kind::Ident | Kind::Str | Kind::Num | Kind::Close)
                            || before.kind == Kind::Word && !before.is_any(&BEFORE_NAMES)
                    });
                }
            }
            _ => {}
        }
    }
    if unknown { Bound::Unknown } else { Bound::None }
}

/// Words that are followed by a name or a value.
const BEFORE_NAMES: [&str; 14] = [
    "set",
    "as",
    "join",
    "using",
    "from",
    "on",
    "and",
    "or",
    "not",
    "by",
    "only",
    "partition",
    "returning",
    "into",
];

/// The condition after a WHERE, up to the clause that ends it.
fn condition_of<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let mut depth = 0_usize;
    let end = tokens.iter().position(|token| {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 0 => return true,
            Kind::Close => depth -= 1,
            _ => {}
        }
        depth == 0 && token.is_any(&AFTER_WHERE)
    });
    tokens.get(..end.unwrap_or(tokens.len())).unwrap_or(tokens)
}

/// Whether a condition holds for every row, as far as its form tells.
fn always_true(condition: &[Token<'_>]) -> bool {
    let mut any = false;
    for part in split(condition, "or") {
        let all = split(part, "and").into_iter().all(certain);
        any |= all;
    }
    any
}

/// Splits at a word outside parentheses.
fn split<'t, 'a>(tokens: &'t [Token<'a>], at: &str) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0_usize;
    tokens
        .split(|token| {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.is(at)
        })
        .collect()
}

/// Whether one comparison is always true: `1`, `TRUE`, `1 = 1`, `'a' = 'a'`, `id = id`, `1 <> 0`.
fn certain(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [one] => {
            one.is("true")
                || one.kind == Kind::Num && !one.text.trim_matches(['0', '.']).is_empty()
                || one.kind == Kind::Str && matches!(one.text.as_ref(), "1" | "t" | "true")
        }
        [not, one] => {
            not.is("not") && (one.is("false") || one.kind == Kind::Num && one.text == "0")
        }
        [left, op, right] if op.kind == Kind::Op || op.is_any(&["is", "like"]) => {
            let same = left.text.eq_ignore_ascii_case(&right.text);
            let plain = matches!(left.kind, Kind::Num | Kind::Str) && left.kind == right.kind;
            match op.text.to_ascii_lowercase().as_str() {
                "=" | "is" | "like" => {
                    same && left.kind == right.kind && !left.is_unknown()
                        || op.is("like") && right.kind == Kind::Str && right.text == "%"
                }
                "<>" | "!=" => plain && !same,
                ">" | ">=" | "<" | "<=" => compared(left, &op.text, right),
                _ => false,
            }
        }
        [left, eq, eq2, right] if eq.is_op("=") && eq2.is_op("=") => {
            left.kind == right.kind && left.text.eq_ignore_ascii_case(&right.text)
        }
        [open, inner @ .., close] if open.kind == Kind::Open && close.kind == Kind::Close => {
            inner.len() < 64 && always_true(inner)
        }
        _ => false,
    }
}

/// Whether two numbers stand in this order.
fn compared(left: &Token<'_>, op: &str, right: &Token<'_>) -> bool {
    let (Ok(left), Ok(right)) = (left.text.parse::<f64>(), right.text.parse::<f64>()) else {
        return false;
    };
    match op {
        ">" => left > right,
        ">=" => left >= right,
        "<" => left < right,
        _ => left <= right,
    }
}
