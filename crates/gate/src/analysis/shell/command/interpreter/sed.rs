//! sed: files edited in place, and the commands of a script that write files or run programs.

use aurora_model::Touch;

use crate::analysis::shell::command::options::Spec;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

const SED: Spec = Spec {
    short_values: "efl",
    short_optional: "iI",
    long_values: &["expression", "file", "line-length"],
    long_optional: &["in-place"],
    long_flags: &[
        "quiet",
        "silent",
        "regexp-extended",
        "separate",
        "null-data",
        "posix",
        "sandbox",
        "help",
        "version",
        "debug",
        "unbuffered",
    ],
    ..Spec::FLAGS
};

pub(super) fn sed(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = SED.parse(call.args);
    let mut operands = parsed.operands.as_slice();
    let mut scripts: Vec<&Field> = parsed.values('e', "expression");
    if scripts.is_empty() && parsed.values('f', "file").is_empty() {
        let Some((script, rest)) = operands.split_first() else { return Stream::Terminal };
        scripts.push(script);
        operands = rest;
    }
    for file in parsed.values('f', "file") {
        // A script that the line itself wrote, or a process substitution.
        if let Stream::Text(script) = machine.stream_of(file)
            && let Some(text) = script.text()
        {
            for command in commands(text) {
                perform(machine, command, file);
            }
        }
    }
    for script in &scripts {
        if let Some(text) = script.text() {
            for command in commands(text) {
                perform(machine, command, script);
            }
        }
    }
    if parsed.has('i', "in-place") || parsed.has('I', "") {
        // BSD's `-i` takes a suffix of its own: `sed -i '' script file`.
        for file in operands.iter().filter(|file| !file.is("")) {
            machine.change(file, Touch::Write, false);
        }
        return Stream::Terminal;
    }
    match call.stdin {
        Stream::Network(_) => call.stdin.clone(),
        _ => Stream::Output(call.name.to_owned()),
    }
}

/// What a script's command does that matters here.
#[derive(Debug, PartialEq, Eq)]
enum Does<'s> {
    Writes(&'s str),
    Runs(&'s str),
    RunsWhatItMade,
}

fn perform(machine: &mut Machine<'_>, does: Does<'_>, script: &Field) {
    match does {
        Does::Writes(file) if !file.starts_with("/dev/std") => {
            machine.overwrite(&Field::lit(file, script.span), Touch::Write, script.span);
        }
        Does::Writes(_) => {}
        Does::Runs(code) if !code.is_empty() => {
            machine.run_code(Lang::Shell, &Field::lit(code, script.span));
        }
        Does::Runs(_) | Does::RunsWhatItMade => {
            machine.opaque("sed", "it runs lines of its input as commands", script.span);
        }
    }
}

/// The commands of a script that write or run.
fn commands(script: &str) -> Vec<Does<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace() && !matches!(c, ';' | '{' | '}'))
    {
        rest = address(rest.get(start..).unwrap_or(""));
        let line = rest.split('\n').next().unwrap_or("");
        let Some(letter) = rest.chars().next() else { break };
        let after = rest.get(letter.len_utf8()..).unwrap_or("");
        let argument = line.get(letter.len_utf8()..).unwrap_or("").trim();
        rest = match letter {
            'w' | 'W' => {
                found.push(Does::Writes(argument));
                rest.get(line.len()..).unwrap_or("")
            }
            'e' => {
                found.push(Does::Runs(argument));
                rest.get(line.len()..).unwrap_or("")
            }
            's' | 'y' => {
                let (flags, behind) = substitution(after);
                if letter == 's' {
                    found.extend(flag_effects(flags));
                }
                behind
            }
            // Text up to the end of the line is only text.
            'a' | 'i' | 'c' | 'r' | 'R' | '#' | ':' | 'b' | 't' | 'T' => {
                rest.get(line.len()..).unwrap_or("")
            }
            _ => after,
        };
    }
    found
}

/// Skips an address: numbers, `$`, `/regex/`, `\xregexx`, ranges, `!`.
fn address(text: &str) -> &str {
    let mut rest = text;
    loop {
        let Some(first) = rest.chars().next() else { return rest };
        rest = match first {
            '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' => rest.get(1..).unwrap_or(""),
            '/' => delimited(rest.get(1..).unwrap_or(""), '/'),
            '\\' => {
                let mark = rest.chars().nth(1).unwrap_or('/');
                delimited(rest.get(1 + mark.len_utf8()..).unwrap_or(""), mark)
            }
            'I' | 'M' if rest.len() < text.len() => rest.get(1..).unwrap_or(""),
            _ => return rest,
        };
    }
}

/// What stands behind the next unescaped mark.
fn delimited(text: &str, mark: char) -> &str {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == mark {
            return text.get(at + c.len_utf8()..).unwrap_or("");
        }
    }
    ""
}

/// The flags of `s/a/b/flags`, and what stands behind them.
fn substitution(text: &str) -> (&str, &str) {
    let Some(mark) = text.chars().next() else { return ("", "") };
    let body = text.get(mark.len_utf8()..).unwrap_or("");
    let flags = delimited(delimited(body, mark), mark);
    let mut end = flags.find(['\n', ';', '}']).unwrap_or(flags.len());
    if flags.get(..end).is_some_and(|flags| flags.contains('w')) {
        end = flags.find('\n').unwrap_or(flags.len());
    }
    (flags.get(..end).unwrap_or(""), flags.get(end..).unwrap_or(""))
}

fn flag_effects(flags: &str) -> Option<Does<'_>> {
    for (at, flag) in flags.char_indices() {
        match flag {
            'w' => return flags.get(at + 1..).map(|file| Does::Writes(file.trim())),
            'e' => return Some(Does::RunsWhatItMade),
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' | ' ' => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_write_or_run_are_found() {
        for (script, expected) in [
            ("s/a/b/g", vec![]),
            ("s/rm -rf/w file/", vec![]),
            ("s/x/y/w .env", vec![Does::Writes(".env")]),
            ("1e rm -rf build", vec![Does::Runs("rm -rf build")]),
            ("s/.*/date/e", vec![Does::RunsWhatItMade]),
            ("/foo/w out.txt", vec![Does::Writes("out.txt")]),
            ("$!N;P;D", vec![]),
            ("/re/d;s|a|b|gp", vec![]),
            ("1,5{s/a/b/;p}", vec![]),
            ("2i\\w .env", vec![]),
            ("s,/,\\,,e", vec![Does::RunsWhatItMade]),
            ("\\,x,w f", vec![Does::Writes("f")]),
        ] {
            assert_eq!(commands(script), expected, "{script}");
        }
    }
}
