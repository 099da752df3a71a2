//! Entering a shadow: namespaces, mounts, and then the command in place of this process.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, remove_capability_from_bounding_set,
    set_capabilities,
};

use crate::error::{Error, Result};
use crate::shadow::meta::{Layer, Shadow, Status};
use crate::shadow::{Namespace, Strategy, users};

/// What to run in which shadow.
#[derive(Debug, Clone)]
pub struct EnterSpec {
    /// The shadow's folder.
    pub dir: PathBuf,
    /// Where the caller stands.
    pub cwd: PathBuf,
    /// Which namespaces to use.
    pub namespace: Namespace,
    /// Whether variables that tell git where a repository is stay.
    pub keep_env: bool,
    /// The command and its arguments.
    pub command: Vec<OsString>,
}

/// Variables that would lead a git inside the shadow to the real repository.
const GIT_PLACES: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_QUARANTINE_PATH",
];

/// Becomes the command, in the shadow. Only a process without threads may call it, because the
/// kernel gives a user namespace to no other; it returns only when something failed.
pub fn enter(spec: &EnterSpec) -> Result<Infallible> {
    let Some(shadow) = Shadow::read(&spec.dir)? else {
        return Err(Error::Corrupt { what: format!("{} is no shadow", spec.dir.display()) });
    };
    if shadow.meta.status == Status::Discarded {
        return Err(Error::Refused {
            what: format!("{} was discarded", shadow.meta.id),
            hint: "`aur shadow run -- …` makes a new one".to_owned(),
        });
    }
    let Some(lock) = shadow.try_lock()? else {
        let pids = users::pids(&shadow);
        return Err(Error::Busy {
            what: format!("{} is in use{}", shadow.meta.id, users::shown(&pids)),
        });
    };
    if shadow.meta.strategy == Strategy::Overlay {
        unshare(spec.namespace)?;
        mount_layers(&shadow.dir, &shadow.meta.layers)?;
        give_up_mounting()?;
    }
    // Nothing shall go on writing when the one who counts what is written is gone.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let cwd = go_to(&shadow, &spec.cwd)?;
    let (program, args) = spec.command.split_first().ok_or_else(|| Error::Refused {
        what: "there is no command to run".to_owned(),
        hint: "put it behind `--`".to_owned(),
    })?;
    let mut command = Command::new(program);
    command.args(args).env("PWD", &cwd).env("AURORA_SHADOW", &shadow.meta.id);
    if !spec.keep_env {
        for name in GIT_PLACES {
            command.env_remove(name);
        }
    }
    // The lock stays with the command and with whatever it starts, until the last of them ends.
    fcntl_setfd(&lock.0, FdFlags::empty())
        .map_err(|errno| Error::io("keep the lock of", &spec.dir)(errno.into()))?;
    let error = command.exec();
    Err(Error::Io { doing: "run", path: PathBuf::from(program), source: error })
}

/// Tries what `enter` does on a folder that holds nothing yet, and says in which namespaces it works.
pub fn try_overlay(dir: &Path, lower: &Path, namespace: Namespace) -> Result<&'static str> {
    let layer = Layer { lower: lower.to_owned(), upper: "upper".into(), work: "work".into() };
    let how = unshare(namespace)?;
    mount_layers(dir, std::slice::from_ref(&layer))?;
    let name = format!(".aurora-probe-{}", std::process::id());
    let (seen, kept) = (lower.join(&name), dir.join("upper").join(&name));
    File::create_new(&seen).map_err(Error::io("create", &seen))?;
    if !kept.exists() {
        return Err(Error::Unsupported {
            what: "an overlay was mounted and does not keep what is written".to_owned(),
            hint: String::new(),
        });
    }
    std::fs::remove_file(&seen).map_err(Error::io("remove", &seen))?;
    Ok(how)
}

/// Leaves the mount namespace, by way of a user namespace where that needs one.
fn unshare(namespace: Namespace) -> Result<&'static str> {
    if namespace == Namespace::Auto {
        match unshare_only(UnshareFlags::NEWNS) {
            Ok(()) => return Ok("overlay in a mount namespace"),
            Err(Errno::PERM) => {}
            Err(errno) => return Err(lacking("a mount namespace", errno)),
        }
    }
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    unshare_only(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)
        .map_err(|errno| lacking("a user namespace", errno))?;
    write_map("/proc/self/setgroups", "deny")?;
    write_map("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
    write_map("/proc/self/gid_map", &format!("{gid} {gid} 1"))?;
    Ok("overlay in a user namespace")
}

#[expect(deprecated, reason = "the safe one; the flags given leave the table of files shared")]
fn unshare_only(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

fn lacking(what: &str, errno: Errno) -> Error {
    let hint = match errno {
        Errno::PERM | Errno::NOSPC | Errno::ACCESS => {
            "this system forbids it (`kernel.apparmor_restrict_unprivileged_userns`, \
             `user.max_user_namespaces` or a container); a copy works everywhere"
        }
        _ => "a copy works everywhere: `--strategy copy`",
    };
    Error::Unsupported {
        what: format!("the kernel gave no {}: {errno}", what.trim_start_matches("a ")),
        hint: hint.to_owned(),
    }
}

fn write_map(path: &str, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(Error::io("write", path))
}

/// Covers every folder by its own overlay. All are opened before the first is covered, and the
/// outer ones come first, so that a folder inside another is found where it really is.
fn mount_layers(dir: &Path, layers: &[Layer]) -> Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|errno| Error::io("make private the mounts of", "/")(errno.into()))?;
    let mut opened = Vec::new();
    for layer in layers {
        opened.push((File::open(&layer.lower).map_err(Error::io("open", &layer.lower))?, layer));
    }
    opened.sort_by_key(|(_, layer)| layer.lower.components().count());
    // Names relative to the shadow's folder and of open files hold no character that the kernel
    // would read as the end of an option.
    std::env::set_current_dir(dir).map_err(Error::io("enter", dir))?;
    let source = users::mount_name(dir);
    for (lower, layer) in &opened {
        let options = format!(
            "lowerdir=/proc/self/fd/{},upperdir={},workdir={},userxattr,redirect_dir=nofollow,\
             metacopy=off,index=off",
            lower.as_raw_fd(),
            plain(&layer.upper)?,
            plain(&layer.work)?,
        );
        let options = CString::new(options)
            .map_err(|_| Error::Corrupt { what: "a mount option holds a zero".to_owned() })?;
        let flags = MountFlags::NODEV | MountFlags::NOSUID;
        mount(&*source, &layer.lower, "overlay", flags, &*options)
            .map_err(|errno| Error::io("mount an overlay over", &layer.lower)(errno.into()))?;
    }
    Ok(())
}

/// The name of a folder of ours; anything else was not written by us.
fn plain(name: &str) -> Result<&str> {
    let sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.is_empty() && name.bytes().all(sound) {
        return Ok(name);
    }
    Err(Error::Corrupt { what: format!("`{name}` is no folder of a shadow") })
}

/// Takes away the right to unmount the overlay, from whatever user the command runs as.
fn give_up_mounting() -> Result<()> {
    let give_up = || {
        remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN)?;
        let mut sets = capabilities(None)?;
        sets.inheritable.remove(CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets)
    };
    give_up().map_err(|errno| Error::Io {
        doing: "give up the right to unmount",
        path: PathBuf::from("/"),
        source: errno.into(),
    })
}

/// Goes where the caller stands, as seen in the shadow; to the worktree's root when that is gone.
fn go_to(shadow: &Shadow, cwd: &Path) -> Result<PathBuf> {
    let root = shadow.seen_at();
    let wanted = match cwd.strip_prefix(&shadow.meta.root) {
        Ok(below) if below.as_os_str().is_empty() => root.clone(),
        Ok(below) => root.join(below),
        Err(_) => cwd.to_owned(),
    };
    if std::env::set_current_dir(&wanted).is_ok() {
        return Ok(wanted);
    }
    std::env::set_current_dir(&root).map_err(Error::io("enter", &root))?;
    Ok(root)
}

/// Whether a file system is mounted below a folder: an overlay would hide it.
pub(crate) fn mounted_below(root: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let below = |line: &str| {
        let point = unescape(line.split(' ').nth(4)?);
        (point != root && point.starts_with(root)).then_some(point)
    };
    text.lines().find_map(below)
}

/// A path as `mountinfo` writes it: blanks and such as three octal digits.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = text.as_bytes().iter();
    let mut out = Vec::with_capacity(text.len());
    while let Some(&byte) = bytes.next() {
        let digits = (byte == b'\\').then(|| bytes.as_slice().get(..3)).flatten();
        let value = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(value) => {
                out.push(value);
                bytes.nth(2);
            }
            None => out.push(byte),
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    // WSP-5
    #[test]
    fn paths_of_mounts_are_read_as_the_kernel_writes_them() {
        for (text, expected) in
            [("/a", "/a"), ("/a\\040b", "/a b"), ("/x\\134y", "/x\\y"), ("/t\\", "/t\\")]
        {
            assert_eq!(unescape(text), PathBuf::from(expected), "{text}");
        }
    }

    // WSP-5
    #[test]
    fn only_names_of_ours_become_mount_options() {
        assert!(plain("git-upper-2").is_ok());
        for name in ["", "a,b", "../x", "a=b", "a:b", "A"] {
            assert!(plain(name).is_err(), "{name}");
        }
    }
}
