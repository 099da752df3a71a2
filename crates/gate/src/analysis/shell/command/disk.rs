//! Programs that overwrite disks and file systems.

use aurora_model::{EffectKind, Span, Touch};

use super::Model;
use super::options::Spec;
use super::place::only_informs;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// The models of this file, by program, sorted. Programs whose name starts with `mkfs.`,
/// `newfs_` or `mkfs` are found by [`makes_file_system`].
pub static MODELS: &[(&str, Model)] = &[
    ("badblocks", badblocks),
    ("blkdiscard", on_devices),
    ("cfdisk", on_devices),
    ("cryptsetup", cryptsetup),
    ("ddrescue", ddrescue),
    ("diskutil", diskutil),
    ("fdisk", fdisk),
    ("format", dos_format),
    ("format.com", dos_format),
    ("gdisk", fdisk),
    ("hdparm", hdparm),
    ("lvremove", volumes),
    ("mdadm", mdadm),
    ("mkdosfs", make_file_system),
    ("mke2fs", make_file_system),
    ("mkfs", make_file_system),
    ("mkntfs", make_file_system),
    ("mkswap", make_file_system),
    ("newfs", make_file_system),
    ("nvme", nvme),
    ("parted", parted),
    ("pvremove", volumes),
    ("sfdisk", fdisk),
    ("sgdisk", fdisk),
    ("vgremove", volumes),
    ("wipefs", wipefs),
    ("zfs", zfs),
    ("zpool", zfs),
];

/// Whether a path is a disk, a partition or a volume: something whose bytes are a file system.
#[must_use]
pub fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return path.starts_with("\\\\.\\PhysicalDrive");
    };
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let lettered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
            && name.len() > prefix.len()
    };
    ["sd", "hd", "vd", "xvd"].iter().any(|prefix| lettered(prefix))
        || [
            "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "nbd", "zd", "sr", "ram",
            "pmem",
        ]
        .iter()
        .any(|prefix| numbered(prefix))
        || ["mapper/", "disk/", "md/", "vg", "zvol/", "ada", "da", "nvd"]
            .iter()
            .any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()))
            && !name.starts_with("dax")
}

/// Whether a field is a disk, as far as its beginning tells (`/dev/sd$x`).
fn field_is_disk(target: &Field) -> bool {
    match target.text() {
        Some(text) => is_disk(text),
        None => {
            let prefix = target.prefix();
            prefix.starts_with("/dev/")
                && (is_disk(prefix)
                    || is_disk(&format!("{prefix}a"))
                    || is_disk(&format!("{prefix}0")))
        }
    }
}

/// Records that a disk is overwritten, if the target is one.
pub fn wipe_if_disk(machine: &mut Machine<'_>, target: &Field, span: Span) -> bool {
    let disk = field_is_disk(target);
    if disk {
        wipe(machine, target.display(), span);
    }
    disk
}

fn wipe(machine: &mut Machine<'_>, device: String, span: Span) {
    machine.emit(EffectKind::WipeDisk { device }, span);
}

/// Whether a program of that name makes a file system (`mkfs.ext4`, `newfs_apfs`).
#[must_use]
pub fn makes_file_system(name: &str) -> bool {
    name.starts_with("mkfs.") || name.starts_with("newfs_")
}

/// Whether a program of that name copies a partition (`partclone.ext4`).
#[must_use]
pub fn clones_partition(name: &str) -> bool {
    name.starts_with("partclone.")
}

/// `partclone.ext4 -s IMAGE -o /dev/sda1`; saving a partition reads it only.
pub fn partclone(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "oOsLfdnE",
        long_values: &["output", "overwrite", "source", "logfile", "domain_log"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    for target in parsed.values('o', "output").into_iter().chain(parsed.values('O', "overwrite")) {
        writes_to(machine, target, call.span);
    }
    Stream::Terminal
}

/// Only its two writing tests overwrite, and `-n` puts back what was there.
fn badblocks(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec { short_values: "bcdeiopt", ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    if parsed.has('w', "")
        && let Some(device) = parsed.operands.first()
    {
        writes_to(machine, device, call.span);
    }
    Stream::Terminal
}

/// `ddrescue IN OUT [MAP]`.
fn ddrescue(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "abcEeHiKLmoOPQrsTxXyZ",
        long_values: &["size", "mapfile", "domain-mapfile", "retry-passes", "timeout"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if let Some(target) = parsed.operands.get(1) {
        writes_to(machine, target, call.span);
    }
    Stream::Terminal
}

fn writes_to(machine: &mut Machine<'_>, target: &Field, span: Span) {
    if is_unknown(target) {
        machine.opaque(target.display(), "which disk or file it overwrites is not known", span);
    } else if !wipe_if_disk(machine, target, span) {
        machine.change(target, Touch::Write, false);
    }
}

/// Whether nothing is known of a path.
#[must_use]
pub fn is_unknown(target: &Field) -> bool {
    target.has_any() && target.prefix().is_empty() && target.suffix().is_empty()
}

/// `mkfs` and its relatives; a file that holds an image is no disk.
pub fn make_file_system(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    // Letters differ between file systems, so any argument that is a disk counts.
    let given = |option: &str| call.args.iter().any(|arg| arg.is(option));
    let extended = call.name == "mke2fs" || call.name.starts_with("mkfs.ext");
    if given("--help") || given("--version") || (extended && given("-n")) {
        return Stream::Terminal;
    }
    for arg in call.args {
        wipe_if_disk(machine, arg, call.span);
    }
    if let Some(last) = call.args.last().filter(|last| last.has_any() && last.prefix().is_empty()) {
        wipe(machine, last.display(), call.span);
    }
    Stream::Terminal
}

fn on_devices(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec =
        Spec { short_values: "olp", long_values: &["offset", "length", "step"], ..Spec::FLAGS };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) || parsed.has('h', "") || parsed.has('V', "") {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        wipe_if_disk(machine, operand, call.span);
    }
    Stream::Terminal
}

fn wipefs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "ooptO",
        long_values: &["offset", "output", "types"],
        long_flags: &["all", "no-act", "force", "parsable", "quiet", "help", "version"],
        long_optional: &["backup", "lock"],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let acts = parsed.has('a', "all") || parsed.has('o', "offset");
    if !acts || parsed.has('n', "no-act") || only_informs(&parsed) {
        return Stream::Terminal;
    }
    for operand in &parsed.operands {
        wipe_if_disk(machine, operand, call.span);
    }
    Stream::Terminal
}

/// Partition editors: only listing is harmless.
fn fdisk(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lists = call.args.iter().any(|arg| {
        matches!(
            arg.text(),
            Some(
                "-l" | "--list"
                    | "-s"
                    | "-x"
                    | "--list-details"
                    | "-d"
                    | "--dump"
                    | "-J"
                    | "--json"
                    | "-p"
                    | "--print"
                    | "-v"
                    | "--verify"
                    | "-V"
                    | "--version"
                    | "-h"
                    | "--help"
                    | "--backup"
                    | "-i"
                    | "--info"
                    | "-n"
                    | "--no-act"
                    | "-lu"
                    | "-F"
                    | "--list-free"
                    | "-g"
                    | "--show-geometry"
                    | "-T"
                    | "--list-types"
            )
        ) && !(call.name == "sgdisk"
            && matches!(arg.text(), Some("-n" | "-g" | "-s" | "-d" | "-F" | "-T")))
    });
    let writes = call.name == "sgdisk"
        && call.args.iter().any(|arg| {
            let text = arg.prefix();
            [
                "-Z",
                "-z",
                "-o",
                "-n",
                "-d",
                "-g",
                "-G",
                "-R",
                "-l",
                "-t",
                "-c",
                "--zap",
                "--clear",
                "--new",
                "--delete",
                "--load",
                "--mbrtogpt",
                "--replicate",
            ]
            .iter()
            .any(|option| text.starts_with(option))
        });
    if lists && !writes {
        return Stream::Terminal;
    }
    if call.name == "sgdisk" && !writes {
        return Stream::Terminal;
    }
    for arg in call.args {
        wipe_if_disk(machine, arg, call.span);
    }
    Stream::Terminal
}

fn parted(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let writes = call.args.iter().any(|arg| {
        let words = arg.display();
        words.split_whitespace().any(|word| {
            matches!(
                word,
                "mklabel" | "mktable" | "mkpart" | "rm" | "resizepart" | "rescue" | "mkpartfs"
            )
        })
    });
    if writes {
        for arg in call.args {
            wipe_if_disk(machine, arg, call.span);
        }
    }
    Stream::Terminal
}

fn cryptsetup(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.iter().any(|arg| {
        matches!(
            arg.text(),
            Some("luksFormat" | "erase" | "luksErase" | "reencrypt" | "luksKillSlot")
        )
    });
    if erases {
        describe(machine, call);
    }
    Stream::Terminal
}

fn describe(machine: &mut Machine<'_>, call: &Call<'_>) {
    let words: Vec<String> = call.args.iter().map(Field::display).collect();
    wipe(machine, format!("{} {}", call.name, words.join(" ")), call.span);
}

fn hdparm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.iter().any(|arg| {
        let text = arg.prefix();
        [
            "--security-erase",
            "--trim-sector",
            "--write-sector",
            "--make-bad-sector",
            "--repair-sector",
            "--dco-restore",
        ]
        .iter()
        .any(|option| text.starts_with(option))
    });
    if erases {
        describe(machine, call);
    }
    Stream::Terminal
}

fn nvme(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.first().is_some_and(|command| {
        matches!(command.text(), Some("format" | "sanitize" | "delete-ns" | "write-zeroes" | "dsm"))
    });
    let helps = call.args.iter().any(|arg| arg.is("--help") || arg.is("-h"));
    if erases && !helps {
        describe(machine, call);
    }
    Stream::Terminal
}

fn volumes(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    let idle = only_informs(&parsed) || parsed.has('t', "test") || parsed.operands.is_empty();
    if !idle {
        describe(machine, call);
    }
    Stream::Terminal
}

fn mdadm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let wipes = call
        .args
        .iter()
        .any(|arg| matches!(arg.text(), Some("--zero-superblock" | "--create" | "-C")));
    if wipes {
        describe(machine, call);
    }
    Stream::Terminal
}

fn zfs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let Some((command, args)) = call.args.split_first() else { return Stream::Terminal };
    let parsed = Spec::FLAGS.parse(args);
    let destroys = match command.text() {
        Some("destroy") => !parsed.has('n', ""),
        Some("labelclear") => call.name == "zpool",
        Some("create") => call.name == "zpool" && parsed.has('f', ""),
        Some("rollback") => call.name == "zfs",
        _ => false,
    };
    if destroys && !parsed.operands.is_empty() {
        describe(machine, call);
    }
    Stream::Terminal
}

fn diskutil(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.first().and_then(Field::text).is_some_and(|command| {
        let command = command.to_ascii_lowercase();
        let nested = call.args.get(1).and_then(Field::text).unwrap_or("").to_ascii_lowercase();
        command.starts_with("erase")
            || matches!(
                command.as_str(),
                "zerodisk"
                    | "randomdisk"
                    | "secureerase"
                    | "partitiondisk"
                    | "reformat"
                    | "mergepartitions"
            )
            || (command == "apfs" && nested.starts_with("delete"))
            || (command == "apfs" && nested.starts_with("erase"))
    });
    if erases {
        describe(machine, call);
    }
    Stream::Terminal
}

/// `format C:` of Windows.
fn dos_format(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    for arg in call.args {
        wipe_if_drive(machine, arg, call.span);
    }
    Stream::Terminal
}

/// Records that a drive of Windows is overwritten, if the target is one (`C:`).
pub fn wipe_if_drive(machine: &mut Machine<'_>, target: &Field, span: Span) {
    let letters = target.text().map(str::as_bytes);
    if let Some([letter, b':']) = letters
        && letter.is_ascii_alphabetic()
    {
        wipe(machine, target.display(), span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_known_by_their_names() {
        let disks = [
            "/dev/sda",
            "/dev/sda1",
            "/dev/nvme0n1",
            "/dev/nvme0n1p2",
            "/dev/vdb",
            "/dev/hda",
            "/dev/mmcblk0",
            "/dev/disk2",
            "/dev/rdisk3s1",
            "/dev/loop0",
            "/dev/md0",
            "/dev/dm-1",
            "/dev/mapper/root",
            "/dev/disk/by-id/x",
            "/dev/xvda",
        ];
        for path in disks {
            assert!(is_disk(path), "{path}");
        }
        let others = [
            "/dev/null",
            "/dev/zero",
            "/dev/stdout",
            "/dev/stderr",
            "/dev/tty",
            "/dev/tty1",
            "/dev/fd/1",
            "/dev/random",
            "/dev/shm/x",
            "/dev/pts/0",
            "/dev/full",
            "/dev/mem",
            "/dev/video0",
            "/dev/snd/x",
            "/dev/kvm",
            "/dev/urandom",
            "/dev/mapper/",
            "disk.img",
            "/dev/loop-control",
            "/dev/disk",
            "/dev/stdin",
            "/dev/hpet",
            "/dev/hidraw0",
        ];
        for path in others {
            assert!(!is_disk(path), "{path}");
        }
    }
}
