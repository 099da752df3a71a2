//! Scripting languages: code in an option, in a file, or from standard input.

use super::super::framework;
use super::super::options::{Parsed, Spec, Style};
use super::super::place::only_informs;
use super::{from_stdin, joined};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

const STOP: Spec = Spec { style: Style::StopAtOperand, ..Spec::FLAGS };

/// A script's file: some have models of their own, others are read if they can be.
fn run_script(
    machine: &mut Machine<'_>,
    lang: Lang,
    operands: &[&Field],
    call: &Call<'_>,
) -> Stream {
    let Some((file, rest)) = operands.split_first() else {
        return from_stdin(machine, lang, call);
    };
    if file.is("-") || file.is("/dev/stdin") {
        return from_stdin(machine, lang, call);
    }
    if let Some(name) = file.text().filter(|name| framework::is_entry_point(name)) {
        let base = name.rsplit('/').next().unwrap_or(name);
        let mut argv = vec![Field::lit(base, file.span)];
        argv.extend(rest.iter().map(|field| (*field).clone()));
        return machine.run_argv(&argv, call.stdin, call.span);
    }
    machine.run_file(lang, file)
}

fn run_codes(machine: &mut Machine<'_>, lang: Lang, codes: &[&Field]) -> Stream {
    let mut printed = Stream::Terminal;
    for code in codes {
        printed = machine.run_code(lang, code);
    }
    printed
}

/// Python and its relatives.
pub fn python(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "cmWXQ",
        long_values: &["check-hash-based-pycs", "profile", "ipython-dir", "command"],
        ..STOP
    };
    let lang = Lang::Script(ScriptLang::Python);
    let parsed = SPEC.parse(call.args);
    // `-c` and `-m` end the options: what follows belongs to the code or the module.
    let ends = parsed.opts.iter().find(|opt| opt.name.is('c', "command") || opt.name.is('m', ""));
    if let Some(opt) = ends {
        let Some(value) = &opt.value else { return Stream::Terminal };
        if opt.name.is('c', "command") {
            return machine.run_code(lang, value);
        }
        let glued = opt.field.text() != Some("-m") && !opt.field.suffix().ends_with('m');
        let rest = call.args.get(opt.index + if glued { 1 } else { 2 }..).unwrap_or_default();
        return module(machine, value, rest, call);
    }
    if only_informs(&parsed) || parsed.has('V', "") || parsed.has('h', "") {
        return Stream::Terminal;
    }
    run_script(machine, lang, &parsed.operands, call)
}

/// `python -m MODULE`: a module with a model of its own counts like the program.
fn module(machine: &mut Machine<'_>, name: &Field, rest: &[Field], call: &Call<'_>) -> Stream {
    let Some(text) = name.text() else { return Stream::Terminal };
    if text == "timeit" {
        let parsed = Spec { short_values: "nrsu", ..Spec::FLAGS }.parse(rest);
        let mut codes = parsed.values('s', "setup");
        codes.extend(parsed.operands.iter());
        return run_codes(machine, Lang::Script(ScriptLang::Python), &codes);
    }
    let program = match text {
        "awscli" => "aws",
        "django.core.management" => "django",
        "IPython" => "ipython",
        other => other,
    };
    if super::super::catalogue::find(program).is_none() {
        return Stream::Output(format!("python -m {text}"));
    }
    let mut argv = vec![Field::lit(program, name.span)];
    argv.extend_from_slice(rest);
    machine.run_argv(&argv, call.stdin, call.span)
}

const NODE: Spec = Spec {
    short_values: "erCOP",
    long_values: &[
        "eval",
        "require",
        "import",
        "loader",
        "experimental-loader",
        "conditions",
        "env-file",
        "input-type",
        "project",
        "tsconfig",
        "compiler-options",
    ],
    long_flags: &["print", "check", "interactive", "version", "help", "test", "watch"],
    ..STOP
};

/// Node: `-e CODE`, `-p CODE`, a file or standard input.
pub fn node(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lang = Lang::Script(ScriptLang::JavaScript);
    // `-p` takes the code that follows, unless `-e` in the same group does.
    let args = spread_print(call.args);
    let parsed = NODE.parse(&args);
    if only_informs(&parsed) || parsed.has('c', "check") || parsed.has('v', "") {
        return Stream::Terminal;
    }
    let codes = parsed.values('e', "eval");
    if !codes.is_empty() {
        return run_codes(machine, lang, &codes);
    }
    run_script(machine, lang, &parsed.operands, call)
}

/// Writes `-p CODE`, `--print CODE` and `-pe CODE` as `-e CODE`.
fn spread_print(args: &[Field]) -> Vec<Field> {
    args.iter()
        .map(|arg| match arg.text() {
            Some("-p" | "--print" | "-pe" | "-ep" | "-ip") => Field::lit("-e", arg.span),
            _ => match arg.strip_prefix("--print=") {
                Some(code) => {
                    let mut out = Field::lit("--eval=", arg.span);
                    out.push_field(&code);
                    out
                }
                None => arg.clone(),
            },
        })
        .collect()
}

/// Bun: `-e CODE`, `exec LINE`, `run FILE`, or a file.
pub fn bun(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lang = Lang::Script(ScriptLang::JavaScript);
    let args = spread_print(call.args);
    let parsed = NODE.parse(&args);
    let codes = parsed.values('e', "eval");
    if !codes.is_empty() {
        return run_codes(machine, lang, &codes);
    }
    let Some((first, rest)) = parsed.operands.split_first() else {
        return Stream::Terminal;
    };
    match first.text() {
        Some("exec") => machine.run_code(Lang::Shell, &joined(rest, call)),
        Some("run") if rest.first().is_some_and(|file| is_javascript(file) || file.is("-")) => {
            run_script(machine, lang, rest, call)
        }
        _ if is_javascript(first) => run_script(machine, lang, &parsed.operands, call),
        _ => Stream::Output("bun".to_owned()),
    }
}

fn is_javascript(file: &Field) -> bool {
    [".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", ".mts"]
        .iter()
        .any(|end| file.suffix().ends_with(end))
}

/// Deno: `eval CODE`, `run FILE`; code from an address cannot be seen.
pub fn deno(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "cL",
        long_values: &[
            "config",
            "import-map",
            "ext",
            "cert",
            "lock",
            "seed",
            "location",
            "log-level",
            "env-file",
        ],
        ..STOP
    };
    let lang = Lang::Script(ScriptLang::JavaScript);
    let Some((command, rest)) = call.args.split_first() else {
        return from_stdin(machine, lang, call);
    };
    let parsed = SPEC.parse(rest);
    match (command.text(), parsed.operands.first()) {
        (Some("eval"), Some(code)) => machine.run_code(lang, code),
        (Some("run" | "serve"), Some(file)) if file.prefix().contains("://") => {
            machine.opaque("deno run", "the script comes from the network", call.span);
            Stream::Terminal
        }
        (Some("run" | "serve"), Some(_)) => run_script(machine, lang, &parsed.operands, call),
        _ if is_javascript(command) => machine.run_file(lang, command),
        _ => Stream::Output("deno".to_owned()),
    }
}

/// PHP: `-r CODE`, `-B`, `-R`, `-E`, a file or standard input.
pub fn php(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "rBREfFdczSt",
        long_values: &[
            "run",
            "process-begin",
            "process-code",
            "process-end",
            "file",
            "define",
            "php-ini",
            "server",
            "docroot",
        ],
        long_flags: &["version", "help", "info", "modules", "syntax-check", "interactive"],
        ..STOP
    };
    let lang = Lang::Script(ScriptLang::Php);
    let parsed = SPEC.parse(call.args);
    let informs = ['v', 'h', 'i', 'm', 'l', 'w', 's'].iter().any(|letter| parsed.has(*letter, ""));
    if only_informs(&parsed) || informs || parsed.has('\0', "syntax-check") {
        return Stream::Terminal;
    }
    let mut codes = Vec::new();
    for (short, long) in
        [('B', "process-begin"), ('r', "run"), ('R', "process-code"), ('E', "process-end")]
    {
        codes.extend(parsed.values(short, long));
    }
    if !codes.is_empty() {
        return run_codes(machine, lang, &codes);
    }
    if parsed.has('S', "server") {
        return Stream::Terminal;
    }
    match parsed.value('f', "file").or_else(|| parsed.value('F', "")) {
        Some(file) => run_script(machine, lang, &[file], call),
        None => run_script(machine, lang, &parsed.operands, call),
    }
}

/// Lua: `-e CODE`, a file or standard input.
pub fn lua(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "elbj", ..STOP };
    let lang = Lang::Script(ScriptLang::Lua);
    let parsed = SPEC.parse(call.args);
    let codes = parsed.values('e', "");
    if !codes.is_empty() {
        return run_codes(machine, lang, &codes);
    }
    if parsed.has('v', "") && parsed.operands.is_empty() {
        return Stream::Terminal;
    }
    run_script(machine, lang, &parsed.operands, call)
}

/// R: its calls look like Python's, and the names that matter are in Python's table.
pub fn r(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec =
        Spec { short_values: "efgd", long_values: &["file", "args", "encoding"], ..STOP };
    let lang = Lang::Script(ScriptLang::Python);
    let parsed = SPEC.parse(call.args);
    let codes = parsed.values('e', "");
    if !codes.is_empty() {
        return run_codes(machine, lang, &codes);
    }
    match call.stdin {
        Stream::Text(_)
            if parsed.operands.is_empty()
                || parsed.operands.first().is_some_and(|file| file.is("-")) =>
        {
            machine.run_stream(lang, call.stdin, call.span)
        }
        _ => Stream::Output(call.name.to_owned()),
    }
}

/// Interpreters of which nothing is read.
pub fn harmless(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    Stream::Output(call.name.to_owned())
}

/// AppleScript: what it gives to the shell.
pub fn osascript(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "els", ..STOP };
    let parsed = SPEC.parse(call.args);
    let mut codes: Vec<Field> = parsed.values('e', "").into_iter().cloned().collect();
    if let (true, Stream::Text(text)) = (codes.is_empty(), call.stdin) {
        codes.push(text.clone());
    }
    for code in &codes {
        for (name, shell) in
            [("do shell script", true), ("doShellScript(", true), ("delete ", false)]
        {
            applescript(machine, code, name, shell, call);
        }
    }
    Stream::Output(call.name.to_owned())
}

fn applescript(machine: &mut Machine<'_>, code: &Field, name: &str, shell: bool, call: &Call<'_>) {
    let text = code.display();
    for (at, _) in text.match_indices(name) {
        let rest = text.get(at + name.len()..).unwrap_or("").trim_start();
        if !shell {
            if text.contains("Finder") || text.contains("System Events") {
                machine.delete_unknown(&[], call.span);
            }
            continue;
        }
        match quoted(rest) {
            Some(line) => {
                machine.run_code(Lang::Shell, &Field::lit(line, code.span));
            }
            None => machine.opaque("osascript", "the shell line is not a constant", call.span),
        }
    }
}

/// The text of a double-quoted string at the start.
pub(super) fn quoted(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('"')?.chars();
    let mut out = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
}

/// Tcl and expect: `exec`, `spawn` and `system` run programs, `file delete` deletes.
pub fn tcl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "cf", ..STOP };
    let parsed = SPEC.parse(call.args);
    let mut codes: Vec<Field> = parsed.values('c', "").into_iter().cloned().collect();
    if let (true, Stream::Text(text)) = (parsed.operands.is_empty(), call.stdin) {
        codes.push(text.clone());
    }
    for code in &codes {
        for command in code.display().split([';', '\n', '[', ']', '{', '}']) {
            tcl_command(machine, command.trim(), code, call);
        }
    }
    Stream::Output(call.name.to_owned())
}

fn tcl_command(machine: &mut Machine<'_>, command: &str, code: &Field, call: &Call<'_>) {
    let (first, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    match first {
        "exec" | "spawn" | "system" => {
            let rest = rest.trim_start_matches("-noecho ").trim_start_matches("-- ");
            machine.run_code(Lang::Shell, &Field::lit(rest, code.span));
        }
        "file" => {
            if let Some(names) = rest.trim_start().strip_prefix("delete") {
                let force = names.contains("-force");
                let fields: Vec<Field> = names
                    .split_whitespace()
                    .filter(|name| !name.starts_with('-'))
                    .map(|name| Field::lit(name, code.span))
                    .collect();
                let fields: Vec<&Field> = fields.iter().collect();
                if !fields.is_empty() {
                    machine.delete(&fields, force, call.span);
                }
            }
        }
        _ => {}
    }
}

/// make: only recipes that the line itself carries can be read.
pub fn make(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "CfIoWE",
        short_optional: "jlO",
        long_values: &[
            "directory",
            "file",
            "makefile",
            "include-dir",
            "old-file",
            "what-if",
            "eval",
            "assume-new",
        ],
        long_flags: &[
            "dry-run",
            "just-print",
            "recon",
            "question",
            "touch",
            "silent",
            "keep-going",
            "version",
            "help",
        ],
        long_optional: &["jobs", "load-average", "output-sync", "debug"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || dry(&parsed) {
        return Stream::Output(call.name.to_owned());
    }
    let mut texts: Vec<Field> = parsed.values('E', "eval").into_iter().cloned().collect();
    let from_stdin = parsed
        .values('f', "file")
        .iter()
        .chain(&parsed.values('\0', "makefile"))
        .any(|file| file.is("-") || file.is("/dev/stdin"));
    if let (true, Stream::Text(text)) = (from_stdin, call.stdin) {
        texts.push(text.clone());
    }
    for text in &texts {
        for line in text.display().lines() {
            let recipe =
                line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            if let Some(recipe) = recipe {
                let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$");
                machine.run_code(Lang::Shell, &Field::lit(recipe, text.span));
            }
        }
    }
    Stream::Output(call.name.to_owned())
}

fn dry(parsed: &Parsed<'_>) -> bool {
    parsed.has('n', "dry-run") || parsed.has('\0', "just-print") || parsed.has('\0', "recon")
}
