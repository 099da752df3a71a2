//! Programs that run code given to them: shells, scripting languages, editors, stream editors.

mod editor;
mod perl;
mod script;
mod stream;
mod windows;

use super::Model;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// The models of this file and its rooms, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("ash", shell),
    ("awk", stream::awk),
    ("bash", shell),
    ("bun", script::bun),
    ("cmd", windows::cmd),
    ("cmd.exe", windows::cmd),
    ("csh", shell),
    ("dash", shell),
    ("deno", script::deno),
    ("ed", editor::ed),
    ("elvish", shell),
    ("emacs", editor::emacs),
    ("emacsclient", editor::emacs),
    ("ex", editor::vim),
    ("expect", script::tcl),
    ("fish", shell),
    ("gawk", stream::awk),
    ("gmake", script::make),
    ("gsed", stream::sed),
    ("gvim", editor::vim),
    ("ipython", script::python),
    ("ipython3", script::python),
    ("jruby", perl::ruby),
    ("jython", script::python),
    ("ksh", shell),
    ("ksh93", shell),
    ("lua", script::lua),
    ("luajit", script::lua),
    ("make", script::make),
    ("mawk", stream::awk),
    ("mksh", shell),
    ("nawk", stream::awk),
    ("node", script::node),
    ("nodejs", script::node),
    ("nvim", editor::vim),
    ("osascript", script::osascript),
    ("pdksh", shell),
    ("perl", perl::perl),
    ("perl5", perl::perl),
    ("php", script::php),
    ("posh", shell),
    ("powershell", windows::powershell),
    ("powershell.exe", windows::powershell),
    ("pwsh", windows::powershell),
    ("pwsh.exe", windows::powershell),
    ("pypy", script::python),
    ("pypy3", script::python),
    ("python", script::python),
    ("python2", script::python),
    ("python3", script::python),
    ("r", script::r),
    ("R", script::r),
    ("Rscript", script::r),
    ("rbash", shell),
    ("ruby", perl::ruby),
    ("sed", stream::sed),
    ("sh", shell),
    ("swipl", script::harmless),
    ("tclsh", script::tcl),
    ("tcsh", shell),
    ("ts-node", script::node),
    ("tsx", script::node),
    ("vi", editor::vim),
    ("vim", editor::vim),
    ("view", editor::vim),
    ("wish", script::tcl),
    ("yash", shell),
    ("zsh", shell),
];

/// The model of an interpreter, also under a name with a version (`python3.12`, `ruby3.2`).
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    let exact = |name: &str| MODELS.iter().find(|(own, _)| *own == name).map(|(_, model)| *model);
    exact(name).or_else(|| {
        let bare = name.strip_suffix(".exe").unwrap_or(name);
        let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let versioned = matches!(
            bare,
            "python" | "pypy" | "ruby" | "perl" | "php" | "lua" | "node" | "bash" | "vim"
        );
        if versioned && bare.len() < name.len() { exact(bare) } else { None }
    })
}

/// What a shell's arguments say.
#[derive(Debug, Default)]
struct ShellArgs<'a> {
    command: bool,
    stdin: bool,
    checks: bool,
    informs: bool,
    codes: Vec<Field>,
    files: Vec<Field>,
    rest: &'a [Field],
}

fn shell_args(args: &[Field]) -> ShellArgs<'_> {
    let mut out = ShellArgs { rest: args, ..ShellArgs::default() };
    while let Some((first, rest)) = out.rest.split_first() {
        let text = first.prefix();
        if first.is("--") || first.is("-") {
            out.rest = rest;
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            out.rest = rest;
            long_option(&mut out, name, first);
            continue;
        }
        let set = text.starts_with('-');
        if !(set || text.starts_with('+')) || text.len() < 2 {
            break;
        }
        out.rest = rest;
        for letter in text.chars().skip(1) {
            match letter {
                'c' if set => out.command = true,
                's' if set => out.stdin = true,
                'n' if set => out.checks = true,
                'o' | 'O' => out.rest = out.rest.get(1..).unwrap_or_default(),
                'C' if set && matches!(text, "-C") => {
                    out.codes.extend(out.rest.first().cloned());
                    out.rest = out.rest.get(1..).unwrap_or_default();
                }
                _ => {}
            }
        }
    }
    out
}

fn long_option(out: &mut ShellArgs<'_>, name: &str, field: &Field) {
    let takes_next = |out: &mut ShellArgs<'_>| {
        let value = out.rest.first().cloned();
        out.rest = out.rest.get(1..).unwrap_or_default();
        value
    };
    match name.split('=').next().unwrap_or("") {
        "help" | "version" => out.informs = true,
        "rcfile" | "init-file" if !name.contains('=') => {
            let file = takes_next(out);
            out.files.extend(file);
        }
        "command" | "init-command" => {
            let code = match field.split_once('=') {
                Some((_, code)) => Some(code),
                None => takes_next(out),
            };
            out.codes.extend(code);
        }
        "noexec" | "no-execute" => out.checks = true,
        _ => {}
    }
}

/// A shell: `-c CODE`, a file, or what it reads.
fn shell(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let args = shell_args(call.args);
    if args.informs || args.checks {
        return Stream::Terminal;
    }
    let mut printed = Stream::Terminal;
    for file in args.files.iter().filter(|file| !file.is("/dev/null")) {
        machine.run_file(Lang::Shell, file);
    }
    for code in &args.codes {
        printed = machine.run_code(Lang::Shell, code);
    }
    if args.command {
        return match args.rest.first() {
            Some(code) => machine.run_code(Lang::Shell, code),
            None => printed,
        };
    }
    match args.rest.first() {
        Some(file) if !args.stdin && !file.is("/dev/stdin") => machine.run_file(Lang::Shell, file),
        _ if !args.codes.is_empty() => printed,
        _ => from_stdin(machine, Lang::Shell, call),
    }
}

/// Runs what comes from a pipe, a file or a here-document; a terminal is a person.
fn from_stdin(machine: &mut Machine<'_>, lang: Lang, call: &Call<'_>) -> Stream {
    if *call.stdin == Stream::Terminal {
        return Stream::Terminal;
    }
    machine.run_stream(lang, call.stdin, call.span)
}

/// Arguments with a space between, as one piece of code.
fn joined(args: &[&Field], call: &Call<'_>) -> Field {
    let mut out = Field::lit("", args.first().map_or(call.span, |first| first.span));
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            out.push_lit(" ");
        }
        out.push_field(arg);
    }
    if let [only] = args {
        out.verbatim = only.verbatim;
    }
    out.many = false;
    out
}

#[cfg(test)]
mod tests {
    use aurora_model::Span;

    use super::*;

    fn check(words: &[&str], command: bool, rest: &str) {
        let fields: Vec<Field> =
            words.iter().map(|word| Field::lit(*word, Span::default())).collect();
        let args = shell_args(&fields);
        let shown: Vec<String> = args.rest.iter().map(Field::display).collect();
        assert_eq!((args.command, shown.join(" ").as_str()), (command, rest), "{words:?}");
    }

    #[test]
    fn shells_find_their_code() {
        check(&["-c", "ls"], true, "ls");
        check(&["-lc", "ls", "x"], true, "ls x");
        check(&["-euo", "pipefail", "-c", "ls"], true, "ls");
        check(&["-c", "-x", "ls"], true, "ls");
        check(&["--rcfile", "f", "-ic", "ls"], true, "ls");
        check(&["-o", "pipefail", "script.sh", "-c"], false, "script.sh -c");
        check(&["+x", "--norc", "--", "script.sh"], false, "script.sh");
        check(&["-s", "--", "a"], false, "a");
    }

    #[test]
    fn versions_in_names_are_known() {
        for name in ["python3.12", "python2.7", "ruby3.2", "php8", "lua5.4", "python.exe"] {
            assert!(model_of(name).is_some(), "{name}");
        }
        assert!(model_of("pythonista").is_none());
    }
}
