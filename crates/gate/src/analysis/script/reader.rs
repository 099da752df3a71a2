//! Walks through a script's statements: imports, assignments and loops; calls are found in expressions.

use std::collections::BTreeMap;
use std::rc::Rc;

use aurora_model::Span;

use super::super::shell::machine::ScriptLang;
use super::lexer::{self, Kind, Token};
use super::value::{MAX_DEPTH as MAX_VALUE_DEPTH, Value, concat};
use super::{Nesting, ScriptFinding, UNKNOWN, What, add};

/// How deep expressions and blocks are followed.
const MAX_DEPTH: u32 = 48;

/// How many bytes a script's variables may hold together.
const MAX_HELD: usize = 1024 * 1024;

/// A walk through one script.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) src: &'a str,
    pub(super) lang: ScriptLang,
    pub(super) tokens: Rc<[Token]>,
    pub(super) at: usize,
    pub(super) scope: BTreeMap<String, Value>,
    /// Modules whose names are all imported (`from os import *`).
    pub(super) stars: Vec<String>,
    pub(super) findings: Vec<ScriptFinding>,
    pub(super) loops: u32,
    pub(super) depth: u32,
    pub(super) cwd: Option<String>,
    pub(super) nesting: Nesting,
    /// How many bytes the variables hold.
    held: usize,
    indent: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lang: ScriptLang, src: &'a str, nesting: Nesting) -> Self {
        let tokens = lexer::tokens(lang, src, Span::new(0, src.len())).into();
        Self {
            src,
            lang,
            tokens,
            at: 0,
            scope: BTreeMap::new(),
            stars: Vec::new(),
            findings: Vec::new(),
            loops: 0,
            depth: 0,
            cwd: None,
            nesting,
            held: 0,
            indent: 0,
        }
    }

    pub(super) fn program(&mut self) {
        while self.at < self.tokens.len() {
            self.step();
        }
    }

    /// One statement, and always at least one token.
    pub(super) fn step(&mut self) {
        let before = self.at;
        self.statement();
        if self.at == before {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn kind(&self) -> Option<&Kind> {
        self.peek().map(|token| &token.kind)
    }

    pub(super) fn kind_at(&self, offset: usize) -> Option<&Kind> {
        self.tokens.get(self.at + offset).map(|token| &token.kind)
    }

    /// The text of the token `offset` ahead, if it is a name or an operator.
    pub(super) fn text_at(&self, offset: usize) -> &'a str {
        let Some(token) = self.tokens.get(self.at + offset) else { return "" };
        match token.kind {
            Kind::Ident | Kind::Op | Kind::Num => {
                self.src.get(token.span.start..token.span.end).unwrap_or("")
            }
            _ => "",
        }
    }

    pub(super) fn op(&self, text: &str) -> bool {
        self.kind() == Some(&Kind::Op) && self.text_at(0) == text
    }

    pub(super) fn word(&self, text: &str) -> bool {
        self.kind() == Some(&Kind::Ident) && self.text_at(0) == text
    }

    pub(super) fn take_op(&mut self, text: &str) -> bool {
        let found = self.op(text);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, text: &str) -> bool {
        let found = self.word(text);
        self.at += usize::from(found);
        found
    }

    pub(super) fn open(&self, bracket: u8) -> bool {
        self.kind() == Some(&Kind::Open(bracket))
    }

    pub(super) fn start(&self) -> usize {
        self.peek().map_or(self.src.len(), |token| token.span.start)
    }

    /// Where the last taken token ends.
    pub(super) fn last_end(&self) -> usize {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(0, |token| token.span.end)
    }

    pub(super) fn emit(&mut self, what: What, start: usize) {
        let span = Span::new(start, self.last_end().max(start));
        let finding = ScriptFinding { what, in_loop: self.loops > 0, span };
        add(&mut self.findings, finding);
    }

    /// Gives a variable its value, unless all of them already hold more than is worth keeping.
    pub(super) fn bind(&mut self, name: String, value: Value) {
        let size = |value: &Value| value.size(MAX_VALUE_DEPTH).unwrap_or(0);
        let before = self.scope.get(&name).map_or(0, size);
        self.held = self.held.saturating_sub(before);
        let value = if self.held + size(&value) > MAX_HELD { Value::Unknown } else { value };
        self.held += size(&value);
        self.scope.insert(name, value);
    }

    /// Whether code may go deeper; always paired with [`Self::leave`].
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.depth <= MAX_DEPTH
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Everything found since `mark` happens in a loop.
    pub(super) fn loop_since(&mut self, mark: usize) {
        for finding in self.findings.iter_mut().skip(mark) {
            finding.in_loop = true;
        }
    }

    fn statement(&mut self) {
        if !self.enter() {
            self.leave();
            return;
        }
        match self.kind() {
            Some(Kind::Newline(indent)) => {
                self.indent = *indent;
                self.at += 1;
            }
            Some(Kind::Ident) => self.named_statement(),
            Some(Kind::Open(b'{')) => self.block(),
            _ => self.expression_statement(),
        }
        self.leave();
    }

    fn named_statement(&mut self) {
        use ScriptLang::{JavaScript, Lua, Perl, Php, Python, Ruby};
        match (self.lang, self.text_at(0)) {
            (Python, "import") => self.python_import(),
            (Python, "from") => self.python_from(),
            (Python, "for" | "while") => self.python_loop(),
            (Python, "async") => self.at += 1,
            (Python, "with") => {
                self.at += 1;
                self.expression_statement();
            }
            (JavaScript, "import")
                if self.kind_at(1) != Some(&Kind::Open(b'(')) && self.text_at(1) != "." =>
            {
                self.javascript_import();
            }
            (JavaScript | Php | Perl, "for" | "foreach" | "while" | "until")
            | (ScriptLang::Awk, "for" | "while") => self.brace_loop(),
            (JavaScript | Php | ScriptLang::Awk, "do") => {
                self.at += 1;
                self.loops += 1;
                self.step();
                self.loops -= 1;
            }
            (Ruby, "for" | "while" | "until") | (Lua, "for" | "while" | "repeat") => {
                self.end_loop();
            }
            (Perl, "use" | "no" | "package") => {
                while !self.op(";") && self.at < self.tokens.len() {
                    self.at += 1;
                }
            }
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) {
        let mark = self.findings.len();
        while matches!(
            self.text_at(0),
            "const" | "let" | "var" | "my" | "our" | "local" | "export" | "default" | "static"
        ) && self.kind() == Some(&Kind::Ident)
        {
            self.at += 1;
        }
        if self.lang == ScriptLang::JavaScript && self.destructuring() {
            return;
        }
        if self.grown_list() {
            return;
        }
        let name = self.text_at(0);
        let assigned = self.kind() == Some(&Kind::Ident)
            && matches!(self.text_at(1), "=" | "+=" | ".=" | ":=" | "||=" | "//=");
        if assigned {
            let operator = self.text_at(1);
            self.at += 2;
            let value = self.expression_list();
            let value = match (operator, self.scope.get(name)) {
                ("+=" | ".=", Some(old)) => concat(old, &value),
                ("+=" | ".=", None) => Value::Unknown,
                _ => value,
            };
            self.bind(name.to_owned(), value);
        } else {
            self.mentioned_unknown();
            let value = self.expression_list();
            if self.lang == ScriptLang::Python && self.take_word("as") {
                let name = self.text_at(0).to_owned();
                self.at += 1;
                self.bind(name, value);
            } else if self.op("=") {
                self.at += 1;
                self.expression_list();
            }
        }
        let modifier = match self.lang {
            ScriptLang::Perl => matches!(self.text_at(0), "for" | "foreach" | "while" | "until"),
            ScriptLang::Ruby => matches!(self.text_at(0), "while" | "until"),
            _ => false,
        };
        if modifier && self.kind() == Some(&Kind::Ident) {
            self.at += 1;
            self.expression_list();
            self.loop_since(mark);
        }
    }

    /// A statement that starts with something unknown could be anything.
    fn mentioned_unknown(&mut self) {
        if self.kind() == Some(&Kind::Ident) && self.text_at(0).contains(UNKNOWN) {
            let start = self.start();
            self.emit(What::Opaque { why: "part of the code is not known" }, start);
        }
    }

    /// One expression, or a list of several without brackets.
    pub(super) fn expression_list(&mut self) -> Value {
        let first = self.expression();
        if !self.op(",") {
            return first;
        }
        let mut values = vec![first];
        while self.take_op(",") {
            values.push(self.expression());
        }
        Value::list(values)
    }

    /// `{ … }` as statements.
    pub(super) fn block(&mut self) {
        self.at += 1;
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(b'}')) {
            self.step();
        }
        self.at += 1;
    }

    /// Statements up to `end` (or Lua's `until`).
    pub(super) fn until_end(&mut self) {
        while self.at < self.tokens.len() && !self.word("end") && !self.word("until") {
            self.step();
        }
        self.at += 1;
    }

    fn python_import(&mut self) {
        self.at += 1;
        loop {
            let module = self.dotted();
            if module.is_empty() {
                return;
            }
            if self.take_word("as") {
                let alias = self.text_at(0).to_owned();
                self.at += 1;
                self.bind(alias, Value::Name(module));
            }
            if !self.take_op(",") {
                return;
            }
        }
    }

    fn python_from(&mut self) {
        self.at += 1;
        let module = self.dotted();
        if !self.take_word("import") {
            return;
        }
        if self.open(b'(') {
            self.at += 1;
        }
        if self.take_op("*") {
            self.stars.push(module);
            return;
        }
        while self.kind() == Some(&Kind::Ident) {
            let name = self.text_at(0).to_owned();
            self.at += 1;
            let full = Value::Name(format!("{module}.{name}"));
            let alias = if self.take_word("as") {
                let alias = self.text_at(0).to_owned();
                self.at += 1;
                alias
            } else {
                name
            };
            self.bind(alias, full);
            if !self.take_op(",") {
                break;
            }
        }
        if self.kind() == Some(&Kind::Close(b')')) {
            self.at += 1;
        }
    }

    fn dotted(&mut self) -> String {
        let mut out = String::new();
        while self.kind() == Some(&Kind::Ident) || self.op(".") {
            let ident = self.kind() == Some(&Kind::Ident);
            if ident && (self.word("import") || self.word("as")) {
                break;
            }
            out.push_str(self.text_at(0));
            self.at += 1;
            if ident && !self.op(".") {
                break;
            }
        }
        out
    }

    fn python_loop(&mut self) {
        let indent = self.indent;
        if self.take_word("for") {
            self.python_for_header();
        } else {
            self.at += 1;
            self.expression();
        }
        self.loops += 1;
        while let Some(kind) = self.kind() {
            if matches!(kind, Kind::Newline(deep) if *deep <= indent) {
                break;
            }
            self.step();
        }
        self.loops -= 1;
    }

    /// `x, y in expression`, after `for`; binds the variable to what the expression holds.
    pub(super) fn python_for_header(&mut self) {
        let single = self.text_at(1) == "in";
        let name = self.text_at(0).to_owned();
        while self.at < self.tokens.len() && !self.word("in") {
            if self.kind() == Some(&Kind::Ident) {
                self.scope.remove(self.text_at(0));
            }
            self.at += 1;
        }
        self.at += 1;
        let value = self.expression();
        if single {
            self.bind(name, value.each());
        }
    }

    /// `for`, `foreach`, `while` with a header in parentheses and a body in braces.
    fn brace_loop(&mut self) {
        self.at += 1;
        let mut variable = None;
        while matches!(self.kind(), Some(Kind::Ident)) {
            variable = Some(self.text_at(0).to_owned());
            self.at += 1;
        }
        self.loops += 1;
        if self.open(b'(') {
            self.at += 1;
            self.loop_header(variable);
        }
        if self.open(b'{') {
            self.block();
        } else {
            self.step();
        }
        self.loops -= 1;
    }

    fn loop_header(&mut self, mut variable: Option<String>) {
        let mut value = Value::Unknown;
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(b')')) {
            match self.text_at(0) {
                "const" | "let" | "var" | "my" => self.at += 1,
                "of" | "in" => {
                    self.at += 1;
                    value = self.expression();
                }
                "as" => {
                    self.at += 1;
                    variable = Some(self.text_at(0).to_owned());
                }
                _ => {
                    let before = self.at;
                    if self.lang == ScriptLang::JavaScript && matches!(self.text_at(1), "of" | "in")
                    {
                        variable = Some(self.text_at(0).to_owned());
                        self.at += 1;
                        continue;
                    }
                    let found = self.expression_list();
                    if self.op("=") {
                        self.at += 1;
                    }
                    if value == Value::Unknown {
                        value = found;
                    }
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.at += 1;
        if let Some(variable) = variable {
            self.bind(variable, value.each());
        }
    }

    /// Loops whose body goes to `end`.
    fn end_loop(&mut self) {
        let keyword = self.text_at(0);
        self.at += 1;
        self.loops += 1;
        if keyword == "for" {
            let name = self.text_at(0).to_owned();
            while self.at < self.tokens.len()
                && !self.word("in")
                && !self.op("=")
                && !self.word("do")
            {
                self.at += 1;
            }
            if self.take_word("in") || self.take_op("=") {
                let value = self.expression_list();
                self.bind(name, value.each());
            }
        } else if keyword != "repeat" {
            self.expression();
        }
        self.take_word("do");
        self.until_end();
        self.loops -= 1;
    }

    fn javascript_import(&mut self) {
        self.at += 1;
        let mut bound = Vec::new();
        while self.at < self.tokens.len() && !self.op(";") {
            match self.kind() {
                Some(Kind::Str(_)) => break,
                Some(Kind::Open(b'{')) => {
                    self.at += 1;
                    self.braced_names(&mut bound);
                    continue;
                }
                Some(Kind::Ident) if self.text_at(0) != "from" && self.text_at(0) != "as" => {
                    bound.push((String::new(), self.text_at(0).to_owned()));
                }
                _ => {}
            }
            self.at += 1;
        }
        let module = self.expression();
        self.bind_members(&super::call::module_of(&module), bound);
    }

    /// `name, other: alias }` or `other as alias }`.
    fn braced_names(&mut self, bound: &mut Vec<(String, String)>) {
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(b'}')) {
            if self.kind() == Some(&Kind::Ident) {
                let name = self.text_at(0).to_owned();
                let mut alias = name.clone();
                if matches!(self.text_at(1), ":" | "as") {
                    alias = self.text_at(2).to_owned();
                    self.at += 2;
                }
                bound.push((name, alias));
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn bind_members(&mut self, module: &Value, bound: Vec<(String, String)>) {
        for (name, alias) in bound {
            let value = match module {
                Value::Name(module) if name.is_empty() => Value::Name(module.clone()),
                Value::Name(module) => Value::Name(format!("{module}.{name}")),
                _ => Value::Unknown,
            };
            self.bind(alias, value);
        }
    }

    /// `{a, b: c} = require('x')`.
    fn destructuring(&mut self) -> bool {
        if !self.open(b'{') {
            return false;
        }
        let close = self.tokens.iter().skip(self.at).position(|t| t.kind == Kind::Close(b'}'));
        let Some(close) = close else { return false };
        if self.text_at(close + 1) != "=" {
            return false;
        }
        let mut bound = Vec::new();
        self.at += 1;
        self.braced_names(&mut bound);
        self.at += 1;
        let module = self.expression();
        self.bind_members(&module, bound);
        true
    }
}
