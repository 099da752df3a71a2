//! Programs that print or pass on text: what comes out of them decides what the next one runs.

mod decode;

use super::Model;
use super::options::{Spec, Style};
use crate::analysis::shell::builtin::joined;
use crate::analysis::shell::escape::decode_escapes;
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Machine, Stream};
use aurora_model::Touch;

/// The programs of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("base32", decode::base64),
    ("base64", decode::base64),
    ("basename", base_name),
    ("basenc", decode::base64),
    ("bat", cat),
    ("batcat", cat),
    ("bunzip2", unpack),
    ("bzcat", unpack),
    ("cat", cat),
    ("dirname", dir_name),
    ("dog", cat),
    ("echo", echo),
    ("gunzip", unpack),
    ("gzcat", unpack),
    ("gzip", unpack),
    ("head", pass),
    ("lz4cat", unpack),
    ("more", cat),
    ("nl", pass),
    ("openssl", decode::openssl),
    ("printf", printf),
    ("pv", cat),
    ("rev", decode::rev),
    ("sort", pass),
    ("tac", cat),
    ("tail", pass),
    ("tee", tee),
    ("tr", decode::tr),
    ("uniq", pass),
    ("unxz", unpack),
    ("unzstd", unpack),
    ("xxd", decode::xxd),
    ("xz", unpack),
    ("xzcat", unpack),
    ("zcat", unpack),
    ("zstd", unpack),
    ("zstdcat", unpack),
];

/// Text that is printed with a newline behind it.
fn line(mut text: Field, span: aurora_model::Span) -> Stream {
    let at = text.verbatim;
    text.push_lit("\n");
    text.span = span;
    text.many = false;
    text.verbatim = at;
    Stream::Text(text)
}

fn echo(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut args = call.args;
    let (mut escapes, mut newline) = (false, true);
    while let Some((first, rest)) = args.split_first() {
        match first.text() {
            Some(flag)
                if flag.len() > 1
                    && flag.strip_prefix('-').is_some_and(|letters| {
                        letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E'))
                    }) =>
            {
                escapes |= flag.contains('e');
                newline &= !flag.contains('n');
                args = rest;
            }
            _ => break,
        }
    }
    let mut text = joined(args, call.span);
    if escapes {
        text = decoded(&text);
    }
    if newline {
        return line(text, call.span);
    }
    text.span = call.span;
    Stream::Text(text)
}

/// Backslash escapes in the known parts are taken.
fn decoded(text: &Field) -> Field {
    let mut out = Field::lit("", text.span);
    for seg in text.segs() {
        match seg {
            Seg::Lit(part) | Seg::Glob(part) => out.push_lit(&decode_escapes(part)),
            Seg::Any => out.push_any(true),
        }
    }
    out
}

/// `printf FORMAT ARGS`: `%s`, `%b`, `%q`, `%d` and `%%`, the format used again while there are arguments.
fn printf(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut args = call.args;
    if args.first().is_some_and(|arg| arg.is("--")) {
        args = args.get(1..).unwrap_or(&[]);
    }
    let Some((format, mut args)) = args.split_first() else { return Stream::Terminal };
    let Some(format) = format.text() else {
        return Stream::Text(Field::unknown(true, call.span));
    };
    let mut out = Field::lit("", call.span);
    for _ in 0..64 {
        let before = args.len();
        format_once(format, &mut args, &mut out);
        if args.is_empty() || args.len() == before {
            break;
        }
    }
    Stream::Text(out)
}

fn format_once(format: &str, args: &mut &[Field], out: &mut Field) {
    let mut rest = format;
    while let Some((plain, after)) = rest.split_once('%') {
        out.push_lit(&decode_escapes(plain));
        let spec = after.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.' | '*' | '\'')
        });
        let Some(letter) = spec.chars().next() else {
            out.push_lit("%");
            return;
        };
        rest = spec.get(letter.len_utf8()..).unwrap_or("");
        if letter == '%' {
            out.push_lit("%");
            continue;
        }
        let Some((arg, more)) = args.split_first() else { continue };
        *args = more;
        match letter {
            'b' => out.push_field(&decoded(arg)),
            's' | 'q' | 'd' | 'i' | 'u' => {
                let mut arg = arg.clone();
                arg.many = false;
                out.push_field(&arg);
            }
            _ => out.push_any(false),
        }
    }
    out.push_lit(&decode_escapes(rest));
}

/// `cat` and its like: files one after the other, or what comes in.
fn cat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let operands = Spec::FLAGS.parse(call.args).operands;
    let mut out: Option<Stream> = None;
    for operand in &operands {
        let stream = if operand.is("-") || operand.is("/dev/stdin") {
            call.stdin.clone()
        } else {
            machine.stream_of(operand)
        };
        out = Some(match out {
            None => stream,
            Some(before) => crate::analysis::shell::eval::concat(before, stream),
        });
    }
    out.unwrap_or_else(|| call.stdin.clone())
}

const LINES: Spec = Spec {
    short_values: "nckSto",
    long_values: &["lines", "bytes", "output", "key", "field-separator", "buffer-size"],
    ..Spec::FLAGS
};

/// `head`, `tail`, `sort`: lines of what comes in. Text that is known passes whole, so that no
/// line of it is missed.
fn pass(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = LINES.parse(call.args);
    if call.name == "sort"
        && let Some(file) = parsed.value('o', "output")
    {
        machine.change(file, Touch::Write, false);
    }
    if call.name == "uniq"
        && let Some(file) = parsed.operands.get(1)
    {
        machine.change(file, Touch::Write, false);
    }
    match parsed.operands.first() {
        Some(file) if !file.is("-") => machine.stream_of(file),
        _ => call.stdin.clone(),
    }
}

fn tee(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed =
        Spec { long_flags: &["append", "ignore-interrupts"], ..Spec::FLAGS }.parse(call.args);
    let touch = if parsed.has('a', "append") { Touch::Append } else { Touch::Write };
    for file in &parsed.operands {
        machine.overwrite(file, touch, file.span);
        machine.remember_file(file, call.stdin.clone(), touch == Touch::Append);
    }
    call.stdin.clone()
}

const PACKER: Spec = Spec {
    short_values: "SbTMV",
    long_values: &["suffix", "threads", "memlimit"],
    long_flags: &[
        "stdout",
        "to-stdout",
        "decompress",
        "uncompress",
        "keep",
        "test",
        "list",
        "force",
    ],
    style: Style::Permute,
    ..Spec::FLAGS
};

/// Packers: with `-c` (or as `zcat`) they print, else each file gets another name.
fn unpack(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = PACKER.parse(call.args);
    let prints =
        call.name.ends_with("cat") || parsed.has('c', "stdout") || parsed.has('c', "to-stdout");
    let looks = parsed.has('t', "test") || parsed.has('l', "list");
    if !prints && !looks {
        for file in &parsed.operands {
            if !file.is("-") {
                machine.change(file, Touch::Write, false);
            }
        }
    }
    match parsed.operands.first() {
        Some(file) if prints && !file.is("-") => Stream::File(machine.resolve(file)),
        Some(_) => Stream::Terminal,
        None => match call.stdin {
            Stream::File(_) | Stream::Network(_) => call.stdin.clone(),
            _ => Stream::Output(call.name.to_owned()),
        },
    }
}

fn base_name(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    part_of_name(call, |text| {
        text.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned()
    })
}

fn dir_name(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    part_of_name(call, |text| match text.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((dir, _)) => dir.to_owned(),
        None => ".".to_owned(),
    })
}

fn part_of_name(call: &Call<'_>, part: impl Fn(&str) -> String) -> Stream {
    match call.args {
        [one] => match one.text() {
            Some(text) => line(Field::lit(part(text), call.span), call.span),
            None => Stream::Output(call.name.to_owned()),
        },
        _ => Stream::Output(call.name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
