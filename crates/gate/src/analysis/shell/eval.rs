//! Walks through a parsed line in the order in which bash would run it, both ways at every branch.

use std::rc::Rc;

use aurora_model::Span;

use super::ast::{Command, Connector, ListItem, Part, Word};
use super::field::Field;
use super::machine::{Machine, Stream};
use super::scope::{Base, Function, Scope};

/// More rounds of a loop over literal words than this are taken as one with an unknown word.
const MAX_ROUNDS: usize = 512;
/// How often a function may call itself with other arguments before nobody follows it.
const MAX_RECURSION: usize = 3;

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
