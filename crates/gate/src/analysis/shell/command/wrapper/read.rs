//! Reads a call by its row: what runs inside, where, and with what.

use aurora_model::Touch;

use super::row::{Inner, Shell, Spelling, Wrapper};
use crate::analysis::shell::command::options::{Opt, Parsed, Spec, Style};
use crate::analysis::shell::command::step::{Step, joined};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Stream};

impl Wrapper {
    /// What the call runs; nothing when it has none of the row's subcommands.
    pub fn read(&self, call: &Call<'_>) -> Option<Vec<Step>> {
        let args = self.after_sub(call.args)?;
        if let Inner::Special(reader) = self.inner {
            return Some(reader(&Call { args, ..*call }));
        }
        let front = Front::read(&self.spec, args, self.skip, self.between);
        if self.still.iter().any(|(short, long)| front.has(*short, long)) {
            return Some(Vec::new());
        }
        let mut steps: Vec<Step> = front.values(self.codes).into_iter().map(Step::Code).collect();
        steps.extend(self.inner_steps(args, &front));
        if steps.is_empty() && *call.stdin != Stream::Terminal && self.is_shell(&front) {
            steps.push(Step::StdinCode);
        }
        if self.elsewhere && !steps.is_empty() {
            steps = vec![Step::Elsewhere(steps)];
        }
        if let Some(dir) = front.values(self.dirs).pop() {
            steps = vec![Step::InDir(dir, steps)];
        }
        let writes = front.values(self.writes).into_iter().map(|target| Step::Change {
            target,
            touch: Touch::Write,
            recursive: false,
        });
        Some(writes.chain(steps).collect())
    }

    /// The arguments behind the subcommand.
    fn after_sub<'a>(&self, args: &'a [Field]) -> Option<&'a [Field]> {
        if self.subs.is_empty() {
            return Some(args);
        }
        self.subs.iter().find_map(|sub| {
            let mut rest = args;
            for word in sub.split(' ') {
                let index = *self.global.parse(rest).operand_indices.first()?;
                rest.get(index).filter(|field| field.is(word))?;
                rest = rest.get(index + 1..)?;
            }
            Some(rest)
        })
    }

    fn is_shell(&self, front: &Front<'_>) -> bool {
        match self.shell {
            Shell::Never => false,
            Shell::Always => true,
            Shell::With(options) => options.iter().any(|(short, long)| front.has(*short, long)),
        }
    }

    fn inner_steps(&self, args: &[Field], front: &Front<'_>) -> Vec<Step> {
        let behind = args.iter().position(|arg| arg.is("--")).and_then(|at| args.get(at + 1..));
        let argv = match (self.inner, behind) {
            (Inner::Dashdash | Inner::OnlyDashdash, Some(behind)) => behind,
            (Inner::OnlyDashdash, None) => return Vec::new(),
            _ => front.rest,
        };
        if argv.is_empty() {
            return Vec::new();
        }
        match self.inner {
            Inner::Words => vec![Step::Code(joined(argv))],
            Inner::Codes => {
                let spec = Spec { style: Style::Permute, ..self.spec };
                let parsed = spec.parse(args);
                parsed.operands.into_iter().cloned().map(Step::Code).collect()
            }
            Inner::LastCode => argv.last().cloned().map(Step::Code).into_iter().collect(),
            Inner::Package => vec![Step::Run(vec![], package(argv))],
            Inner::Nothing => Vec::new(),
            _ if self.assigns => with_assignments(argv),
            _ => vec![Step::Run(vec![], argv.to_vec())],
        }
    }
}

/// What stands before the inner command.
pub struct Front<'a> {
    pub opts: Vec<Opt<'a>>,
    /// The operands before the inner command.
    pub skipped: Vec<&'a Field>,
    /// The inner command.
    pub rest: &'a [Field],
}

impl<'a> Front<'a> {
    /// Reads options and `skip` operands.
    pub fn read(spec: &Spec, args: &'a [Field], skip: usize, between: bool) -> Self {
        let mut front = Self { opts: Vec::new(), skipped: Vec::new(), rest: args };
        loop {
            let parsed: Parsed<'a> = spec.parse(front.rest);
            front.opts.extend(parsed.opts);
            let Some(first) = parsed.operand_indices.first() else {
                front.rest = &[];
                return front;
            };
            front.rest = front.rest.get(*first..).unwrap_or_default();
            while front.skipped.len() < skip {
                let Some((operand, rest)) = front.rest.split_first() else { return front };
                front.skipped.push(operand);
                front.rest = rest;
                if between {
                    break;
                }
            }
            let ended = parsed.after_dashdash.is_some();
            if front.skipped.len() >= skip && (!between || ended || starts_command(front.rest)) {
                break;
            }
            if ended {
                break;
            }
        }
        if let Some((first, rest)) = front.rest.split_first()
            && first.is("--")
        {
            front.rest = rest;
        }
        front
    }

    /// Whether an option was given.
    pub fn has(&self, short: char, long: &str) -> bool {
        self.opts.iter().any(|opt| opt.name.is(short, long))
    }

    /// All values given to these options.
    pub fn values(&self, spellings: &[Spelling]) -> Vec<Field> {
        let given =
            |opt: &&Opt<'a>| spellings.iter().any(|(short, long)| opt.name.is(*short, long));
        self.opts.iter().filter(given).filter_map(|opt| opt.value.clone()).collect()
    }
}

fn starts_command(rest: &[Field]) -> bool {
    rest.first().is_none_or(|first| !first.prefix().starts_with('-') || first.is("-"))
}

/// A command with variables set before it.
pub fn with_assignments(argv: &[Field]) -> Vec<Step> {
    let count = argv.iter().take_while(|field| assigned_name(field).is_some()).count();
    let (assigned, command) = argv.split_at_checked(count).unwrap_or_default();
    // `sudo A=1 -- command` ends the assignments.
    let command = match command.split_first() {
        Some((first, rest)) if first.is("--") => rest,
        _ => command,
    };
    if command.is_empty() {
        return Vec::new();
    }
    let value = |field: &Field| field.split_once('=').map(|(_, value)| value);
    let env: Vec<(String, Field)> =
        assigned.iter().filter_map(|field| assigned_name(field).zip(value(field))).collect();
    vec![Step::Run(env, command.to_vec())]
}

/// The variable that an argument sets.
fn assigned_name(field: &Field) -> Option<String> {
    let (name, _) = field.split_once('=')?;
    let name = name.text()?;
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    (starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')).then(|| name.to_owned())
}

/// A package as the program that it installs: `@scope/name@1.2` is `name`.
fn package(argv: &[Field]) -> Vec<Field> {
    let mut argv = argv.to_vec();
    if let Some(first) = argv.first_mut()
        && let Some(text) = first.text()
    {
        let scoped = text.strip_prefix('@');
        let name = scoped.and_then(|text| text.split_once('/')).map_or(text, |(_, name)| name);
        let name = name.split('@').next().unwrap_or(name);
        *first = Field::lit(name, first.span);
    }
    if argv.get(1).is_some_and(|second| second.is("--")) {
        argv.remove(1);
    }
    argv
}
