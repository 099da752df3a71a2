//! Reads expressions from left to right, without precedence: enough to see constants and calls.

use std::rc::Rc;

use aurora_model::Span;

use super::super::shell::machine::ScriptLang;
use super::call::Args;
use super::lexer::{self, Kind, Part};
use super::reader::Reader;
use super::value::{MAX_TEXT, Value, concat, format_percent, join_path, repeat};
use super::{UNKNOWN, What};

/// Words that stand between two operands.
pub(super) const INFIX: &[&str] = &[
    "and",
    "cmp",
    "else",
    "eq",
    "ge",
    "gt",
    "if",
    "in",
    "instanceof",
    "is",
    "le",
    "lt",
    "ne",
    "not",
    "of",
    "or",
    "rescue",
    "unless",
    "x",
    "xor",
];

/// Words before an operand that change nothing here.
const PREFIX: &[&str] = &[
    "assert",
    "async",
    "await",
    "del",
    "delete",
    "echo",
    "defined",
    "elif",
    "else",
    "elsif",
    "if",
    "lambda",
    "my",
    "new",
    "not",
    "our",
    "print",
    "raise",
    "ref",
    "require_once",
    "return",
    "scalar",
    "then",
    "throw",
    "try",
    "typeof",
    "unless",
    "until",
    "void",
    "while",
    "yield",
];

impl Reader<'_> {
    pub(super) fn expression(&mut self) -> Value {
        if !self.enter() {
            self.leave();
            return Value::Unknown;
        }
        let value = self.binary();
        self.leave();
        value
    }

    fn binary(&mut self) -> Value {
        let mut left = self.unary();
        loop {
            let text = self.text_at(0);
            match self.kind() {
                // These bind more loosely than a call without parentheses.
                Some(Kind::Ident)
                    if matches!(text, "or" | "and")
                        && matches!(self.lang, ScriptLang::Perl | ScriptLang::Ruby) =>
                {
                    return left;
                }
                Some(Kind::Op) if text == "$" && self.lang == ScriptLang::Awk => {
                    let right = self.unary();
                    left = concat(&left, &right);
                }
                Some(Kind::Ident) if INFIX.contains(&text) && self.infix_word(text) => {
                    self.at += 1;
                    let right = self.unary();
                    left = match text {
                        "or" | "else" | "rescue" => Value::one_of(vec![left, right]),
                        "if" | "unless" => left,
                        "x" => repeat(&left, &right),
                        _ => Value::Unknown,
                    };
                }
                Some(Kind::Op) if self.stops_expression(text) => return left,
                Some(Kind::Op) => {
                    self.at += 1;
                    left = self.operator(text, left);
                }
                Some(Kind::Str(_) | Kind::Num | Kind::Ident | Kind::Open(b'('))
                    if self.lang == ScriptLang::Awk && self.juxtaposed(text) =>
                {
                    let right = self.unary();
                    left = concat(&left, &right);
                }
                _ => return left,
            }
        }
    }

    fn infix_word(&self, text: &str) -> bool {
        match self.lang {
            ScriptLang::JavaScript => matches!(text, "in" | "of" | "instanceof"),
            ScriptLang::Awk | ScriptLang::Lua => matches!(text, "and" | "or" | "in" | "not"),
            ScriptLang::Python => !matches!(text, "x" | "of" | "rescue" | "cmp" | "unless"),
            _ => text != "else" && text != "of",
        }
    }

    fn juxtaposed(&self, text: &str) -> bool {
        !matches!(text, "getline" | "in" | "print" | "printf" | "if" | "else" | "while" | "for")
    }

    fn stops_expression(&self, text: &str) -> bool {
        match text {
            ";" | "," | ":" => true,
            "=" | "+=" | ".=" | "|=" | "&=" | "-=" | "||=" | "&&=" | ":=" => true,
            "|" if self.lang == ScriptLang::Awk => self.text_at(1) != "getline",
            ">" | ">>" => self.lang == ScriptLang::Awk,
            _ => false,
        }
    }

    fn operator(&mut self, text: &str, left: Value) -> Value {
        match text {
            "=>" if self.lang == ScriptLang::JavaScript => {
                if self.open(b'{') {
                    self.block();
                } else {
                    self.expression();
                }
                Value::Unknown
            }
            "|" if self.lang == ScriptLang::Awk => {
                let start = self.start();
                self.at += 1;
                let command = left.known();
                self.emit(What::Run { command, argv: None, input: None }, start);
                Value::Unknown
            }
            "?" => {
                let yes = self.expression();
                if self.take_op(":") {
                    let no = self.expression();
                    return Value::one_of(vec![yes, no]);
                }
                yes
            }
            "+" | "." | ".." | "<<" => {
                let right = self.unary();
                if text == "<<" && self.lang != ScriptLang::Ruby {
                    return Value::Unknown;
                }
                concat(&left, &right)
            }
            "/" => match (left, self.unary()) {
                (Value::Path(base), right) => Value::path(join_path(&base, &right.text())),
                _ => Value::Unknown,
            },
            "%" => match (left, self.unary()) {
                (Value::Str(format), Value::List(values)) => format_percent(&format, &values),
                (Value::Str(format), value) => format_percent(&format, &[value]),
                _ => Value::Unknown,
            },
            "|" => match (left, self.unary()) {
                // The flags of a file that is opened.
                (Value::Name(a), Value::Name(b)) if a.contains("O_") && b.contains("O_") => {
                    if a.len() < 200 { Value::Name(format!("{a}|{b}")) } else { Value::Unknown }
                }
                _ => Value::Unknown,
            },
            "*" => {
                let right = self.unary();
                repeat(&left, &right)
            }
            "||" | "??" | "//" => {
                let right = self.unary();
                Value::one_of(vec![left, right])
            }
            "++" | "--" => left,
            _ => {
                self.unary();
                Value::Unknown
            }
        }
    }

    pub(super) fn unary(&mut self) -> Value {
        loop {
            let text = self.text_at(0);
            match self.kind() {
                Some(Kind::Op)
                    if matches!(
                        text,
                        "!" | "-"
                            | "+"
                            | "~"
                            | "*"
                            | "**"
                            | "&"
                            | "@"
                            | "\\"
                            | "++"
                            | "--"
                            | "..."
                            | "$"
                    ) =>
                {
                    let negative = text == "-" && self.kind_at(1) == Some(&Kind::Num);
                    self.at += 1;
                    if negative {
                        let value = self.unary();
                        return match value {
                            Value::Num(number) => Value::Num(-number),
                            other => other,
                        };
                    }
                    if text == "$" && self.lang == ScriptLang::Awk {
                        self.primary();
                        return Value::Unknown;
                    }
                }
                Some(Kind::Ident) if PREFIX.contains(&text) && self.prefix_word(text) => {
                    self.at += 1;
                    if text == "lambda" {
                        self.skip_parameters();
                    }
                }
                _ => break,
            }
        }
        let start = self.start();
        let value = self.primary();
        self.postfix(value, start)
    }

    fn prefix_word(&self, text: &str) -> bool {
        let opens_block = matches!(text, "if" | "unless" | "while" | "until")
            && matches!(self.lang, ScriptLang::Ruby | ScriptLang::Lua);
        let called = self.kind_at(1) == Some(&Kind::Open(b'('))
            && matches!(text, "print" | "del" | "delete" | "ref");
        let member = matches!(self.text_at(1), "." | "->" | "=" | "=>");
        !opens_block && !called && !member
    }

    fn skip_parameters(&mut self) {
        while self.at < self.tokens.len() && !self.op(":") {
            self.at += 1;
        }
        self.at += 1;
    }

    fn primary(&mut self) -> Value {
        let tokens = Rc::clone(&self.tokens);
        let Some(token) = tokens.get(self.at) else { return Value::Unknown };
        match &token.kind {
            Kind::Str(parts) => {
                self.at += 1;
                let mut value = self.render(parts);
                while let (Some(Kind::Str(parts)), true) =
                    (tokens.get(self.at).map(|token| &token.kind), self.lang == ScriptLang::Python)
                {
                    self.at += 1;
                    let right = self.render(parts);
                    value = concat(&value, &right);
                }
                value
            }
            Kind::Template(parts) => {
                self.at += 1;
                self.render(parts)
            }
            Kind::Shell(parts) => {
                self.at += 1;
                let command = self.render(parts).known();
                self.emit(What::Run { command, argv: None, input: None }, token.span.start);
                Value::Unknown
            }
            Kind::Words(words) => {
                self.at += 1;
                Value::list(words.iter().map(|word| Value::str(word)).collect())
            }
            Kind::Glob(parts) => {
                self.at += 1;
                Value::glob(self.render(parts).text())
            }
            Kind::Regex(code) => {
                self.at += 1;
                if let Some(code) = code {
                    self.inner(*code);
                }
                Value::Unknown
            }
            Kind::Num => {
                let text = self.text_at(0);
                self.at += 1;
                text.parse().map_or(Value::Unknown, Value::Num)
            }
            Kind::Ident => self.name(),
            Kind::Open(b'{') => self.braces(),
            Kind::Open(bracket) => {
                let list = *bracket == b'[';
                self.at += 1;
                let (mut values, comma) = self.elements(closing(*bracket));
                if list || comma || values.len() != 1 {
                    Value::list(values)
                } else {
                    values.pop().unwrap_or(Value::Unknown)
                }
            }
            Kind::Op if self.lang == ScriptLang::Php && self.text_at(0) == "\\" => {
                self.at += 1;
                self.primary()
            }
            _ => Value::Unknown,
        }
    }

    fn name(&mut self) -> Value {
        use ScriptLang::{JavaScript, Lua, Php, Python, Ruby};
        let text = self.text_at(0);
        match (self.lang, text) {
            (JavaScript | Php | Lua, "function") | (Php, "fn") => {
                self.at += 1;
                while self.kind() == Some(&Kind::Ident)
                    || self.op(".")
                    || self.op(":")
                    || self.op("*")
                {
                    self.at += 1;
                }
                if self.open(b'(') {
                    self.at += 1;
                    self.elements(b')');
                }
                if self.lang == Lua {
                    self.until_end();
                } else if self.open(b'{') {
                    self.block();
                }
                return Value::Unknown;
            }
            (
                Ruby,
                "if" | "unless" | "case" | "begin" | "def" | "class" | "module" | "while" | "until",
            )
            | (Lua, "if" | "do") => {
                self.at += 1;
                self.until_end();
                return Value::Unknown;
            }
            (Python, "True") | (_, "true") => {
                self.at += 1;
                return Value::Bool(true);
            }
            (Python, "False" | "None") | (_, "false" | "null" | "nil" | "undef" | "undefined") => {
                self.at += 1;
                return Value::Bool(false);
            }
            _ => {}
        }
        self.at += 1;
        if text.contains(UNKNOWN) && text.chars().all(|c| c == UNKNOWN) {
            return Value::Unknown;
        }
        self.variable(text)
    }

    pub(super) fn variable(&self, name: &str) -> Value {
        if let Some(value) = self.scope.get(name) {
            return value.clone();
        }
        super::api::constant(self.lang, name)
            .unwrap_or_else(|| Value::Name(name.trim_start_matches("CORE::").replace("::", ".")))
    }

    fn postfix(&mut self, value: Value, start: usize) -> Value {
        let mut value = value;
        let mark = self.findings.len();
        loop {
            let text = self.text_at(0);
            match self.kind() {
                Some(Kind::Op) if self.member_operator(text) => {
                    self.at += 1;
                    match self.kind() {
                        Some(Kind::Ident) => {
                            let name = self.text_at(0).to_owned();
                            self.at += 1;
                            value = self.member(value, &name);
                        }
                        Some(Kind::Open(_)) => {}
                        _ => return Value::Unknown,
                    }
                }
                Some(Kind::Open(b'(')) => {
                    self.name_parameter(&value);
                    let args = self.arguments();
                    value = self.invoke(value, args, start, mark);
                }
                Some(Kind::Open(b'[')) if self.subscripted(&value) => {
                    self.at += 1;
                    let reversed = self.op(":") && self.text_at(1) == ":" && self.text_at(2) == "-"
                        || self.op("::") && self.text_at(1) == "-";
                    let (keys, _) = self.elements(b']');
                    value = match (reversed, value, keys.first()) {
                        (true, Value::Str(text), _) => Value::Str(text.chars().rev().collect()),
                        (_, Value::Name(name), _)
                            if self.lang == ScriptLang::Ruby && name == "Dir" =>
                        {
                            Value::glob(keys.first().unwrap_or(&Value::Unknown).text())
                        }
                        (_, value, Some(key)) if keys.len() == 1 => value.index(key),
                        _ => Value::Unknown,
                    };
                }
                Some(Kind::Open(b'{'))
                    if self.lang == ScriptLang::Perl && perl_variable(&value) =>
                {
                    self.at += 1;
                    // A bare word between the braces is a key.
                    if self.kind_at(1) == Some(&Kind::Close(b'}')) {
                        self.at += 2;
                    } else {
                        self.elements(b'}');
                    }
                    value = Value::Unknown;
                }
                Some(Kind::Template(_)) => value = self.tagged_template(&value, start),
                _ if self.block_follows(&value) => {
                    value = self.invoke(value, Args::default(), start, mark);
                }
                _ if self.bare_call(&value) => {
                    let args = self.bare_arguments();
                    value = self.invoke(value, args, start, mark);
                }
                Some(Kind::Str(_))
                    if self.lang == ScriptLang::Lua && matches!(value, Value::Name(_)) =>
                {
                    let arg = self.primary();
                    let args = Args { pos: vec![arg], named: Vec::new() };
                    value = self.invoke(value, args, start, mark);
                }
                _ => return value,
            }
        }
    }

    fn member_operator(&self, text: &str) -> bool {
        match self.lang {
            ScriptLang::Perl => text == "->",
            ScriptLang::Php => matches!(text, "->" | "::" | "?->"),
            ScriptLang::Lua => {
                text == "." || (text == ":" && self.kind_at(1) == Some(&Kind::Ident))
            }
            ScriptLang::Ruby => matches!(text, "." | "&." | "::"),
            ScriptLang::JavaScript => matches!(text, "." | "?."),
            _ => text == ".",
        }
    }

    fn subscripted(&self, value: &Value) -> bool {
        // A word with a space before the bracket is a call with a list in Ruby and Perl.
        let glued = self.start() == self.last_end();
        match self.lang {
            ScriptLang::Ruby | ScriptLang::Perl => glued || !matches!(value, Value::Name(_)),
            _ => true,
        }
    }

    /// The text of a string's parts.
    pub(super) fn render(&mut self, parts: &[Part]) -> Value {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Lit(lit) => text.push_str(lit),
                Part::Var(name) => text.push_str(&self.variable(name).text()),
                Part::Code(span) => {
                    let value = self.inner(*span);
                    text.push_str(&value.text());
                }
            }
            if text.len() > MAX_TEXT {
                return Value::Unknown;
            }
        }
        Value::Str(text)
    }

    /// Reads an expression that stands inside another token.
    fn inner(&mut self, span: Span) -> Value {
        if !self.enter() {
            self.leave();
            return Value::Unknown;
        }
        let tokens = lexer::tokens(self.lang, self.src, span).into();
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let at = std::mem::replace(&mut self.at, 0);
        let mut value = Value::Unknown;
        while self.at < self.tokens.len() {
            let before = self.at;
            if matches!(self.kind(), Some(Kind::Newline(_))) {
                self.at += 1;
                continue;
            }
            let found = self.expression();
            if before == 0 || value == Value::Unknown {
                value = found;
            }
            if self.op(":") || self.op("!") {
                break;
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.tokens = outer;
        self.at = at;
        self.leave();
        value
    }
}

fn perl_variable(value: &Value) -> bool {
    matches!(value, Value::Name(name) if name.starts_with(['$', '@', '%']))
        || *value == Value::Unknown
}

fn closing(open: u8) -> u8 {
    match open {
        b'[' => b']',
        b'{' => b'}',
        _ => b')',
    }
}
