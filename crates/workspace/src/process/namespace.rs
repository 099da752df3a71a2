//! Namespaces of processes: going there, and making it a place in which programs find what they expect.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{DupFlags, Errno, dup3};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, capability_is_in_ambient_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set, set_capabilities,
};

/// Why it does not work here.
type Why = String;

/// Makes the next child the first process of a namespace, by way of a user namespace where that
/// needs one: there, users keep their own ids. Only a process without threads may call it.
pub(super) fn leave() -> Result<(), Why> {
    match unshare_only(UnshareFlags::NEWPID) {
        Ok(()) => return Ok(()),
        Err(Errno::PERM) => {}
        Err(errno) => return Err(format!("the kernel gave no PID namespace: {errno}")),
    }
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    unshare_only(UnshareFlags::NEWUSER | UnshareFlags::NEWPID)
        .map_err(|errno| format!("the kernel gave no user namespace: {errno}"))?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", &format!("{gid} {gid} 1"))?;
    // The right to mount must outlive the start of our own program, which takes rights away from
    // whoever is not root.
    let hand_on = || {
        let mut sets = capabilities(None)?;
        sets.inheritable |= CapabilitySet::SYS_ADMIN;
        set_capabilities(None, sets)?;
        configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)
    };
    hand_on().map_err(|errno| format!("the right to mount could not be handed on: {errno}"))
}

#[expect(deprecated, reason = "the safe one; the flags given leave the table of files shared")]
fn unshare_only(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

fn write(path: &str, text: &str) -> Result<(), Why> {
    std::fs::write(path, text).map_err(|error| format!("could not write {path}: {error}"))
}

/// One look at the world outside, for a process inside. What is open for it is no folder: whoever is
/// inside and finds it among our files gets nowhere from there.
#[derive(Debug)]
pub(super) struct Outside {
    /// What the `/proc` of outside tells about the file below, told anew whenever it is read.
    told: OwnedFd,
    /// Keeps the number free for a process's file.
    slot: OwnedFd,
}

impl Outside {
    fn open() -> rustix::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let slot = open("/dev/null", flags, Mode::empty())?;
        let name = format!("/proc/self/fdinfo/{}", slot.as_raw_fd());
        let told = open(name, flags, Mode::empty())?;
        Ok(Self { told, slot })
    }

    /// The number that a process has outside. Nothing of the world outside is open afterwards.
    pub fn pid_of(self, pidfd: &OwnedFd) -> Option<u32> {
        let Self { told, mut slot } = self;
        dup3(pidfd, &mut slot, DupFlags::CLOEXEC).ok()?;
        let mut text = String::new();
        File::from(told).read_to_string(&mut text).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pid:"))?;
        line.trim().parse().ok().filter(|&pid| pid != 0)
    }
}

/// Makes itself at home as the first process: `/proc` shows what is inside, and the right that was
/// handed on for that is given up.
pub(super) fn settle() -> Result<Outside, Why> {
    let outside = Outside::open().map_err(|errno| format!("could not look at /proc: {errno}"))?;
    // The keeper must go on seeing the world outside, so only this process leaves its mounts.
    unshare_only(UnshareFlags::NEWNS)
        .map_err(|errno| format!("the kernel gave no mount namespace: {errno}"))?;
    // What is mounted outside later is seen inside, and nothing the other way round.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|errno| format!("the mounts could not be separated: {errno}"))?;
    // Whoever has the right to take the new one away must not find the old one below it; who came by
    // a user namespace can take away neither.
    let _ = unmount("/proc", UnmountFlags::DETACH);
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
        .map_err(|errno| format!("the kernel let no /proc be mounted: {errno}"))?;
    if capability_is_in_ambient_set(CapabilitySet::SYS_ADMIN).unwrap_or(false) {
        let nothing = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        clear_ambient_capability_set()
            .and_then(|()| set_capabilities(None, nothing))
            .map_err(|errno| format!("the right to mount could not be given up: {errno}"))?;
    }
    Ok(outside)
}
