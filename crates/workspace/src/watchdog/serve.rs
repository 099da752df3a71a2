//! Answering other processes by a socket that only the same user can reach.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use super::Watched as _;
use super::protocol::{ADDRESS, Address, Answer, REQUEST_BYTES, Request, VERSION, receive, send};
use super::running::{Shared, wait};
use crate::error::{Error, Result};
use crate::git::Place;
use crate::git::own;

/// A socket's whole path, with the byte that ends it, has 108 bytes.
const LONGEST_SOCKET_PATH: usize = 107;
const PATIENCE: Duration = Duration::from_secs(1);
const FOLDER_PREFIX: &str = "aur-watch-";
const ADDRESS_BYTES: u64 = 64 << 10;
const SOCKET: &str = "s";

/// The thread that answers other processes. Dropped, it takes its socket away.
pub(super) struct Server {
    thread: Option<JoinHandle<()>>,
    stop: Arc<(AtomicBool, OwnedFd)>,
    socket: PathBuf,
    address: PathBuf,
}

impl Server {
    /// Makes the socket in a folder of its own, says where it is, and answers from now on.
    pub fn start(shared: &Arc<Shared>, place: &Place, dir: &Path) -> Result<Self> {
        remove_stale(place);
        let socket = socket_path(dir, &shared.instance)?;
        let listener = UnixListener::bind(&socket).map_err(Error::io("listen at", &socket))?;
        listener.set_nonblocking(true).map_err(Error::io("listen at", &socket))?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::io("listen at", &socket)(error.into()))?;
        let stop = Arc::new((AtomicBool::new(false), wake));
        let (of_thread, stopping) = (Arc::clone(shared), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("watchdog answers".to_owned())
            .spawn(move || run(&of_thread, &listener, &stopping))
            .map_err(Error::io("listen at", &socket))?;
        let address = place.feature_dir.join(ADDRESS);
        let server = Self { thread: Some(thread), stop, socket, address };
        server.publish(&shared.instance)?;
        Ok(server)
    }

    fn publish(&self, instance: &str) -> Result<()> {
        let pid = std::process::id();
        let (instance, socket) = (instance.to_owned(), self.socket.clone());
        let text = serde_json::to_vec(&Address { version: VERSION, pid, instance, socket });
        let text = text.map_err(|error| Error::io("write", &self.address)(error.into()))?;
        own::replace(&self.address, &text, false)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.address);
        self.stop.0.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.stop.1, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        remove_socket(&self.socket);
    }
}

/// The right to watch a worktree, held until the file is closed.
pub(super) fn lock(place: &Place) -> Result<File> {
    let path = place.feature_dir.join("watch.lock");
    let file = own::open_lock(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let who = address(place).map(|address| format!(" (process {})", address.pid));
            let who = who.unwrap_or_default();
            Err(Error::Busy { what: format!("{} is watched already{who}", place.root.display()) })
        }
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}

/// Where the watchdog of a worktree says that it can be asked.
pub(super) fn address(place: &Place) -> Option<Address> {
    let text = own::read(&place.feature_dir.join(ADDRESS), ADDRESS_BYTES).ok()??;
    serde_json::from_slice(&text).ok().filter(|address: &Address| address.version == VERSION)
}

/// Whether a socket is where we would put one, is one, and is ours: an address that names another
/// one was not written by us.
pub(super) fn is_ours(socket: &Path) -> bool {
    let folder = socket.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    socket.file_name().is_some_and(|name| name == SOCKET)
        && folder.is_some_and(|name| name.starts_with(FOLDER_PREFIX))
        && socket.symlink_metadata().is_ok_and(|kind| {
            kind.file_type().is_socket() && kind.uid() == rustix::process::geteuid().as_raw()
        })
}

/// We hold the lock, so whoever wrote an address before us is dead.
fn remove_stale(place: &Place) {
    let Some(stale) = address(place) else { return };
    if is_ours(&stale.socket) {
        remove_socket(&stale.socket);
    }
    let _ = std::fs::remove_file(place.feature_dir.join(ADDRESS));
}

fn remove_socket(socket: &Path) {
    let _ = std::fs::remove_file(socket);
    if let Some(folder) = socket.parent() {
        let _ = std::fs::remove_dir(folder);
    }
}

/// A socket's path in a new folder that only we can enter: where we are told, or in `/tmp` when that
/// would be too long or cannot be.
fn socket_path(dir: &Path, instance: &str) -> Result<PathBuf> {
    let make = |dir: &Path| -> io::Result<PathBuf> {
        let folder = dir.join(format!("{FOLDER_PREFIX}{instance}"));
        let socket = folder.join(SOCKET);
        if socket.as_os_str().len() > LONGEST_SOCKET_PATH || socket.to_str().is_none() {
            return Err(io::Error::from(io::ErrorKind::InvalidFilename));
        }
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(socket)
    };
    make(dir).or_else(|_| make(Path::new("/tmp"))).map_err(Error::io("make a folder in", dir))
}

fn run(shared: &Shared, listener: &UnixListener, stop: &(AtomicBool, OwnedFd)) {
    loop {
        wait(&[listener.as_fd(), stop.1.as_fd()], None);
        if stop.0.load(Ordering::Acquire) {
            return;
        }
        // A client that breaks off or talks nonsense gets no answer; it then looks at everything.
        if let Ok((stream, _)) = listener.accept() {
            let _ = answer(shared, stream);
        }
    }
}

fn answer(shared: &Shared, mut stream: UnixStream) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(&stream)?;
    if peer.uid != rustix::process::geteuid() {
        return Ok(());
    }
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match receive(&mut stream, REQUEST_BYTES, Instant::now() + PATIENCE)? {
        Request::Hello => Answer::Hello { instance: shared.instance.clone() },
        Request::Since { mark } => shared.since(mark.as_ref()).into(),
        Request::Captured { mark, checkpoint_id } => {
            shared.captured(&mark, &checkpoint_id);
            Answer::Noted
        }
    };
    send(&mut stream, &answer)
}
