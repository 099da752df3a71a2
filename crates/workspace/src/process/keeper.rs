//! The keeper: stands outside of what it keeps, takes orders, and says the end when everything is gone.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper};

use super::message::{self, Order, Role, Spec, Word, Words};
use super::{Containment, Ended, namespace, tree};

/// Keeps one command until everything that it started is gone.
pub(super) fn run(control: &UnixStream, mut spec: Spec, fds: [OwnedFd; 3]) -> io::Result<()> {
    let refuse = |why: String| message::say(control, &Word::Refused { why });
    if let Err(errno) = set_child_subreaper(Some(getpid())) {
        return refuse(format!("the kernel has no subreapers: {errno}"));
    }
    if spec.containment == Containment::PidNamespace
        && let Err(why) = namespace::leave()
    {
        return refuse(why);
    }
    let (line, theirs) = UnixStream::pair()?;
    // Whatever has been installed over our program's path meanwhile, this is the same one.
    let init = std::process::Command::new("/proc/self/exe")
        .args(std::mem::take(&mut spec.keeper_args).into_iter().map(OsString::from))
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut init = match init {
        Ok(init) => init,
        Err(error) => return refuse(format!("the first process could not be started: {error}")),
    };
    spec.role = Role::Init;
    // When this fails, the init is gone, and the line says so.
    let _ = message::send(&line, &spec, fds.each_ref().map(|fd| fd.as_fd()));
    drop((spec, fds));
    let last = attend(control, &line, init.id());
    // In a namespace this ends everything, else only the one that starts processes; the rest is
    // found by looking.
    let _ = init.kill();
    tree::end();
    message::say(control, &last)
}

/// Passes on orders and words, until there is nothing more to pass on; then says the last word.
fn attend(mut control: &UnixStream, line: &UnixStream, init: u32) -> Word {
    let mut words = Words::default();
    let mut last = None;
    loop {
        let mut fds = [PollFd::new(control, PollFlags::IN), PollFd::new(line, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
        let [asked, said] = fds.map(|fd| !fd.revents().is_empty());
        if said {
            match words.next(line) {
                Ok(Some(Word::Started { pid, .. })) => {
                    let _ = message::say(control, &Word::Started { pid, init });
                }
                Ok(Some(word)) => last = Some(word),
                Ok(None) | Err(_) => return last.unwrap_or(Word::Ended(Ended::Lost)),
            }
        }
        if asked {
            let mut byte = [0];
            let order = match control.read(&mut byte) {
                Ok(1) => Order::of(byte[0]),
                Ok(_) | Err(_) => Order::Kill,
            };
            match order {
                Order::Terminate => drop(message::order(line, order)),
                Order::Freeze => tree::freeze(init),
                Order::Thaw => tree::thaw(init),
                Order::Kill => break,
            }
        }
    }
    last.unwrap_or(Word::Ended(Ended::Signal(Signal::KILL.as_raw())))
}
