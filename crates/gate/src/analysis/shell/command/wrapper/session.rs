//! Wrappers that hand code to another session: tmux, screen, at, cron.

use super::read::Front;
use super::row::{Wrapper, opts, special};
use crate::analysis::shell::command::options::{Spec, Style};
use crate::analysis::shell::command::step::{Step, joined};
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Stream};

/// The rows of this file.
pub static ROWS: &[Wrapper] = &[
    special(&["tmux", "byobu", "psmux"], tmux),
    special(&["screen"], screen),
    special(&["at", "batch"], at),
    special(&["crontab"], crontab),
];

/// tmux takes several commands, apart by `;`.
fn tmux(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&opts("cfLST", &[]), call.args, 0, false);
    let mut steps: Vec<Step> = front.values(&[('c', "")]).into_iter().map(Step::Code).collect();
    for command in front.rest.split(|field| field.is(";") || field.is("\\;")) {
        if let Some((name, args)) = command.split_first() {
            steps.extend(tmux_command(name.text().unwrap_or_default(), args));
        }
    }
    vec![Step::Unread(steps)]
}

fn tmux_command(name: &str, args: &[Field]) -> Vec<Step> {
    match name {
        "new-session" | "new" => shell_command(args, opts("sncxyteFf", &[])),
        "new-window" | "neww" => shell_command(args, opts("nctFe", &[])),
        "split-window" | "splitw" => shell_command(args, opts("ceIlptF", &[])),
        "respawn-pane" | "respawnp" | "respawn-window" | "respawnw" => {
            shell_command(args, opts("cet", &[]))
        }
        "display-popup" | "popup" => shell_command(args, opts("bcdehwxytsST", &[])),
        "run-shell" | "run" => shell_command(args, opts("dtc", &[])),
        "pipe-pane" | "pipep" => shell_command(args, opts("t", &[])),
        "if-shell" | "if" => {
            let front = Front::read(&opts("t", &[]), args, 0, false);
            front.rest.first().cloned().map(Step::Code).into_iter().collect()
        }
        "send-keys" | "send" => {
            let front = Front::read(&opts("tNc", &[]), args, 0, false);
            if front.rest.is_empty() { Vec::new() } else { vec![Step::Code(typed(front.rest))] }
        }
        _ => Vec::new(),
    }
}

/// One argument is shell code, several are a program and its arguments.
fn shell_command(args: &[Field], spec: Spec) -> Vec<Step> {
    match Front::read(&spec, args, 0, false).rest {
        [] => Vec::new(),
        [code] => vec![Step::Code(code.clone())],
        argv => vec![Step::Run(vec![], argv.to_vec())],
    }
}

/// What keys type: names of keys are keys, all else is text.
fn typed(keys: &[Field]) -> Field {
    let mut out = Field::lit("", keys.first().map(|key| key.span).unwrap_or_default());
    for key in keys {
        match key.text() {
            Some("Enter" | "KPEnter" | "C-m" | "C-j" | "^M") => out.push_lit("\n"),
            Some("Space") => out.push_lit(" "),
            Some("Tab" | "Escape" | "BSpace" | "Up" | "Down" | "Left" | "Right") => {}
            Some(text) if text.starts_with("C-") || text.starts_with("M-") => out.push_lit("\n"),
            _ => out.push_field(key),
        }
        out.span = out.span.to(key.span);
    }
    out.many = false;
    out
}

fn screen(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&opts("cehpSstT", &[]), call.args, 0, false);
    if !front.has('X', "") {
        return match front.rest {
            argv @ [_, ..] if !front.has('r', "") && !front.has('x', "") => {
                vec![Step::Run(vec![], argv.to_vec())]
            }
            _ => Vec::new(),
        };
    }
    match front.rest.split_first() {
        Some((name, text)) if name.is("stuff") && !text.is_empty() => {
            vec![Step::Code(unescaped(&joined(text)))]
        }
        Some((name, argv)) if (name.is("screen") || name.is("exec")) && !argv.is_empty() => {
            vec![Step::Run(vec![], argv.to_vec())]
        }
        _ => Vec::new(),
    }
}

/// Text for `stuff`, in which `\n`, `\r` and `^M` are line ends.
fn unescaped(text: &Field) -> Field {
    let mut out = Field::lit("", text.span);
    for seg in text.segs() {
        match seg {
            Seg::Lit(lit) => out.push_lit(
                &lit.replace("\\n", "\n")
                    .replace("\\r", "\n")
                    .replace("^M", "\n")
                    .replace("\\015", "\n")
                    .replace('\r', "\n"),
            ),
            Seg::Glob(pattern) => out.push_lit(pattern),
            Seg::Any => out.push_any(false),
        }
    }
    out
}

/// `at TIME` and `batch` run standard input, or a file, later.
fn at(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec { style: Style::Permute, ..opts("fqtdcr", &[]) };
    let parsed = spec.parse(call.args);
    if ["d", "c", "r", "l", "V"]
        .iter()
        .any(|flag| parsed.has(flag.chars().next().unwrap_or('\0'), ""))
    {
        return Vec::new();
    }
    match parsed.value('f', "") {
        Some(file) => vec![Step::FileCode(file.clone())],
        None if *call.stdin != Stream::Terminal => vec![Step::StdinCode],
        None => Vec::new(),
    }
}

/// `crontab -` and `crontab FILE` install jobs: the command part of each line is shell code.
fn crontab(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec { style: Style::Permute, ..opts("ucpxTn", &[]) };
    let parsed = spec.parse(call.args);
    if parsed.has('l', "") || parsed.has('r', "") || parsed.has('e', "") {
        return Vec::new();
    }
    if parsed.operands.first().is_some_and(|file| !file.is("-")) {
        return Vec::new();
    }
    let Stream::Text(text) = call.stdin else { return Vec::new() };
    let mut lines = vec![Field::lit("", text.span)];
    for seg in text.segs() {
        match seg {
            Seg::Lit(lit) | Seg::Glob(lit) => {
                for (index, part) in lit.split('\n').enumerate() {
                    if index > 0 {
                        lines.push(Field::lit("", text.span));
                    }
                    if let Some(line) = lines.last_mut() {
                        line.push_lit(part);
                    }
                }
            }
            // What is unknown is taken for whole lines when it starts one.
            Seg::Any => match lines.last_mut() {
                Some(line) if !line.segs().is_empty() => line.push_any(false),
                _ => {}
            },
        }
    }
    lines.iter().filter_map(job).map(|code| Step::Unread(vec![Step::Code(code)])).collect()
}

/// The command part of a crontab line.
fn job(line: &Field) -> Option<Field> {
    let start = line.prefix().trim_start();
    if start.is_empty() || start.starts_with('#') {
        return None;
    }
    let count = if start.starts_with('@') { 1 } else { 5 };
    let mut rest = start;
    for _ in 0..count {
        rest = rest.trim_start().split_once([' ', '\t'])?.1;
    }
    let skipped = line.prefix().strip_suffix(rest)?;
    line.strip_prefix(skipped)
}

/// `entr COMMAND…`, and `entr -s CODE`.
pub fn entr(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&opts("x", &[]), call.args, 0, false);
    match front.rest.first() {
        Some(code) if front.has('s', "") => vec![Step::Code(code.clone())],
        Some(_) => vec![Step::Run(vec![], front.rest.to_vec())],
        None => Vec::new(),
    }
}

/// `pm2 start CODE`, where words apart by spaces are for a shell, and `pm2 start PROGRAM -- ARGS`.
pub fn pm2_start(call: &Call<'_>) -> Vec<Step> {
    let spec = Spec {
        style: Style::Permute,
        ..opts("nioelpc", &["name", "instances", "output", "error", "log", "pid", "cron", "cwd"])
    };
    let parsed = spec.parse(call.args);
    let Some((first, rest)) = parsed.operands.split_first() else { return Vec::new() };
    let Some(text) = first.text() else { return Vec::new() };
    if text.contains(char::is_whitespace) {
        return vec![Step::Code((*first).clone())];
    }
    // A file is run by its own interpreter.
    if text.contains(['.', '/']) || parsed.after_dashdash.is_none() {
        return Vec::new();
    }
    let argv = std::iter::once(*first).chain(rest.iter().copied()).cloned();
    vec![Step::Run(vec![], argv.collect())]
}
