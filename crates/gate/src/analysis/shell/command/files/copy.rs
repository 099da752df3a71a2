//! Programs that put a file elsewhere: cp, mv, install, ln, rsync, scp.

use aurora_model::Touch;

use super::super::options::{Parsed, Spec};
use super::super::place::{below, is_folder, is_remote, last_component, only_informs};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

const CP: Spec = Spec {
    short_values: "St",
    long_values: &["suffix", "target-directory", "no-preserve", "sparse"],
    long_flags: &[
        "archive",
        "attributes-only",
        "copy-contents",
        "debug",
        "dereference",
        "exchange",
        "force",
        "help",
        "interactive",
        "keep-directory-symlink",
        "link",
        "no-clobber",
        "no-copy",
        "no-dereference",
        "no-target-directory",
        "one-file-system",
        "parents",
        "recursive",
        "remove-destination",
        "strip-trailing-slashes",
        "symbolic-link",
        "verbose",
        "version",
    ],
    long_optional: &["backup", "context", "preserve", "reflink", "update"],
    ..Spec::FLAGS
};

const INSTALL: Spec = Spec {
    short_values: "gmoSt",
    long_values: &["group", "mode", "owner", "suffix", "target-directory", "strip-program"],
    long_flags: &[
        "compare",
        "debug",
        "directory",
        "help",
        "no-target-directory",
        "preserve-context",
        "preserve-timestamps",
        "strip",
        "verbose",
        "version",
    ],
    long_optional: &["backup", "context"],
    ..Spec::FLAGS
};

const LN: Spec = Spec {
    short_values: "St",
    long_values: &["suffix", "target-directory"],
    long_flags: &[
        "directory",
        "force",
        "help",
        "interactive",
        "logical",
        "no-dereference",
        "no-target-directory",
        "physical",
        "relative",
        "symbolic",
        "verbose",
        "version",
    ],
    long_optional: &["backup"],
    ..Spec::FLAGS
};

/// Where things go, and what goes there.
struct Destination<'a> {
    sources: Vec<&'a Field>,
    place: Option<Field>,
    /// It is certainly a folder.
    folder: bool,
}

fn destination<'a>(parsed: &Parsed<'a>) -> Destination<'a> {
    if let Some(folder) = parsed.value('t', "target-directory") {
        let sources = parsed.operands.clone();
        return Destination { sources, place: Some(folder.clone()), folder: true };
    }
    match parsed.operands.split_last() {
        Some((last, sources)) if !sources.is_empty() => {
            let several = sources.len() > 1 || sources.iter().any(|source| source.many);
            let exact = parsed.has('T', "no-target-directory");
            let folder = !exact && (several || is_folder(last));
            Destination { sources: sources.to_vec(), place: Some((*last).clone()), folder }
        }
        _ => Destination { sources: parsed.operands.clone(), place: None, folder: false },
    }
}

/// Records what is put at a place; into a folder it keeps its name.
fn put(machine: &mut Machine<'_>, to: &Destination<'_>, touch: Touch) {
    let Some(place) = &to.place else { return };
    if is_remote(place) {
        return;
    }
    machine.change(place, touch, false);
    if to.folder {
        for source in &to.sources {
            if let Some(name) = last_component(source) {
                machine.change(&below(place, &name), touch, false);
            }
        }
    }
}

/// `cp`.
pub fn copy(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = CP.parse(call.args);
    if !only_informs(&parsed) {
        put(machine, &destination(&parsed), Touch::Write);
    }
    Stream::Terminal
}

/// `mv`.
pub fn rename(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = CP.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let to = destination(&parsed);
    if to.place.is_some() {
        for source in &to.sources {
            machine.change(source, Touch::Rename, true);
        }
    }
    put(machine, &to, Touch::Rename);
    Stream::Terminal
}

/// `install`: copies, or makes folders with `-d`.
pub fn install(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = INSTALL.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    if parsed.has('d', "directory") {
        for operand in &parsed.operands {
            machine.change(operand, Touch::Create, false);
        }
    } else {
        put(machine, &destination(&parsed), Touch::Write);
    }
    Stream::Terminal
}

/// `ln`: the link's place and what it leads to.
pub fn link(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = LN.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let to = destination(&parsed);
    for source in &to.sources {
        machine.change(source, Touch::Link, false);
    }
    match &to.place {
        Some(_) => put(machine, &to, Touch::Link),
        None => {
            for source in &to.sources {
                if let Some(name) = last_component(source) {
                    machine.change(&name, Touch::Link, false);
                }
            }
        }
    }
    Stream::Terminal
}

const RSYNC: Spec = Spec {
    short_values: "efBTM@",
    long_values: &[
        "address",
        "backup-dir",
        "block-size",
        "bwlimit",
        "checksum-choice",
        "checksum-seed",
        "chmod",
        "chown",
        "compare-dest",
        "compress-choice",
        "compress-level",
        "config",
        "contimeout",
        "copy-as",
        "copy-dest",
        "debug",
        "dparam",
        "early-input",
        "exclude",
        "exclude-from",
        "files-from",
        "filter",
        "groupmap",
        "iconv",
        "include",
        "include-from",
        "info",
        "link-dest",
        "log-file",
        "log-file-format",
        "max-alloc",
        "max-delete",
        "max-size",
        "min-size",
        "modify-window",
        "only-write-batch",
        "out-format",
        "outbuf",
        "partial-dir",
        "password-file",
        "port",
        "protocol",
        "read-batch",
        "remote-option",
        "rsh",
        "rsync-path",
        "skip-compress",
        "sockopts",
        "stderr",
        "stop-after",
        "stop-at",
        "suffix",
        "temp-dir",
        "timeout",
        "usermap",
        "write-batch",
    ],
    long_flags: &[
        "archive",
        "backup",
        "checksum",
        "compress",
        "del",
        "delete",
        "delete-after",
        "delete-before",
        "delete-delay",
        "delete-during",
        "delete-excluded",
        "delete-missing-args",
        "dry-run",
        "existing",
        "force",
        "help",
        "ignore-existing",
        "ignore-times",
        "inplace",
        "links",
        "list-only",
        "partial",
        "progress",
        "prune-empty-dirs",
        "recursive",
        "relative",
        "remove-source-files",
        "stats",
        "times",
        "update",
        "verbose",
        "version",
        "whole-file",
    ],
    ..Spec::FLAGS
};

/// `rsync`: with a delete option it removes what the source does not have.
pub fn rsync(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = RSYNC.parse(call.args);
    if only_informs(&parsed) || parsed.has('n', "dry-run") || parsed.has('\0', "list-only") {
        return Stream::Terminal;
    }
    let Some((last, sources)) = parsed.operands.split_last() else { return Stream::Terminal };
    if sources.is_empty() {
        return Stream::Terminal;
    }
    let deletes = parsed.opts.iter().any(|opt| {
        matches!(&opt.name, super::super::options::OptName::Long(name)
            if name == "del" || name.starts_with("delete"))
    });
    if deletes {
        machine.delete_unknown(&[last], call.span);
    }
    if parsed.has('\0', "remove-source-files") {
        machine.delete_unknown(sources, call.span);
    }
    let folder = is_folder(last);
    // A slash behind a source means its content: the source's own name is not kept.
    let kept = sources.iter().filter(|source| !source.suffix().ends_with('/')).copied().collect();
    put(
        machine,
        &Destination { sources: kept, place: Some((*last).clone()), folder },
        Touch::Write,
    );
    Stream::Terminal
}

/// `scp`: writes here only when the destination is here.
pub fn scp(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "cDFiJloPSX", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    put(machine, &destination(&parsed), Touch::Write);
    Stream::Terminal
}
