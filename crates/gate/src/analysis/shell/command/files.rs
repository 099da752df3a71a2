//! Programs that delete, move, copy, link files or change their permissions.

mod archive;
mod copy;
mod permission;

use aurora_model::Touch;

use super::Model;
use super::disk;
use super::options::{Spec, Style};
use super::place::{is_remote, only_informs};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// The models of this file and its rooms, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("7z", archive::seven_zip),
    ("7za", archive::seven_zip),
    ("7zr", archive::seven_zip),
    ("aur", aurora),
    ("bsdtar", archive::tar),
    ("bunzip2", archive::compress),
    ("bzip2", archive::compress),
    ("chattr", permission::chattr),
    ("chcon", permission::owner),
    ("chflags", permission::owner),
    ("chgrp", permission::owner),
    ("chmod", permission::mode),
    ("chown", permission::owner),
    ("cmake", cmake),
    ("compress", archive::compress),
    ("cp", copy::copy),
    ("dc3dd", dd),
    ("dcfldd", dd),
    ("dd", dd),
    ("del", remove_tree),
    ("del-cli", remove_tree),
    ("gcp", copy::copy),
    ("gio", gio),
    ("grm", rm),
    ("gtar", archive::tar),
    ("gunzip", archive::compress),
    ("gzip", archive::compress),
    ("install", copy::install),
    ("link", copy::link),
    ("ln", copy::link),
    ("lz4", archive::compress),
    ("lzip", archive::compress),
    ("lzma", archive::compress),
    ("mkdir", create),
    ("mkfifo", create),
    ("mknod", create),
    ("mv", copy::rename),
    ("patch", archive::patch),
    ("pbzip2", archive::compress),
    ("pigz", archive::compress),
    ("rclone", rclone),
    ("rename", rename_many),
    ("rimraf", remove_tree),
    ("rm", rm),
    ("rmdir", rmdir),
    ("rmtrash", trash),
    ("rsync", copy::rsync),
    ("safe-rm", rm),
    ("scp", copy::scp),
    ("setfacl", permission::acl),
    ("shred", shred),
    ("srm", rm),
    ("tar", archive::tar),
    ("tee", tee),
    ("touch", create),
    ("trash", trash),
    ("trash-empty", trash_empty),
    ("trash-put", trash),
    ("trash-rm", trash_empty),
    ("truncate", truncate),
    ("uncompress", archive::compress),
    ("unlink", unlink),
    ("unlzma", archive::compress),
    ("unxz", archive::compress),
    ("unzip", archive::unzip),
    ("unzstd", archive::compress),
    ("wipe", rm),
    ("xz", archive::compress),
    ("zip", archive::zip),
    ("zstd", archive::compress),
];

const RM: Spec = Spec {
    long_flags: &[
        "force",
        "recursive",
        "dir",
        "verbose",
        "one-file-system",
        "no-preserve-root",
        "help",
        "version",
    ],
    long_optional: &["interactive", "preserve-root"],
    ..Spec::FLAGS
};

fn rm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = RM.parse(call.args);
    if only_informs(&parsed) || parsed.operands.is_empty() {
        return Stream::Terminal;
    }
    let recursive = parsed.has('r', "recursive") || parsed.has('R', "");
    machine.delete(&parsed.operands, recursive, call.span);
    Stream::Terminal
}

fn unlink(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = RM.parse(call.args);
    if !only_informs(&parsed) && !parsed.operands.is_empty() {
        machine.delete(&parsed.operands, false, call.span);
    }
    Stream::Terminal
}

/// `rimraf` and `del` of npm always take whole folders.
fn remove_tree(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "G",
        long_values: &["impl", "tmp", "max-retries", "retry-delay", "backoff", "maxBackoff", "cwd"],
        long_flags: &["force", "dry-run", "help", "version", "glob", "no-glob", "verbose"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let dry = parsed.has('\0', "dry-run") || (call.name != "rimraf" && parsed.has('d', ""));
    if !dry && !only_informs(&parsed) && !parsed.operands.is_empty() {
        machine.delete(&parsed.operands, true, call.span);
    }
    Stream::Terminal
}

fn shred(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "ns",
        long_values: &["iterations", "size", "random-source"],
        long_flags: &["force", "verbose", "exact", "zero", "help", "version"],
        long_optional: &["remove"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        if disk::wipe_if_disk(machine, operand, call.span) {
            continue;
        }
        machine.change(operand, Touch::Write, false);
    }
    if parsed.has('u', "remove") && !parsed.operands.is_empty() {
        machine.delete(&parsed.operands, false, call.span);
    }
    Stream::Terminal
}

/// A file in the trash can come back; it is gone from its place all the same.
fn trash(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { long_values: &["trash-dir"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    if call.name == "trash" && parsed.has('e', "empty") {
        machine.delete_unknown(&[], call.span);
    }
    for operand in &parsed.operands {
        machine.change(operand, Touch::Rename, false);
    }
    Stream::Terminal
}

fn trash_empty(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    if !only_informs(&parsed) && !parsed.has('\0', "dry-run") && !parsed.has('h', "") {
        machine.delete_unknown(&[], call.span);
    }
    Stream::Terminal
}

fn gio(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some((command, args)) = call.args.split_first() else { return Stream::Terminal };
    let parsed = Spec::FLAGS.parse(args);
    match command.text() {
        Some("remove") if !parsed.operands.is_empty() => {
            machine.delete(&parsed.operands, false, call.span);
        }
        Some("trash") if parsed.has('\0', "empty") => machine.delete_unknown(&[], call.span),
        Some("trash" | "rename" | "move") => {
            for operand in &parsed.operands {
                machine.change(operand, Touch::Rename, false);
            }
        }
        Some("copy" | "save") => {
            if let Some(last) = parsed.operands.last() {
                machine.change(last, Touch::Write, false);
            }
        }
        _ => {}
    }
    Stream::Terminal
}

fn create(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const TOUCH: Spec = Spec {
        short_values: "drtA",
        long_values: &["date", "reference", "time"],
        long_flags: &["no-create", "no-dereference", "help", "version"],
        ..Spec::FLAGS
    };
    const MKDIR: Spec = Spec {
        short_values: "m",
        long_values: &["mode"],
        long_flags: &["parents", "verbose", "help", "version"],
        long_optional: &["context"],
        ..Spec::FLAGS
    };
    let spec = if call.name == "touch" { TOUCH } else { MKDIR };
    let parsed = spec.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let count = if call.name == "mknod" { 1 } else { parsed.operands.len() };
    for operand in parsed.operands.iter().take(count) {
        machine.change(operand, Touch::Create, false);
    }
    Stream::Terminal
}

/// `cmake -E COMMAND`: its own small versions of common programs.
fn cmake(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let [flag, command, args @ ..] = call.args else { return Stream::Output(call.name.to_owned()) };
    let argv: &[&str] = match command.text().filter(|_| flag.is("-E")) {
        Some("rm") => &["rm"],
        Some("remove") => &["rm", "-f"],
        Some("remove_directory") => &["rm", "-rf"],
        Some("copy" | "copy_if_different" | "copy_if_newer") => &["cp"],
        Some("copy_directory" | "copy_directory_if_different") => &["cp", "-r"],
        Some("rename") => &["mv"],
        Some("make_directory") => &["mkdir", "-p"],
        Some("touch" | "touch_nocreate") => &["touch"],
        Some("create_symlink") => &["ln", "-s"],
        Some("env" | "time") => &["env"],
        Some("tar") => &["tar"],
        _ => return Stream::Output(call.name.to_owned()),
    };
    let mut argv: Vec<Field> = argv.iter().map(|word| Field::lit(*word, command.span)).collect();
    argv.extend(args.iter().cloned());
    machine.run_argv(&argv, call.stdin, call.span)
}

/// Aurora's own commands that change the files that hold the gate.
fn aurora(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut words = call.args.iter().filter_map(Field::text).filter(|word| !word.starts_with('-'));
    let changed = match (words.next(), words.next()) {
        (Some("hook"), Some("install")) => ".claude/settings.json",
        (Some("policy"), Some("init")) => ".aurora/policies.yaml",
        (Some("approvals"), Some("init")) => ".aurora/approvals.yaml",
        _ => return Stream::Output(call.name.to_owned()),
    };
    machine.change(&Field::lit(changed, call.span), Touch::Write, false);
    Stream::Terminal
}

/// `rmdir` loses nothing but the folder: it matters only where nothing may change.
fn rmdir(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    for operand in &parsed.operands {
        machine.change(operand, Touch::Remove, false);
    }
    Stream::Terminal
}

fn tee(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_flags: &["append", "ignore-interrupts", "help", "version"],
        long_optional: &["output-error"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let touch = if parsed.has('a', "append") { Touch::Append } else { Touch::Write };
    for operand in &parsed.operands {
        if !disk::wipe_if_disk(machine, operand, call.span) {
            machine.change(operand, touch, false);
        }
        machine.remember_file(operand, call.stdin.clone(), touch == Touch::Append);
    }
    call.stdin.clone()
}

fn truncate(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "sr",
        long_values: &["size", "reference"],
        long_flags: &["no-create", "io-blocks", "help", "version"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        machine.change(operand, Touch::Truncate, false);
    }
    Stream::Terminal
}

fn dd(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let mut source = None;
    let mut written = false;
    for arg in call.args {
        if let Some(path) = arg.strip_prefix("of=") {
            written = true;
            if disk::is_unknown(&path) {
                let why = "which disk or file it overwrites is not known";
                machine.opaque(arg.display(), why, call.span);
            } else if !disk::wipe_if_disk(machine, &path, call.span) {
                machine.change(&path, Touch::Write, false);
            }
        } else if let Some(path) = arg.strip_prefix("if=") {
            source = Some(path);
        }
    }
    match source {
        _ if written => Stream::Terminal,
        Some(path) => Stream::File(machine.resolve(&path)),
        None => call.stdin.clone(),
    }
}

/// `rename` exists twice: Perl's takes an expression first, util-linux's two texts.
fn rename_many(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec =
        Spec { short_values: "eE", long_values: &["expr"], style: Style::Permute, ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('n', "no-act") || parsed.has('\0', "nono") {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        machine.change(operand, Touch::Rename, false);
    }
    Stream::Terminal
}

fn rclone(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        long_values: &[
            "config",
            "exclude",
            "include",
            "filter",
            "filter-from",
            "exclude-from",
            "include-from",
            "files-from",
            "transfers",
            "checkers",
            "log-file",
            "log-level",
            "bwlimit",
            "max-age",
            "min-age",
            "max-size",
            "min-size",
            "backup-dir",
            "suffix",
            "stats",
            "retries",
        ],
        long_flags: &["dry-run", "interactive", "help", "version", "progress", "verbose"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let Some((command, places)) = parsed.operands.split_first() else { return Stream::Terminal };
    if only_informs(&parsed) || parsed.has('n', "dry-run") {
        return Stream::Terminal;
    }
    match command.text() {
        Some("delete" | "purge" | "cleanup") => machine.delete_unknown(places, call.span),
        Some("deletefile") => machine.delete(places, false, call.span),
        Some("sync" | "bisync") => {
            let from = usize::from(command.is("sync"));
            machine.delete_unknown(places.get(from..).unwrap_or_default(), call.span);
        }
        Some("copy" | "copyto" | "move" | "moveto" | "copyurl") => {
            if let Some(last) = places.last().filter(|place| !is_remote(place)) {
                machine.change(last, Touch::Write, false);
            }
            if let Some(first) = places.first().filter(|_| command.prefix().starts_with("move")) {
                machine.change(first, Touch::Rename, false);
            }
        }
        Some("cat") => return Stream::Network("rclone cat".to_owned()),
        _ => {}
    }
    Stream::Terminal
}
