//! Running a command in a shadow, and standing by while it runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::shadow::meta::Shadow;
use crate::shadow::{Helper, Namespace, quota, users};

/// A command to run in a shadow.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// Who enters the shadow.
    pub helper: Helper,
    /// Where the caller stands.
    pub cwd: PathBuf,
    /// Which namespaces to use.
    pub namespace: Namespace,
    /// Whether variables that tell git where a repository is stay.
    pub keep_env: bool,
    /// The command and its arguments.
    pub command: Vec<OsString>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Its exit code; 128 and the signal's number when a signal ended it, as shells have it.
    pub code: u8,
    /// How many bytes the shadow held when it was ended for holding too many.
    pub over_quota: Option<u64>,
}

/// Starts a command in a shadow. The process that is returned becomes the command.
pub fn start(shadow: &Shadow, request: &RunRequest) -> Result<Child> {
    let Helper { program, args } = &request.helper;
    let mut command = Command::new(program);
    command.args(args).arg("--dir").arg(&shadow.dir).arg("--cwd").arg(&request.cwd);
    if request.namespace == Namespace::User {
        command.arg("--user-namespace");
    }
    if request.keep_env {
        command.arg("--keep-env");
    }
    command.arg("--").args(&request.command);
    command.spawn().map_err(Error::io("start", program))
}

/// How often the size is looked at; less often where looking takes long.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const LOOKING_SHARE: u32 = 20;
/// How long a command that holds too much has to end by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits for a command that this process started, and ends it when the shadow holds too much.
pub fn attend(shadow: &Shadow, pid: u32) -> Result<Ended> {
    let gone = || Error::Corrupt { what: format!("process {pid} is no child of ours") };
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let mut over_quota = None;
    let mut pause = LOOK_EVERY;
    let mut asked_at: Option<Instant> = None;
    loop {
        wait_up_to(pid, pause);
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => {
                let signal = status.terminating_signal().map(|signal| signal.saturating_add(128));
                let code = status.exit_status().or(signal).unwrap_or(1);
                return Ok(Ended { code: u8::try_from(code).unwrap_or(1), over_quota });
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(gone()),
        }
        let began = Instant::now();
        match asked_at {
            Some(at) if at.elapsed() >= PATIENCE => end(shadow, pid, Signal::KILL),
            Some(_) => {}
            None => {
                let bytes = quota::bytes_held(shadow);
                if bytes > shadow.meta.max_bytes {
                    over_quota = Some(bytes);
                    asked_at = Some(began);
                    end(shadow, pid, Signal::TERM);
                }
            }
        }
        pause = LOOK_EVERY.max(began.elapsed() * LOOKING_SHARE);
    }
}

/// Sends a signal to all that work in the shadow, also to those that left the command's group.
fn end(shadow: &Shadow, pid: Pid, signal: Signal) {
    let all =
        users::pids(shadow).into_iter().filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    for one in all.chain([pid]) {
        // One that ended meanwhile is what was wanted.
        let _ = kill_process(one, signal);
    }
}

/// Waits until a process ends, at most so long.
fn wait_up_to(pid: Pid, most: Duration) {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        std::thread::sleep(Duration::from_millis(20));
        return;
    };
    let most = Timespec::try_from(most).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    // Whatever wakes us, the caller looks again.
    let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&most));
}
