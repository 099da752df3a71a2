//! What goes over the line between us, the keeper and its init: one spec with three files, orders, words.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};

use super::{Command, Containment, Ended, Keeper};

/// More than any command the kernel would start.
const MAX_SPEC: usize = 64 << 20;

/// More than any word that is said.
const MAX_WORD: usize = 1 << 20;

/// Which part the receiver plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Stands outside, and sees to it that everything goes.
    Keeper,
    /// Stands inside, starts the command and waits for it.
    Init,
}

/// Bytes that mostly are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl From<&OsStr> for Bytes {
    fn from(value: &OsStr) -> Self {
        match value.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Raw(value.as_bytes().to_vec()),
        }
    }
}

impl From<Bytes> for OsString {
    fn from(value: Bytes) -> Self {
        match value {
            Bytes::Text(text) => text.into(),
            Bytes::Raw(bytes) => Self::from_vec(bytes),
        }
    }
}

/// What to keep, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spec {
    pub role: Role,
    pub containment: Containment,
    /// The arguments that make our program play its part.
    pub keeper_args: Vec<Bytes>,
    pub argv: Vec<Bytes>,
    pub cwd: Bytes,
    pub env: Vec<(Bytes, Bytes)>,
}

impl Spec {
    pub fn new(role: Role, containment: Containment, keeper: &Keeper, command: &Command) -> Self {
        let all = |words: &[OsString]| words.iter().map(|word| word.as_os_str().into()).collect();
        let pair = |(name, value): (&OsString, &OsString)| {
            (name.as_os_str().into(), value.as_os_str().into())
        };
        Self {
            role,
            containment,
            keeper_args: all(&keeper.args),
            argv: all(&command.argv),
            cwd: command.cwd.as_os_str().into(),
            env: command.env.iter().map(pair).collect(),
        }
    }
}

/// What a keeper is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Terminate,
    Kill,
    Freeze,
    Thaw,
}

impl Order {
    const fn byte(self) -> u8 {
        match self {
            Self::Terminate => b't',
            Self::Kill => b'k',
            Self::Freeze => b'f',
            Self::Thaw => b'c',
        }
    }

    /// The order of a byte. Whoever says something else is not to be trusted with processes.
    pub const fn of(byte: u8) -> Self {
        match byte {
            b't' => Self::Terminate,
            b'f' => Self::Freeze,
            b'c' => Self::Thaw,
            _ => Self::Kill,
        }
    }
}

/// What a keeper says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The command runs.
    Started {
        /// Its number, as seen from outside.
        pid: u32,
        /// The number of the keeper's init, as seen from outside.
        init: u32,
    },
    /// This containment does not work here; nothing was started.
    Refused { why: String },
    /// The command is over; from the keeper, so is everything else.
    Ended(Ended),
}

/// Gives an order.
pub(super) fn order(line: &UnixStream, order: Order) -> io::Result<()> {
    send_all(line, &[order.byte()])
}

/// Says a word.
pub(super) fn say(line: &UnixStream, word: &Word) -> io::Result<()> {
    let mut text = serde_json::to_vec(word)?;
    text.push(b'\n');
    send_all(line, &text)
}

/// Sends without being killed when nobody listens any more.
fn send_all(line: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let sent = retry_on_intr(|| rustix::net::send(line, bytes, SendFlags::NOSIGNAL))?;
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    Ok(())
}

/// Words as they come in.
#[derive(Debug, Default)]
pub(super) struct Words {
    pending: Vec<u8>,
}

impl Words {
    /// The next word; nothing when the line is dead.
    pub fn next(&mut self, mut line: &UnixStream) -> io::Result<Option<Word>> {
        loop {
            if let Some(at) = self.pending.iter().position(|&byte| byte == b'\n') {
                let rest = self.pending.split_off(at + 1);
                let text = std::mem::replace(&mut self.pending, rest);
                return Ok(Some(serde_json::from_slice(&text)?));
            }
            let mut buffer = [0; 4096];
            match line.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    self.pending.extend_from_slice(buffer.get(..count).unwrap_or_default())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.pending.len() > MAX_WORD {
                return Err(io::Error::other("a word of the keeper's has no end"));
            }
        }
    }
}

/// Sends a spec, with the files that the command gets as stdin, stdout and stderr.
pub(super) fn send(line: &UnixStream, spec: &Spec, fds: [BorrowedFd<'_>; 3]) -> io::Result<()> {
    let text = serde_json::to_vec(spec)?;
    if text.len() > MAX_SPEC {
        return Err(io::ErrorKind::ArgumentListTooLong.into());
    }
    let head = u32::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("there is no room for three files"));
    }
    let sent = retry_on_intr(|| {
        rustix::net::sendmsg(line, &[IoSlice::new(&head)], &mut control, SendFlags::NOSIGNAL)
    })?;
    send_all(line, head.get(sent..).unwrap_or_default())?;
    send_all(line, &text)
}

/// Receives what `send` sent.
pub(super) fn receive(line: &UnixStream) -> io::Result<(Spec, [OwnedFd; 3])> {
    let mut head = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let received = retry_on_intr(|| {
        rustix::net::recvmsg(line.as_fd(), &mut [IoSliceMut::new(&mut head)], &mut control, flags)
    })?;
    let fds: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    let fds = <[OwnedFd; 3]>::try_from(fds);
    let (4, Ok(fds)) = (received.bytes, fds) else {
        return Err(io::Error::other("what was said is no spec"));
    };
    let length = usize::try_from(u32::from_le_bytes(head)).map_err(io::Error::other)?;
    if length > MAX_SPEC {
        return Err(io::Error::other("the spec is too long"));
    }
    let mut text = vec![0; length];
    let mut line = line;
    line.read_exact(&mut text)?;
    Ok((serde_json::from_slice(&text)?, fds))
}
