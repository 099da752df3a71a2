//! Walks through a parsed line in the order in which bash would run it, both ways at every branch.

use std::rc::Rc;

use aurora_model::{EffectKind, Span, Touch};

use super::ast::{
    Assign, AssignValue, Command, Connector, ListItem, Part, Redirect, RedirectKind, Simple, Word,
};
use super::command::disk;
use super::field::Field;
use super::machine::{Machine, Stream};
use super::scope::{Base, Function, Scope, Value};

/// More rounds of a loop over literal words than this are taken as one with an unknown word.
const MAX_ROUNDS: usize = 512;
/// How often a function may call itself with other arguments before nobody follows it.
const MAX_RECURSION: usize = 3;
/// More elements of an array than this are not told apart.
const MAX_ELEMENTS: usize = 4_096;
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
        if self.fuel == 0 {
            return Stream::Terminal;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::List(items) => self.list(items),
            Command::Pipeline(commands) => self.pipeline(commands),
            Command::Subshell(inner) => self.subshell(|machine| machine.eval(inner)),
            Command::Group(inner) => self.eval(inner),
            Command::If(parts) => self.branches(parts),
            Command::While(condition, body) => self.again(|machine| {
                machine.eval(condition);
                machine.eval(body)
            }),
            Command::For(name, words, body) => self.for_loop(name, words.as_deref(), body),
            Command::ForArith(header, body) => {
                self.discover(&header.parts);
                self.again(|machine| machine.eval(body))
            }
            Command::Case(subject, arms) => {
                self.joined(subject);
                for pattern in arms.iter().flat_map(|(patterns, _)| patterns) {
                    self.joined(pattern);
                }
                let bodies: Vec<&Command> = arms.iter().map(|(_, body)| body).collect();
                let catches_all = |(patterns, _): &(Vec<Word>, Command)| {
                    patterns.iter().any(|pattern| {
                        matches!(pattern.parts.as_slice(), [Part::Glob(glob)] if glob == "*")
                    })
                };
                self.either(&bodies, arms.iter().any(catches_all))
            }
            Command::Function(name, body) => {
                let function = Function { body: Rc::clone(body), base: self.base };
                self.defined.push((name.clone(), function.clone()));
                self.scope.functions.insert(name.clone(), vec![Some(function)]);
                Stream::Terminal
            }
            Command::Test(words) => {
                let words: Vec<Field> = words.iter().map(|word| self.joined(word)).collect();
                self.run_subscripts(&words);
                Stream::Terminal
            }
            Command::Arith(word) => {
                self.arithmetic(&word.parts);
                Stream::Terminal
            }
            Command::Redirected(inner, redirects) => {
                let outer = (self.stdin.clone(), self.scope.fds.clone());
                let output = self.redirects(redirects);
                let stream = self.eval(inner);
                (self.stdin, self.scope.fds) = outer;
                self.deliver(stream, &output)
            }
        }
    }

    /// Functions that were defined and never called may still be called later.
    pub(super) fn uncalled_functions(&mut self) {
        for (name, function) in self.defined.clone() {
            if !self.called.contains(&function) {
                self.call_function(&name, &function, None, Span::default());
            }
        }
    }

    pub(super) fn subshell(&mut self, inside: impl FnOnce(&mut Self) -> Stream) -> Stream {
        let scope = self.scope.clone();
        let stream = inside(self);
        self.scope.leave(scope);
        stream
    }

    /// Runs something none, one or more times: the second round sees what the first one left.
    fn again(&mut self, mut inside: impl FnMut(&mut Self) -> Stream) -> Stream {
        let before = self.scope.clone();
        let out = self.repeated(|machine| {
            inside(machine);
            machine.scope.join(before.clone());
            inside(machine)
        });
        self.scope.join(before);
        out
    }

    fn list(&mut self, items: &[ListItem]) -> Stream {
        let mut out = Stream::Terminal;
        // What is known where a chain of `&&` and `||` was left before its end.
        let mut left: Option<Scope> = None;
        for item in items {
            match item.after {
                Connector::Always => {
                    if let Some(left) = left.take() {
                        self.scope.join(left);
                    }
                }
                Connector::And => {
                    let here = self.scope.clone();
                    match &mut left {
                        Some(left) => left.join(here),
                        None => left = Some(here),
                    }
                }
                Connector::Or => {
                    let here = self.scope.clone();
                    if let Some(left) = left.take() {
                        self.scope.join(left);
                    }
                    left = Some(here);
                }
            }
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
        if let Some(left) = left {
            self.scope.join(left);
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
        self.either(&bodies, parts.len() % 2 == 1)
    }

    /// Any one of the commands runs; none as well, unless they are exhaustive.
    fn either(&mut self, commands: &[&Command], exhaustive: bool) -> Stream {
        let before = self.scope.clone();
        let mut after: Option<Scope> = (!exhaustive).then(|| before.clone());
        let mut out: Option<Stream> = None;
        for command in commands {
            self.scope = before.clone();
            let stream = self.eval(command);
            let scope = std::mem::take(&mut self.scope);
            match &mut after {
                Some(after) => after.join(scope),
                None => after = Some(scope),
            }
            out = Some(match out {
                None => stream,
                Some(earlier) if earlier == stream || stream == Stream::Terminal => earlier,
                Some(Stream::Terminal) => stream,
                Some(_) => Stream::Output("a branch".to_owned()),
            });
        }
        self.scope = after.unwrap_or(before);
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
        if !literal {
            return self.again(|machine| {
                for value in &rounds {
                    machine.scope.set(name, value.clone());
                    out = machine.eval(body);
                }
                out.clone()
            });
        }
        self.repeated(|machine| {
            for value in rounds {
                if machine.fuel == 0 {
                    break;
                }
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
        if !self.pay(1, span) {
            return Stream::Terminal;
        }
        let choices = std::mem::take(&mut self.choices);
        let chosen = std::mem::replace(&mut self.chosen, 0);
        let start = (self.scope.clone(), self.stdin.clone());
        let mut end: Option<Scope> = None;
        let mut out = None;
        for _ in 0..MAX_COMBINATIONS {
            self.chosen = 0;
            (self.scope, self.stdin) = start.clone();
            let stream = self.simple_once(simple, span);
            let scope = std::mem::take(&mut self.scope);
            match &mut end {
                Some(end) => end.join(scope),
                None => end = Some(scope),
            }
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
        self.scope = end.unwrap_or_default();
        if !self.choices.is_empty() {
            self.unreadable("command", "it has more forms than can be tried", span);
        }
        self.choices = choices;
        self.chosen = chosen;
        out.unwrap_or(Stream::Terminal)
    }

    /// Takes one of the directories in which the command may run.
    fn pick_dir(&mut self) {
        self.may_be_inside = false;
        if self.scope.other_cwds.is_empty() {
            return;
        }
        let mut dirs = std::mem::take(&mut self.scope.other_cwds);
        dirs.insert(0, self.scope.cwd.take());
        self.may_be_inside = dirs.iter().flatten().any(|dir| self.is_inside(dir));
        let picked = self.choose(dirs.len());
        self.scope.cwd = dirs.swap_remove(picked);
    }

    fn simple_once(&mut self, simple: &Simple, span: Span) -> Stream {
        self.pick_dir();
        if let (Some(before), Some(stdin)) = (&self.scope.replaced, self.scope.fds.get(&0))
            && self.stdin == *before
        {
            self.stdin = stdin.clone();
        }
        let mut argv = Vec::with_capacity(simple.words.len());
        for (index, word) in simple.words.iter().enumerate() {
            self.naming = index == 0;
            self.word_fields(word, &mut argv);
        }
        self.naming = false;
        let argv = self.unalias(argv);
        let outer = (self.stdin.clone(), self.scope.fds.clone());
        let output = self.redirects(&simple.redirects);
        let stays = matches!(argv.as_slice(), [only] if only.is("exec"));
        let stream = self.run_simple(simple, &argv, span);
        if stays {
            // `exec <file` holds for the rest of this shell.
            self.scope.fds.insert(0, self.stdin.clone());
            self.scope.replaced = Some(outer.0.clone());
        } else {
            self.scope.fds = outer.1;
        }
        self.stdin = outer.0;
        self.deliver(stream, &output)
    }

    fn run_simple(&mut self, simple: &Simple, argv: &[Field], span: Span) -> Stream {
        let Some(name) = argv.first() else {
            self.assign_all(&simple.assigns);
            return Stream::Terminal;
        };
        let stdin = self.stdin.clone();
        match name.text() {
            Some("declare" | "typeset" | "local" | "export" | "readonly") => {
                self.assign_all(&simple.assigns);
                if name.is("export") {
                    let names = simple.assigns.iter().map(|assign| assign.name.clone());
                    self.scope.exported.extend(names);
                }
                if argv.iter().any(changes_values) {
                    for assign in &simple.assigns {
                        self.scope.set(&assign.name, Field::unknown(true, span));
                    }
                }
                self.dispatch(argv, &stdin, &[], span, true)
            }
            Some("alias") => {
                self.define_aliases(&simple.assigns);
                Stream::Terminal
            }
            _ => {
                let env = self.temporary(&simple.assigns);
                self.dispatch(argv, &stdin, &env, span, true)
            }
        }
    }

    fn temporary(&mut self, assigns: &[Assign]) -> Vec<(String, Field)> {
        assigns
            .iter()
            .map(|assign| {
                let value = match &assign.value {
                    AssignValue::Scalar(word) => self.joined(word),
                    AssignValue::Array(words) => {
                        self.fields(words);
                        Field::unknown(false, Span::default())
                    }
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
                    if values.len() > MAX_ELEMENTS {
                        values = vec![Field::unknown(true, Span::default())];
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

    /// Replaces an alias that the line itself defined; scripts do not expand aliases unless told,
    /// so the word as it stands is possible too.
    fn unalias(&mut self, argv: Vec<Field>) -> Vec<Field> {
        let Some(first) = argv.first() else { return argv };
        let Some(text) = first.text().and_then(|name| self.scope.aliases.get(name)).cloned() else {
            return argv;
        };
        if self.choose(2) == 1 {
            return argv;
        }
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
                self.opens(redirect.fd.unwrap_or(0), Stream::Text(text));
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
                let stream = if target.prefix().starts_with("/dev/tcp/") {
                    Stream::Network(target.display())
                } else {
                    self.stream_of(&target)
                };
                self.opens(redirect.fd.unwrap_or(0), stream);
            }
            RedirectKind::Duplicate => {
                // `echo x >&2` prints nothing that a pipe would see.
                if redirect.fd.unwrap_or(1) == 1 && target.is("2") {
                    output.redirected = Some(None);
                }
                let from = target.text().and_then(|text| text.parse::<u32>().ok());
                if let (Some(from), true) = (from, redirect.reads) {
                    let stream = self.stream_of_fd(from);
                    self.opens(redirect.fd.unwrap_or(0), stream);
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

    /// A file descriptor is opened for reading.
    fn opens(&mut self, fd: u32, stream: Stream) {
        if fd == 0 {
            self.stdin = stream;
        } else {
            self.scope.fds.insert(fd, stream);
        }
    }

    /// What can be read from a file descriptor.
    pub(super) fn stream_of_fd(&self, fd: u32) -> Stream {
        match fd {
            0 => self.stdin.clone(),
            1 | 2 => Stream::Terminal,
            other => {
                let known = self.scope.fds.get(&other).cloned();
                known.unwrap_or_else(|| Stream::Output(format!("file descriptor {other}")))
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
        let Some(name) = self.file_name(target) else { return Stream::File(self.resolve(target)) };
        if let Some(streams) = self.scope.files.get(&name) {
            // Where it may hold this or that, both are read.
            return streams.iter().cloned().fold(Stream::Terminal, concat);
        }
        match fd_of(&name) {
            Some(fd) => self.stream_of_fd(fd),
            None => Stream::File(self.resolve(target)),
        }
    }

    fn deliver(&mut self, stream: Stream, output: &Output) -> Stream {
        let Some(file) = &output.redirected else { return stream };
        if let Some(name) = file {
            self.keep(name.clone(), stream, output.append);
        }
        Stream::Terminal
    }

    fn keep(&mut self, name: String, stream: Stream, append: bool) {
        let contents = match (append, self.scope.files.remove(&name)) {
            (true, Some(before)) => {
                before.into_iter().map(|before| concat(before, stream.clone())).collect()
            }
            _ => vec![stream],
        };
        self.scope.files.insert(name, contents);
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
        let frames = self.calling.iter().filter(|(caller, _)| caller == name);
        let same = frames.clone().any(|(_, before)| *before == args);
        if same || frames.count() >= MAX_RECURSION {
            if self.background > 0 || !same {
                self.opaque(name, "it calls itself again and again", span);
            }
            return Stream::Terminal;
        }
        self.called.push(function.clone());
        self.calling.push((name.to_owned(), args.clone()));
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

/// Flags of `declare` with which a variable does not hold what it is given.
fn changes_values(flag: &Field) -> bool {
    flag.text()
        .is_some_and(|text| text.starts_with('-') && text.contains(['n', 'l', 'u', 'i', 'c']))
}

/// The number of a file descriptor that is named as a file.
fn fd_of(name: &str) -> Option<u32> {
    if name == "/dev/stdin" {
        return Some(0);
    }
    let number = name.strip_prefix("/dev/fd/").or_else(|| {
        let rest = name.strip_prefix("/proc/")?;
        rest.split_once("/fd/").map(|(_, number)| number)
    })?;
    number.parse().ok()
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
