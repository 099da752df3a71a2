//! Walks through a parsed line in the order in which bash would run it, both ways at every branch.

use std::rc::Rc;

use aurora_model::{EffectKind, Span, Touch};

use super::ast::{Assign, AssignValue, Command, ListItem, Redirect, RedirectKind, Simple, Word};
use super::command::disk;
use super::field::Field;
use super::machine::{Base, Function, Machine, Stream};
use super::scope::Value;

/// More rounds of a loop over literal words than this are taken as one with an unknown word.
const MAX_ROUNDS: usize = 24;
/// More combinations of alternatives in one simple command than this are not tried.
const MAX_COMBINATIONS: usize = 24;

/// Where a command's output goes.
#[derive(Debug, Default)]
struct Output {
    /// It goes to a file instead of the next command: the file's name when it is known.
    redirected: Option<Option<String>>,
    append: bool,
}

impl Machine<'_> {
    /// Evaluates a command; what it prints.
    pub(super) fn eval(&mut self, command: &Command) -> Stream {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::List(items) => self.list(items),
            Command::Pipeline(commands) => self.pipeline(commands),
            Command::Subshell(inner) => self.subshell(|machine| machine.eval(inner)),
            Command::Group(inner) => self.eval(inner),
            Command::If(parts) => self.branches(parts),
            Command::While(condition, body) => {
                let before = self.scope.clone();
                let out = self.repeated(|machine| {
                    machine.eval(condition);
                    machine.eval(body)
                });
                self.scope.join(before);
                out
            }
            Command::For(name, words, body) => self.for_loop(name, words.as_deref(), body),
            Command::ForArith(header, body) => {
                self.discover(&header.parts);
                self.repeated(|machine| machine.eval(body))
            }
            Command::Case(subject, arms) => {
                self.joined(subject);
                let bodies: Vec<&Command> = arms.iter().map(|(_, body)| body).collect();
                self.either(&bodies)
            }
            Command::Function(name, body) => {
                let function = Function { body: Rc::clone(body), base: self.base };
                self.functions.insert(name.clone(), function);
                self.called.remove(name);
                Stream::Terminal
            }
            Command::Test(words) => {
                for word in words {
                    self.joined(word);
                }
                Stream::Terminal
            }
            Command::Arith(word) => {
                self.discover(&word.parts);
                Stream::Terminal
            }
            Command::Redirected(inner, redirects) => {
                let outer = self.stdin.clone();
                let output = self.redirects(redirects);
                let stream = self.eval(inner);
                self.stdin = outer;
                self.deliver(stream, &output)
            }
        }
    }

    /// Functions that were defined and never called may still be called later.
    pub(super) fn uncalled_functions(&mut self) {
        let all: Vec<(String, Function)> =
            self.functions.iter().map(|(name, f)| (name.clone(), f.clone())).collect();
        for (name, function) in all {
            if !self.called.contains(&name) {
                self.call_function(&name, &function, None, Span::default());
            }
        }
    }

    pub(super) fn subshell(&mut self, inside: impl FnOnce(&mut Self) -> Stream) -> Stream {
        let scope = self.scope.clone();
        let stream = inside(self);
        self.scope = scope;
        stream
    }

    fn list(&mut self, items: &[ListItem]) -> Stream {
        let mut out = Stream::Terminal;
        for item in items {
            let stream = if item.background {
                self.background += 1;
                let stream = self.subshell(|machine| machine.eval(&item.command));
                self.background -= 1;
                stream
            } else {
                self.eval(&item.command)
            };
            out = concat(out, stream);
        }
        out
    }

    fn pipeline(&mut self, commands: &[Command]) -> Stream {
        let outer = self.stdin.clone();
        let mut flowing = outer.clone();
        self.background += 1;
        for command in commands {
            self.stdin = flowing;
            flowing = self.subshell(|machine| machine.eval(command));
        }
        self.background -= 1;
        self.stdin = outer;
        flowing
    }

    /// `if`: conditions and bodies alternate; any of the bodies may run.
    fn branches(&mut self, parts: &[Command]) -> Stream {
        let mut bodies = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let is_else = index + 1 == parts.len() && parts.len() % 2 == 1;
            if index % 2 == 0 && !is_else {
                self.eval(part);
            } else {
                bodies.push(part);
            }
        }
        self.either(&bodies)
    }

    /// Any one of the commands runs, or none.
    fn either(&mut self, commands: &[&Command]) -> Stream {
        let before = self.scope.clone();
        let mut after = before.clone();
        let mut out: Option<Stream> = None;
        for command in commands {
            self.scope = before.clone();
            let stream = self.eval(command);
            after.join(std::mem::take(&mut self.scope));
            out = Some(match out {
                None => stream,
                Some(earlier) if earlier == stream || stream == Stream::Terminal => earlier,
                Some(Stream::Terminal) => stream,
                Some(_) => Stream::Output("a branch".to_owned()),
            });
        }
        self.scope = after;
        out.unwrap_or(Stream::Terminal)
    }

    fn for_loop(&mut self, name: &str, words: Option<&[Word]>, body: &Command) -> Stream {
        let values = match words {
            Some(words) => self.fields(words),
            None => match self.scope.positional.clone() {
                Some(args) => args.into_iter().skip(1).collect(),
                None => vec![Field::unknown(true, Span::default())],
            },
        };
        let literal = values.iter().all(|value| value.text().is_some());
        let rounds = if literal && values.len() <= MAX_ROUNDS {
            values
        } else {
            // Globs and unknown words: one round stands for all of them, with what they share.
            let mut one = Field::unknown(false, Span::default());
            if let [only] = values.as_slice() {
                one = only.clone();
                one.many = false;
            }
            vec![one]
        };
        let mut out = Stream::Terminal;
        self.repeated(|machine| {
            for value in rounds {
                machine.scope.set(name, value);
                let stream = machine.eval(body);
                out = concat(std::mem::replace(&mut out, Stream::Terminal), stream);
            }
        });
        out
    }

    /// Runs a simple command once for every combination of alternatives in its words.
    fn simple(&mut self, simple: &Simple) -> Stream {
        let span = self.place(simple.span);
        if self.fuel == 0 {
            return self.nested(span, |_| Stream::Terminal);
        }
        self.fuel -= 1;
        let choices = std::mem::take(&mut self.choices);
        let chosen = std::mem::replace(&mut self.chosen, 0);
        let mut out = None;
        for _ in 0..MAX_COMBINATIONS {
            self.chosen = 0;
            let stdin = self.stdin.clone();
            let stream = self.simple_once(simple, span);
            self.stdin = stdin;
            out = Some(match out {
                None => stream,
                Some(earlier) if earlier == stream => earlier,
                Some(_) => Stream::Output("a command".to_owned()),
            });
            while let Some((picked, count)) = self.choices.last_mut() {
                *picked += 1;
                if *picked < *count {
                    break;
                }
                self.choices.pop();
            }
            if self.choices.is_empty() {
                break;
            }
        }
        self.choices = choices;
        self.chosen = chosen;
        out.unwrap_or(Stream::Terminal)
    }

    fn simple_once(&mut self, simple: &Simple, span: Span) -> Stream {
        let mut argv = Vec::with_capacity(simple.words.len());
        for (index, word) in simple.words.iter().enumerate() {
            self.naming = index == 0;
            self.word_fields(word, &mut argv);
        }
        self.naming = false;
        let argv = self.unalias(argv);
        let output = self.redirects(&simple.redirects);
        if argv.is_empty() {
            self.assign_all(&simple.assigns);
            return self.deliver(Stream::Terminal, &output);
        }
        let declares = argv.first().and_then(Field::text).is_some_and(|name| {
            matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
        });
        let is_alias = argv.first().is_some_and(|name| name.is("alias"));
        let stdin = self.stdin.clone();
        let stream = if declares {
            self.assign_all(&simple.assigns);
            if argv.first().is_some_and(|name| name.is("export")) {
                let names = simple.assigns.iter().map(|assign| assign.name.clone());
                self.scope.exported.extend(names);
            }
            self.run_argv(&argv, &stdin, span)
        } else if is_alias {
            self.define_aliases(&simple.assigns);
            Stream::Terminal
        } else {
            let env = self.temporary(&simple.assigns);
            self.dispatch(&argv, &stdin, &env, span)
        };
        self.deliver(stream, &output)
    }

    fn temporary(&mut self, assigns: &[Assign]) -> Vec<(String, Field)> {
        assigns
            .iter()
            .map(|assign| {
                let value = match &assign.value {
                    AssignValue::Scalar(word) => self.joined(word),
                    AssignValue::Array(_) => Field::unknown(false, Span::default()),
                };
                (assign.name.clone(), value)
            })
            .collect()
    }

    fn assign_all(&mut self, assigns: &[Assign]) {
        for assign in assigns {
            self.discover(assign.index.as_deref().unwrap_or(&[]));
            match &assign.value {
                AssignValue::Scalar(word) => {
                    let mut value = self.joined(word);
                    if assign.append {
                        let before =
                            self.lookup(&assign.name, None).and_then(|v| v.into_iter().next());
                        let mut whole = before.unwrap_or_default();
                        super::expand::push_quoted(&mut whole, &value);
                        whole.span = value.span;
                        value = whole;
                    }
                    if assign.index.is_some() {
                        let unknown = vec![Field::unknown(true, value.span)];
                        self.scope.vars.insert(assign.name.clone(), Value::Array(unknown));
                    } else {
                        self.scope.set(&assign.name, value);
                    }
                }
                AssignValue::Array(words) => {
                    let mut values = self.fields(words);
                    if assign.append
                        && let Some(Value::Array(before)) = self.scope.vars.get(&assign.name)
                    {
                        values.splice(0..0, before.iter().cloned());
                    }
                    self.scope.vars.insert(assign.name.clone(), Value::Array(values));
                }
            }
        }
    }

    fn define_aliases(&mut self, assigns: &[Assign]) {
        for assign in assigns {
            let AssignValue::Scalar(word) = &assign.value else { continue };
            let code = self.joined(word);
            if let Some(text) = code.text() {
                self.scope.aliases.insert(assign.name.clone(), text.to_owned());
            }
            self.run_code(super::machine::Lang::Shell, &code);
        }
    }

    /// Replaces an alias that the line itself defined.
    fn unalias(&mut self, argv: Vec<Field>) -> Vec<Field> {
        let Some(first) = argv.first() else { return argv };
        let Some(text) = first.text().and_then(|name| self.scope.aliases.get(name)) else {
            return argv;
        };
        let mut words: Vec<Field> =
            text.split_whitespace().map(|word| Field::lit(word, first.span)).collect();
        words.extend(argv.into_iter().skip(1));
        words
    }

    /// Carries out redirections: what is read, what is changed, where output goes.
    fn redirects(&mut self, redirects: &[Redirect]) -> Output {
        let mut output = Output::default();
        for redirect in redirects {
            if redirect.kind == RedirectKind::HereText {
                let mut text = self.joined(&redirect.target);
                let here_doc =
                    matches!(redirect.target.parts.as_slice(), [super::ast::Part::HereDoc(_)]);
                if !here_doc {
                    let at = text.verbatim;
                    text.push_lit("\n");
                    text.verbatim = at;
                }
                if redirect.fd.unwrap_or(0) == 0 {
                    self.stdin = Stream::Text(text);
                }
                continue;
            }
            let mut targets = Vec::new();
            self.word_fields(&redirect.target, &mut targets);
            let span = self.place(redirect.span);
            let target = targets.into_iter().next().unwrap_or(Field::unknown(false, span));
            self.redirect(redirect, target, span, &mut output);
        }
        output
    }

    fn redirect(
        &mut self,
        redirect: &Redirect,
        mut target: Field,
        span: Span,
        output: &mut Output,
    ) {
        target.many = false;
        target.span = span;
        match redirect.kind {
            RedirectKind::Read => {
                if redirect.fd.unwrap_or(0) == 0 {
                    self.stdin = self.stream_of(&target);
                }
                if target.prefix().starts_with("/dev/tcp/") {
                    self.stdin = Stream::Network(target.display());
                }
            }
            RedirectKind::Duplicate => {
                // `echo x >&2` prints nothing that a pipe would see.
                if redirect.fd.unwrap_or(1) == 1 && target.is("2") {
                    output.redirected = Some(None);
                }
            }
            kind => {
                let touch = match kind {
                    RedirectKind::Append | RedirectKind::BothAppend => Touch::Append,
                    _ => Touch::Write,
                };
                let stdout = redirect.fd.unwrap_or(1) == 1
                    || matches!(kind, RedirectKind::Both | RedirectKind::BothAppend);
                if stdout
                    && !(target.is("/dev/stdout")
                        || target.is("/dev/fd/1")
                        || target.is("/dev/stderr"))
                {
                    output.redirected = Some(self.file_name(&target));
                    output.append = touch == Touch::Append;
                }
                self.overwrite(&target, touch, span);
            }
        }
    }

    /// A redirection or a program writes to this path.
    pub fn overwrite(&mut self, target: &Field, touch: Touch, span: Span) {
        let text = target.prefix();
        if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
            self.emit(EffectKind::Network { target: target.display() }, span);
        } else if disk::is_disk(text) || !text.starts_with("/dev/") {
            self.change(target, touch, false);
        }
    }

    /// What a file holds, as far as this line put it there.
    #[must_use]
    pub fn stream_of(&self, target: &Field) -> Stream {
        let known = self.file_name(target).and_then(|name| self.files.get(&name).cloned());
        known.unwrap_or_else(|| Stream::File(self.resolve(target)))
    }

    fn deliver(&mut self, stream: Stream, output: &Output) -> Stream {
        let Some(file) = &output.redirected else { return stream };
        if let Some(name) = file {
            self.keep(name.clone(), stream, output.append);
        }
        Stream::Terminal
    }

    fn keep(&mut self, name: String, stream: Stream, append: bool) {
        let content = match (append, self.files.remove(&name)) {
            (true, Some(before)) => concat(before, stream),
            _ => stream,
        };
        self.files.insert(name, content);
    }

    /// Remembers what a program has put into a file, in case the line runs it later.
    pub fn remember_file(&mut self, file: &Field, content: Stream, append: bool) {
        if let Some(name) = self.file_name(file) {
            self.keep(name, content, append);
        }
    }

    /// Calls a function of this line; `args` with the name first, nothing when they are not known.
    pub(super) fn call_function(
        &mut self,
        name: &str,
        function: &Function,
        args: Option<Vec<Field>>,
        span: Span,
    ) -> Stream {
        if self.calling.iter().any(|caller| caller == name) {
            if self.background > 0 {
                self.opaque(name, "it starts itself again and again in the background", span);
            }
            return Stream::Terminal;
        }
        self.called.insert(name.to_owned());
        self.calling.push(name.to_owned());
        let positional = std::mem::replace(&mut self.scope.positional, args);
        let base = std::mem::replace(&mut self.base, function.base);
        let out = self.nested(span, |machine| machine.eval(&function.body));
        self.base = base;
        self.scope.positional = positional;
        self.calling.pop();
        out
    }

    /// Runs parsed code that stands elsewhere in the judged text.
    pub(super) fn eval_at(&mut self, command: &Command, base: Base) -> Stream {
        let outer = std::mem::replace(&mut self.base, base);
        let out = self.eval(command);
        self.base = outer;
        out
    }
}

/// One output after another.
#[must_use]
pub fn concat(first: Stream, second: Stream) -> Stream {
    match (first, second) {
        (Stream::Terminal, other) | (other, Stream::Terminal) => other,
        (Stream::Text(mut first), Stream::Text(second)) => {
            first.push_field(&second);
            first.verbatim = None;
            Stream::Text(first)
        }
        (Stream::Network(from), _) | (_, Stream::Network(from)) => Stream::Network(from),
        _ => Stream::Output("several commands".to_owned()),
    }
}
