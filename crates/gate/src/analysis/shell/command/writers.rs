//! Programs that only write a file that their arguments name: one row of data each.

use aurora_model::Touch;

use super::Model;
use super::options::{Spec, Style};
use super::place::only_informs;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Which arguments of a program are written.
#[derive(Debug, Clone, Copy)]
enum Written {
    /// The values of these options.
    Values(&'static [(char, &'static str)]),
    /// All operands from this one on.
    Operands(usize),
    /// All operands from this one on, if one of these options is given.
    OperandsIf(usize, &'static [(char, &'static str)]),
    /// All operands, unless one of these options is given.
    OperandsUnless(&'static [(char, &'static str)]),
    /// The last of several operands.
    Last,
    /// The last operand, even when it is the only one.
    LastOrOnly,
    /// The first operand, if one of these options is given.
    FirstIf(&'static [(char, &'static str)]),
}

/// One program.
struct Writer {
    names: &'static [&'static str],
    spec: Spec,
    written: Written,
}

const fn opts(short: &'static str, long: &'static [&'static str]) -> Spec {
    Spec { short_values: short, long_values: long, ..Spec::FLAGS }
}

const fn dashed(long: &'static [&'static str]) -> Spec {
    Spec { long_values: long, style: Style::SingleDash, ..Spec::FLAGS }
}

const fn writer(names: &'static [&'static str], spec: Spec, written: Written) -> Writer {
    Writer { names, spec, written }
}

use Written::{FirstIf, Last, LastOrOnly, Operands, OperandsIf, OperandsUnless, Values};

const CHECKS: &[(char, &str)] =
    &[('\0', "check"), ('\0', "diff"), ('c', "check-only"), ('\0', "dry-run")];
const OUTPUT: &[(char, &str)] = &[('o', "output")];

static WRITERS: &[Writer] = &[
    writer(
        &["crudini"],
        opts("", &["existing", "output", "format"]),
        FirstIf(&[('\0', "set"), ('\0', "del"), ('\0', "merge")]),
    ),
    writer(
        &["xmlstarlet", "xml"],
        opts("uvidsatnrmxN", &["update", "value", "insert", "delete", "subnode", "append"]),
        OperandsIf(1, &[('L', "inplace")]),
    ),
    writer(
        &["strip", "llvm-strip"],
        opts("oFIORKN", &["remove-section", "keep-symbol", "strip-symbol", "target"]),
        OperandsUnless(&[('o', "")]),
    ),
    writer(
        &["objcopy", "llvm-objcopy"],
        opts("FIOBjRKNGLW", &["add-section", "only-section", "remove-section", "target"]),
        LastOrOnly,
    ),
    writer(
        &["csplit"],
        opts("bfn", &["suffix-format", "prefix", "digits"]),
        Values(&[('f', "prefix")]),
    ),
    writer(
        &["sort", "gsort"],
        opts(
            "kStTo",
            &[
                "key",
                "buffer-size",
                "field-separator",
                "temporary-directory",
                "output",
                "batch-size",
                "compress-program",
                "files0-from",
                "parallel",
                "random-source",
                "sort",
            ],
        ),
        Values(OUTPUT),
    ),
    writer(
        &["shuf"],
        opts("ino", &["input-range", "head-count", "output", "random-source"]),
        Values(OUTPUT),
    ),
    writer(&["iconv"], opts("fto", &["from-code", "to-code", "output"]), Values(OUTPUT)),
    writer(
        &["tree"],
        opts("LPIoHTR", &["output", "filelimit", "charset", "sort", "timefmt"]),
        Values(&[('o', "output")]),
    ),
    writer(
        &["pandoc"],
        opts("ftroFTVHBAMLc", &["from", "to", "output", "template", "css", "metadata"]),
        Values(OUTPUT),
    ),
    writer(&["dot", "neato"], opts("To", &[]), Values(&[('o', "")])),
    writer(
        &["xmllint"],
        opts("", &["output", "schema", "xpath", "encode", "format-indent"]),
        Values(&[('o', "output")]),
    ),
    writer(&["xsltproc"], opts("o", &["output", "param", "stringparam"]), Values(OUTPUT)),
    writer(
        &["gpg", "gpg2"],
        opts(
            "oruN",
            &[
                "output",
                "recipient",
                "local-user",
                "homedir",
                "keyserver",
                "passphrase",
                "passphrase-fd",
                "passphrase-file",
                "pinentry-mode",
                "status-fd",
                "default-key",
            ],
        ),
        Values(OUTPUT),
    ),
    writer(
        &["age", "rage"],
        opts("orRiP", &["output", "recipient", "recipients-file", "identity"]),
        Values(OUTPUT),
    ),
    writer(
        &["pg_dump", "pg_dumpall"],
        opts(
            "fdhpUnNtTFjZlESw",
            &[
                "file",
                "dbname",
                "host",
                "port",
                "username",
                "schema",
                "table",
                "format",
                "jobs",
                "compress",
                "exclude-table",
                "exclude-schema",
                "exclude-table-data",
                "encoding",
                "superuser",
                "role",
                "section",
                "lock-wait-timeout",
                "database",
                "globals",
            ],
        ),
        Values(&[('f', "file")]),
    ),
    writer(
        &["mysqldump", "mariadb-dump", "mysqlpump"],
        Spec {
            short_optional: "p",
            ..opts("rhuPST", &["result-file", "host", "user", "port", "tab", "where", "socket"])
        },
        Values(&[('r', "result-file")]),
    ),
    writer(
        &["mongodump", "mongoexport"],
        opts(
            "odchup",
            &["out", "db", "collection", "uri", "host", "username", "password", "query", "archive"],
        ),
        Values(&[('o', "out"), ('\0', "archive")]),
    ),
    writer(
        &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "rustc", "tcc", "nasm",
            "gfortran",
        ],
        opts(
            "oILDlxTeubmC",
            &["output", "edition", "crate-type", "target", "emit", "cfg", "extern"],
        ),
        Values(&[('o', "output")]),
    ),
    writer(&["sponge"], opts("", &[]), Operands(0)),
    writer(&["mogrify"], opts("", &[]), Operands(0)),
    writer(
        &["dos2unix", "unix2dos", "mac2unix"],
        opts("", &["info", "convmode"]),
        OperandsUnless(&[('i', "info")]),
    ),
    writer(&["fromdos", "todos"], opts("", &[]), Operands(0)),
    writer(
        &["convert", "magick"],
        dashed(&[
            "resize",
            "quality",
            "density",
            "crop",
            "geometry",
            "rotate",
            "background",
            "gravity",
            "fill",
            "font",
            "pointsize",
            "draw",
            "annotate",
            "colorspace",
            "depth",
            "size",
            "border",
            "bordercolor",
            "blur",
            "sharpen",
            "extent",
            "type",
            "threshold",
            "alpha",
            "compose",
            "format",
            "define",
            "delay",
            "loop",
        ]),
        Last,
    ),
    writer(
        &["ffmpeg"],
        dashed(&[
            "i",
            "c",
            "vf",
            "af",
            "ss",
            "t",
            "to",
            "r",
            "b",
            "f",
            "an",
            "preset",
            "crf",
            "map",
            "codec",
            "acodec",
            "vcodec",
            "filter_complex",
            "loglevel",
            "vframes",
            "s",
            "q",
            "qscale",
        ]),
        Last,
    ),
    writer(
        &["sd"],
        opts("nf", &["max-replacements", "flags"]),
        OperandsUnless(&[('p', "preview")]),
    ),
    writer(
        &["yq"],
        opts("oIp", &["output-format", "indent", "input-format", "from-file", "arg", "argjson"]),
        OperandsIf(1, &[('i', "inplace"), ('\0', "in-place")]),
    ),
    writer(
        &["prettier"],
        opts(
            "",
            &[
                "config",
                "ignore-path",
                "parser",
                "plugin",
                "log-level",
                "loglevel",
                "tab-width",
                "print-width",
                "end-of-line",
                "stdin-filepath",
            ],
        ),
        OperandsIf(0, &[('w', "write")]),
    ),
    writer(
        &["eslint", "stylelint", "standard", "xo", "markdownlint", "oxlint", "tslint"],
        opts(
            "cf",
            &[
                "config",
                "format",
                "ext",
                "rule",
                "parser",
                "plugin",
                "ignore-path",
                "max-warnings",
                "output-file",
                "rulesdir",
                "env",
                "global",
                "fix-type",
                "cache-location",
            ],
        ),
        OperandsIf(0, &[('\0', "fix")]),
    ),
    writer(
        &["biome"],
        opts("", &["config-path"]),
        OperandsIf(1, &[('\0', "write"), ('\0', "apply"), ('\0', "fix")]),
    ),
    writer(
        &["black", "isort", "docformatter", "pyupgrade", "usort"],
        opts(
            "ltlrsW",
            &[
                "line-length",
                "target-version",
                "include",
                "exclude",
                "extend-exclude",
                "config",
                "workers",
                "profile",
                "src",
                "stdin-filename",
                "settings-path",
            ],
        ),
        OperandsUnless(CHECKS),
    ),
    writer(
        &["autopep8", "yapf", "autoflake"],
        opts(
            "elj",
            &["style", "max-line-length", "ignore", "select", "exclude", "jobs", "aggressive"],
        ),
        OperandsIf(0, &[('i', "in-place")]),
    ),
    writer(
        &["ruff"],
        opts(
            "",
            &[
                "select",
                "ignore",
                "config",
                "line-length",
                "target-version",
                "exclude",
                "output-format",
                "extend-select",
            ],
        ),
        OperandsIf(1, &[('\0', "fix")]),
    ),
    writer(
        &["gofmt", "goimports", "gofumpt"],
        Spec { style: Style::SingleDash, ..opts("rc", &["r", "local", "cpuprofile"]) },
        OperandsIf(0, &[('w', "w")]),
    ),
    writer(
        &["shfmt"],
        opts("ilnf", &["indent", "language-dialect", "filename"]),
        OperandsIf(0, &[('w', "write")]),
    ),
    writer(
        &["rustfmt"],
        opts("", &["config", "config-path", "edition", "emit", "color", "style-edition"]),
        OperandsUnless(CHECKS),
    ),
    writer(
        &["clang-format"],
        Spec {
            style: Style::SingleDash,
            ..opts("", &["style", "assume-filename", "fallback-style", "lines", "offset", "length"])
        },
        OperandsIf(0, &[('i', "i")]),
    ),
    writer(
        &["google-java-format", "ktlint", "ktfmt"],
        opts("F", &["reporter", "editorconfig", "lines"]),
        OperandsIf(0, &[('i', "replace"), ('F', "format")]),
    ),
    writer(
        &["stylua", "nixfmt", "alejandra", "swiftformat", "zprint", "dartfmt"],
        opts("f", &["config-path", "search-parent-directories", "stdin-filepath"]),
        OperandsUnless(CHECKS),
    ),
    writer(
        &["rubocop", "standardrb"],
        opts("cfor", &["config", "format", "out", "only", "except", "require"]),
        OperandsIf(
            0,
            &[
                ('a', "autocorrect"),
                ('A', "autocorrect-all"),
                ('\0', "auto-correct"),
                ('x', "fix-layout"),
            ],
        ),
    ),
    writer(&["tidy"], opts("fo", &["output-file", "config"]), OperandsIf(0, &[('m', "modify")])),
    writer(&["exiftool"], dashed(&["o", "d"]), OperandsIf(0, &[('\0', "overwrite_original")])),
    writer(&["htpasswd"], opts("C", &[]), Operands(0)),
    writer(
        &["pg_basebackup"],
        opts("DhpUFXcR", &["pgdata", "host", "port", "username"]),
        Values(&[('D', "pgdata")]),
    ),
    writer(
        &["split"],
        opts(
            "abClnt",
            &[
                "suffix-length",
                "bytes",
                "line-bytes",
                "lines",
                "number",
                "separator",
                "additional-suffix",
                "filter",
            ],
        ),
        Operands(1),
    ),
];

/// The model of a writer of that name.
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    if name == "ssh-keygen" {
        return Some(ssh_keygen);
    }
    WRITERS.iter().any(|writer| writer.names.contains(&name)).then_some(write as Model)
}

fn write(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some(writer) = WRITERS.iter().find(|writer| writer.names.contains(&call.name)) else {
        return Stream::Terminal;
    };
    let parsed = writer.spec.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let given =
        |options: &[(char, &str)]| options.iter().any(|(short, long)| parsed.has(*short, long));
    let operands: &[&Field] = &parsed.operands;
    let mut prints = false;
    let mut targets: Vec<&Field> = Vec::new();
    match writer.written {
        Values(options) => {
            for (short, long) in options {
                targets.extend(parsed.values(*short, long));
            }
            prints = targets.is_empty();
        }
        Operands(from) => targets.extend(operands.iter().skip(from)),
        OperandsIf(from, options) if given(options) => targets.extend(operands.iter().skip(from)),
        OperandsUnless(options) if !given(options) => {
            let from = if call.name == "sd" { 2 } else { 0 };
            targets.extend(operands.iter().skip(from));
        }
        OperandsIf(..) | OperandsUnless(_) => prints = true,
        Last if operands.len() > 1 || call.name == "ffmpeg" => targets.extend(operands.last()),
        Last => {}
        LastOrOnly => targets.extend(operands.last()),
        FirstIf(options) if given(options) => targets.extend(operands.first()),
        FirstIf(_) => prints = true,
    }
    if call.name.ends_with("strip") {
        targets.extend(parsed.values('o', ""));
    }
    for target in targets.into_iter().filter(|target| !target.is("-")) {
        machine.change(target, Touch::Write, false);
    }
    if prints {
        return match call.stdin {
            Stream::Network(_) => call.stdin.clone(),
            _ => Stream::Output(call.name.to_owned()),
        };
    }
    Stream::Terminal
}

/// `ssh-keygen -f FILE` writes a key pair, unless it only reads one.
fn ssh_keygen(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = opts("abCDEfFGIJjKMmNnOPRrSsTtVWwYzZ", &[]);
    const READS: [char; 8] = ['l', 'y', 'B', 'F', 'e', 'i', 'L', 'Q'];
    let parsed = SPEC.parse(call.args);
    if READS.iter().any(|letter| parsed.has(*letter, "")) {
        return Stream::Output(call.name.to_owned());
    }
    if let Some(file) = parsed.value('f', "") {
        machine.change(file, Touch::Write, false);
        machine.change(&super::place::with_suffix(file, ".pub"), Touch::Write, false);
    }
    Stream::Terminal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_writer_is_found_once() {
        let mut names: Vec<&str> =
            WRITERS.iter().flat_map(|writer| writer.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(model_of("sort").is_some());
        assert!(model_of("frobnicate").is_none());
    }
}
