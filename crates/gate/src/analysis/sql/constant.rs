//! The value of an expression that makes SQL text, as far as it is constant.

use aurora_model::Span;

use super::Reader;
use super::quote::unhex;
use super::token::{Kind, Token, UNKNOWN, kind_at, word_at};

/// How long a constant may grow.
const MAX_LENGTH: usize = 64 << 10;

/// How deep parentheses are followed.
const MAX_DEPTH: usize = 12;

/// A text made by an expression; U+FFFC stands where it is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// The text.
    pub text: String,
    /// What makes it.
    pub span: Span,
    /// Where it stands unchanged in the source, when it does.
    pub verbatim: Option<usize>,
}

impl Value {
    fn unknown(span: Span) -> Self {
        Self { text: UNKNOWN.to_string(), span, verbatim: None }
    }

    fn new(text: String, span: Span) -> Self {
        Self { text, span, verbatim: None }
    }

    fn add(&mut self, other: &Self) {
        self.verbatim = None;
        self.span = self.span.to(other.span);
        if self.text.len() + other.text.len() > MAX_LENGTH {
            self.text = UNKNOWN.to_string();
        } else {
            self.text.push_str(&other.text);
        }
    }
}

impl Reader {
    /// The value of the expression that starts here, and where it ends.
    pub(super) fn value(&self, tokens: &[Token<'_>], from: usize) -> Option<(Value, usize)> {
        self.concatenation(tokens, from, 0)
    }

    /// The values of a parenthesised list, whose `(` stands here.
    pub(super) fn arguments(&self, tokens: &[Token<'_>], open: usize) -> Vec<Value> {
        self.list(tokens, open, 0).0
    }

    fn concatenation(
        &self,
        tokens: &[Token<'_>],
        from: usize,
        depth: usize,
    ) -> Option<(Value, usize)> {
        let (mut value, mut at) = self.operand(tokens, from, depth)?;
        while let Some(next) = tokens.get(at) {
            let joined = if next.is_op("||") || next.is_op("+") || next.is_op("&") {
                at + 1
            } else if next.kind == Kind::Str && kind_at(tokens, at - 1, Kind::Str) {
                at
            } else {
                break;
            };
            let Some((other, end)) = self.operand(tokens, joined, depth) else { break };
            value.add(&other);
            at = end;
        }
        Some((value, at))
    }

    fn operand(&self, tokens: &[Token<'_>], from: usize, depth: usize) -> Option<(Value, usize)> {
        let token = tokens.get(from)?;
        let (value, mut at) = match token.kind {
            Kind::Str => {
                let text = token.text.clone().into_owned();
                (Value { text, span: token.span, verbatim: token.verbatim }, from + 1)
            }
            Kind::Num => (Value::new(token.text.clone().into_owned(), token.span), from + 1),
            Kind::Open => self.parenthesised(tokens, from, depth),
            Kind::Word | Kind::Ident => self.named(tokens, from, depth),
            Kind::Op if token.is_op(":") || token.is_op("@") => {
                let name = tokens.get(from + 1)?;
                let value = self.variable(&format!("{}{}", token.text, name.text));
                let span = token.span.to(name.span);
                (
                    value.map_or_else(|| Value::unknown(span), |text| Value::new(text, span)),
                    from + 2,
                )
            }
            Kind::Op if token.text == "$" || token.text == "?" => {
                (Value::unknown(token.span), from + 1)
            }
            _ => return None,
        };
        while tokens.get(at).is_some_and(|token| token.is_op("::")) {
            at = skip_type(tokens, at + 1);
        }
        if word_at(tokens, at, "collate") {
            at += 2;
        }
        Some((value, at.min(tokens.len())))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(&name.to_ascii_lowercase()).cloned()
    }

    fn parenthesised(&self, tokens: &[Token<'_>], open: usize, depth: usize) -> (Value, usize) {
        let close = matching(tokens, open);
        let span = tokens.get(open).map(|token| token.span).unwrap_or_default();
        let mut from = open + 1;
        if word_at(tokens, from, "select") {
            from += 1;
            while tokens.get(from).is_some_and(|token| token.is_any(&["distinct", "all"])) {
                from += 1;
            }
        }
        let inner = tokens.get(..close).unwrap_or(tokens);
        let value = if depth < MAX_DEPTH {
            self.concatenation(inner, from, depth + 1).map(|(value, _)| value)
        } else {
            None
        };
        (value.unwrap_or_else(|| Value::unknown(span)), close + 1)
    }

    /// A variable, a column or a function's result.
    fn named(&self, tokens: &[Token<'_>], from: usize, depth: usize) -> (Value, usize) {
        let Some(first) = tokens.get(from) else { return (Value::unknown(Span::default()), from) };
        // `_utf8mb4'text'` says only how the text is encoded.
        if first.text.starts_with('_') && kind_at(tokens, from + 1, Kind::Str) {
            return self
                .operand(tokens, from + 1, depth)
                .unwrap_or((Value::unknown(first.span), from));
        }
        if first.is("case") {
            let end = tokens.iter().skip(from).position(|token| token.is("end"));
            return (Value::unknown(first.span), end.map_or(tokens.len(), |end| from + end + 1));
        }
        let mut at = from + 1;
        let mut name = first;
        while tokens.get(at).is_some_and(|token| token.is_op(".")) {
            name = tokens.get(at + 1).unwrap_or(name);
            at += 2;
        }
        if kind_at(tokens, at, Kind::Open) {
            return self.call(tokens, name, at, depth);
        }
        let value = if at > from + 1 { None } else { self.variable(&first.text) };
        let value = match value {
            Some(text) => Value::new(text, first.span),
            // Where names are not quoted with `"`, it quotes a string.
            None if first.kind == Kind::Ident
                && !self.flavour.bodies_are_atomic
                && at == from + 1 =>
            {
                Value {
                    text: first.text.clone().into_owned(),
                    span: first.span,
                    verbatim: first.verbatim,
                }
            }
            None => Value::unknown(first.span),
        };
        (value, at)
    }

    /// The values of a list, and where it ends.
    fn list(&self, tokens: &[Token<'_>], open: usize, depth: usize) -> (Vec<Value>, usize) {
        let close = matching(tokens, open);
        let mut values = Vec::new();
        let mut from = open + 1;
        while from < close && depth < MAX_DEPTH && values.len() < 64 {
            let inner = tokens.get(..close).unwrap_or(tokens);
            if tokens.get(from).is_some_and(|token| token.is_any(&["distinct", "all"])) {
                from += 1;
            }
            let span = tokens.get(from).map(|token| token.span).unwrap_or_default();
            let value = self.concatenation(inner, from, depth + 1).map(|(value, _)| value);
            values.push(value.unwrap_or_else(|| Value::unknown(span)));
            from = next_comma(tokens, from, close) + 1;
        }
        (values, close + 1)
    }

    fn call(
        &self,
        tokens: &[Token<'_>],
        name: &Token<'_>,
        open: usize,
        depth: usize,
    ) -> (Value, usize) {
        let (values, end) = self.list(tokens, open, depth);
        let close = tokens.get(end - 1).map(|token| token.span).unwrap_or(name.span);
        let span = name.span.to(close);
        let lower = name.text.to_ascii_lowercase();
        let text = match lower.as_str() {
            // The type stands before the value.
            "convert" | "try_convert" if values.len() > 1 && self.flavour.heads_anywhere => {
                values.get(1).map(|value| value.text.clone())
            }
            _ => call_result(&lower, &values),
        };
        let text = text.filter(|text| text.len() <= MAX_LENGTH);
        (text.map_or_else(|| Value::unknown(span), |text| Value::new(text, span)), end)
    }
}

/// What a function makes of its arguments, when it is one that builds text.
fn call_result(name: &str, values: &[Value]) -> Option<String> {
    let all: String = values.iter().map(|value| value.text.as_str()).collect();
    let first = values.first().map(|value| value.text.clone());
    let known = || first.clone().filter(|text| !text.contains(UNKNOWN));
    match name {
        "concat" | "group_concat" => Some(all),
        "concat_ws" => {
            let rest: Vec<&str> = values.iter().skip(1).map(|value| value.text.as_str()).collect();
            Some(rest.join(first.as_deref().unwrap_or("")))
        }
        "format" | "printf" | "formatmessage" => Some(format_value(values)),
        "upper" | "lower" | "ucase" | "lcase" | "trim" | "ltrim" | "rtrim" | "btrim" | "cast"
        | "try_cast" | "convert" | "string_agg" | "listagg" | "array_to_string" | "array_agg"
        | "coalesce" | "isnull" | "ifnull" | "nvl" | "max" | "min" | "to_char" | "text" => first,
        "replace" => replaced(values),
        "reverse" => known().map(|text| text.chars().rev().collect()),
        "unhex" => known().and_then(|text| unhex(&text)),
        "char" | "chr" | "nchar" | "unichr" => values
            .iter()
            .map(|value| value.text.parse::<u32>().ok().and_then(char::from_u32))
            .collect(),
        _ => None,
    }
}

fn replaced(values: &[Value]) -> Option<String> {
    let [text, from, to] = values else { return None };
    if from.text.is_empty() || from.text.contains(UNKNOWN) {
        return None;
    }
    // The bound is checked first, since each character may become a long text.
    let most = text.text.len().saturating_mul(to.text.len().max(1));
    (most <= MAX_LENGTH).then(|| text.text.replace(&from.text, &to.text))
}

/// PostgreSQL's `format('… %I …', name)` and the printf of others.
fn format_value(values: &[Value]) -> String {
    let Some((template, arguments)) = values.split_first() else { return String::new() };
    let mut out = String::new();
    let mut next = 0_usize;
    let mut chars = template.text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut number = String::new();
        while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || matches!(c, '-' | '*' | '$')) {
            number.push(c);
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some(_) => {
                let position = number.split_once('$').and_then(|(n, _)| n.parse::<usize>().ok());
                let index = position.map_or(next, |position| position.saturating_sub(1));
                next = index + 1;
                let text = arguments.get(index).map(|value| value.text.as_str());
                match text {
                    Some(text) if out.len() + text.len() <= MAX_LENGTH => out.push_str(text),
                    _ => out.push(UNKNOWN),
                }
            }
            None => break,
        }
    }
    out
}

/// The `)` that belongs to the `(` here, or the end.
pub(super) fn matching(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The next comma outside parentheses, or the end.
pub(super) fn next_comma(tokens: &[Token<'_>], from: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().take(end).skip(from) {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Comma if depth == 0 => return index,
            _ => {}
        }
    }
    end
}

/// Where a type's name ends.
fn skip_type(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    while tokens.get(at).is_some_and(|token| token.is_name() || token.is_op(".")) {
        at += 1;
        if !tokens.get(at).is_some_and(|token| token.is_op(".")) {
            break;
        }
    }
    if kind_at(tokens, at, Kind::Open) {
        at = matching(tokens, at) + 1;
    }
    while tokens.get(at).is_some_and(|token| token.is_op("[") || token.is_op("]")) {
        at += 1;
    }
    at
}
