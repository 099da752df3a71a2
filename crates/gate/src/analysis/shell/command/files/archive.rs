//! Programs that pack, unpack and patch files.

use aurora_model::Touch;

use super::super::options::{Parsed, Spec, Style};
use super::super::place::{below, only_informs, with_suffix};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

const TAR: Spec = Spec {
    short_values: "bCfFgHIKLNTVX",
    long_values: &[
        "add-file",
        "after-date",
        "blocking-factor",
        "checkpoint-action",
        "directory",
        "exclude",
        "exclude-from",
        "exclude-ignore",
        "exclude-ignore-recursive",
        "exclude-tag",
        "exclude-tag-all",
        "exclude-tag-under",
        "file",
        "files-from",
        "format",
        "group",
        "group-map",
        "index-file",
        "info-script",
        "label",
        "level",
        "listed-incremental",
        "mode",
        "mtime",
        "new-volume-script",
        "newer",
        "newer-mtime",
        "no-quote-chars",
        "owner",
        "owner-map",
        "pax-option",
        "quote-chars",
        "quoting-style",
        "record-size",
        "rmt-command",
        "rsh-command",
        "sort",
        "starting-file",
        "strip-components",
        "suffix",
        "tape-length",
        "to-command",
        "transform",
        "use-compress-program",
        "volno-file",
        "warning",
        "xattrs-exclude",
        "xattrs-include",
        "xform",
    ],
    long_flags: &[
        "append",
        "auto-compress",
        "bzip2",
        "catenate",
        "compare",
        "concatenate",
        "create",
        "delete",
        "diff",
        "extract",
        "get",
        "gunzip",
        "gzip",
        "help",
        "keep-old-files",
        "list",
        "overwrite",
        "remove-files",
        "test-label",
        "to-stdout",
        "ungzip",
        "update",
        "verbose",
        "verify",
        "version",
        "xz",
        "zstd",
    ],
    long_optional: &["atime-preserve", "backup", "checkpoint", "one-top-level", "totals"],
    ..Spec::FLAGS
};

/// Gives the first argument its dash back (`tar xzf a.tgz`), and its letters' values in order.
fn dashed(args: &[Field]) -> Option<Vec<Field>> {
    let (first, rest) = args.split_first()?;
    let bundle = first.text().filter(|text| !text.starts_with('-'))?;
    let mut out = Vec::new();
    let mut values = rest.iter();
    for letter in bundle.chars() {
        out.push(Field::lit(format!("-{letter}"), first.span));
        if TAR.short_values.contains(letter) {
            out.extend(values.next().cloned());
        }
    }
    out.extend(values.cloned());
    Some(out)
}

/// `tar`.
pub fn tar(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let rewritten = dashed(call.args);
    let parsed = TAR.parse(rewritten.as_deref().unwrap_or(call.args));
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    tar_code(machine, &parsed);
    let file = parsed.value('f', "file");
    let folder = parsed.value('C', "directory");
    if parsed.has('x', "extract") || parsed.has('\0', "get") {
        if parsed.has('O', "to-stdout") {
            return file.map_or(call.stdin.clone(), |file| Stream::File(machine.resolve(file)));
        }
        if let Some(folder) = folder {
            machine.change(folder, Touch::Create, false);
        }
        members(machine, folder, &parsed.operands);
        return Stream::Terminal;
    }
    let writes = [('c', "create"), ('r', "append"), ('u', "update"), ('A', "concatenate")]
        .iter()
        .any(|(short, long)| parsed.has(*short, long))
        || parsed.has('\0', "delete");
    if writes && let Some(file) = file.filter(|file| !file.is("-")) {
        machine.change(file, Touch::Write, false);
    }
    if writes && parsed.has('\0', "remove-files") && !parsed.operands.is_empty() {
        machine.delete(&parsed.operands, true, call.span);
    }
    Stream::Output("tar".to_owned())
}

/// Options of tar that run a program.
fn tar_code(machine: &mut Machine<'_>, parsed: &Parsed<'_>) {
    let actions = parsed.values('\0', "checkpoint-action");
    for code in actions.iter().filter_map(|action| action.strip_prefix("exec=")) {
        machine.run_code(Lang::Shell, &code);
    }
    let programs = [
        ('I', "use-compress-program"),
        ('\0', "to-command"),
        ('F', "info-script"),
        ('\0', "new-volume-script"),
        ('\0', "rsh-command"),
    ];
    for (short, long) in programs {
        for code in parsed.values(short, long) {
            machine.run_code(Lang::Shell, code);
        }
    }
}

/// Members that are named come out at their own places.
fn members(machine: &mut Machine<'_>, folder: Option<&Field>, names: &[&Field]) {
    for name in names {
        match folder {
            Some(folder) => machine.change(&below(folder, name), Touch::Write, false),
            None => machine.change(name, Touch::Write, false),
        }
    }
}

/// `unzip`.
pub fn unzip(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "dPOI", ..Spec::FLAGS };
    // What stands behind `-x` is left out, but `-d` may still follow.
    let excluded = call.args.iter().position(|arg| arg.is("-x")).unwrap_or(call.args.len());
    let all = SPEC.parse(call.args);
    let parsed = SPEC.parse(call.args.get(..excluded).unwrap_or_default());
    let reads = ['l', 't', 'z', 'v', 'Z', 'p', 'c'];
    if reads.iter().any(|letter| parsed.has(*letter, "")) || only_informs(&parsed) {
        let archive =
            parsed.operands.first().filter(|_| parsed.has('p', "") || parsed.has('c', ""));
        return archive.map_or(Stream::Terminal, |file| Stream::File(machine.resolve(file)));
    }
    let folder = all.value('d', "");
    if let Some(folder) = folder {
        machine.change(folder, Touch::Create, false);
    }
    members(machine, folder, parsed.operands.get(1..).unwrap_or_default());
    Stream::Terminal
}

/// `zip`: `-m` deletes what it packs.
pub fn zip(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "bnPOsZt",
        long_values: &["out", "password", "temp-path", "suffixes", "split-size", "from-date"],
        long_flags: &["move", "recurse-paths", "help", "version", "show-files", "quiet", "test"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('h', "") {
        return Stream::Terminal;
    }
    let Some((archive, sources)) = parsed.operands.split_first() else { return Stream::Terminal };
    if archive.is("-") {
        return Stream::Output("zip".to_owned());
    }
    machine.change(archive, Touch::Write, false);
    if parsed.has('m', "move") && !sources.is_empty() {
        let recursive = parsed.has('r', "recurse-paths") || parsed.has('R', "");
        machine.delete(sources, recursive, call.span);
    }
    Stream::Terminal
}

/// `7z` and its relatives: a command letter, then switches and names.
pub fn seven_zip(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some((command, args)) = call.args.split_first() else { return Stream::Terminal };
    let switch = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(name));
    let names: Vec<&Field> = args.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
    match command.text() {
        Some("a" | "u" | "d" | "rn") => {
            if let Some((archive, sources)) = names.split_first() {
                machine.change(archive, Touch::Write, false);
                if switch("-sdel").is_some() && !sources.is_empty() {
                    machine.delete(sources, true, call.span);
                }
            }
        }
        Some("x" | "e") => {
            let folder = switch("-o");
            if let Some(folder) = &folder {
                machine.change(folder, Touch::Create, false);
            }
            members(machine, folder.as_ref(), names.get(1..).unwrap_or_default());
        }
        _ => {}
    }
    Stream::Terminal
}

/// A program that replaces a file by its packed form.
struct Packer {
    name: &'static str,
    suffix: &'static str,
    unpacks: bool,
    /// It keeps the file unless told otherwise.
    keeps: bool,
}

const fn packer(name: &'static str, suffix: &'static str, unpacks: bool, keeps: bool) -> Packer {
    Packer { name, suffix, unpacks, keeps }
}

const PACKERS: &[Packer] = &[
    packer("bunzip2", ".bz2", true, false),
    packer("bzip2", ".bz2", false, false),
    packer("compress", ".Z", false, false),
    packer("gunzip", ".gz", true, false),
    packer("gzip", ".gz", false, false),
    packer("lz4", ".lz4", false, true),
    packer("lzip", ".lz", false, false),
    packer("lzma", ".lzma", false, false),
    packer("pbzip2", ".bz2", false, false),
    packer("pigz", ".gz", false, false),
    packer("uncompress", ".Z", true, false),
    packer("unlzma", ".lzma", true, false),
    packer("unxz", ".xz", true, false),
    packer("unzstd", ".zst", true, true),
    packer("xz", ".xz", false, false),
    packer("zstd", ".zst", false, true),
];

const PACK: Spec = Spec {
    short_values: "SbpMDoT",
    long_values: &["suffix", "format", "check", "threads", "output-dir-flat", "memlimit"],
    long_flags: &[
        "stdout",
        "to-stdout",
        "decompress",
        "uncompress",
        "keep",
        "test",
        "list",
        "recursive",
        "force",
        "rm",
        "help",
        "version",
        "quiet",
        "verbose",
        "fast",
        "best",
        "ultra",
    ],
    ..Spec::FLAGS
};

/// `gzip`, `xz`, `zstd` and their relatives.
pub fn compress(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some(packer) = PACKERS.iter().find(|packer| packer.name == call.name) else {
        return Stream::Terminal;
    };
    let parsed = PACK.parse(call.args);
    if only_informs(&parsed) || parsed.has('t', "test") || parsed.has('l', "list") {
        return Stream::Terminal;
    }
    let unpacks = packer.unpacks || parsed.has('d', "decompress") || parsed.has('\0', "uncompress");
    let to_stdout = parsed.has('c', "stdout") || parsed.has('\0', "to-stdout");
    if to_stdout || parsed.operands.is_empty() {
        return match parsed.operands.first() {
            Some(file) if unpacks => Stream::File(machine.resolve(file)),
            None if unpacks && matches!(call.stdin, Stream::File(_)) => call.stdin.clone(),
            _ => Stream::Output(call.name.to_owned()),
        };
    }
    let keeps = (packer.keeps && !parsed.has('\0', "rm")) || parsed.has('k', "keep");
    let recursive = parsed.has('r', "recursive");
    for file in &parsed.operands {
        if !keeps {
            machine.change(file, Touch::Rename, recursive);
        }
        if !unpacks {
            machine.change(&with_suffix(file, packer.suffix), Touch::Write, false);
        } else if let Some(name) = file.text().and_then(|name| name.strip_suffix(packer.suffix)) {
            machine.change(&Field::lit(name, file.span), Touch::Write, false);
        }
    }
    if let Some(target) = parsed.value('o', "") {
        machine.change(target, Touch::Write, false);
    }
    Stream::Terminal
}

/// `patch`: the file that is named, or those that a known patch names.
pub fn patch(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "BDFdgioprVxYz",
        long_values: &[
            "prefix",
            "ifdef",
            "fuzz",
            "directory",
            "get",
            "input",
            "output",
            "strip",
            "reject-file",
            "version-control",
            "debug",
            "basename-prefix",
            "suffix",
            "quoting-style",
            "read-only",
        ],
        long_flags: &[
            "dry-run", "reverse", "forward", "backup", "help", "version", "batch", "force",
        ],
        style: Style::Permute,
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('\0', "dry-run") || parsed.has('C', "") {
        return Stream::Terminal;
    }
    if let Some(output) = parsed.value('o', "output") {
        machine.change(output, Touch::Write, false);
    } else if let Some(file) = parsed.operands.first() {
        machine.change(file, Touch::Write, false);
    } else if let Stream::Text(text) = call.stdin {
        let strip = parsed.value('p', "strip").and_then(|value| value.text()?.parse().ok());
        for name in patched_files(&text.display(), strip) {
            let name = Field::lit(name, text.span);
            match parsed.value('d', "directory") {
                Some(folder) => machine.change(&below(folder, &name), Touch::Write, false),
                None => machine.change(&name, Touch::Write, false),
            }
        }
    } else if let Some(folder) = parsed.value('d', "directory") {
        machine.change(folder, Touch::Write, false);
    }
    Stream::Terminal
}

/// The names on the header lines of a patch, without their first components.
fn patched_files(patch: &str, strip: Option<usize>) -> Vec<String> {
    let mut out = Vec::new();
    for line in patch.lines() {
        let name = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "));
        let Some(name) = name.and_then(|name| name.split('\t').next()) else { continue };
        let name = name.trim();
        if name == "/dev/null" || name.is_empty() {
            continue;
        }
        let parts: Vec<&str> = name.split('/').collect();
        let skip = strip.unwrap_or(parts.len() - 1).min(parts.len() - 1);
        let name = parts.get(skip..).unwrap_or_default().join("/");
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_name_the_patched_files() {
        let patch = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n--- /dev/null\n+++ b/.env\tnow\n";
        assert_eq!(patched_files(patch, Some(1)), ["src/x.rs", ".env"]);
        assert_eq!(patched_files(patch, None), ["x.rs", ".env"]);
    }

    #[test]
    fn old_bundles_get_their_dashes_and_values() {
        let fields: Vec<Field> = ["xzfC", "a.tgz", "dir", "m"]
            .iter()
            .map(|text| Field::lit(*text, aurora_model::Span::default()))
            .collect();
        let out: Vec<String> =
            dashed(&fields).unwrap_or_default().iter().map(Field::display).collect();
        assert_eq!(out, ["-x", "-z", "-f", "a.tgz", "-C", "dir", "m"]);
    }
}
