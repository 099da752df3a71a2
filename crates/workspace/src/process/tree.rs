//! The tree of processes below one: who is in it, stopping it, and ending it until the kernel says that none is left.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, wait,
};

/// One process, as the kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: i32,
    parent: i32,
    /// When it began, in the kernel's ticks: with its number, this names one process for ever.
    began: u64,
}

/// Reads a line of `/proc/<pid>/stat`. The name in it may hold anything, blanks and brackets too.
fn parse(text: &[u8]) -> Option<Process> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(text.get(..open)?).ok()?.trim().parse().ok()?;
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let began = fields.nth(17)?.parse().ok()?;
    Some(Process { pid, parent, began })
}

fn read(pid: i32) -> Option<Process> {
    parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Everything below a process, parents before their children. The dead are among them: one whose first
/// thread ended looks dead while others still run.
fn below(root: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    // Numbers of another namespace would name others than those who are meant.
    let own = std::fs::read_link("/proc/self");
    if own.is_ok_and(|own| own.as_os_str() != getpid().as_raw_nonzero().to_string().as_str()) {
        return Vec::new();
    }
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(process) = pid.and_then(read) {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = found.get(at).copied() {
        found.extend(children.remove(&process.pid).unwrap_or_default());
        at += 1;
    }
    found
}

/// Sends a signal to a process that was seen, and to no other that has its number by now.
fn signal(seen: &Process, signal: Signal) -> Option<OwnedFd> {
    let pid = Pid::from_raw(seen.pid)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty());
    // What is held is looked at again: from here on it cannot become another one.
    if read(seen.pid).is_none_or(|now| now.began != seen.began) {
        return None;
    }
    match pidfd {
        Ok(pidfd) => pidfd_send_signal(&pidfd, signal).ok().map(|()| pidfd),
        Err(_) => {
            let _ = kill_process(pid, signal);
            None
        }
    }
}

/// Ends everything below this process, and returns when the kernel says that it has no children:
/// because orphans come to this process, there is nothing else either.
pub(super) fn end() {
    let own = getpid().as_raw_nonzero().get();
    while reap_dead() {
        let mut dying = None;
        for process in below(own) {
            let pidfd = signal(&process, Signal::KILL);
            dying = dying.or(pidfd.filter(|_| process.parent == own));
        }
        match dying {
            // What was born meanwhile is found in the next round; a process that the kernel
            // cannot end yet does not keep us from that for long.
            Some(pidfd) => {
                let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
                let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 20_000_000 }));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Takes note of all dead children, and says whether there are others.
fn reap_dead() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// How often `freeze` looks again. Whoever outruns that is a storm, which only its end stops.
const LOOKS: usize = 50;

/// Stops everything below a process, until a look finds nobody new.
pub(super) fn freeze(root: u32) {
    let Ok(root) = i32::try_from(root) else { return };
    let mut told: Vec<(i32, u64)> = Vec::new();
    for _ in 0..LOOKS {
        let mut all = below(root);
        all.retain(|process| !told.contains(&(process.pid, process.began)));
        if all.is_empty() {
            return;
        }
        for process in all {
            signal(&process, Signal::STOP);
            told.push((process.pid, process.began));
        }
    }
}

/// Lets everything below a process go on.
pub(super) fn thaw(root: u32) {
    let Ok(root) = i32::try_from(root) else { return };
    for process in below(root) {
        signal(&process, Signal::CONT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // AGT-4
    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let rest = "S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9";
        for name in ["sh", "a b", ") R 1", "(((", "\u{1}"] {
            let seen = parse(format!("12 ({name}) {rest}\n").as_bytes()).unwrap();
            assert_eq!(seen, Process { pid: 12, parent: 7, began: 4242 }, "{name}");
        }
        for text in ["", "12", "12 (sh", "x (sh) S 7", "12 (sh) S 7 1"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    // AGT-4
    #[test]
    fn this_process_is_found_below_its_parent() {
        let own = read(getpid().as_raw_nonzero().get()).unwrap();
        assert!(below(own.parent).iter().any(|process| process.pid == own.pid));
    }
}
