//! The keeper's init: stands inside, starts the command, reaps whatever dies, and goes when the command goes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, pidfd_open,
    pidfd_send_signal, set_child_subreaper, set_parent_process_death_signal, setsid, wait,
};

use super::message::{self, Order, Spec, Word};
use super::namespace::Outside;
use super::{Containment, Ended, find, namespace, tree};

/// What an init waits for.
enum News {
    /// The command is over.
    Over(Ended),
    /// The keeper passes on an order.
    Asked(Order),
    /// The keeper is gone.
    Alone,
}

/// Runs the command of a spec until it is over.
pub(super) fn run(line: UnixStream, spec: &Spec, fds: [OwnedFd; 3]) -> io::Result<()> {
    // A session of our own has no terminal, and schedulers share time between sessions, so that a
    // storm of processes in here cannot starve the one that ends it.
    let _ = setsid();
    let outside = match inside(spec.containment) {
        Ok(outside) => outside,
        Err(why) => return message::say(&line, &Word::Refused { why }),
    };
    let pid = match spawn(spec, fds) {
        Ok(pid) => pid,
        Err(why) => return message::say(&line, &Word::Ended(Ended::NotStarted { why })),
    };
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
    let seen = match (outside, &pidfd) {
        (Some(outside), Some(pidfd)) => outside.pid_of(pidfd),
        (Some(_), None) => None,
        (None, _) => u32::try_from(pid.as_raw_nonzero().get()).ok(),
    };
    let _ = message::say(&line, &Word::Started { pid: seen.unwrap_or_default(), init: 0 });
    let (send, news) = channel();
    listen(line.try_clone()?, send.clone())?;
    reap(pid, send)?;
    let ended = attend(&news, pid, pidfd.as_ref());
    if spec.containment == Containment::Subreaper {
        tree::end();
    }
    message::say(&line, &Word::Ended(ended))
}

/// Makes this process the one to which orphans come.
fn inside(containment: Containment) -> Result<Option<Outside>, String> {
    match containment {
        Containment::PidNamespace => {
            let outside = namespace::settle()?;
            // A keeper that is killed takes us along, and the kernel everybody else.
            set_parent_process_death_signal(Some(Signal::KILL))
                .map_err(|errno| format!("it could not be bound to its keeper: {errno}"))?;
            Ok(Some(outside))
        }
        Containment::Subreaper => match set_child_subreaper(Some(getpid())) {
            Ok(()) => Ok(None),
            Err(errno) => Err(format!("the kernel has no subreapers: {errno}")),
        },
    }
}

/// Starts the command, or says why not.
fn spawn(spec: &Spec, fds: [OwnedFd; 3]) -> Result<Pid, String> {
    let argv: Vec<OsString> = spec.argv.iter().cloned().map(OsString::from).collect();
    let (name, args) = argv.split_first().ok_or("there is no command")?;
    let cwd = PathBuf::from(OsString::from(spec.cwd.clone()));
    let pairs = spec.env.iter().cloned();
    let env: BTreeMap<OsString, OsString> =
        pairs.map(|(name, value)| (name.into(), value.into())).collect();
    find::check_folder(&cwd)?;
    let path = env.get(std::ffi::OsStr::new("PATH")).map(OsString::as_os_str);
    let program = find::program(name, &cwd, path)?;
    let [stdin, stdout, stderr] = fds;
    let mut command = std::process::Command::new(&program);
    command.arg0(name).args(args).env_clear().envs(&env).current_dir(&cwd);
    // A group of its own, so that a signal that it sends to its own group does not reach us.
    command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
    let child = command.spawn().map_err(|error| find::explain(&error, &program, &argv, &env))?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| "it has no number".into())
}

/// Listens to the keeper, from a thread of its own.
fn listen(mut line: UnixStream, send: Sender<News>) -> io::Result<()> {
    let work = move || {
        let mut byte = [0];
        while let Ok(1) = line.read(&mut byte) {
            let _ = send.send(News::Asked(Order::of(byte[0])));
        }
        let _ = send.send(News::Alone);
    };
    std::thread::Builder::new().name("listen".to_owned()).spawn(work).map(drop)
}

/// Takes note of every child that dies, orphans too, from a thread of its own.
fn reap(command: Pid, send: Sender<News>) -> io::Result<()> {
    let work = move || loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                let _ = send.send(News::Over(how(status)));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => {
                // Nobody is left. Had it been the command that went last, it was told already.
                let _ = send.send(News::Over(Ended::Lost));
                return;
            }
        }
    };
    std::thread::Builder::new().name("reap".to_owned()).spawn(work).map(drop)
}

fn how(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Lost,
    }
}

/// Waits until the command is over, or must be.
fn attend(news: &Receiver<News>, pid: Pid, pidfd: Option<&OwnedFd>) -> Ended {
    loop {
        match news.recv() {
            Ok(News::Over(ended)) => return ended,
            Ok(News::Asked(Order::Terminate)) => {
                let _ = match pidfd {
                    Some(pidfd) => pidfd_send_signal(pidfd, Signal::TERM),
                    None => kill_process(pid, Signal::TERM),
                };
            }
            Ok(News::Asked(_)) => {}
            Ok(News::Alone) | Err(_) => return Ended::Lost,
        }
    }
}
