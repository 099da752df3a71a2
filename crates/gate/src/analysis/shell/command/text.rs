//! Programs that print text, as far as what they print can be computed.

mod compute;

use super::Model;
use super::options::{Spec, Style};
use super::place::{last_component, literal, only_informs};
use crate::analysis::script::UNKNOWN;
use crate::analysis::shell::eval::concat;
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// The models of this file, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("base64", base64),
    ("basename", basename),
    ("bat", cat),
    ("batcat", cat),
    ("bzcat", unpacked),
    ("cat", cat),
    ("cut", filter),
    ("date", prints),
    ("dirname", dirname),
    ("echo", echo),
    ("expand", filter),
    ("fold", filter),
    ("grep", filter),
    ("gzcat", unpacked),
    ("head", first_lines),
    ("hexdump", prints),
    ("less", cat),
    ("lzcat", unpacked),
    ("more", cat),
    ("nl", prints),
    ("od", prints),
    ("openssl", openssl),
    ("printf", printf),
    ("pwd", pwd),
    ("rev", rev),
    ("tac", filter),
    ("tail", first_lines),
    ("tr", tr),
    ("uniq", first_lines),
    ("xxd", xxd),
    ("xzcat", unpacked),
    ("zcat", unpacked),
    ("zstdcat", unpacked),
];

fn output(call: &Call<'_>) -> Stream {
    Stream::Output(call.name.to_owned())
}

/// The constant text that a command reads.
fn constant(stream: &Stream) -> Option<(&str, &Field)> {
    match stream {
        Stream::Text(field) => field.text().map(|text| (text, field)),
        _ => None,
    }
}

/// `echo`: its arguments with a space between; `-e` escapes and `-n` are read as bash does.
fn echo(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut args = call.args;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, rest)) = args.split_first() {
        let Some(letters) = first.text().and_then(|text| text.strip_prefix('-')) else { break };
        if letters.is_empty() || !letters.chars().all(|letter| "neE".contains(letter)) {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        args = rest;
    }
    let span = args.first().map_or(call.span, |field| field.span);
    let mut out = Field::lit("", span);
    for (index, field) in args.iter().enumerate() {
        if index > 0 {
            out.push_lit(" ");
        }
        for seg in field.segs() {
            match seg {
                Seg::Lit(text) if escapes => out.push_lit(&compute::unescape(text)),
                Seg::Lit(text) => out.push_lit(text),
                Seg::Glob(_) | Seg::Any => out.push_any(false),
            }
        }
        if field.many && !field.has_any() && !field.has_glob() {
            out.push_any(false);
        }
    }
    if let [only] = args
        && !escapes
    {
        out.verbatim = only.verbatim;
    }
    if newline {
        out.push_lit("\n");
    }
    Stream::Text(out)
}

/// `printf`: the format, repeated until all arguments are used.
fn printf(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let args = match call.args {
        [first, second, ..] if first.is("-v") => {
            let _ = second;
            return Stream::Terminal;
        }
        [first, rest @ ..] if first.is("--") => rest,
        args => args,
    };
    let Some((format, values)) = args.split_first() else { return Stream::Terminal };
    let marked = |field: &Field| {
        let mut text = String::new();
        for seg in field.segs() {
            match seg {
                Seg::Lit(lit) => text.push_str(lit),
                Seg::Glob(_) | Seg::Any => text.push(UNKNOWN),
            }
        }
        text
    };
    let values: Vec<String> = values.iter().map(marked).collect();
    let text = compute::printf(&marked(format), &values);
    Stream::Text(unmarked(&text, format))
}

/// Text with unknown parts, as a field.
fn unmarked(text: &str, near: &Field) -> Field {
    let mut out = Field::lit("", near.span);
    for (index, part) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            out.push_any(false);
        }
        out.push_lit(part);
    }
    out
}

/// `cat` and pagers: one file, or what comes in.
fn cat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const BAT: Spec = Spec {
        short_values: "lHm",
        long_values: &[
            "language",
            "highlight-line",
            "file-name",
            "style",
            "theme",
            "paging",
            "color",
            "wrap",
            "line-range",
            "tabs",
            "decorations",
            "map-syntax",
            "pager",
        ],
        ..Spec::FLAGS
    };
    let spec = if call.name.starts_with("bat") { BAT } else { Spec::FLAGS };
    let parsed = spec.parse(call.args);
    if only_informs(&parsed) {
        return output(call);
    }
    match parsed.operands.as_slice() {
        [] => call.stdin.clone(),
        [only] if only.is("-") || only.is("/dev/stdin") => call.stdin.clone(),
        [only] if !only.many => machine.stream_of(only),
        several if several.iter().all(|file| !file.many) => {
            several.iter().fold(Stream::Terminal, |so_far, file| {
                let stdin = file.is("-");
                concat(so_far, if stdin { call.stdin.clone() } else { machine.stream_of(file) })
            })
        }
        _ => output(call),
    }
}

/// Programs that unpack a file to their output: its content counts like the file's.
fn unpacked(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    match parsed.operands.as_slice() {
        [] => call.stdin.clone(),
        [only] if !only.many => machine.stream_of(only),
        _ => output(call),
    }
}

/// Programs that print some of their lines: of the network it stays the network's.
fn filter(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let _ = machine;
    match call.stdin {
        Stream::Network(_) => call.stdin.clone(),
        _ => output(call),
    }
}

/// `head`, `tail`, `uniq`: a file's part counts as the file, one line stays one line.
fn first_lines(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "ncsfw",
        long_values: &["lines", "bytes", "sleep-interval", "pid", "skip-fields", "skip-chars"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if call.name == "uniq"
        && let Some(target) = parsed.operands.get(1)
    {
        machine.change(target, aurora_model::Touch::Write, false);
        return Stream::Terminal;
    }
    match parsed.operands.as_slice() {
        [] => match constant(call.stdin) {
            Some((text, _)) if text.trim_end_matches('\n').contains('\n') => output(call),
            _ => call.stdin.clone(),
        },
        [only] if !only.many => machine.stream_of(only),
        _ => output(call),
    }
}

fn prints(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    output(call)
}

/// `base64`, and what it decodes when that is a constant.
fn base64(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "wio",
        long_values: &["wrap", "input", "output"],
        long_flags: &["decode", "ignore-garbage", "help", "version", "break"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    // GNU's `-i` has no value, BSD's names the input: `-di` and `-i FILE` both occur.
    let decodes = parsed.has('d', "decode") || parsed.has('D', "");
    if parsed.operands.first().is_some_and(|file| !file.is("-")) {
        let _ = machine;
        return output(call);
    }
    let Some((text, field)) = constant(call.stdin) else { return through(call) };
    if decodes {
        return match crate::analysis::script::decode_base64(text) {
            Some(bytes) => bytes_stream(bytes, field),
            None => output(call),
        };
    }
    Stream::Text(literal(&format!("{}\n", compute::encode_base64(text.as_bytes())), field.span))
}

/// What is not known stays what it was: decoding the network's bytes makes them no safer.
fn through(call: &Call<'_>) -> Stream {
    match call.stdin {
        Stream::Network(_) => call.stdin.clone(),
        _ => output(call),
    }
}

fn bytes_stream(bytes: Vec<u8>, near: &Field) -> Stream {
    Stream::Text(literal(&String::from_utf8_lossy(&bytes), near.span))
}

/// `openssl base64 -d`, `openssl enc -base64 -d`; its other commands may write `-out`.
fn openssl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_values: &[
            "in", "out", "keyout", "pass", "passin", "passout", "k", "key", "config", "subj",
            "days",
        ],
        style: Style::SingleDash,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    for name in ["out", "keyout"] {
        if let Some(path) = parsed.value('\0', name) {
            machine.change(path, aurora_model::Touch::Write, false);
        }
    }
    let command = call.args.first().and_then(Field::text);
    let base64 = command == Some("base64")
        || (command == Some("enc") && (parsed.has('a', "base64") || parsed.has('\0', "a")));
    if base64 && parsed.has('d', "d") && parsed.value('\0', "in").is_none() {
        let Some((text, field)) = constant(call.stdin) else { return through(call) };
        if let Some(bytes) = crate::analysis::script::decode_base64(text) {
            return bytes_stream(bytes, field);
        }
    }
    output(call)
}

fn xxd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "clos", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let reverts = parsed.has('r', "");
    if let Some(target) = parsed.operands.get(1) {
        machine.change(target, aurora_model::Touch::Write, false);
    }
    let Some((text, field)) = constant(call.stdin).filter(|_| parsed.operands.is_empty()) else {
        return through(call);
    };
    if reverts && (parsed.has('p', "") || call.args.iter().any(|arg| arg.is("-ps"))) {
        return match crate::analysis::script::decode_hex(text) {
            Some(bytes) => bytes_stream(bytes, field),
            None => output(call),
        };
    }
    output(call)
}

fn rev(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some((text, field)) = constant(call.stdin).filter(|_| call.args.is_empty()) else {
        return through(call);
    };
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        out.extend(body.chars().rev());
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    Stream::Text(literal(&out, field.span))
}

fn tr(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_flags: &["complement", "delete", "squeeze-repeats", "truncate-set1"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let Some((text, field)) = constant(call.stdin) else { return through(call) };
    let sets: Option<Vec<&str>> = parsed.operands.iter().map(|set| set.text()).collect();
    let complicated =
        parsed.has('c', "complement") || parsed.has('C', "") || parsed.has('s', "squeeze-repeats");
    let (Some(sets), false) = (sets, complicated) else { return output(call) };
    let made = match (sets.as_slice(), parsed.has('d', "delete")) {
        ([set], true) => compute::delete_chars(text, set),
        ([from, to], false) => compute::translate(text, from, to),
        _ => None,
    };
    made.map_or_else(|| output(call), |made| Stream::Text(literal(&made, field.span)))
}

fn basename(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "s", long_values: &["suffix"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    let suffix = parsed.value('s', "suffix").or_else(|| parsed.operands.get(1).copied());
    let Some(path) = parsed.operands.first().filter(|path| !path.many) else { return output(call) };
    match (last_component(path), suffix.map(Field::text)) {
        (Some(name), None) => Stream::Text(name),
        (Some(name), Some(Some(suffix))) => match name.text() {
            Some(text) => {
                let text = text.strip_suffix(suffix).unwrap_or(text);
                Stream::Text(literal(text, path.span))
            }
            None => output(call),
        },
        _ => output(call),
    }
}

fn dirname(_: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    match parsed.operands.as_slice() {
        [path] => match path.text() {
            Some(text) => {
                let trimmed = text.trim_end_matches('/');
                let folder = match trimmed.rsplit_once('/') {
                    Some(("", _)) => "/",
                    Some((folder, _)) => folder,
                    None if trimmed.is_empty() && !text.is_empty() => "/",
                    None => ".",
                };
                Stream::Text(literal(folder, path.span))
            }
            None => output(call),
        },
        _ => output(call),
    }
}

fn pwd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let here = machine.resolve(&literal(".", call.span));
    match here.resolved {
        Some(path) if path.starts_with('/') => Stream::Text(literal(&path, call.span)),
        Some(path) => match &machine.context().root {
            Some(root) if path.is_empty() || path == "." => Stream::Text(literal(root, call.span)),
            Some(root) => Stream::Text(literal(&format!("{root}/{path}"), call.span)),
            None => output(call),
        },
        None => output(call),
    }
}
