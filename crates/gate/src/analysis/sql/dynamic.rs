//! SQL that runs from text: EXECUTE, PREPARE, DO, EXEC, and the variables that carry it.

use super::constant::{Value, next_comma};
use super::token::{Kind, Token, UNKNOWN, kind_at, word_at};
use super::{Reader, SqlKind};

/// SQL Server's procedures that run their argument as SQL.
const RUN_SQL: [&str; 7] = [
    "sp_executesql",
    "sp_execute",
    "sp_prepexec",
    "sp_msforeachtable",
    "sp_msforeachdb",
    "sp_execute_remote",
    "exec_ddl_statement",
];

/// SQL Server's procedures that run a shell command.
const RUN_SHELL: [&str; 1] = ["xp_cmdshell"];

/// Words after which an assignment may stand.
const BEFORE_VARIABLES: [&str; 9] =
    ["declare", "set", "select", "then", "else", "begin", "loop", "global", "local"];

impl Reader {
    /// `DO $$ … $$`.
    pub(super) fn do_block(&mut self, tokens: &[Token<'_>], index: usize) {
        let block = tokens.iter().skip(index + 1).take(4).find(|token| token.kind == Kind::Str);
        if let Some(block) = block {
            let text = block.text.clone();
            self.nested(&text, block.verbatim, block.span, true);
        }
    }

    /// Runs text that an expression made.
    fn run(&mut self, value: &Value, procedural: bool) {
        self.nested(&value.text, value.verbatim, value.span, procedural);
    }

    /// The expression that starts here is run as SQL.
    fn run_expression(&mut self, tokens: &[Token<'_>], from: usize, procedural: bool) {
        if !self.spend(tokens.len().saturating_sub(from)) {
            return self.opaque("too much dynamic SQL", span_at(tokens, from));
        }
        match self.value(tokens, from) {
            Some((value, _)) => self.run(&value, procedural),
            None => self.opaque("dynamic SQL is not known", span_at(tokens, from)),
        }
    }

    /// EXEC and EXECUTE in all their meanings.
    pub(super) fn execute(&mut self, tokens: &[Token<'_>], index: usize) {
        let at = index + 1;
        let Some(next) = tokens.get(at) else { return };
        if next.is("immediate") {
            return self.run_expression(tokens, at + 1, true);
        }
        match next.kind {
            Kind::Open | Kind::Str => self.run_expression(tokens, at, self.procedural),
            Kind::Word if next.is("format") => {
                self.run_expression(tokens, at, self.procedural);
            }
            // `WITH EXECUTE AS`, `GRANT EXECUTE ON`, `EXECUTE FUNCTION` of a trigger.
            Kind::Word if next.is_any(&["as", "on", "procedure", "function"]) => {}
            Kind::Word | Kind::Ident if self.procedural => {
                self.run_expression(tokens, at, true);
            }
            Kind::Word if next.text.starts_with('@') => {
                if tokens.get(at + 1).is_some_and(|token| token.is_op("=")) {
                    self.procedure(tokens, at + 2);
                } else {
                    self.opaque("the procedure that runs is named by a variable", next.span);
                }
            }
            Kind::Word | Kind::Ident => self.procedure(tokens, at),
            _ => {}
        }
    }

    /// A procedure's name and its arguments, when the procedure runs them as code.
    pub(super) fn procedure(&mut self, tokens: &[Token<'_>], index: usize) {
        let mut at = index;
        let mut name = None;
        while let Some(token) = tokens.get(at) {
            if token.is_name() && !name.is_some_and(Token::is_name) {
                name = Some(token);
            } else if token.is_op(".") {
                name = None;
            } else {
                break;
            }
            at += 1;
        }
        let Some(name) = name else { return };
        let is = |list: &[&str]| list.iter().any(|word| name.text.eq_ignore_ascii_case(word));
        let (sql, shell) = (is(&RUN_SQL), is(&RUN_SHELL));
        if !sql && !shell {
            return;
        }
        if kind_at(tokens, at, Kind::Open) {
            at += 1;
        }
        if tokens.get(at).is_some_and(|token| token.text.starts_with('@'))
            && tokens.get(at + 1).is_some_and(|token| token.is_op("="))
        {
            at += 2;
        }
        if sql {
            self.run_expression(tokens, at, false);
        } else {
            let value = self.value(tokens, at);
            let span = value.as_ref().map_or(name.span, |(value, _)| value.span);
            let command = value.map_or_else(|| UNKNOWN.to_string(), |(value, _)| value.text);
            self.report(SqlKind::Shell { command }, span);
        }
    }

    /// `PREPARE s FROM 'text'`; `PREPARE s AS statement` is a place where a statement starts.
    pub(super) fn prepare(&mut self, tokens: &[Token<'_>], index: usize) {
        if word_at(tokens, index + 2, "from") {
            self.run_expression(tokens, index + 3, false);
        }
    }

    /// psql's `\gexec`: what the query returns is run.
    pub(super) fn run_results(&mut self, tokens: &[Token<'_>]) {
        if !word_at(tokens, 0, "select") {
            return self.opaque("a query's results are run as SQL", span_at(tokens, 0));
        }
        for (value, _) in self.selected(tokens) {
            self.run(&value, false);
        }
    }

    /// The values that a SELECT returns, with where each ends.
    fn selected(&self, tokens: &[Token<'_>]) -> Vec<(Value, usize)> {
        let mut values = Vec::new();
        let mut from = 1;
        while tokens.get(from).is_some_and(|token| token.is_any(&["distinct", "all"])) {
            from += 1;
        }
        while values.len() < 64 {
            let Some((value, end)) = self.value(tokens, from) else { break };
            values.push((value, end));
            let stop = tokens.iter().skip(end).position(|token| token.is_any(&["from", "into"]));
            let stop = stop.map_or(tokens.len(), |stop| end + stop);
            from = next_comma(tokens, end, stop) + 1;
            if from > stop {
                break;
            }
        }
        values
    }

    /// psql replaces `:name` by the variable's text.
    pub(super) fn psql_variable(&mut self, tokens: &[Token<'_>]) {
        let Some(name) = tokens.get(1) else { return };
        let key = format!(":{}", name.text.to_ascii_lowercase());
        match self.variables.get(&key).cloned() {
            Some(text) => {
                // What follows the variable belongs to the same statement.
                let rest: Vec<&str> = tokens.iter().skip(2).map(|t| t.text.as_ref()).collect();
                let text = format!("{text} {}", rest.join(" "));
                self.nested(&text, None, name.span, false);
            }
            None => self.opaque("a statement starts with a variable that is not known", name.span),
        }
    }

    /// Remembers what variables hold.
    pub(super) fn assignments(&mut self, tokens: &[Token<'_>]) {
        self.selected_into(tokens);
        let typed = tokens.first().is_some_and(|token| token.is_any(&["declare", "set"]));
        let mut depth = 0_usize;
        let mut name: Option<&Token<'_>> = None;
        let mut fresh = true;
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::Comma | Kind::InnerSemi if depth == 0 => fresh = true,
                Kind::Word if depth == 0 && token.is_any(&BEFORE_VARIABLES) => fresh = true,
                Kind::Word if depth == 0 && (fresh || token.text.starts_with('@')) => {
                    if token.is("default") {
                        self.assign(tokens, index, name.take(), false);
                    } else {
                        name = Some(token);
                        fresh = false;
                    }
                }
                Kind::Word if depth == 0 && token.is("default") => {
                    self.assign(tokens, index, name.take(), false);
                }
                Kind::Op if depth == 0 => {
                    let sets = token.is_op(":=")
                        || token.is_op("+=")
                        || token.is_op("=")
                            && (typed
                                || self.procedural
                                || name.is_some_and(|name| name.text.starts_with('@')));
                    if sets {
                        self.assign(tokens, index, name.take(), token.is_op("+="));
                    }
                }
                _ => {}
            }
        }
    }

    /// One assignment whose operator stands here.
    fn assign(
        &mut self,
        tokens: &[Token<'_>],
        operator: usize,
        name: Option<&Token<'_>>,
        append: bool,
    ) {
        let Some(name) = name else { return };
        if !self.spend(1) {
            return;
        }
        let key = name.text.to_ascii_lowercase();
        let text = self.value(tokens, operator + 1).map(|(value, _)| value.text);
        let text = text.unwrap_or_else(|| UNKNOWN.to_string());
        if !self.spend(text.len()) {
            self.variables.clear();
            return;
        }
        if append {
            let known = self.variables.entry(key).or_default();
            if known.len() + text.len() > 64 << 10 {
                *known = UNKNOWN.to_string();
            } else {
                known.push_str(&text);
            }
        } else {
            self.variables.insert(key, text);
        }
    }

    /// `SELECT expr INTO name`, and everything else that fills variables with INTO.
    fn selected_into(&mut self, tokens: &[Token<'_>]) {
        let mut depth = 0_usize;
        let into = tokens.iter().position(|token| {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.is("into")
        });
        let Some(into) = into else { return };
        if word_at(tokens, 0, "insert") {
            return;
        }
        let values = if word_at(tokens, 0, "select") { self.selected(tokens) } else { Vec::new() };
        let mut values = values.into_iter().map(|(value, _)| value.text);
        let mut at = into + 1;
        while let Some(name) = tokens.get(at).filter(|token| token.kind == Kind::Word) {
            if !name.is("strict") {
                let text = values.next().unwrap_or_else(|| UNKNOWN.to_string());
                self.variables.insert(name.text.to_ascii_lowercase(), text);
                at += 1;
                if !kind_at(tokens, at, Kind::Comma) {
                    break;
                }
            }
            at += 1;
        }
    }
}

/// The span of a token, or of nothing.
fn span_at(tokens: &[Token<'_>], index: usize) -> aurora_model::Span {
    tokens.get(index).or_else(|| tokens.last()).map(|token| token.span).unwrap_or_default()
}
