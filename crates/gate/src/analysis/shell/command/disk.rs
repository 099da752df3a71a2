//! Programs that overwrite disks and file systems.

use aurora_model::EffectKind;

use super::Model;
use super::options::{Spec, Style};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// The programs of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("blkdiscard", whole_device),
    ("cfdisk", partition),
    ("cryptsetup", cryptsetup),
    ("diskutil", diskutil),
    ("fdisk", partition),
    ("format", whole_device),
    ("gdisk", partition),
    ("hdparm", hdparm),
    ("lvremove", volume),
    ("mdadm", mdadm),
    ("mkdosfs", mkfs),
    ("mke2fs", mkfs),
    ("mkfs", mkfs),
    ("mkntfs", mkfs),
    ("mkswap", mkfs),
    ("newfs", mkfs),
    ("nvme", nvme),
    ("parted", parted),
    ("pvcreate", whole_device),
    ("pvremove", volume),
    ("sfdisk", partition),
    ("sgdisk", sgdisk),
    ("vgremove", volume),
    ("wipefs", wipefs),
    ("zfs", zfs),
    ("zpool", zpool),
];

/// `mkfs.ext4` and its kin.
pub fn mkfs_family(name: &str) -> Option<Model> {
    name.starts_with("mkfs.").then_some(mkfs as Model)
}

/// Whether a path names a disk, a partition or a volume.
#[must_use]
pub fn is_disk(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    const NAMES: [&str; 16] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/",
        "sr", "nbd", "zd", "ram",
    ];
    // `/dev/disk/by-id/…` and volume groups name disks too.
    NAMES.iter().any(|name| {
        device.strip_prefix(name).is_some_and(|rest| {
            rest.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '/')
                || name.ends_with(['/', '-'])
        })
    }) || device.starts_with("vg")
}

fn may_be_disk(field: &Field) -> bool {
    is_disk(field.prefix()) || (field.prefix().is_empty() && field.has_any())
}

fn wipe(machine: &mut Machine<'_>, call: &Call<'_>, device: &Field) {
    machine.emit(EffectKind::WipeDisk { device: device.display() }, call.span);
}

/// Wipes each operand that is a device.
fn wipe_devices(machine: &mut Machine<'_>, call: &Call<'_>, operands: &[&Field]) {
    for operand in operands {
        if may_be_disk(operand) {
            wipe(machine, call, operand);
        }
    }
}

fn asks_for_help(call: &Call<'_>) -> bool {
    call.args
        .iter()
        .any(|arg| matches!(arg.text(), Some("--help" | "-h" | "--version" | "-V" | "--dry-run")))
}

const MKFS: Spec = Spec {
    short_values: "tbCEfgGiIJLmMNoOrTUdlspn",
    long_values: &["type", "label", "uuid"],
    ..Spec::FLAGS
};

fn mkfs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    // `mke2fs -n` and `mkfs.xfs -N` only show what they would do.
    let dry = call.args.iter().any(|arg| {
        (arg.is("-n") && matches!(call.name, "mke2fs" | "mkfs.ext4" | "mkfs.ext3" | "mkfs.ext2"))
            || (arg.is("-N") && call.name == "mkfs.xfs")
    });
    if !dry && !asks_for_help(call) {
        // Every argument is looked at: a device is a device wherever it stands.
        let parsed = MKFS.parse(call.args);
        let all: Vec<&Field> = if parsed.operands.iter().any(|o| may_be_disk(o)) {
            parsed.operands
        } else {
            call.args.iter().collect()
        };
        wipe_devices(machine, call, &all);
    }
    Stream::Terminal
}

fn whole_device(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    if !asks_for_help(call) {
        let operands: Vec<&Field> = call.args.iter().collect();
        wipe_devices(machine, call, &operands);
    }
    Stream::Terminal
}

/// Partition editors: a listing changes nothing.
fn partition(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let lists = call.args.iter().any(|arg| {
        matches!(
            arg.text(),
            Some(
                "-l" | "--list"
                    | "-d"
                    | "--dump"
                    | "-J"
                    | "--json"
                    | "-s"
                    | "--show-size"
                    | "-V"
                    | "--verify"
                    | "-x"
            )
        )
    });
    if lists { Stream::Terminal } else { whole_device(machine, call) }
}

fn sgdisk(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let changes = call.args.iter().any(|arg| {
        let text = arg.prefix();
        text.starts_with("--zap")
            || text.starts_with("--clear")
            || text.starts_with("--delete")
            || ["-Z", "-z", "-o", "-d"].iter().any(|flag| text.starts_with(flag))
    });
    if changes { whole_device(machine, call) } else { Stream::Terminal }
}

fn parted(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let changes = call.args.iter().any(|arg| {
        matches!(arg.text(), Some("mklabel" | "mktable" | "mkpart" | "rm" | "resizepart"))
    });
    if changes { whole_device(machine, call) } else { Stream::Terminal }
}

fn wipefs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec { short_values: "otp", long_values: &["offset", "types"], ..Spec::FLAGS }
        .parse(call.args);
    let dry = parsed.has('n', "no-act");
    if (parsed.has('a', "all") || parsed.has('o', "offset")) && !dry {
        whole_device(machine, call);
    }
    Stream::Terminal
}

fn hdparm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.iter().any(|arg| {
        let text = arg.prefix();
        text.starts_with("--security-erase") || text.starts_with("--trim-sector")
    });
    if erases { whole_device(machine, call) } else { Stream::Terminal }
}

fn nvme(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call.args.first().and_then(Field::text);
    if matches!(erases, Some("format" | "sanitize" | "write-zeroes" | "delete-ns")) {
        whole_device(machine, call)
    } else {
        Stream::Terminal
    }
}

fn cryptsetup(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let erases = call
        .args
        .iter()
        .any(|arg| matches!(arg.text(), Some("luksFormat" | "erase" | "luksErase" | "reencrypt")));
    if erases { whole_device(machine, call) } else { Stream::Terminal }
}

fn volume(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let test = call.args.iter().any(|arg| matches!(arg.text(), Some("-t" | "--test")));
    if !test && !asks_for_help(call) {
        let operands = Spec::FLAGS.parse(call.args).operands;
        if let Some(first) = operands.first() {
            wipe(machine, call, first);
        }
    }
    Stream::Terminal
}

fn mdadm(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    if call.args.iter().any(|arg| arg.is("--zero-superblock")) {
        return whole_device(machine, call);
    }
    Stream::Terminal
}

fn diskutil(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let verb = call.args.iter().find_map(Field::text).unwrap_or("").to_ascii_lowercase();
    let erases = ["erase", "zerodisk", "randomdisk", "secureerase", "partitiondisk", "reformat"];
    let deletes = call
        .args
        .iter()
        .any(|arg| matches!(arg.text(), Some("deleteVolume" | "deleteContainer" | "deletevolume")));
    if (erases.iter().any(|word| verb.starts_with(word)) || deletes)
        && let Some(last) = call.args.last()
    {
        wipe(machine, call, last);
    }
    Stream::Terminal
}

const DATASET: Spec = Spec { short_values: "oOtR", style: Style::Permute, ..Spec::FLAGS };

fn zfs(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    dataset(machine, call, &["destroy"])
}

fn zpool(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    dataset(machine, call, &["destroy", "labelclear"])
}

fn dataset(machine: &mut Machine<'_>, call: &Call<'_>, verbs: &[&str]) -> Stream {
    let parsed = DATASET.parse(call.args);
    let verb = parsed.operands.first().and_then(|verb| verb.text()).unwrap_or("");
    if verbs.contains(&verb)
        && !parsed.has('n', "dry-run")
        && let Some(name) = parsed.operands.get(1)
    {
        wipe(machine, call, name);
    }
    Stream::Terminal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_told_from_other_devices() {
        for (path, expected) in [
            ("/dev/sda", true),
            ("/dev/sda1", true),
            ("/dev/nvme0n1p2", true),
            ("/dev/disk/by-id/x", true),
            ("/dev/mapper/vg-root", true),
            ("/dev/loop0", true),
            ("/dev/md0", true),
            ("/dev/null", false),
            ("/dev/zero", false),
            ("/dev/stdout", false),
            ("/dev/tty", false),
            ("/dev/shm/x", false),
            ("/dev/random", false),
            ("disk.img", false),
        ] {
            assert_eq!(is_disk(path), expected, "{path}");
        }
    }

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
