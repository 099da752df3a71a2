//! What an agent may not do to its own run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::exit::Failure;

/// A longer chain of parents is none that a person has.
const MAX_PARENTS: usize = 1000;

/// Refuses what only a person may do, where an agent of a run does it: in the environment that agents
/// are given, or below a keeper of ours. It is a fence and no wall: who can run programs can also take
/// the variable away, and get out of a tree that nothing holds.
pub fn for_people(what: &str) -> anyhow::Result<()> {
    if let Some(run) = std::env::var_os("AURORA_RUN") {
        let run = run.to_string_lossy();
        return Err(refusal(what, &format!("an agent of {run}")));
    }
    match is_kept() {
        true => Err(refusal(what, "a process that an agent started")),
        false => Ok(()),
    }
}

fn refusal(what: &str, this: &str) -> anyhow::Error {
    Failure::denied(format!("{what} is for people, and this is {this}"))
        .hint("say in your last words what you need; whoever reads them can do it")
        .into()
}

/// Whether a process of this machine belongs to an agent of ours, as far as can be seen: by its
/// environment, by those who started it, or because it is in a namespace of its own.
pub fn is_agent(pid: u32) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let marked = environment.split(|byte| *byte == 0).any(|one| one.starts_with(b"AURORA_RUN="));
    let space = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    marked || space(&pid.to_string()) != space("self") || is_below_keeper(pid)
}

/// Whether one of those who started us is a keeper.
fn is_kept() -> bool {
    is_below_keeper(std::os::unix::process::parent_id())
}

/// Whether a process or one of those who started it is a keeper: to the first of the namespace.
fn is_below_keeper(mut pid: u32) -> bool {
    for _ in 0..MAX_PARENTS {
        if pid == 0 {
            return false;
        }
        if is_keeper(pid) {
            return true;
        }
        pid = parent_of(pid).unwrap_or_default();
    }
    false
}

/// Whether a process is `aur keep`.
fn is_keeper(pid: u32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).map(OsStr::from_bytes);
    let program = words.next().map(Path::new).unwrap_or(Path::new(""));
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::file_name);
    // The first process of a namespace is our program started by itself.
    let is_ours = program == Path::new("/proc/self/exe")
        || program.file_name().is_some_and(|name| name == "aur" || Some(name) == own);
    is_ours && words.next().is_some_and(|word| word == "keep")
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}
