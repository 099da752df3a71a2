//! Wrappers that run a command once for each of many items: xargs, parallel, find, fd.

use super::read::Front;
use super::row::{Wrapper, opts, special};
use crate::analysis::shell::command::find;
use crate::analysis::shell::command::options::Spec;
use crate::analysis::shell::command::step::{Step, joined, quoted, split_words};
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::{Call, Stream};

/// How many known items are tried one by one; more are treated as unknown.
const MAX_ITEMS: usize = 16;

/// The rows of this file.
pub static ROWS: &[Wrapper] = &[
    special(&["xargs", "gxargs"], xargs),
    special(&["parallel", "env_parallel"], parallel),
    special(&["sem"], sem),
    special(&["rush"], rush),
    special(&["find", "gfind", "bfs"], find::find),
    special(&["fd", "fdfind"], find::fd),
];

const XARGS: Spec = Spec {
    short_optional: "eil",
    long_optional: &["replace", "eof", "max-lines"],
    long_flags: &[
        "null",
        "open-tty",
        "interactive",
        "no-run-if-empty",
        "verbose",
        "exit",
        "show-limits",
        "help",
        "version",
    ],
    ..opts(
        "adEILnPsJRS",
        &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
    )
};

#[rustfmt::skip]
const PARALLEL: Spec = Spec {
    short_optional: "il",
    long_optional: &["replace", "max-lines", "eta", "tag", "plus"],
    long_flags: &["dry-run", "dryrun", "pipe", "pipepart", "semaphore", "bar", "progress", "keep-order"],
    ..opts(
        "aCdEIjJLMnNPsSTUW",
        &[
            "jobs", "max-procs", "arg-file", "colsep", "delimiter", "max-args", "max-replace-args",
            "sshlogin", "sshloginfile", "slf", "basefile", "return", "joblog", "results", "tmpdir",
            "timeout", "retries", "delay", "load", "nice", "block", "block-size", "recstart",
            "recend", "workdir", "wd", "env", "profile", "tagstring", "halt", "halt-on-error",
            "memfree", "memsuspend", "limit", "header", "trim", "shellexec", "termseq", "transferfile",
            "max-chars", "rpl", "id", "semaphorename", "semaphoretimeout", "shebang", "compress-program",
            "sql", "sqlmaster", "tmuxpane", "seqreplace", "extensionreplace", "arg-sep", "arg-file-sep",
        ],
    )
};

/// The items that are known, or nothing.
fn known(stream: &Stream) -> Option<&str> {
    match stream {
        Stream::Text(text) => text.text(),
        _ => None,
    }
}

/// An item of which only a pattern is known, or nothing (`find . -name '*.pem' | xargs`).
fn some_item(call: &Call<'_>, many: bool) -> Field {
    match call.stdin {
        Stream::Text(text) if text.has_glob() && !text.has_any() => {
            let mut item = text.clone();
            (item.span, item.verbatim) = (call.span, None);
            item
        }
        _ => Field::unknown(many, call.span),
    }
}

fn once_for_each(steps: Vec<Step>) -> Vec<Step> {
    vec![Step::Repeated(vec![Step::Unread(steps)])]
}

fn xargs(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&XARGS, call.args, 0, false);
    if front.rest.is_empty() {
        return Vec::new();
    }
    let text = if front.has('a', "arg-file") { None } else { known(call.stdin) };
    let lit = |item: &str| Field::lit(item, call.span);
    let marks = front.values(&[('I', ""), ('i', "replace"), ('J', "")]);
    let replaces = !marks.is_empty() || front.has('i', "replace");
    if replaces {
        let mark = marks.last().and_then(|mark| mark.text()).filter(|mark| !mark.is_empty());
        let mark = mark.unwrap_or("{}");
        let lines: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
        if lines.is_empty() || lines.len() > MAX_ITEMS {
            let item = some_item(call, false);
            return once_for_each(vec![Step::Run(vec![], filled(front.rest, mark, &item))]);
        }
        let run =
            |line: &&str| Step::Run(vec![], filled(front.rest, mark, &lit(line.trim_start())));
        return once_for_each(lines.iter().map(run).collect());
    }
    let delimiter = front.values(&[('d', "delimiter")]).pop();
    let items = match (text, delimiter.as_ref().map(|mark| mark.text())) {
        (None, _) | (_, Some(None)) => None,
        (Some(text), _) if front.has('0', "null") => Some(split_at(text, "\0")),
        (Some(text), Some(Some("\\n"))) => Some(split_at(text, "\n")),
        (Some(text), Some(Some(mark))) => Some(split_at(text, mark)),
        (Some(text), None) => Some(split_words(text)),
    };
    let mut argv = front.rest.to_vec();
    let Some(items) = items else {
        // There may be items, and there may be none.
        let alone = Step::Run(vec![], argv.clone());
        argv.push(some_item(call, true));
        return once_for_each(vec![alone, Step::Run(vec![], argv)]);
    };
    argv.extend(items.iter().map(|item| lit(item)));
    once_for_each(vec![Step::Run(vec![], argv)])
}

fn split_at(text: &str, mark: &str) -> Vec<String> {
    let parts = text.trim_end_matches('\n').split(mark);
    parts.filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The arguments with every mark replaced by the item.
pub fn filled(argv: &[Field], mark: &str, item: &Field) -> Vec<Field> {
    argv.iter().map(|field| filled_one(field, mark, item)).collect()
}

fn filled_one(field: &Field, mark: &str, item: &Field) -> Field {
    if field.is(mark) {
        let mut out = item.clone();
        (out.span, out.verbatim) = (field.span, None);
        return out;
    }
    let holds = |seg: &Seg| matches!(seg, Seg::Lit(text) if text.contains(mark));
    if !field.segs().iter().any(holds) {
        return field.clone();
    }
    let mut out = Field::lit("", field.span);
    out.many = field.many;
    for seg in field.segs() {
        match seg {
            Seg::Lit(text) => {
                for (index, part) in text.split(mark).enumerate() {
                    if index > 0 {
                        out.push_field(item);
                    }
                    out.push_lit(part);
                }
            }
            Seg::Glob(pattern) => out.push_glob(pattern),
            Seg::Any => out.push_any(field.many),
        }
    }
    out
}

fn parallel(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&PARALLEL, call.args, 0, false);
    if front.has('\0', "dry-run") || front.has('\0', "dryrun") {
        return Vec::new();
    }
    let is_separator = |field: &&Field| {
        field.text().is_some_and(|text| matches!(text, ":::" | "::::" | ":::+" | "::::+"))
    };
    // With no command, options may be followed by the separator at once.
    let rest = if front.rest.is_empty() {
        let at = call.args.iter().position(|field| is_separator(&field));
        at.and_then(|at| call.args.get(at..)).unwrap_or_default()
    } else {
        front.rest
    };
    let end = rest.iter().position(|field| is_separator(&field)).unwrap_or(rest.len());
    let (template, sources) = rest.split_at_checked(end).unwrap_or_default();
    if front.has('\0', "pipe") || front.has('\0', "pipepart") {
        return vec![Step::Repeated(vec![Step::Code(joined(template))])];
    }
    if front.has('\0', "semaphore") {
        return vec![Step::Code(joined(template))];
    }
    let one_list = sources.first().is_some_and(|first| first.is(":::"))
        && sources.iter().filter(is_separator).count() == 1;
    let items = sources.get(1..).unwrap_or_default();
    if template.is_empty() {
        return match (one_list, sources.is_empty()) {
            (true, _) => once_for_each(items.iter().cloned().map(Step::Code).collect()),
            (false, true) if *call.stdin != Stream::Terminal => {
                vec![Step::Repeated(vec![Step::StdinCode])]
            }
            _ => Vec::new(),
        };
    }
    let code = joined(template);
    let codes: Vec<Field> = if one_list && !items.is_empty() && items.len() <= MAX_ITEMS {
        items.iter().map(|item| instance(&code, item)).collect()
    } else {
        let lines: Vec<&str> = known(call.stdin)
            .filter(|_| sources.is_empty())
            .map(|text| text.lines().collect())
            .unwrap_or_default();
        if lines.is_empty() || lines.len() > MAX_ITEMS {
            vec![instance(&code, &Field::unknown(true, call.span))]
        } else {
            lines.iter().map(|line| instance(&code, &Field::lit(*line, call.span))).collect()
        }
    };
    once_for_each(codes.into_iter().map(Step::Code).collect())
}

/// The template for one item; without a placeholder the item comes last.
fn instance(template: &Field, item: &Field) -> Field {
    let word = match item.text() {
        Some(_) => Field::lit(quoted(item), item.span),
        None => item.clone(),
    };
    let marks = ["{}", "{1}", "{.}", "{/}", "{//}", "{/.}", "{1.}", "{1/}", "{2}", "{3}"];
    let holds = |mark: &&&str| template.display().contains(**mark);
    if marks.iter().find(holds).is_none() {
        return joined([template, &word]);
    }
    marks.iter().fold(template.clone(), |code, mark| {
        let mut code = filled_one(&code, mark, &word);
        code.many = false;
        code
    })
}

/// `sem COMMAND…`: the words are joined and given to a shell.
fn sem(call: &Call<'_>) -> Vec<Step> {
    let front = Front::read(&PARALLEL, call.args, 0, false);
    if front.rest.is_empty() { Vec::new() } else { vec![Step::Code(joined(front.rest))] }
}

/// `rush 'COMMAND {}'`.
fn rush(call: &Call<'_>) -> Vec<Step> {
    let spec = opts(
        "DdijnrTtvc",
        &["infile", "jobs", "nrecords", "retries", "timeout", "delimiter", "assign", "trim"],
    );
    let front = Front::read(&spec, call.args, 0, false);
    if front.rest.is_empty() || front.has('\0', "dry-run") {
        return Vec::new();
    }
    let code = instance(&joined(front.rest), &Field::unknown(true, call.span));
    once_for_each(vec![Step::Code(code)])
}
