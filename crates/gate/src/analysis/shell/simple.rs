//! Simple commands: their words, assignments and aliases, once for every combination of what is possible.

use aurora_model::Span;

use super::ast::{Assign, AssignValue, Simple};
use super::expand::substitution_name;
use super::field::Field;
use super::machine::{Lang, Machine, Stream};
use super::scope::{Scope, Value};

/// More elements of an array than this are not told apart.
const MAX_ELEMENTS: usize = 4_096;
/// More combinations of alternatives in one simple command than this are not tried.
const MAX_COMBINATIONS: usize = 24;

impl Machine<'_> {
    /// Runs a simple command once for every combination of alternatives in its words.
    pub(super) fn simple(&mut self, simple: &Simple) -> Stream {
        let span = self.place(simple.span);
        if !self.pay(1, span) {
            return Stream::Terminal;
        }
        let choices = std::mem::take(&mut self.choices);
        let chosen = std::mem::replace(&mut self.chosen, 0);
        let start = (self.scope.clone(), self.stdin.clone());
        let before = self.substitutions;
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
        // A process substitution lasts as long as its command.
        for number in before..self.substitutions {
            self.scope.files.remove(&substitution_name(number));
        }
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

    pub(super) fn assign_all(&mut self, assigns: &[Assign]) {
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
            self.run_code(Lang::Shell, &code);
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
}

/// Flags of `declare` with which a variable does not hold what it is given.
fn changes_values(flag: &Field) -> bool {
    flag.text()
        .is_some_and(|text| text.starts_with('-') && text.contains(['n', 'l', 'u', 'i', 'c']))
}
