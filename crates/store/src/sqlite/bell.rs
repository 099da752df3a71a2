//! A bell beside the log: whoever has written rings it, and whoever listens in another process looks at
//! once. It is a help: without it, records are noticed a little later.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{OFlags, Timespec, Timestamps, UTIME_NOW};

/// An empty file whose times change when it is rung.
#[derive(Debug)]
pub(super) struct Bell {
    file: Option<File>,
}

impl Bell {
    /// The bell at a path, made where there is none. A link in its place is not followed.
    pub(super) fn at(path: &Path) -> Self {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        Self { file: open.open(path).ok() }
    }

    /// Rings it.
    pub(super) fn ring(&self) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        if let Some(file) = &self.file {
            // Who does not hear it looks a little later.
            let _ = rustix::fs::futimens(file, &times);
        }
    }
}

/// Somebody who listens to a bell.
#[derive(Debug)]
pub(super) struct Ear {
    #[cfg(target_os = "linux")]
    heard: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Ear {
    /// Listens to the bell at a path; nothing where the system does not let us.
    pub(super) fn at(path: &Path) -> Option<Self> {
        use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
        let heard = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let flags = WatchFlags::ATTRIB | WatchFlags::DONT_FOLLOW;
        inotify::add_watch(&heard, path, flags).ok()?;
        Some(Self { heard })
    }

    /// Waits until it rings, at most so long. What rang before is heard once.
    pub(super) fn listen(&self, patience: Duration) {
        use rustix::event::{PollFd, PollFlags, poll};
        let patience = Timespec {
            tv_sec: patience.as_secs().cast_signed(),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&self.heard, PollFlags::IN)];
        // An interruption is as good as a ring.
        let _ = poll(&mut fds, Some(&patience));
        let mut rings = [0; 4096];
        while rustix::io::read(&self.heard, &mut rings).is_ok_and(|bytes| bytes == rings.len()) {}
    }
}

#[cfg(not(target_os = "linux"))]
impl Ear {
    /// Nobody listens here.
    pub(super) fn at(_: &Path) -> Option<Self> {
        None
    }

    /// Waits.
    pub(super) fn listen(&self, patience: Duration) {
        std::thread::sleep(patience);
    }
}
