//! Editors that take commands on the command line or on standard input.

use aurora_model::Touch;

use super::has_letter;
use crate::analysis::shell::command::options::Spec;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

const VI: Spec = Spec {
    short_values: "cStTuUwWi",
    short_optional: "pPoO",
    long_values: &["cmd", "startuptime", "listen", "server"],
    ..Spec::FLAGS
};

/// vi and its like: `-c CMD`, `+CMD`, `--cmd CMD`; `:!` runs, `:w` writes.
pub(super) fn vi(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = VI.parse(call.args);
    let mut commands: Vec<Field> = parsed.values('c', "").into_iter().cloned().collect();
    commands.extend(parsed.values('\0', "cmd").into_iter().cloned());
    let (plus, files): (Vec<&Field>, Vec<&Field>) =
        parsed.operands.iter().partition(|operand| operand.prefix().starts_with('+'));
    commands.extend(plus.iter().filter_map(|command| command.strip_prefix("+")));
    let batch = has_letter(&parsed, 'e') || has_letter(&parsed, 'E') || call.name == "ex";
    if batch && let Stream::Text(text) = call.stdin {
        commands.extend(lines(text));
    }
    let mut writes = false;
    for command in &commands {
        writes |= ex_command(machine, command);
    }
    if writes {
        for file in files {
            machine.change(file, Touch::Write, false);
        }
    }
    Stream::Terminal
}

fn lines(text: &Field) -> Vec<Field> {
    let known = text.text().unwrap_or("");
    known.lines().map(|line| Field::lit(line, text.span)).collect()
}

/// The language and the code of `:lua …`, `:py3 …` and their like.
fn script_of(command: &str) -> Option<(ScriptLang, &str)> {
    let (word, code) = command.split_once([' ', '='])?;
    let lang = match word {
        "lua" => ScriptLang::Lua,
        "py" | "py3" | "python" | "python3" | "pyx" | "pythonx" => ScriptLang::Python,
        "perl" | "pe" => ScriptLang::Perl,
        "ruby" | "rub" => ScriptLang::Ruby,
        _ => return None,
    };
    Some((lang, code.trim()))
}

/// Runs what an ex command runs; says whether it writes the file.
fn ex_command(machine: &mut Machine<'_>, command: &Field) -> bool {
    let Some(text) = command.text() else { return false };
    if let Some((lang, code)) = script_of(text.trim().trim_start_matches(':')) {
        machine.run_code(Lang::Script(lang), &Field::lit(code, command.span));
        return false;
    }
    let mut writes = false;
    for part in text.split('|') {
        let part = part.trim().trim_start_matches(':').trim_start_matches('%').trim();
        let shell = part
            .strip_prefix('!')
            .or_else(|| part.strip_prefix("silent !"))
            .or_else(|| part.strip_prefix("silent! !"))
            .or_else(|| part.strip_prefix("r !"))
            .or_else(|| part.strip_prefix("w !"));
        if let Some(code) = shell {
            machine.run_code(Lang::Shell, &Field::lit(code, command.span));
        }
        if let Some(rest) = part.strip_prefix("call system(") {
            let code = rest.trim_matches(|c| matches!(c, '(' | ')' | '\'' | '"'));
            machine.run_code(Lang::Shell, &Field::lit(code, command.span));
        }
        if let Some(rest) = part.strip_prefix("call delete(") {
            let target =
                Field::lit(rest.trim_matches(|c| matches!(c, ')' | '\'' | '"')), command.span);
            machine.delete(&[&target], rest.contains("rf"), command.span);
        }
        let word: String = part.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
        let target = part.get(word.len()..).unwrap_or("").trim_start_matches('!').trim();
        match word.as_str() {
            "w" | "write" | "sav" | "saveas" if !target.is_empty() && !target.starts_with('!') => {
                let target = target.trim_start_matches(">>").trim();
                machine.change(&Field::lit(target, command.span), Touch::Write, false);
            }
            "w" | "write" | "wq" | "wqa" | "wa" | "x" | "xa" | "xit" | "up" | "update" => {
                writes = true
            }
            _ => {}
        }
    }
    writes
}

/// `ed FILE` with its commands on standard input.
pub(super) fn ed(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec { short_values: "p", ..Spec::FLAGS }.parse(call.args);
    let Stream::Text(text) = call.stdin else { return Stream::Terminal };
    let mut writes = false;
    for line in text.text().unwrap_or("").lines() {
        let line = line.trim();
        if let Some(code) = line.strip_prefix('!') {
            machine.run_code(Lang::Shell, &Field::lit(code, text.span));
        }
        let command =
            line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '%'));
        if let Some(rest) = command.strip_prefix('w') {
            let target = rest.trim_start_matches('q').trim();
            if let Some(code) = target.strip_prefix('!') {
                machine.run_code(Lang::Shell, &Field::lit(code, text.span));
            } else if target.is_empty() {
                writes = true;
            } else {
                machine.change(&Field::lit(target, text.span), Touch::Write, false);
            }
        }
    }
    if writes && let Some(file) = parsed.operands.first() {
        machine.change(file, Touch::Write, false);
    }
    Stream::Terminal
}

/// emacs in batch: what its Lisp runs and deletes by name.
pub(super) fn emacs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec {
        short_values: "efluL",
        long_values: &["eval", "execute", "funcall", "load", "script", "directory"],
        ..Spec::FLAGS
    }
    .parse(call.args);
    for code in parsed.values('e', "eval").into_iter().chain(parsed.values('\0', "execute")) {
        let Some(text) = code.text() else { continue };
        for name in ["shell-command", "shell-command-to-string", "async-shell-command"] {
            for rest in text.split(&format!("({name} \"")).skip(1) {
                let command = rest.split('"').next().unwrap_or("");
                machine.run_code(Lang::Shell, &Field::lit(command, code.span));
            }
        }
        emacs_processes(machine, text, code);
        for (name, recursive) in [("delete-file", false), ("delete-directory", true)] {
            for rest in text.split(&format!("({name} \"")).skip(1) {
                let target = Field::lit(rest.split('"').next().unwrap_or(""), code.span);
                machine.delete(&[&target], recursive, code.span);
            }
        }
        for rest in text.split("(write-file \"").skip(1) {
            let target = Field::lit(rest.split('"').next().unwrap_or(""), code.span);
            machine.change(&target, Touch::Write, false);
        }
    }
    Stream::Terminal
}

/// Emacs' functions that start programs: where the program stands among the arguments, and where its
/// own arguments start.
const PROCESSES: [(&str, usize, usize); 6] = [
    ("call-process", 0, 4),
    ("call-process-region", 2, 6),
    ("call-process-shell-command", 0, 4),
    ("process-file", 0, 4),
    ("process-lines", 0, 1),
    ("start-process", 2, 3),
];

fn emacs_processes(machine: &mut Machine<'_>, text: &str, code: &Field) {
    for (name, program, first) in PROCESSES {
        for rest in text.split(&format!("({name} ")).skip(1) {
            let atoms = super::unread::atoms(rest);
            let known = |atom: &Option<String>| match atom {
                Some(text) => Field::lit(text, code.span),
                None => Field::unknown(false, code.span),
            };
            let Some(program) = atoms.get(program).map(known) else { continue };
            if name.ends_with("shell-command") {
                machine.run_code(Lang::Shell, &program);
                continue;
            }
            let mut argv = vec![program];
            argv.extend(atoms.iter().skip(first).map(known));
            machine.run_argv(&argv, &Stream::Terminal, code.span);
        }
    }
}
