//! What the watchdog asks of the kernel: watches on folders, the names in them, and the events.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::error::{Error, Result};

const BUFFER_BYTES: usize = 64 << 10;

/// One event, as the kernel tells it.
#[derive(Debug)]
pub(super) struct Event {
    /// The watch on the folder that it happened in.
    pub watch: i32,
    /// What happened.
    pub flags: ReadFlags,
    /// What connects the two halves of a rename.
    pub cookie: u32,
    /// The name in the folder; nothing when it happened to the folder itself.
    pub name: Option<Vec<u8>>,
}

/// Why a folder could not be watched.
#[derive(Debug)]
pub(super) enum NoWatch {
    /// It is gone, or is no folder any more: somebody tells of that.
    Gone,
    /// We may not read it, so nobody can take it into a checkpoint either.
    Unreadable,
    /// We cannot see all that happens from now on, and why.
    Blind(String),
}

/// What is in a folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Its folders.
    pub folders: Vec<Vec<u8>>,
    /// Everything else.
    pub files: Vec<Vec<u8>>,
}

/// The root of a worktree, and the queue of what happens below it.
pub(super) struct Kernel {
    /// The queue, to be polled.
    pub queue: Arc<OwnedFd>,
    root: OwnedFd,
    root_path: PathBuf,
    identity: (u64, u64),
}

impl Kernel {
    /// Opens the root, with an empty queue.
    pub fn open(root: &Path) -> Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let queue = queue.map_err(|error| match error {
            Errno::MFILE => Error::Unsupported {
                what: "no further event queue can be opened".to_owned(),
                hint: format!(
                    "raise the limit, which is {}: sysctl fs.inotify.max_user_instances=1024",
                    setting("max_user_instances")
                ),
            },
            error => Error::io("watch", root)(error.into()),
        })?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let fail = |error: Errno| Error::io("open", root)(error.into());
        let opened = rustix::fs::open(root, flags, Mode::empty()).map_err(fail)?;
        let identity = identity(&rustix::fs::fstat(&opened).map_err(fail)?);
        let (queue, root_path) = (Arc::new(queue), root.to_owned());
        Ok(Self { queue, root: opened, root_path, identity })
    }

    /// Whether the root's path still leads to the folder that was opened.
    pub fn root_is_there(&self) -> bool {
        let now = rustix::fs::stat(&self.root_path);
        now.is_ok_and(|now| identity(&now) == self.identity)
    }

    /// Watches a folder, then says what is in it: what comes later is told by an event.
    pub fn watch(&self, path: &[u8]) -> std::result::Result<(i32, Listing), NoWatch> {
        let folder = self.folder(path).map_err(no_watch)?;
        // Through the opened folder, so that a link that took the place of a parent leads nowhere.
        let at = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let watch = match inotify::add_watch(self.queue.as_fd(), at.as_str(), mask()) {
            Err(Errno::NOENT) => {
                let at = self.root_path.join(OsStr::from_bytes(path));
                inotify::add_watch(self.queue.as_fd(), at, mask() | WatchFlags::DONT_FOLLOW)
            }
            added => added,
        };
        let watch = watch.map_err(no_watch)?;
        Ok((watch, names(&folder).map_err(no_watch)?))
    }

    /// Ends a watch; that it has ended already is fine.
    pub fn unwatch(&self, watch: i32) {
        let _ = inotify::remove_watch(self.queue.as_fd(), watch);
    }

    /// What stands at a path, links not followed; nothing when nothing does.
    pub fn stat(&self, path: &[u8]) -> Option<Stat> {
        rustix::fs::statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// How many bytes of events are waiting.
    pub fn waiting(&self) -> u64 {
        rustix::io::ioctl_fionread(self.queue.as_fd()).unwrap_or(u64::MAX)
    }

    /// Takes some of the waiting events and says how many bytes they were; nothing when there are
    /// none.
    pub fn read(&self, events: &mut Vec<Event>) -> io::Result<u64> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = inotify::Reader::new(self.queue.as_fd(), &mut buffer);
        let mut bytes = 0;
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes().to_vec());
                    bytes += event_bytes(name.as_ref().map_or(0, Vec::len));
                    let (watch, flags, cookie) = (event.wd(), event.events(), event.cookie());
                    events.push(Event { watch, flags, cookie, name });
                }
                Err(Errno::WOULDBLOCK) => return Ok(0),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if reader.is_buffer_empty() {
                return Ok(bytes);
            }
        }
    }

    fn folder(&self, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = if path.is_empty() { b"." } else { path };
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.root, path, flags, Mode::empty(), beneath) {
            // Older kernels and some sandboxes do not have it.
            Err(Errno::NOSYS | Errno::PERM) => {
                rustix::fs::openat(&self.root, path, flags, Mode::empty())
            }
            opened => opened,
        }
    }
}

/// The smallest number of bytes that an event with such a name takes in the queue.
fn event_bytes(name: usize) -> u64 {
    16 + if name == 0 { 0 } else { (name as u64 + 1).next_multiple_of(16) }
}

fn mask() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::MODIFY
        | WatchFlags::ATTRIB
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::EXCL_UNLINK
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn no_watch(error: Errno) -> NoWatch {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => NoWatch::Gone,
        Errno::ACCESS | Errno::PERM => NoWatch::Unreadable,
        Errno::NOSPC => NoWatch::Blind(too_many_folders()),
        error => NoWatch::Blind(format!("a folder cannot be watched: {error}")),
    }
}

/// Why not every folder is watched, and which setting would help.
pub(super) fn too_many_folders() -> String {
    format!(
        "there are more folders than can be watched; the limit is {}, and \
         `sysctl fs.inotify.max_user_watches=524288` raises it",
        setting("max_user_watches")
    )
}

/// A limit of the kernel's, for messages.
fn setting(name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}"));
    text.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

fn names(folder: &OwnedFd) -> rustix::io::Result<Listing> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES / 2];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut listing = Listing::default();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        let name = entry.file_name();
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            kind => kind,
        };
        let bytes = name.to_bytes();
        match kind {
            _ if bytes == b"." || bytes == b".." => {}
            FileType::Directory => listing.folders.push(bytes.to_vec()),
            _ => listing.files.push(bytes.to_vec()),
        }
    }
    Ok(listing)
}
