//! Programs with subcommands, as rows of data: which words, with which options, do harm.

use aurora_model::{EffectKind, Touch};

use super::options::{Parsed, Spec, Style};
use super::place::is_remote;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};
use crate::analysis::shell::pattern;

/// What a row's words do.
#[derive(Debug, Clone, Copy)]
pub enum Harm {
    /// Infrastructure is destroyed.
    Infra,
    /// Tables, schemas or databases are dropped.
    Drop,
    /// Tables are emptied.
    Empty,
    /// Files go away, nobody knows how many.
    Files,
    /// The last operand is written, when it is here.
    CopiesTo,
}

/// One way in which a program does harm.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The operands that it starts with: each a list of patterns between `|`.
    pub words: &'static [&'static str],
    /// One of these options must be there, when there are any.
    pub needs: &'static [&'static str],
    /// None of these options may be there.
    pub unless: &'static [&'static str],
    /// What it does.
    pub harm: Harm,
    /// In words, after "destroys" or "drops".
    pub what: &'static str,
}

/// A program, by all its names.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Its names.
    pub names: &'static [&'static str],
    /// Its options, as far as they take values.
    pub spec: Spec,
    /// The ways in which it does harm.
    pub rows: &'static [Row],
}

/// Options with which nothing happens, whatever the program.
const HARMLESS: [&str; 8] =
    ["--help", "-h", "-help", "--dry-run", "--dryrun", "--version", "--what-if", "--no-execute"];

/// Asks every row of a table; says whether the program is in it.
pub fn run(table: &[Program], machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let program = table.iter().find(|program| program.names.contains(&call.name))?;
    let parsed = program.spec.parse(call.args);
    if !has_any(call.args, &HARMLESS, false) {
        for row in program.rows {
            if row.fits(&parsed, call.args, program.spec.style != Style::SingleDash) {
                row.emit(machine, call, parsed.operands.last().copied());
            }
        }
    }
    Some(Stream::Output(call.name.to_owned()))
}

impl Row {
    fn fits(&self, parsed: &Parsed<'_>, args: &[Field], grouped: bool) -> bool {
        let mut operands = parsed.operands.iter();
        self.words.iter().all(|words| {
            operands.next().is_some_and(|operand| match operand.text() {
                Some(text) => words.split('|').any(|word| pattern::matches(word, text)),
                // Which resource it is, is not known; the verb before it is.
                None => *words != "*" || operand.has_any(),
            })
        }) && (self.needs.is_empty() || has_any(args, self.needs, grouped))
            && !has_any(args, self.unless, grouped)
    }

    fn emit(&self, machine: &mut Machine<'_>, call: &Call<'_>, last: Option<&Field>) {
        let what = self.what.to_owned();
        let kind = match self.harm {
            Harm::Infra => EffectKind::DestroyInfra { what },
            Harm::Drop => EffectKind::DropObject { object: what },
            Harm::Empty => EffectKind::EmptyTable { object: what },
            Harm::CopiesTo => {
                if let Some(target) = last.filter(|target| !is_remote(target)) {
                    machine.change(target, Touch::Write, false);
                }
                return;
            }
            Harm::Files => {
                machine.delete_unknown(&[], call.span);
                return;
            }
        };
        machine.emit(kind, call.span);
    }
}

/// Whether one of these options is given, alone, with a value, or, where letters are grouped, in
/// a group.
fn has_any(args: &[Field], options: &[&str], grouped: bool) -> bool {
    args.iter().take_while(|arg| !arg.is("--")).any(|arg| {
        let text = arg.prefix();
        options.iter().any(|option| {
            let Some(rest) = text.strip_prefix(option) else {
                // `-fv` holds `-v`.
                return grouped
                    && option.len() == 2
                    && !option.starts_with("--")
                    && text.starts_with('-')
                    && !text.starts_with("--")
                    && text.len() <= 5
                    && option.chars().nth(1).is_some_and(|c| text.contains(c));
            };
            match rest.strip_prefix('=') {
                Some(value) => !matches!(value, "false" | "none" | "no"),
                None => rest.is_empty(),
            }
        })
    })
}
