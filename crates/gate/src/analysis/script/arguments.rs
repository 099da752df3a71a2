//! Reads what stands between brackets: lists, options, a call's arguments, with or without parentheses.

use super::super::shell::machine::ScriptLang;
use super::call::Args;
use super::expression::INFIX;
use super::lexer::Kind;
use super::reader::Reader;
use super::value::Value;

/// Methods that call what they are given once for each element.
const ITERATORS: &[&str] = &[
    "all",
    "any",
    "array_map",
    "array_walk",
    "collect",
    "each",
    "each_child",
    "each_entry",
    "each_line",
    "each_slice",
    "each_with_index",
    "every",
    "filter",
    "find",
    "find_each",
    "first",
    "flatMap",
    "flat_map",
    "forEach",
    "foreach",
    "glob",
    "grep",
    "inject",
    "loop",
    "map",
    "reduce",
    "reject",
    "select",
    "some",
    "starmap",
    "submit",
    "sum",
    "times",
    "upto",
];

impl Reader<'_> {
    /// A dictionary, an options object, or a block of statements.
    pub(super) fn braces(&mut self) -> Value {
        let key = matches!(self.kind_at(1), Some(Kind::Str(_) | Kind::Ident | Kind::Close(b'}')));
        let separator = matches!(self.text_at(2), ":" | "=>" | ",")
            || self.kind_at(2) == Some(&Kind::Close(b'}'))
            || self.kind_at(1) == Some(&Kind::Close(b'}'));
        if self.lang == ScriptLang::Lua {
            self.at += 1;
            return Value::list(self.elements(b'}').0);
        }
        if !key || !separator {
            self.block();
            return Value::Unknown;
        }
        self.at += 1;
        let mut entries = Vec::new();
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(b'}')) {
            let before = self.at;
            let key = match self.kind() {
                Some(Kind::Ident) => {
                    let key = self.text_at(0).to_owned();
                    self.at += 1;
                    key
                }
                _ => self.unary().text(),
            };
            let value = if self.take_op(":") || self.take_op("=>") {
                self.expression()
            } else {
                Value::Unknown
            };
            entries.push((key, value));
            self.comprehension(0);
            self.take_op(",");
            if self.at == before {
                self.at += 1;
            }
        }
        self.at += 1;
        Value::dict(entries)
    }

    /// The elements up to a closing bracket; whether a comma stood between or after them.
    pub(super) fn elements(&mut self, close: u8) -> (Vec<Value>, bool) {
        let mark = self.findings.len();
        let mut values = Vec::new();
        let mut comma = false;
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(close)) {
            if matches!(self.kind(), Some(Kind::Close(_))) {
                return (values, comma);
            }
            let before = self.at;
            let spread = self.op("*") || self.op("...");
            let value = self.expression();
            match value {
                Value::List(inner) if spread => values.extend(inner),
                value if self.take_op("=>") => {
                    let right = self.expression();
                    values.push(Value::dict(vec![(value.text(), right)]));
                }
                value => values.push(value),
            }
            if self.comprehension(mark) {
                values = vec![Value::Unknown];
                comma = true;
            }
            if self.take_op(",") {
                comma = true;
            } else if self.kind() != Some(&Kind::Close(close)) {
                self.take_op("=");
                self.take_op(":");
                self.take_op(";");
                if self.at == before {
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        (values, comma)
    }

    /// Python's `for … in … if …` inside brackets: what stands before it happens in a loop.
    pub(super) fn comprehension(&mut self, mark: usize) -> bool {
        if self.lang != ScriptLang::Python {
            return false;
        }
        let mut found = false;
        while self.word("for") || (self.word("async") && self.text_at(1) == "for") {
            self.take_word("async");
            self.at += 1;
            self.python_for_header();
            found = true;
        }
        if found {
            self.loop_since(mark);
        }
        found
    }

    pub(super) fn block_follows(&self, value: &Value) -> bool {
        self.lang == ScriptLang::Ruby
            && matches!(value, Value::Name(_) | Value::Method(..))
            && (self.open(b'{') || self.word("do"))
    }

    /// Calls `callee`, with Ruby's block if one follows, and marks what iterators repeat.
    pub(super) fn invoke(&mut self, callee: Value, args: Args, start: usize, mark: usize) -> Value {
        let method = match &callee {
            Value::Name(name) => name.rsplit('.').next().unwrap_or("").to_owned(),
            Value::Method(_, name) => name.clone(),
            _ => String::new(),
        };
        let together = matches!(&callee, Value::Name(name) if name.starts_with("Promise."));
        let iterates = ITERATORS.binary_search(&method.as_str()).is_ok() && !together;
        if self.lang == ScriptLang::Ruby && (self.open(b'{') || self.word("do")) {
            self.loops += u32::from(iterates);
            if self.open(b'{') {
                self.block();
            } else {
                self.at += 1;
                self.until_end();
            }
            self.loops -= u32::from(iterates);
        }
        if iterates {
            self.loop_since(mark);
            self.called_back(&args, start);
        }
        self.call(callee, args, start)
    }

    /// `array_map('unlink', …)`, `map(os.remove, …)`, `.forEach(fs.unlinkSync)`.
    pub(super) fn called_back(&mut self, args: &Args, start: usize) {
        for value in &args.pos {
            let name = match value {
                Value::Name(name) => name.clone(),
                Value::Str(name) if self.lang == ScriptLang::Php => name.clone(),
                _ => continue,
            };
            if super::api::find(self.lang, &name).is_some() {
                self.loops += 1;
                let args = Args { pos: vec![Value::Unknown], named: Vec::new() };
                self.call(Value::Name(name), args, start);
                self.loops -= 1;
            }
        }
    }

    pub(super) fn bare_call(&self, value: &Value) -> bool {
        if !matches!(self.lang, ScriptLang::Perl | ScriptLang::Ruby) {
            return false;
        }
        let known = match value {
            Value::Name(name) => super::api::find(self.lang, name).is_some(),
            _ => false,
        };
        let ruby_method = self.lang == ScriptLang::Ruby
            && match value {
                Value::Method(..) => true,
                Value::Name(name) => super::method::is_modelled(self.lang, name),
                _ => false,
            };
        let assigned = matches!(self.text_at(0), "=>" | "=" | "==" | "=~");
        (known || ruby_method) && !assigned && !self.open(b'{')
    }

    /// Arguments without parentheses, up to the statement's end or a modifier.
    pub(super) fn bare_arguments(&mut self) -> Args {
        let mut args = Args::default();
        let starts = match self.kind() {
            Some(Kind::Ident) => {
                let word = self.text_at(0);
                !INFIX.contains(&word)
                    && !matches!(
                        word,
                        "for" | "foreach" | "while" | "until" | "do" | "end" | "then"
                    )
            }
            Some(Kind::Op) => matches!(self.text_at(0), "\\" | "*" | "&" | "..."),
            Some(Kind::Open(bracket)) => *bracket == b'[',
            Some(Kind::Newline(_) | Kind::Close(_)) | None => false,
            _ => true,
        };
        if !starts {
            return args;
        }
        loop {
            self.argument(&mut args);
            if !self.take_op(",") && !self.take_op("=>") {
                return args;
            }
            if matches!(self.kind(), Some(Kind::Newline(_))) {
                self.at += 1;
            }
        }
    }

    /// Arguments in parentheses.
    pub(super) fn arguments(&mut self) -> Args {
        let mark = self.findings.len();
        let mut args = Args::default();
        self.at += 1;
        while self.at < self.tokens.len() && self.kind() != Some(&Kind::Close(b')')) {
            if matches!(self.kind(), Some(Kind::Close(_))) {
                return args;
            }
            let before = self.at;
            self.argument(&mut args);
            if self.comprehension(mark) {
                args.pos = vec![Value::Unknown];
            }
            if self.take_op(",") {
                continue;
            }
            if self.lang == ScriptLang::Perl && self.take_op("=>") {
                continue;
            }
            if self.kind() != Some(&Kind::Close(b')')) {
                // Something that is not understood follows the argument: the argument is not known.
                if !self.op(";") && !self.op("=") && !self.op(":") {
                    let value = self.expression();
                    if let Some(last) = args.pos.last_mut() {
                        *last = Value::one_of(vec![Value::Unknown, value]);
                    }
                }
                if self.at == before || matches!(self.text_at(0), ";" | "=" | ":") {
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        args
    }

    pub(super) fn argument(&mut self, args: &mut Args) {
        let name = self.text_at(0);
        let ident = self.kind() == Some(&Kind::Ident);
        let named = match self.lang {
            ScriptLang::Python => self.text_at(1) == "=",
            ScriptLang::Ruby | ScriptLang::Php => self.text_at(1) == ":",
            _ => false,
        };
        if ident && named {
            self.at += 2;
            let value = self.expression();
            args.named.push((name.to_owned(), value));
            return;
        }
        let spread = self.op("*") || self.op("...");
        let value = self.expression();
        match value {
            Value::List(inner) if spread => args.pos.extend(inner),
            Value::Str(key) if self.lang == ScriptLang::Ruby && self.take_op("=>") => {
                let value = self.expression();
                args.named.push((key, value));
            }
            value => args.pos.push(value),
        }
    }
}
