//! PowerShell and cmd, where they are called from a shell.

use crate::analysis::script::decode_base64;
use crate::analysis::shell::command::disk;
use crate::analysis::shell::command::step::joined;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

/// PowerShell's parameters that take a value, in lower case.
const VALUES: &[&str] = &[
    "executionpolicy",
    "ep",
    "ex",
    "exec",
    "windowstyle",
    "w",
    "version",
    "v",
    "inputformat",
    "outputformat",
    "of",
    "if",
    "configurationname",
    "config",
    "workingdirectory",
    "wd",
    "wo",
    "settingsfile",
    "custompipename",
    "psconsolefile",
];

/// Whether a parameter is an abbreviation of `full` with at least the first letters `least`.
fn abbreviates(name: &str, full: &str, least: &str) -> bool {
    full.starts_with(name) && name.starts_with(least)
}

/// PowerShell: `-Command`, `-EncodedCommand`, `-File`.
pub(super) fn powershell(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lang = Lang::Script(ScriptLang::PowerShell);
    let mut rest = call.args;
    while let Some((first, after)) = rest.split_first() {
        let Some(name) = first.text().and_then(|text| text.strip_prefix(['-', '/'])) else { break };
        let name = name.trim_start_matches('-').to_ascii_lowercase();
        if name.is_empty() {
            return machine.run_stream(lang, call.stdin, call.span);
        }
        rest = after;
        if abbreviates(&name, "command", "c") && name != "config" {
            return command(machine, lang, rest, call);
        }
        if abbreviates(&name, "encodedcommand", "e") && !VALUES.contains(&name.as_str())
            || name == "ec"
        {
            return encoded(machine, lang, rest, call);
        }
        if abbreviates(&name, "file", "f") {
            return match rest.first() {
                Some(file) if file.is("-") => machine.run_stream(lang, call.stdin, call.span),
                Some(file) => machine.run_file(lang, file),
                None => Stream::Terminal,
            };
        }
        if VALUES.contains(&name.as_str()) {
            rest = rest.get(1..).unwrap_or_default();
        }
        if matches!(name.as_str(), "help" | "?" | "h") {
            return Stream::Terminal;
        }
    }
    match rest.first() {
        None => machine.run_stream(lang, call.stdin, call.span),
        Some(file) if call.name.starts_with("pwsh") => machine.run_file(lang, file),
        Some(_) => command(machine, lang, rest, call),
    }
}

fn command(machine: &mut Machine<'_>, lang: Lang, rest: &[Field], call: &Call<'_>) -> Stream {
    if rest.first().is_some_and(|first| first.is("-")) {
        return machine.run_stream(lang, call.stdin, call.span);
    }
    machine.run_code(lang, &joined(rest))
}

fn encoded(machine: &mut Machine<'_>, lang: Lang, rest: &[Field], call: &Call<'_>) -> Stream {
    let bytes = rest.first().and_then(Field::text).and_then(decode_base64);
    let Some(bytes) = bytes else {
        machine.opaque(call.name, "the encoded command is not known", call.span);
        return Stream::Terminal;
    };
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| match pair {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        })
        .collect();
    let code = String::from_utf16_lossy(&units);
    let span = rest.first().map_or(call.span, |field| field.span);
    machine.run_code(lang, &Field::lit(code, span))
}

/// `cmd /c "…"`.
pub(super) fn cmd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let start = call.args.iter().position(|arg| {
        arg.text().is_some_and(|text| {
            text.eq_ignore_ascii_case("/c")
                || text.eq_ignore_ascii_case("/k")
                || text.eq_ignore_ascii_case("//c")
        })
    });
    let Some(start) = start else { return Stream::Terminal };
    let line = joined(call.args.get(start + 1..).unwrap_or_default());
    let text = line.display();
    for part in text.split(['&', '|', '\n']) {
        cmd_line(machine, part.trim(), &line, call);
    }
    Stream::Output("cmd".to_owned())
}

fn cmd_line(machine: &mut Machine<'_>, text: &str, near: &Field, call: &Call<'_>) {
    let words: Vec<String> = crate::analysis::script::split_shell(text);
    let Some((name, rest)) = words.split_first() else { return };
    let name = name.to_ascii_lowercase();
    let switch = |letter: &str| rest.iter().any(|word| word.eq_ignore_ascii_case(letter));
    let operands: Vec<Field> = rest
        .iter()
        .filter(|word| !word.starts_with('/'))
        .map(|word| {
            let mut field = Field::lit("", near.span);
            if word.contains(['*', '?']) {
                field.push_glob(word)
            } else {
                field.push_lit(word)
            }
            field
        })
        .collect();
    let operands: Vec<&Field> = operands.iter().collect();
    match name.as_str() {
        "del" | "erase" if !operands.is_empty() => {
            machine.delete(&operands, switch("/s"), call.span);
        }
        "rd" | "rmdir" => {
            if switch("/s") && !operands.is_empty() {
                machine.delete(&operands, true, call.span);
            }
        }
        "move" | "ren" | "rename" => {
            for operand in operands {
                machine.change(operand, aurora_model::Touch::Rename, false);
            }
        }
        "copy" | "xcopy" | "robocopy" => {
            if let Some(last) = operands.last() {
                machine.change(last, aurora_model::Touch::Write, false);
            }
            if name == "robocopy" && (switch("/mir") || switch("/purge")) {
                machine.delete_unknown(operands.get(1..2).unwrap_or_default(), call.span);
            }
        }
        "format" => {
            let argv: Vec<Field> = words.iter().map(|word| Field::lit(word, near.span)).collect();
            if let Some((_, args)) = argv.split_first() {
                for arg in args {
                    disk::wipe_if_drive(machine, arg, call.span);
                }
            }
        }
        "echo" | "dir" | "type" | "set" | "cd" | "rem" | "start" | "ver" | "where" | "if"
        | "for" | "mkdir" | "md" => {}
        _ => {
            let argv: Vec<Field> = words.iter().map(|word| Field::lit(word, near.span)).collect();
            machine.run_argv(&argv, call.stdin, call.span);
        }
    }
}
