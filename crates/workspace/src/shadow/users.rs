//! Who works in a shadow right now, told from the kernel's own lists.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::shadow::Strategy;
use crate::shadow::meta::Shadow;

/// The name that a shadow's mounts carry in the kernel's list: its own and its repository's.
pub(crate) fn mount_name(dir: &Path) -> String {
    let mut parts = dir.components().rev().map(|part| part.as_os_str().to_string_lossy());
    let id = parts.next().unwrap_or_default();
    let repository = parts.next().unwrap_or_default();
    format!("aurora-shadow:{repository}/{id}")
}

/// The processes that see a shadow's overlay, or stand in its copy. Those that this user may not
/// look at are left out; the shadow's lock is the final word.
pub(crate) fn pids(shadow: &Shadow) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let wanted = format!(" - overlay {} ", mount_name(&shadow.dir));
    let tree = shadow.files();
    let own = std::fs::read_link("/proc/self/ns/mnt").ok();
    let (mut inside, mut outside) = (HashSet::new(), HashSet::new());
    outside.extend(own);
    let mut found = Vec::new();
    for process in processes.flatten() {
        let name = process.file_name();
        let pid = std::str::from_utf8(name.as_bytes()).ok().and_then(|name| name.parse().ok());
        let Some(pid) = pid else { continue };
        let within = match shadow.meta.strategy {
            Strategy::Overlay => sees(&process.path(), &wanted, &mut inside, &mut outside),
            Strategy::Reflink | Strategy::Copy => std::fs::read_link(process.path().join("cwd"))
                .is_ok_and(|cwd| cwd.starts_with(&tree)),
        };
        if within {
            found.push(pid);
        }
    }
    found.sort_unstable();
    found
}

/// Whether a process is in a mount namespace that holds the mount; each namespace is read once.
fn sees(
    process: &Path,
    wanted: &str,
    inside: &mut HashSet<PathBuf>,
    outside: &mut HashSet<PathBuf>,
) -> bool {
    let Ok(namespace) = std::fs::read_link(process.join("ns/mnt")) else { return false };
    if inside.contains(&namespace) || outside.contains(&namespace) {
        return inside.contains(&namespace);
    }
    let mounts = std::fs::read(process.join("mountinfo")).unwrap_or_default();
    let holds = String::from_utf8_lossy(&mounts).lines().any(|line| line.contains(wanted));
    if holds {
        inside.insert(namespace)
    } else {
        outside.insert(namespace)
    };
    holds
}

/// The processes in words, for the end of a sentence.
pub(crate) fn shown(pids: &[u32]) -> String {
    match pids {
        [] => String::new(),
        [one] => format!(" by process {one}"),
        many => {
            let few: Vec<String> = many.iter().take(5).map(ToString::to_string).collect();
            let more = if many.len() > few.len() { " …" } else { "" };
            format!(" by processes {}{more}", few.join(", "))
        }
    }
}
