//! What a statement does, told from its first words.

use aurora_model::Span;

use super::token::{Kind, Token, kind_at, word_at};
use super::{Reader, SqlKind};

/// Words between DROP and the kind of thing that is dropped.
const DROP_MODIFIERS: [&str; 8] =
    ["foreign", "external", "dynamic", "iceberg", "snapshot", "hybrid", "virtual", "transient"];

/// What holds rows: dropping it loses data.
const DATA_HOLDERS: [&str; 8] = [
    "table",
    "tables",
    "database",
    "schema",
    "keyspace",
    "columnfamily",
    "measurement",
    "databases",
];

/// Words that make `DROP DATABASE x` or `DROP TABLE x` drop something smaller.
const SMALLER: [&str; 8] =
    ["link", "role", "scoped", "audit", "encryption", "function", "trigger", "mapping"];

/// Functions and procedures that run the SQL in their arguments.
const RUN_SQL: [&str; 8] = [
    "dblink_exec",
    "dblink",
    "dblink_send_query",
    "exec_ddl_statement",
    "query_to_xml",
    "openquery",
    "openrowset",
    "run_command_on_workers",
];

/// Functions that run a shell command.
const RUN_SHELL: [&str; 3] = ["sys_exec", "sys_eval", "xp_cmdshell"];

impl Reader {
    /// Reads what starts at this token, which stands where a statement may start.
    pub(super) fn head(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(token) = tokens.get(index) else { return };
        if token.is_unknown() {
            return self.opaque("a statement starts with a value that is not known", token.span);
        }
        // The words that matter are few, so the first letter sorts most heads out.
        match token.text.bytes().next().map(|byte| byte.to_ascii_lowercase()) {
            Some(b'd') if token.is("drop") => self.drop_head(tokens, index),
            Some(b'd') if token.is("delete") => self.rows(tokens, index),
            Some(b'd') if token.is("do") => self.do_block(tokens, index),
            Some(b'u') if token.is("update") => self.rows(tokens, index),
            Some(b't') if token.is("truncate") => self.truncate(tokens, index),
            Some(b'a') if token.is("alter") => self.alter(tokens, index),
            Some(b'c') if token.is("copy") => self.copy(tokens, index),
            Some(b'e') if token.is_any(&["exec", "execute"]) => self.execute(tokens, index),
            Some(b'p') if token.is("prepare") => self.prepare(tokens, index),
            Some(b's' | b'x') => self.bare_procedure(tokens, index),
            _ => {}
        }
    }

    fn drop_head(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(head) = tokens.get(index) else { return };
        let mut at = index + 1;
        while tokens.get(at).is_some_and(|token| token.is_any(&DROP_MODIFIERS)) {
            at += 1;
        }
        let Some(what) = tokens.get(at) else { return };
        if what.kind == Kind::Word && what.is_unknown() {
            let span = head.span.to(what.span);
            return self.opaque("what is dropped is not known", span);
        }
        if what.is("owned") || what.is("all") && word_at(tokens, at + 1, "objects") {
            let (_, span) = names(tokens, at + 1, head.span);
            let object = joined(tokens, at, 3);
            return self.report(SqlKind::Drop { object }, span);
        }
        if what.is("tablespace") {
            if tokens.iter().skip(at).take(12).any(|token| token.is("including")) {
                let (list, span) = names(tokens, at + 1, head.span);
                let object = format!("tablespace {}", list.join(", "));
                self.report(SqlKind::Drop { object }, span);
            }
            return;
        }
        if !what.is_any(&DATA_HOLDERS) || smaller(tokens, at + 1) {
            return;
        }
        let (list, span) = names(tokens, at + 1, head.span.to(what.span));
        if !list.is_empty() && list.iter().all(|name| is_temporary(name)) {
            return;
        }
        let kind = what.text.to_ascii_lowercase();
        let object = format!("{kind} {}", list.join(", "));
        self.report(SqlKind::Drop { object: object.trim_end().to_owned() }, span);
    }

    fn truncate(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(head) = tokens.get(index) else { return };
        let mut at = index + 1;
        if at >= tokens.len() || kind_at(tokens, at, Kind::Open) {
            return;
        }
        while tokens.get(at).is_some_and(|token| {
            token.is_any(&["table", "only", "all", "tables", "from", "database", "cluster"])
        }) {
            at += 1;
        }
        let (list, span) = names(tokens, at, head.span);
        if !list.is_empty() && list.iter().all(|name| is_temporary(name)) {
            return;
        }
        self.report(SqlKind::Truncate { object: list.join(", ") }, span);
    }

    /// `ALTER TABLE x DROP PARTITION`, `TRUNCATE PARTITION` and ClickHouse's mutations.
    fn alter(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(head) = tokens.get(index) else { return };
        if !tokens.get(index + 1).is_some_and(|token| token.is("table")) {
            return;
        }
        let (list, span) = names(tokens, index + 2, head.span);
        let table = list.first().cloned().unwrap_or_default();
        for (at, token) in tokens.iter().enumerate().skip(index + 3) {
            if token.kind == Kind::InnerSemi {
                break;
            }
            let drops = token.is("drop");
            if drops || token.is("truncate") {
                let mut next = at + 1;
                while tokens
                    .get(next)
                    .is_some_and(|token| token.is_any(&["if", "exists", "detached", "range"]))
                {
                    next += 1;
                }
                let part = tokens.get(next).is_some_and(|token| {
                    token.is_any(&["partition", "subpartition", "part", "partitions"])
                });
                let named = tokens.get(next + 1).is_some_and(|token| {
                    !token.ends_statement()
                        && token.kind != Kind::Comma
                        && !token.is_any(&["cascade", "restrict"])
                });
                if part && named {
                    let object = format!("{table} {}", joined(tokens, next, 2));
                    self.report(SqlKind::Truncate { object }, span.to(token.span));
                }
            } else if token.is_any(&["delete", "update"]) {
                self.mutation(tokens, at, &table, span);
            }
        }
    }

    /// `COPY … FROM PROGRAM 'cmd'`.
    fn copy(&mut self, tokens: &[Token<'_>], index: usize) {
        for (at, token) in tokens.iter().enumerate().skip(index + 1) {
            if token.kind == Kind::InnerSemi {
                break;
            }
            let direction = tokens.get(at.wrapping_sub(1));
            if token.is("program") && direction.is_some_and(|word| word.is_any(&["from", "to"])) {
                let command = tokens.get(at + 1).map(|text| text.text.clone().into_owned());
                let command = command.unwrap_or_default();
                self.report(SqlKind::Shell { command }, token.span);
            }
        }
    }

    /// SQL Server runs a procedure whose name stands alone at the start of a batch.
    fn bare_procedure(&mut self, tokens: &[Token<'_>], index: usize) {
        if self.flavour.heads_anywhere && !kind_at(tokens, index + 1, Kind::Open) {
            self.procedure(tokens, index);
        }
    }

    /// A function whose arguments are code.
    pub(super) fn function(&mut self, tokens: &[Token<'_>], index: usize) {
        let Some(name) = tokens.get(index) else { return };
        let runs_sql = name.is_any(&RUN_SQL);
        let runs_shell = name.is_any(&RUN_SHELL);
        if name.is("load_extension") {
            return self.opaque("an extension is loaded", name.span);
        }
        if !runs_sql && !runs_shell {
            return;
        }
        if !self.spend(tokens.len() - index) {
            return self.opaque("too many statements inside one another", name.span);
        }
        for value in self.arguments(tokens, index + 1) {
            if runs_shell {
                self.report(SqlKind::Shell { command: value.text }, value.span);
                return;
            }
            // A connection's name is an argument too: a value that is not known may be that.
            if !value.text.starts_with(super::token::UNKNOWN) {
                self.nested(&value.text, value.verbatim, value.span, false);
            }
        }
    }
}

/// Whether `DROP DATABASE` goes on with the name of something inside a database.
fn smaller(tokens: &[Token<'_>], at: usize) -> bool {
    let goes_on = tokens.get(at + 1).is_some_and(|token| {
        token.is_name() && !token.is_any(&["cascade", "restrict", "with", "force", "purge"])
    });
    goes_on && tokens.get(at).is_some_and(|token| token.is_any(&SMALLER))
}

/// A list of dotted names from here on, and the span up to its end.
pub(super) fn names(tokens: &[Token<'_>], from: usize, span: Span) -> (Vec<String>, Span) {
    let mut list: Vec<String> = Vec::new();
    let mut span = span;
    let mut at = from;
    while tokens.get(at).is_some_and(|token| token.is_any(&["if", "exists", "not", "only"])) {
        at += 1;
    }
    while let Some(first) = tokens.get(at).filter(|token| is_name_part(token)) {
        let mut name = first.text.clone().into_owned();
        span = span.to(first.span);
        at += 1;
        while tokens.get(at).is_some_and(|token| token.is_op(".")) {
            name.push('.');
            at += 1;
            if let Some(part) = tokens.get(at).filter(|token| is_name_part(token)) {
                name.push_str(&part.text);
                span = span.to(part.span);
                at += 1;
            }
        }
        if list.len() < 8 {
            list.push(name);
        }
        if !kind_at(tokens, at, Kind::Comma) {
            break;
        }
        at += 1;
    }
    (list, span)
}

/// Whether a token can be a part of an object's name; MySQL in ANSI mode and clients that fill in
/// templates put strings and numbers there too.
fn is_name_part(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Word | Kind::Ident | Kind::Str | Kind::Num)
}

/// Whether a table lives only as long as its session.
pub(super) fn is_temporary(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.starts_with('#')
        || name.starts_with('@')
        || lower.starts_with("pg_temp.")
        || lower.starts_with("temp.")
        || lower.starts_with("tempdb..#")
}

/// Some tokens as text.
fn joined(tokens: &[Token<'_>], from: usize, count: usize) -> String {
    let words: Vec<String> = tokens
        .iter()
        .skip(from)
        .take(count)
        .take_while(|token| !token.ends_statement())
        .map(|token| token.text.to_ascii_lowercase())
        .collect();
    words.join(" ")
}
