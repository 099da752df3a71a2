//! Interpreters of other languages: where their code stands, and which files they edit in place.

mod editor;
mod recipe;
mod sed;
mod switches;
mod unread;
mod windows;

use aurora_model::Touch;

use super::options::{OptName, Parsed, Spec, Style};
use super::step::joined;
use super::{Model, framework};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

/// One interpreter.
#[derive(Debug, Clone, Copy)]
struct Interpreter {
    names: &'static [&'static str],
    lang: ScriptLang,
    spec: Spec,
    /// Options whose value is code.
    code: &'static [(char, &'static str)],
    /// Its options are Perl's switches, not getopt's.
    switches: bool,
    /// The language has no reader of its own and borrows another's.
    borrowed: bool,
    /// A first word after which code stands (`deno eval`).
    eval: &'static str,
}

const fn stops(short_values: &'static str, long_values: &'static [&'static str]) -> Spec {
    Spec { short_values, long_values, style: Style::StopAtOperand, ..Spec::FLAGS }
}

const NODE: Spec = Spec {
    long_flags: &["version", "help", "check", "inspect"],
    ..stops(
        "epr",
        &[
            "eval",
            "print",
            "require",
            "import",
            "loader",
            "env-file",
            "input-type",
            "conditions",
            "experimental-loader",
            "max-old-space-size",
        ],
    )
};

const fn row(
    names: &'static [&'static str],
    lang: ScriptLang,
    spec: Spec,
    code: &'static [(char, &'static str)],
) -> Interpreter {
    Interpreter { names, lang, spec, code, switches: false, borrowed: false, eval: "" }
}

static INTERPRETERS: &[Interpreter] = &[
    row(
        &["python", "pypy", "ipython", "micropython", "jython", "sage"],
        ScriptLang::Python,
        stops("cmWXQ", &["check-hash-based-pycs"]),
        &[('c', "")],
    ),
    row(
        &["node", "nodejs", "ts-node", "tsx", "electron", "iojs"],
        ScriptLang::JavaScript,
        NODE,
        &[('e', "eval"), ('p', "print")],
    ),
    Interpreter { eval: "eval", ..row(&["deno"], ScriptLang::JavaScript, NODE, &[]) },
    row(&["bun"], ScriptLang::JavaScript, NODE, &[('e', "eval"), ('p', "print")]),
    Interpreter { switches: true, ..row(&["perl"], ScriptLang::Perl, Spec::FLAGS, &[]) },
    Interpreter {
        switches: true,
        ..row(&["ruby", "jruby", "truffleruby", "irb"], ScriptLang::Ruby, Spec::FLAGS, &[])
    },
    row(
        &["php", "hhvm"],
        ScriptLang::Php,
        stops(
            "rfdczBREFSt",
            &["run", "file", "define", "php-ini", "process-code", "process-begin", "process-end"],
        ),
        &[('r', "run"), ('R', "process-code"), ('B', "process-begin"), ('E', "process-end")],
    ),
    row(&["lua", "luajit", "texlua"], ScriptLang::Lua, stops("el", &[]), &[('e', "")]),
    // Their calls to the shell are spelled as Perl's.
    Interpreter {
        borrowed: true,
        ..row(
            &["Rscript", "R", "littler"],
            ScriptLang::Perl,
            stops("ef", &["file", "args"]),
            &[('e', "")],
        )
    },
    Interpreter {
        borrowed: true,
        ..row(
            &[
                "julia",
                "elixir",
                "iex",
                "groovy",
                "scala",
                "ghc",
                "swift",
                "raku",
                "perl6",
                "guile",
                "racket",
                "clojure",
                "clj",
                "bb",
                "sbcl",
                "ecl",
                "clisp",
                "erl",
                "octave",
                "octave-cli",
                "gnuplot",
                "jshell",
                "kotlin",
                "nim",
                "chicken",
                "csi",
                "gosh",
            ],
            ScriptLang::Perl,
            stops("eELx", &["eval", "print", "rpc-eval", "load", "execute"]),
            &[('e', "eval"), ('E', "print"), ('\0', "rpc-eval"), ('\0', "execute"), ('x', "")],
        )
    },
    Interpreter {
        borrowed: true,
        eval: "eval",
        ..row(&["crystal"], ScriptLang::Perl, stops("", &[]), &[])
    },
];

/// The models of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("awk", awk),
    ("bsdsed", sed::sed),
    ("cmd", windows::cmd),
    ("ed", editor::ed),
    ("emacs", editor::emacs),
    ("emacsclient", editor::emacs),
    ("ex", editor::vi),
    ("expect", tcl),
    ("gawk", awk),
    ("gmake", recipe::make),
    ("gsed", sed::sed),
    ("make", recipe::make),
    ("mawk", awk),
    ("nawk", awk),
    ("nvim", editor::vi),
    ("osascript", osascript),
    ("powershell", windows::powershell),
    ("pwsh", windows::powershell),
    ("sed", sed::sed),
    ("tclsh", tcl),
    ("vi", editor::vi),
    ("view", editor::vi),
    ("vim", editor::vi),
    ("wish", tcl),
];

/// A name without the version behind it: `python3.11` is `python`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let plain = unversioned(name);
    INTERPRETERS.iter().find(|row| row.names.contains(&name) || row.names.contains(&plain))
}

/// Whether a program is one of these interpreters.
#[must_use]
pub fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some()
}

/// Runs an interpreter; nothing when the program is none.
pub fn run(machine: &mut Machine<'_>, call: &Call<'_>) -> Option<Stream> {
    let row = interpreter(call.name)?;
    let printing = printed_code(row, call.args).or_else(|| unread::respelled(call));
    let args = printing.as_deref().unwrap_or(call.args);
    let parsed = row.spec.parse(args);
    let informs = call.args.first().and_then(Field::text);
    if matches!(informs, Some("--version" | "-V" | "--help" | "-h" | "-v")) {
        return Some(Stream::Output(call.name.to_owned()));
    }
    if row.switches {
        row.run_switched(machine, call);
    } else {
        row.run(machine, call, &parsed);
    }
    Some(Stream::Output(call.name.to_owned()))
}

/// Node's `-pe CODE` is `-p CODE`: `p` takes its value only when it stands last.
fn printed_code(row: &Interpreter, args: &[Field]) -> Option<Vec<Field>> {
    let group = |arg: &Field| matches!(arg.text(), Some("-pe" | "-ep" | "-pi" | "-ie"));
    if row.lang != ScriptLang::JavaScript || !args.iter().any(group) {
        return None;
    }
    let spread = |arg: &Field| if group(arg) { Field::lit("-e", arg.span) } else { arg.clone() };
    Some(args.iter().map(spread).collect())
}

impl Interpreter {
    fn run(&self, machine: &mut Machine<'_>, call: &Call<'_>, parsed: &Parsed<'_>) {
        let lang = Lang::Script(self.lang);
        let mut coded = false;
        for (short, long) in self.code {
            for code in parsed.values(*short, long) {
                machine.run_code(lang, code);
                if self.borrowed {
                    deletes_by_name(machine, code);
                    unread::calls(machine, code);
                }
                if call.name.starts_with("ipython") {
                    magic(machine, code);
                }
                coded = true;
            }
        }
        if coded {
            return;
        }
        if let Some(module) = parsed.value('m', "").filter(|_| self.lang == ScriptLang::Python) {
            run_module(machine, call, module, parsed);
            return;
        }
        match parsed.operands.split_first() {
            Some((word, rest)) if !self.eval.is_empty() && word.is(self.eval) => {
                let code = rest.iter().find(|arg| !arg.prefix().starts_with('-'));
                if let Some(code) = code {
                    machine.run_code(lang, code);
                    if self.borrowed {
                        unread::calls(machine, code);
                    }
                }
            }
            Some((word, rest)) if word.is("exec") && call.name == "bun" => {
                let code = joined(rest.iter().copied());
                machine.run_code(Lang::Shell, &code);
            }
            Some((word, rest)) if call.name == "deno" && (word.is("run") || word.is("serve")) => {
                deno_run(machine, lang, rest, call);
            }
            Some((file, _)) if !file.is("-") && !file.is("/dev/stdin") => {
                framework::run_script(machine, call);
                machine.run_file(lang, file);
            }
            _ => {
                machine.run_stream(lang, call.stdin, call.span);
                if let (true, Stream::Text(code)) = (self.borrowed, call.stdin) {
                    unread::calls(machine, code);
                }
            }
        }
    }
}

/// The lines of IPython's code that are no Python: `!cmd`, `%system cmd`, `%%bash`.
fn magic(machine: &mut Machine<'_>, code: &Field) {
    let text = code.text().unwrap_or("");
    if let Some(cell) = text.strip_prefix("%%bash").or_else(|| text.strip_prefix("%%sh")) {
        machine.run_code(Lang::Shell, &Field::lit(cell, code.span));
        return;
    }
    for line in text.lines().flat_map(|line| line.split(';')) {
        // `files = !ls` keeps what the command prints.
        let kept = line.split_once('=').filter(|(_, value)| value.trim().starts_with('!'));
        let line = kept.map_or(line, |(_, value)| value).trim();
        let command = line
            .strip_prefix("!!")
            .or_else(|| line.strip_prefix('!'))
            .or_else(|| line.strip_prefix("%system "))
            .or_else(|| line.strip_prefix("%sx "))
            .filter(|command| !command.starts_with('='));
        if let Some(command) = command {
            machine.run_code(Lang::Shell, &Field::lit(command, code.span));
        }
    }
}

/// What Ruby's `un` library offers as commands: `ruby -run -e rm -- -rf x`.
const UN: [&str; 9] = ["chmod", "cp", "install", "ln", "mkdir", "mv", "rm", "rmdir", "touch"];

impl Interpreter {
    /// Perl and Ruby: code behind `-e`, operands edited with `-i`, else a script.
    fn run_switched(&self, machine: &mut Machine<'_>, call: &Call<'_>) {
        let lang = Lang::Script(self.lang);
        let given = switches::read(call.args);
        let operands = call.args.get(given.operands..).unwrap_or(&[]);
        let un = call.args.iter().any(|arg| arg.is("-run") || arg.is("-runrb"));
        for code in &given.codes {
            let name = code.text().map(str::trim).filter(|name| un && UN.contains(name));
            if let Some(name) = name {
                let mut argv = vec![Field::lit(name, code.span)];
                argv.extend(operands.iter().cloned());
                machine.run_argv(&argv, call.stdin, call.span);
                return;
            }
            machine.run_code(lang, code);
        }
        if given.in_place {
            for file in operands {
                machine.change(file, Touch::Write, false);
            }
        }
        match operands.first() {
            _ if given.informs || !given.codes.is_empty() => {}
            Some(file) if !file.is("-") => {
                framework::run_script(machine, call);
                machine.run_file(lang, file);
            }
            _ => {
                machine.run_stream(lang, call.stdin, call.span);
            }
        }
    }
}

/// `deno run FILE`: code from an address cannot be seen.
fn deno_run(machine: &mut Machine<'_>, lang: Lang, rest: &[&Field], call: &Call<'_>) {
    let script = rest.iter().find(|arg| arg.is("-") || !arg.prefix().starts_with('-'));
    match script {
        Some(file) if file.prefix().contains("://") => {
            machine.opaque(file.display(), "the script comes from the network", call.span);
        }
        Some(file) if !file.is("-") => {
            machine.run_file(lang, file);
        }
        _ => {
            machine.run_stream(lang, call.stdin, call.span);
        }
    }
}

/// Names under which languages without a reader delete whole folders.
const DELETES_FOLDERS: [&str; 7] = [
    "rm_rf",
    "deleteRecursively",
    "deleteDir",
    "deleteDirectory",
    "remove_all",
    "removeItem",
    "delete-tree",
];

/// Looks for deletions in code of a language that has no reader of its own.
fn deletes_by_name(machine: &mut Machine<'_>, code: &Field) {
    let text = code.display();
    let lower = text.to_ascii_lowercase().replace(' ', "");
    let recursive = lower.contains("recursive=true") || lower.contains("recursive=t)");
    let removes = ["rm(", "unlink("].iter().any(|name| lower.contains(name));
    if (removes && recursive) || DELETES_FOLDERS.iter().any(|name| text.contains(name)) {
        machine.delete(&[&Field::unknown(false, code.span)], true, code.span);
    }
}

/// `python -m alembic …` is `alembic …`.
fn run_module(machine: &mut Machine<'_>, call: &Call<'_>, module: &Field, parsed: &Parsed<'_>) {
    let name = match module.text() {
        Some("timeit") => {
            for code in parsed.operands.iter().filter(|arg| !arg.prefix().starts_with('-')) {
                machine.run_code(Lang::Script(ScriptLang::Python), code);
            }
            return;
        }
        Some("django") => "django-admin",
        Some(name) => name,
        None => return,
    };
    let mut argv = vec![Field::lit(name, module.span)];
    argv.extend(parsed.operands.iter().map(|arg| (*arg).clone()));
    machine.run_argv(&argv, call.stdin, call.span);
}

const AWK: Spec = Spec {
    style: Style::StopAtOperand,
    ..stops("Ffvieml", &["field-separator", "file", "assign", "include", "source", "load"])
};

fn awk(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = AWK.parse(call.args);
    let mut operands = parsed.operands.as_slice();
    let lang = Lang::Script(ScriptLang::Awk);
    let sources = parsed.values('e', "source");
    for code in &sources {
        machine.run_code(lang, code);
    }
    for file in parsed.values('f', "file") {
        machine.run_file(lang, file);
    }
    if sources.is_empty() && parsed.values('f', "file").is_empty() {
        let Some((code, rest)) = operands.split_first() else { return Stream::Terminal };
        machine.run_code(lang, code);
        operands = rest;
    }
    if parsed.values('i', "include").iter().any(|name| name.is("inplace")) {
        for file in operands.iter().filter(|file| !file.prefix().contains('=')) {
            machine.change(file, Touch::Write, false);
        }
    }
    Stream::Output(call.name.to_owned())
}

/// Tcl and expect: `exec` and `spawn` run programs.
fn tcl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = stops("cfd", &[]).parse(call.args);
    let codes = parsed.values('c', "");
    for code in &codes {
        tcl_code(machine, code);
    }
    if codes.is_empty() && parsed.operands.is_empty() {
        match call.stdin {
            Stream::Text(code) => tcl_code(machine, code),
            other => {
                machine.run_stream(Lang::Script(ScriptLang::Lua), other, call.span);
            }
        }
    }
    Stream::Output(call.name.to_owned())
}

fn tcl_code(machine: &mut Machine<'_>, code: &Field) {
    let Some(text) = code.text() else {
        machine.opaque("code", "it is not known before it runs", code.span);
        return;
    };
    for command in text.split(['\n', ';', '[', ']', '{', '}']) {
        let command = command.trim();
        for verb in ["exec ", "spawn ", "system "] {
            if let Some(rest) = command.strip_prefix(verb) {
                let rest = rest.trim_start_matches("-noecho ").trim_start_matches("-ignorestderr ");
                let mut inner = Field::lit(rest, code.span);
                inner.verbatim = None;
                machine.run_code(Lang::Shell, &inner);
            }
        }
        if let Some(rest) = command.strip_prefix("file delete ") {
            let inner = Field::lit(format!("rm -r {rest}"), code.span);
            machine.run_code(Lang::Shell, &inner);
        }
    }
}

/// AppleScript: `do shell script "…"`.
fn osascript(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = stops("els", &[]).parse(call.args);
    for code in parsed.values('e', "") {
        let Some(text) = code.text() else {
            machine.opaque("code", "it is not known before it runs", code.span);
            continue;
        };
        for rest in text.split("do shell script").skip(1) {
            let quoted =
                rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            match quoted {
                Some(command) => {
                    machine.run_code(Lang::Shell, &Field::lit(command, code.span));
                }
                None => machine.opaque("AppleScript", "its command is not written out", code.span),
            }
        }
    }
    Stream::Output(call.name.to_owned())
}

/// Whether an option letter was given.
fn has_letter(parsed: &Parsed<'_>, letter: char) -> bool {
    parsed.opts.iter().any(|opt| opt.name == OptName::Short(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn versions_belong_to_the_name() {
        assert!(
            is_interpreter("python3.11") && is_interpreter("perl5.36") && is_interpreter("node")
        );
        assert!(!is_interpreter("pythonic"));
    }
}
