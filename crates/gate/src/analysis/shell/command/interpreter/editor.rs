//! Editors given commands: they write their files and run programs.

use aurora_model::Touch;

use super::super::options::{Spec, Style};
use super::script::quoted;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// What one editor command does.
#[derive(Debug, PartialEq, Eq)]
enum Command<'a> {
    Nothing,
    Save,
    SaveAs(&'a str),
    Run(&'a str),
}

/// Reads one command of ed, ex or vim.
fn command(text: &str) -> Command<'_> {
    let text = text.trim().trim_start_matches(':');
    let body = text.trim_start_matches(|c: char| {
        c.is_ascii_digit()
            || matches!(c, '%' | '$' | ',' | '.' | ' ' | '\'' | '<' | '>' | '+' | '-')
    });
    let body = body.strip_prefix("silent").map_or(body, |rest| rest.trim_start_matches(['!', ' ']));
    if let Some(line) = body.strip_prefix('!') {
        return Command::Run(line.trim());
    }
    for name in ["read", "r", "write", "w", "terminal", "term", "te"] {
        let Some(rest) = body.strip_prefix(name) else { continue };
        let terminal = name.starts_with("te");
        let rest_trimmed = rest.trim_start();
        if let Some(line) =
            rest_trimmed.strip_prefix('!').filter(|_| !terminal && rest.starts_with(' '))
        {
            return Command::Run(line.trim());
        }
        if terminal && rest.starts_with(' ') {
            return Command::Run(rest_trimmed);
        }
    }
    if let Some(rest) = body.strip_prefix("call system(") {
        let inner = rest.trim_end_matches(')').trim_matches(['\'', '"']);
        return Command::Run(inner);
    }
    let (word, rest) = body.split_once(' ').unwrap_or((body, ""));
    let rest = rest.trim();
    match word.trim_end_matches('!') {
        "w" | "wq" | "write" | "update" | "up" | "saveas" | "sav" if !rest.is_empty() => {
            Command::SaveAs(rest)
        }
        "w" | "wq" | "x" | "wa" | "wqa" | "xa" | "xit" | "write" | "wall" | "update" | "up"
        | "exit" => Command::Save,
        _ => Command::Nothing,
    }
}

/// Runs an editor's commands; whether they save its files.
fn perform(machine: &mut Machine<'_>, code: &Field, split_bars: bool) -> bool {
    let text = code.display();
    let mut saves = false;
    for line in text.lines() {
        let shell = line.trim_start().trim_start_matches(':').starts_with('!');
        let parts: Vec<&str> =
            if split_bars && !shell { line.split('|').collect() } else { vec![line] };
        for part in parts {
            match command(part) {
                Command::Nothing => {}
                Command::Save => saves = true,
                Command::SaveAs(path) => {
                    machine.change(&Field::lit(path, code.span), Touch::Write, false);
                }
                Command::Run(line) => {
                    machine.run_code(Lang::Shell, &Field::lit(line, code.span));
                }
            }
        }
    }
    saves
}

/// `ed FILE`, with its commands on standard input.
pub fn ed(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "p", long_values: &["prompt"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    for line in parsed.operands.iter().filter_map(|operand| operand.strip_prefix("!")) {
        machine.run_code(Lang::Shell, &line);
    }
    if let Stream::Text(code) = call.stdin
        && perform(machine, code, false)
    {
        for file in &parsed.operands {
            machine.change(file, Touch::Write, false);
        }
    }
    Stream::Output(call.name.to_owned())
}

/// vim and its relatives: `-c`, `--cmd` and `+` give commands.
pub fn vim(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "cSuUitTswWr",
        long_values: &[
            "cmd",
            "startuptime",
            "servername",
            "remote-send",
            "remote-expr",
            "listen",
            "server",
        ],
        ..Spec::FLAGS
    };
    // `-s` is silent mode after `-e`, and `-es`, `-Es` group it; only alone it names a file.
    let args: Vec<Field> = call
        .args
        .iter()
        .filter(|arg| {
            !matches!(arg.text(), Some("-es" | "-Es" | "-e" | "-E" | "-s" | "-nes" | "-N" | "-n"))
        })
        .map(|arg| match arg.text() {
            Some("-sc" | "-esc" | "-Esc") => Field::lit("-c", arg.span),
            _ => arg.clone(),
        })
        .collect();
    let parsed = SPEC.parse(&args);
    let mut codes: Vec<Field> = Vec::new();
    for opt in &parsed.opts {
        if opt.name.is('c', "cmd") {
            codes.extend(opt.value.clone());
        }
    }
    let (plus, files): (Vec<&Field>, Vec<&Field>) =
        parsed.operands.iter().copied().partition(|operand| operand.prefix().starts_with('+'));
    codes.extend(plus.iter().filter_map(|operand| operand.strip_prefix("+")));
    if let Stream::Text(text) = call.stdin {
        codes.push(text.clone());
    }
    let mut saves = false;
    for code in &codes {
        saves |= perform(machine, code, true);
    }
    if saves {
        for file in files.iter().filter(|file| !file.is("-")) {
            machine.change(file, Touch::Write, false);
        }
    }
    Stream::Terminal
}

/// Emacs in batch mode: the calls that delete or run something.
pub fn emacs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "fle",
        long_values: &["eval", "execute", "funcall", "load", "directory", "script"],
        style: Style::Permute,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let mut codes = parsed.values('e', "eval");
    codes.extend(parsed.values('\0', "execute"));
    for code in codes {
        let text = code.display();
        for (name, deletes, recursive) in [
            ("(delete-file ", true, false),
            ("(delete-directory ", true, true),
            ("(shell-command ", false, false),
            ("(shell-command-to-string ", false, false),
        ] {
            for (at, _) in text.match_indices(name) {
                let rest = text.get(at + name.len()..).unwrap_or("").trim_start();
                let argument = quoted(rest).map_or_else(
                    || Field::unknown(false, code.span),
                    |text| Field::lit(text, code.span),
                );
                if deletes {
                    machine.delete(&[&argument], recursive, code.span);
                } else {
                    machine.run_code(Lang::Shell, &argument);
                }
            }
        }
    }
    Stream::Terminal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editor_commands_save_and_run() {
        let cases = [
            ("wq", Command::Save),
            (":x", Command::Save),
            ("w!", Command::Save),
            ("w .env", Command::SaveAs(".env")),
            ("!rm -rf x", Command::Run("rm -rf x")),
            ("r !ls", Command::Run("ls")),
            ("%!sort", Command::Run("sort")),
            ("1,$!rm x", Command::Run("rm x")),
            ("q!", Command::Nothing),
            ("%s/wq/x/g", Command::Nothing),
            ("set number", Command::Nothing),
            ("write", Command::Save),
            ("windo diffthis", Command::Nothing),
        ];
        for (text, expected) in cases {
            assert_eq!(command(text), expected, "{text}");
        }
    }
}
