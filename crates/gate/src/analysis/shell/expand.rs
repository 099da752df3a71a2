//! Words to arguments: what bash would pass on, as far as that can be known beforehand.

use aurora_model::Span;

use super::ast::{Code, Command, Direction, Part, RedirectKind, Word};
use super::field::{Field, Seg};
use super::machine::{Machine, Stream};
use super::scope::Base;

/// In code made of known and unknown text, this character stands for an unknown part.
pub const UNKNOWN: char = '\u{FFFC}';
/// More words than this from one brace expansion are "many".
const MAX_BRACES: usize = 512;

/// Arguments under construction.
#[derive(Debug, Default)]
struct Builder {
    done: Vec<Field>,
    current: Option<Field>,
}

impl Builder {
    fn current(&mut self) -> &mut Field {
        self.current.get_or_insert_default()
    }

    fn finish_current(&mut self) {
        self.done.extend(self.current.take());
    }
}

/// Adds text in which `UNKNOWN` may stand for unknown parts.
fn push_text(field: &mut Field, text: &str) {
    let mut first = true;
    for piece in text.split(UNKNOWN) {
        if !first {
            field.push_any(false);
        }
        first = false;
        field.push_lit(piece);
    }
}

/// The place where a word's text stands verbatim, when it is one literal.
fn verbatim(word: &Word) -> Option<usize> {
    match word.parts.as_slice() {
        [Part::Lit(_)] => Some(word.span.start),
        [Part::Quoted(_, at)] => *at,
        [Part::Double(inner)] => match inner.as_slice() {
            [Part::Quoted(_, at)] => *at,
            _ => None,
        },
        [Part::HereDoc(body)] => match body.get()?.as_slice() {
            [Part::Quoted(_, at)] => *at,
            _ => None,
        },
        _ => None,
    }
}

/// Every way to take one alternative of each brace; nothing when there are too many.
fn alternatives(parts: &[Part]) -> Option<Vec<Vec<&Part>>> {
    let mut all: Vec<Vec<&Part>> = vec![Vec::new()];
    for part in parts {
        let Part::Brace(choices) = part else {
            for one in &mut all {
                one.push(part);
            }
            continue;
        };
        let mut expanded = Vec::new();
        for choice in choices {
            expanded.extend(alternatives(choice)?);
        }
        if all.len() * expanded.len() > MAX_BRACES {
            return None;
        }
        // The left-most brace varies slowest, as in bash.
        all = all
            .iter()
            .flat_map(|head| {
                expanded.iter().map(move |tail| head.iter().chain(tail).copied().collect())
            })
            .collect();
    }
    Some(all)
}

/// More arguments than these are not told apart.
const MAX_FIELDS: usize = 4096;

impl Machine<'_> {
    /// All words as arguments.
    pub(super) fn fields(&mut self, words: &[Word]) -> Vec<Field> {
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            self.word_fields(word, &mut fields);
        }
        fields
    }

    /// One word as none, one or several arguments.
    pub(super) fn word_fields(&mut self, word: &Word, into: &mut Vec<Field>) {
        let span = self.place(word.span);
        self.all_fields(word, span, into);
        // A list that is put together from itself doubles with each step.
        if into.len() > MAX_FIELDS {
            into.truncate(MAX_FIELDS);
            into.push(Field::unknown(true, span));
        }
    }

    fn all_fields(&mut self, word: &Word, span: Span, into: &mut Vec<Field>) {
        if !word.parts.iter().any(|part| matches!(part, Part::Brace(_))) {
            let parts: Vec<&Part> = word.parts.iter().collect();
            return self.word_alternative(&parts, word, span, into);
        }
        let Some(all) = alternatives(&word.parts) else {
            into.push(Field::unknown(true, span));
            return;
        };
        for parts in all {
            self.word_alternative(&parts, word, span, into);
        }
    }

    fn word_alternative(
        &mut self,
        parts: &[&Part],
        word: &Word,
        span: Span,
        into: &mut Vec<Field>,
    ) {
        let mut builder = Builder::default();
        for part in parts {
            self.part(part, &mut builder);
        }
        builder.finish_current();
        let at = verbatim(word).zip(self.offset()).map(|(at, offset)| at + offset);
        for mut field in builder.done {
            field.span = span;
            field.verbatim = at;
            into.push(field);
        }
    }

    fn offset(&self) -> Option<usize> {
        match self.base {
            Base::Offset(offset) => Some(offset),
            Base::Within(_) => None,
        }
    }

    fn part(&mut self, part: &Part, builder: &mut Builder) {
        match part {
            Part::Lit(text) | Part::Quoted(text, _) => push_text(builder.current(), text),
            Part::Double(parts) => {
                builder.current();
                for part in parts {
                    self.quoted_part(part, builder);
                }
            }
            Part::Glob(pattern) => builder.current().push_glob(pattern),
            Part::ManyBraces => builder.current().push_any(true),
            Part::Brace(choices) => {
                // Only inside `${x:-{a,b}}`: not expanded there.
                for part in choices.iter().flatten() {
                    self.part(part, builder);
                }
            }
            Part::Tilde(user) => {
                let home = self.home(user);
                builder.current().push_lit(&home);
            }
            Part::Arith(parts) => {
                self.arithmetic(parts);
                builder.current().push_any(false);
            }
            Part::Process(code, direction) => {
                let name = self.process(code, *direction);
                builder.current().push_lit(&name);
            }
            Part::Substitution(code) => {
                let value = self.substitute(code);
                self.split_into(&value, builder);
            }
            Part::Param(param) => {
                let values = self.param(param, false);
                let mut first = true;
                for value in values {
                    if !first {
                        builder.finish_current();
                    }
                    first = false;
                    self.split_into(&value, builder);
                }
            }
            Part::HereDoc(body) => {
                for part in body.get().into_iter().flatten() {
                    self.quoted_part(part, builder);
                }
            }
        }
    }

    fn quoted_part(&mut self, part: &Part, builder: &mut Builder) {
        match part {
            Part::Substitution(code) => {
                let value = self.substitute(code);
                push_quoted(builder.current(), &value);
            }
            Part::Param(param) => {
                let lists = param.name == "@" || param.index == Some(super::ast::Index::All);
                let values = self.param(param, true);
                if lists
                    && values.is_empty()
                    && builder.current.as_ref().is_some_and(|c| c.segs().is_empty())
                {
                    builder.current = None;
                    return;
                }
                let mut first = true;
                for value in values {
                    if !first {
                        builder.finish_current();
                    }
                    first = false;
                    let many = lists && value.many;
                    push_quoted(builder.current(), &value);
                    builder.current().many |= many;
                }
            }
            other => self.part(other, builder),
        }
    }

    /// Adds an unquoted value: split at blanks, patterns come alive.
    fn split_into(&mut self, value: &Field, builder: &mut Builder) {
        let separators = self.separators();
        for seg in value.segs() {
            match seg {
                Seg::Any => builder.current().push_any(true),
                Seg::Glob(pattern) => builder.current().push_glob(pattern),
                Seg::Lit(text) => {
                    let mut pieces = text.split(|c| separators.contains(c));
                    if let Some(first) = pieces.next()
                        && !first.is_empty()
                    {
                        push_active(builder.current(), first);
                    }
                    for piece in pieces {
                        builder.finish_current();
                        if !piece.is_empty() {
                            push_active(builder.current(), piece);
                        }
                    }
                }
            }
        }
    }

    fn separators(&self) -> String {
        match self.scope.vars.get("IFS") {
            Some(super::scope::Value::OneOf(values)) => {
                values.first().and_then(Field::text).unwrap_or(" \t\n").to_owned()
            }
            _ => " \t\n".to_owned(),
        }
    }

    /// A word as one text: no splitting, patterns are only text (assignments, here-documents).
    pub(super) fn joined(&mut self, word: &Word) -> Field {
        let mut field = self.joined_parts(&word.parts);
        field.span = self.place(word.span);
        field.verbatim = verbatim(word).zip(self.offset()).map(|(at, offset)| at + offset);
        field
    }

    /// Parts as one text.
    pub(super) fn joined_parts(&mut self, parts: &[Part]) -> Field {
        let mut field = Field::default();
        for part in parts {
            match part {
                Part::Glob(pattern) => field.push_lit(pattern),
                Part::Param(param) => {
                    let values = self.param(param, true);
                    let mut first = true;
                    for value in values {
                        if !first {
                            field.push_lit(" ");
                        }
                        first = false;
                        push_quoted(&mut field, &value);
                    }
                }
                Part::Substitution(code) => {
                    let value = self.substitute(code);
                    push_quoted(&mut field, &value);
                }
                Part::Double(inner) => {
                    let inner = self.joined_parts(inner);
                    push_quoted(&mut field, &inner);
                }
                Part::HereDoc(body) => {
                    if let Some(parts) = body.get() {
                        let inner = self.joined_parts(parts);
                        push_quoted(&mut field, &inner);
                    }
                }
                Part::Brace(choices) => {
                    let mut first = true;
                    field.push_lit("{");
                    for choice in choices {
                        if !first {
                            field.push_lit(",");
                        }
                        first = false;
                        let inner = self.joined_parts(choice);
                        push_quoted(&mut field, &inner);
                    }
                    field.push_lit("}");
                }
                other => {
                    let mut builder = Builder::default();
                    self.part(other, &mut builder);
                    builder.finish_current();
                    for inner in builder.done {
                        push_quoted(&mut field, &inner);
                    }
                }
            }
        }
        field
    }

    /// Arithmetic evaluates the text of the variables that it names, subscripts included.
    pub(super) fn arithmetic(&mut self, parts: &[Part]) {
        let text = self.joined_parts(parts).display();
        for name in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            if let Some(super::scope::Value::OneOf(values)) = self.scope.vars.get(name) {
                let values = values.clone();
                self.run_subscripts(&values);
            }
        }
        let whole = Field::lit(text, Span::default());
        self.run_subscripts(&[whole]);
    }

    /// Runs what is substituted inside parts whose own value does not matter.
    pub(super) fn discover(&mut self, parts: &[Part]) {
        let _ = self.joined_parts(parts);
    }

    fn home(&self, user: &str) -> String {
        match user {
            "" => self.context.home.clone().unwrap_or_else(|| "/home/~".to_owned()),
            "+" => self.scope.cwd.clone().unwrap_or_else(|| "~+".to_owned()),
            "-" => "~-".to_owned(),
            name => format!("/home/{name}"),
        }
    }

    /// The output of `$(…)` without the newlines at its end.
    fn substitute(&mut self, code: &Code) -> Field {
        let stream = if let Some(file) = read_only(&code.command) {
            let mut names = Vec::new();
            self.word_fields(file, &mut names);
            match names.first().and_then(|name| self.file_name(name)) {
                Some(name) => match self.scope.files.get(&name).map(Vec::as_slice) {
                    Some([only]) => only.clone(),
                    _ => Stream::Output(name),
                },
                None => Stream::Output("a file".to_owned()),
            }
        } else {
            self.run_inner(code)
        };
        match stream {
            Stream::Text(text) => trim_newlines(&text),
            Stream::Terminal => Field::default(),
            Stream::File(_) | Stream::Output(_) | Stream::Network(_) => {
                Field::unknown(true, self.place(code.span))
            }
        }
    }

    fn run_inner(&mut self, code: &Code) -> Stream {
        let span = self.place(code.span);
        let outer = self.base;
        if !code.same_text {
            self.base = Base::Within(span);
        }
        let naming = std::mem::replace(&mut self.naming, false);
        let stream =
            self.nested(span, |machine| machine.subshell(|machine| machine.eval(&code.command)));
        self.naming = naming;
        self.base = outer;
        stream
    }

    /// Runs a process substitution; the name under which its output can be read.
    fn process(&mut self, code: &Code, direction: Direction) -> String {
        if direction == Direction::Write {
            let outer = std::mem::replace(
                &mut self.stdin,
                Stream::Output("a process substitution".to_owned()),
            );
            self.run_inner(code);
            self.stdin = outer;
            return "/dev/fd/62".to_owned();
        }
        let stream = self.run_inner(code);
        let name = substitution_name(self.substitutions);
        self.substitutions += 1;
        self.scope.files.insert(name.clone(), vec![stream]);
        name
    }
}

/// The file under which the output of a process substitution is read.
pub(super) fn substitution_name(number: usize) -> String {
    format!("/dev/fd/{}", 100 + number)
}

/// `$(<file)`: the file's name.
fn read_only(command: &Command) -> Option<&Word> {
    let Command::List(items) = command else { return None };
    let [item] = items.as_slice() else { return None };
    let Command::Simple(simple) = &item.command else { return None };
    let [redirect] = simple.redirects.as_slice() else { return None };
    (simple.words.is_empty() && simple.assigns.is_empty() && redirect.kind == RedirectKind::Read)
        .then_some(&redirect.target)
}

/// Adds a value as quoted text: nothing splits, no pattern is alive.
pub(super) fn push_quoted(field: &mut Field, value: &Field) {
    field.cut_as(value);
    for seg in value.segs() {
        match seg {
            Seg::Lit(text) | Seg::Glob(text) => push_text(field, text),
            Seg::Any => field.push_any(false),
        }
    }
}

/// Adds text in which patterns are alive.
fn push_active(field: &mut Field, text: &str) {
    if !text.contains(['*', '?', '[']) {
        return push_text(field, text);
    }
    for piece in text.split_inclusive(['*', '?']) {
        let (plain, star) = match piece.chars().last() {
            Some(c @ ('*' | '?')) => (piece.trim_end_matches(c), Some(c)),
            _ => (piece, None),
        };
        push_text(field, plain);
        if let Some(c) = star {
            field.push_glob(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Known text without newlines at its end.
pub(super) fn trim_newlines(text: &Field) -> Field {
    let mut out = Field::lit("", text.span);
    let last = text.segs().len().saturating_sub(1);
    for (index, seg) in text.segs().iter().enumerate() {
        match seg {
            Seg::Lit(text) if index == last => out.push_lit(text.trim_end_matches('\n')),
            Seg::Lit(text) | Seg::Glob(text) => out.push_lit(text),
            Seg::Any => out.push_any(true),
        }
    }
    out
}
