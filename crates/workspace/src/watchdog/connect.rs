//! Asking the watchdog of another process. Any doubt means that there is none.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_model::CheckpointId;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::protocol::{ANSWER_BYTES, Answer, Request, receive, send};
use super::{Dirty, Mark, Watched, serve};
use crate::git::Place;

/// A watchdog that does not even say its name in this time hangs.
const HELLO: Duration = Duration::from_millis(200);
/// After an overflow the watchdog looks at every folder before it answers.
const PATIENCE: Duration = Duration::from_secs(3);

/// The watchdog of another process.
struct Remote {
    socket: PathBuf,
    instance: String,
}

/// The watchdog that another process of the same user runs for this worktree, if it answers.
#[must_use]
pub fn connect(place: &Place) -> Option<Arc<dyn Watched>> {
    let address = serve::address(place).filter(|address| serve::is_ours(&address.socket))?;
    let remote = Remote { socket: address.socket, instance: address.instance };
    match remote.ask(&Request::Hello, HELLO).ok()? {
        Answer::Hello { instance } if instance == remote.instance => Some(Arc::new(remote)),
        _ => None,
    }
}

impl Remote {
    fn ask(&self, request: &Request, patience: Duration) -> io::Result<Answer> {
        let deadline = Instant::now() + patience;
        // Without waiting, because a listener that does not accept would make us wait for ever.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(&self.socket)?)?;
        let peer = rustix::net::sockopt::socket_peercred(&socket)?;
        if peer.uid != rustix::process::geteuid() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let mut stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(patience))?;
        send(&mut stream, request)?;
        receive(&mut stream, ANSWER_BYTES, deadline)
    }
}

impl Watched for Remote {
    fn since(&self, mark: Option<&Mark>) -> Dirty {
        let ours = |mark: &Mark| mark.watch == self.instance;
        match self.ask(&Request::Since { mark: mark.cloned() }, PATIENCE) {
            Ok(Answer::Paths { mark, paths }) if ours(&mark) => Dirty::Paths { mark, paths },
            Ok(Answer::Everything { mark, because }) if mark.as_ref().is_none_or(ours) => {
                Dirty::Everything { mark, because }
            }
            _ => {
                let because = "the watchdog does not answer".to_owned();
                Dirty::Everything { mark: None, because }
            }
        }
    }

    fn captured(&self, mark: &Mark, checkpoint: &CheckpointId) {
        let (mark, checkpoint_id) = (mark.clone(), checkpoint.clone());
        // It only makes the watchdog forget sooner, and name the checkpoint in its log.
        let _ = self.ask(&Request::Captured { mark, checkpoint_id }, PATIENCE);
    }
}
