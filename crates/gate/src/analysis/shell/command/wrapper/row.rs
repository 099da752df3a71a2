//! One row of the wrapper tables: how to find the command that a program runs for its caller.

use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::machine::Call;

/// The two spellings of an option; `'\0'` or `""` where there is none.
pub type Spelling = (char, &'static str);

/// A program that runs another command.
#[derive(Clone, Copy)]
pub struct Wrapper {
    /// The programs that behave like this.
    pub names: &'static [&'static str],
    /// Subcommands, words apart by spaces, one of which must follow; empty when there are none.
    pub subs: &'static [&'static str],
    /// Options before and between the subcommand's words.
    pub global: Spec,
    /// Options before the inner command.
    pub spec: Spec,
    /// How many operands stand before the inner command.
    pub skip: usize,
    /// Options may also stand after those operands.
    pub between: bool,
    /// What the inner thing is.
    pub inner: Inner,
    /// Options whose value is shell code.
    pub codes: &'static [Spelling],
    /// Options whose value is the folder to run in.
    pub dirs: &'static [Spelling],
    /// Options with which nothing runs.
    pub still: &'static [Spelling],
    /// Options whose value is a file that is written.
    pub writes: &'static [Spelling],
    /// When standard input is read as shell code, because no command is given.
    pub shell: Shell,
    /// It runs on another machine or in a container.
    pub elsewhere: bool,
    /// Variables may be set before the command.
    pub assigns: bool,
}

/// What stands where the inner command is.
#[derive(Clone, Copy)]
pub enum Inner {
    /// A program and its arguments.
    Argv,
    /// Words that are joined by spaces and given to a shell.
    Words,
    /// A program and its arguments behind `--`, or without it.
    Dashdash,
    /// A program and its arguments, only behind `--`.
    OnlyDashdash,
    /// Each operand is shell code.
    Codes,
    /// The last operand is shell code.
    LastCode,
    /// A package that is also the program (`npx rimraf@3 dist`).
    Package,
    /// Nothing: only options carry code.
    Nothing,
    /// A reader of its own, given the arguments behind the subcommand.
    Special(fn(&Call<'_>) -> Vec<Step>),
}

/// When a program without a command is a shell that reads standard input.
#[derive(Clone, Copy)]
pub enum Shell {
    /// Never.
    Never,
    /// Always.
    Always,
    /// With one of these options.
    With(&'static [Spelling]),
}

/// Options that may only stand before the first operand.
pub const fn opts(short_values: &'static str, long_values: &'static [&'static str]) -> Spec {
    Spec { short_values, long_values, style: Style::StopAtOperand, ..Spec::FLAGS }
}

/// A program that runs the command after its options.
pub const fn row(names: &'static [&'static str]) -> Wrapper {
    Wrapper {
        names,
        subs: &[],
        global: opts("", &[]),
        spec: opts("", &[]),
        skip: 0,
        between: false,
        inner: Inner::Argv,
        codes: &[],
        dirs: &[],
        still: &[],
        writes: &[],
        shell: Shell::Never,
        elsewhere: false,
        assigns: false,
    }
}

/// A program that runs a command with one of its subcommands.
pub const fn sub(names: &'static [&'static str], subs: &'static [&'static str]) -> Wrapper {
    Wrapper { subs, ..row(names) }
}

/// A program whose reader is code, because its arguments fit no table.
pub const fn special(
    names: &'static [&'static str],
    reader: fn(&Call<'_>) -> Vec<Step>,
) -> Wrapper {
    Wrapper { inner: Inner::Special(reader), ..row(names) }
}
