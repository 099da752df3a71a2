//! Shells: code behind `-c`, in a file, or on standard input.

use super::Model;
use super::options::{OptName, Spec, Style};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// The programs of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("ash", shell),
    ("bash", shell),
    ("csh", shell),
    ("dash", shell),
    ("fish", shell),
    ("ksh", shell),
    ("ksh93", shell),
    ("mksh", shell),
    ("oksh", shell),
    ("osh", shell),
    ("pdksh", shell),
    ("rbash", shell),
    ("sh", shell),
    ("tcsh", shell),
    ("yash", shell),
    ("zsh", shell),
];

const SHELL: Spec = Spec {
    // `-c` itself takes no glued value: `-cx` is `-c -x`, and the code is the first operand.
    short_values: "oO",
    long_values: &["rcfile", "init-file", "init-command", "command"],
    long_flags: &[
        "login",
        "norc",
        "noprofile",
        "posix",
        "help",
        "version",
        "restricted",
        "verbose",
    ],
    style: Style::StopAtOperand,
    ..Spec::FLAGS
};

fn shell(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    // `+o option` and `+x` switch off: they are options that start with a plus.
    let args: Vec<Field> = without_plus(call.args);
    let parsed = SHELL.parse(&args);
    let flag = |letter: char| parsed.opts.iter().any(|opt| opt.name == OptName::Short(letter));
    if parsed.has('\0', "help") || parsed.has('\0', "version") {
        return Stream::Terminal;
    }
    if let Some(file) = parsed.value('\0', "rcfile").or_else(|| parsed.value('\0', "init-file"))
        && flag('i')
    {
        machine.run_file(Lang::Shell, file);
    }
    if let Some(startup) = call.env.iter().find(|(name, _)| name == "BASH_ENV" || name == "ENV") {
        machine.run_file(Lang::Shell, &startup.1);
    }
    let operands = &parsed.operands;
    // fish takes its code as a value, also as `--command=CODE` and `-C`.
    for code in
        parsed.values('\0', "command").into_iter().chain(parsed.values('\0', "init-command"))
    {
        machine.run_code(Lang::Shell, code);
    }
    if flag('n') {
        return Stream::Terminal;
    }
    let outer = machine.set_stdin(call.stdin.clone());
    let out = machine.child(call.env, |machine| match operands.split_first() {
        Some((code, rest)) if flag('c') => {
            let positional: Vec<Field> = rest.iter().map(|arg| (*arg).clone()).collect();
            machine.run_shell_with(code, &positional)
        }
        Some((file, rest)) if !flag('s') => {
            let mut positional = vec![(*file).clone()];
            positional.extend(rest.iter().map(|arg| (*arg).clone()));
            machine.run_script_with(file, &positional)
        }
        _ if parsed.values('\0', "command").is_empty() => {
            machine.run_stream(Lang::Shell, call.stdin, call.span)
        }
        _ => Stream::Terminal,
    });
    machine.set_stdin(outer);
    out
}

fn without_plus(args: &[Field]) -> Vec<Field> {
    let mut out = Vec::with_capacity(args.len());
    let mut skip = false;
    let mut options = true;
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        let prefix = arg.prefix();
        options &= prefix.starts_with(['-', '+']);
        if options && prefix.starts_with('+') {
            skip = arg.is("+o") || arg.is("+O");
            continue;
        }
        out.push(arg.clone());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
