//! sed and awk: their programs can run others and write files.

use aurora_model::Touch;

use super::super::options::Spec;
use super::super::place::only_informs;
use crate::analysis::script::UNKNOWN;
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Lang, Machine, ScriptLang, Stream};

fn printed(call: &Call<'_>) -> Stream {
    match call.stdin {
        Stream::Network(_) => call.stdin.clone(),
        _ => Stream::Output(call.name.to_owned()),
    }
}

/// awk: the program is the first operand, or in options.
pub fn awk(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "fFveilEmW",
        short_optional: "dDLop",
        long_values: &["file", "field-separator", "assign", "source", "include", "load", "exec"],
        long_flags: &["version", "help", "posix", "traditional", "csv", "sandbox", "re-interval"],
        long_optional: &["dump-variables", "debug", "lint", "pretty-print", "profile"],
        style: super::super::options::Style::StopAtOperand,
    };
    let lang = Lang::Script(ScriptLang::Awk);
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('V', "") {
        return Stream::Terminal;
    }
    let mut operands = parsed.operands.clone();
    let codes = parsed.values('e', "source");
    let mut files = parsed.values('f', "file");
    files.extend(parsed.values('E', "exec"));
    for file in &files {
        machine.run_file(lang, file);
    }
    for code in &codes {
        machine.run_code(lang, code);
    }
    if files.is_empty() && codes.is_empty() && !operands.is_empty() {
        machine.run_code(lang, operands.remove(0));
    }
    let in_place = parsed.values('i', "include").iter().any(|name| name.is("inplace"));
    if in_place {
        for file in operands.iter().filter(|file| !file.prefix().contains('=')) {
            machine.change(file, Touch::Write, false);
        }
    }
    printed(call)
}

const SED: Spec = Spec {
    short_values: "efl",
    short_optional: "iI",
    long_values: &["expression", "file", "line-length"],
    long_flags: &[
        "quiet",
        "silent",
        "debug",
        "follow-symlinks",
        "posix",
        "regexp-extended",
        "separate",
        "sandbox",
        "unbuffered",
        "null-data",
        "zero-terminated",
        "help",
        "version",
        "binary",
    ],
    long_optional: &["in-place"],
    ..Spec::FLAGS
};

/// sed: `-i` changes its files; `w` writes, `e` executes.
pub fn sed(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = SED.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let mut files = parsed.operands.clone();
    let mut scripts: Vec<Field> = parsed.values('e', "expression").into_iter().cloned().collect();
    let in_place = parsed.has('i', "in-place") || parsed.has('I', "");
    if scripts.is_empty() && parsed.value('f', "file").is_none() && !files.is_empty() {
        // BSD's `-i` takes its suffix from the next argument, often empty.
        if in_place && files.first().is_some_and(|first| first.is("")) {
            files.remove(0);
        }
        if !files.is_empty() {
            scripts.push(files.remove(0).clone());
        }
    }
    for script in &scripts {
        sed_script(machine, script, call);
    }
    if in_place {
        for file in &files {
            machine.change(file, Touch::Write, false);
        }
        return Stream::Terminal;
    }
    match files.as_slice() {
        [] => printed(call),
        _ => Stream::Output(call.name.to_owned()),
    }
}

fn sed_script(machine: &mut Machine<'_>, script: &Field, call: &Call<'_>) {
    let mut text = String::new();
    for seg in script.segs() {
        match seg {
            Seg::Lit(lit) | Seg::Glob(lit) => text.push_str(lit),
            Seg::Any => text.push(UNKNOWN),
        }
    }
    for found in sed_effects(&text) {
        let field = |text: &str| {
            let mut out = Field::lit("", script.span);
            for (index, part) in text.split(UNKNOWN).enumerate() {
                if index > 0 {
                    out.push_any(false);
                }
                out.push_lit(part);
            }
            out
        };
        match found {
            SedEffect::Write(path) => {
                if !path.starts_with("/dev/std") {
                    machine.change(&field(&path), Touch::Write, false);
                }
            }
            SedEffect::Run(line) => {
                machine.run_code(Lang::Shell, &field(&line));
            }
            SedEffect::RunInput => {
                machine.opaque("sed", "it executes lines of its input", call.span);
            }
        }
    }
}

/// What a sed program does besides editing.
#[derive(Debug, PartialEq, Eq)]
enum SedEffect {
    Write(String),
    Run(String),
    RunInput,
}

fn sed_effects(script: &str) -> Vec<SedEffect> {
    let mut out = Vec::new();
    let mut rest = script;
    while let Some(start) =
        rest.find(|c: char| !c.is_whitespace() && !matches!(c, ';' | '{' | '}' | '!'))
    {
        rest = skip_address(rest.get(start..).unwrap_or(""));
        rest = rest.trim_start_matches([' ', '\t', '!', ',']);
        let mut chars = rest.chars();
        let Some(command) = chars.next() else { break };
        let after = chars.as_str();
        rest = sed_command(command, after, &mut out);
    }
    out
}

fn line_of(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Reads one command after its letter; gives what follows it.
fn sed_command<'a>(command: char, after: &'a str, out: &mut Vec<SedEffect>) -> &'a str {
    match command {
        's' | 'y' => {
            let Some(delimiter) = after.chars().next() else { return "" };
            let body = after.get(delimiter.len_utf8()..).unwrap_or("");
            let regex = command == 's';
            let body = skip_delimited(skip_part(body, delimiter, regex), delimiter);
            if command == 's' { sed_flags(body, out) } else { body }
        }
        'w' | 'W' => {
            let (name, rest) = line_of(after);
            out.push(SedEffect::Write(name.trim().to_owned()));
            rest
        }
        'e' => {
            let (line, rest) = line_of(after);
            let line = line.trim().trim_end_matches('}');
            if line.is_empty() || line.starts_with(';') {
                out.push(SedEffect::RunInput);
            } else {
                out.push(SedEffect::Run(line.to_owned()));
            }
            rest
        }
        'r' | 'R' => line_of(after).1,
        'a' | 'i' | 'c' => {
            // A backslash at a line's end continues the text.
            let mut rest = after;
            loop {
                let (line, next) = line_of(rest);
                rest = next;
                if !line.ends_with('\\') || next.is_empty() {
                    return rest;
                }
            }
        }
        'b' | 't' | 'T' | ':' => after.split_once([';', '\n']).map_or("", |(_, rest)| rest),
        '#' => line_of(after).1,
        _ => after,
    }
}

/// The flags after `s/a/b/`: `w FILE` takes the rest of the line, `e` executes.
fn sed_flags<'a>(body: &'a str, out: &mut Vec<SedEffect>) -> &'a str {
    for (at, flag) in body.char_indices() {
        match flag {
            'w' => {
                let (name, rest) = line_of(body.get(at + 1..).unwrap_or(""));
                out.push(SedEffect::Write(name.trim().to_owned()));
                return rest;
            }
            'e' => out.push(SedEffect::RunInput),
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
            _ => return body.get(at..).unwrap_or(""),
        }
    }
    ""
}

/// What follows the next delimiter that is not escaped.
fn skip_delimited(text: &str, delimiter: char) -> &str {
    skip_part(text, delimiter, false)
}

/// The same; in a regular expression, delimiters between brackets do not count.
fn skip_part(text: &str, delimiter: char, regex: bool) -> &str {
    let mut escaped = false;
    let mut bracket_end = 0;
    for (at, c) in text.char_indices() {
        if at < bracket_end {
            continue;
        }
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if regex && c == '[' {
            bracket_end = bracket(text, at).unwrap_or(at);
        } else if c == delimiter {
            return text.get(at + c.len_utf8()..).unwrap_or("");
        }
    }
    ""
}

/// Where a bracket expression that starts at `at` ends; nothing when it does not.
fn bracket(text: &str, at: usize) -> Option<usize> {
    let mut from = at + 1;
    for first in ['^', ']'] {
        if text.get(from..)?.starts_with(first) {
            from += 1;
        }
    }
    loop {
        let rest = text.get(from..)?;
        let close = rest.find(']')?;
        // A class such as `[:space:]` ends inside.
        match rest.find("[:") {
            Some(open) if open < close => from += open + rest.get(open..)?.find(":]")? + 2,
            _ => return Some(from + close + 1),
        }
    }
}

/// What follows an address (`1,5`, `$`, `/re/I`, `\,re,`).
fn skip_address(text: &str) -> &str {
    let mut rest = text;
    loop {
        let Some(first) = rest.chars().next() else { return rest };
        rest = match first {
            '0'..='9' | '$' | ',' | '+' | '~' | ' ' => rest.get(1..).unwrap_or(""),
            '/' => skip_part(rest.get(1..).unwrap_or(""), '/', true).trim_start_matches(['I', 'M']),
            '\\' => {
                let mut chars = rest.chars();
                chars.next();
                let Some(delimiter) = chars.next() else { return "" };
                skip_part(chars.as_str(), delimiter, true).trim_start_matches(['I', 'M'])
            }
            _ => return rest,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::SedEffect::{Run, RunInput, Write};
    use super::*;

    fn check(script: &str, expected: &[SedEffect]) {
        assert_eq!(sed_effects(script), expected, "{script}");
    }

    #[test]
    fn sed_programs_that_only_edit_do_nothing_else() {
        for script in [
            "s/a/b/g",
            "s|/we/|/x/|g; s/w/e/",
            "1,5d",
            "/write/d",
            "$!N;s/\\n/ /",
            "s/e/w/2p",
            "/^#/!s/foo/bar/",
            "10q",
            "y/abc/xyz/",
            "s/[/]x/e/",
            "a\\ text with w file",
            "i hello; w x",
            ":a;N;$!ba;s/\\n/,/g",
            "/start/,/end/{s/a/b/;p}",
            "\\,/usr,d",
            "s/x/\\/e/g",
            "s,rm -rf,echo,",
            "/^$/d;s/^[[:space:]]*//",
            "s/a/b/gI",
            "r other",
            "=",
        ] {
            check(script, &[]);
        }
    }

    #[test]
    fn sed_programs_can_write_and_run() {
        check("w out.txt", &[Write("out.txt".into())]);
        check("/x/w .env", &[Write(".env".into())]);
        check("s/a/b/w .env", &[Write(".env".into())]);
        check("s/a/b/gw .env\np", &[Write(".env".into())]);
        check("1e rm -rf x", &[Run("rm -rf x".into())]);
        check("s/.*/rm &/e", &[RunInput]);
        check("e", &[RunInput]);
    }
}
