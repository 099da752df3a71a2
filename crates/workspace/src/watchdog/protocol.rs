//! How a process asks the watchdog of another: one request and one answer per connection, as JSON.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use aurora_model::CheckpointId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Dirty, DirtyPath, Mark};

/// The file in a feature's folder that says where its watchdog can be asked.
pub(super) const ADDRESS: &str = "watch.json";
/// The version of what is written here. Whoever finds another one does not ask.
pub(super) const VERSION: u32 = 1;
/// The largest request.
pub(super) const REQUEST_BYTES: usize = 64 << 10;
/// The largest answer.
pub(super) const ANSWER_BYTES: usize = 64 << 20;

/// Where a watchdog can be asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Address {
    pub version: u32,
    pub pid: u32,
    pub instance: String,
    pub socket: PathBuf,
}

/// What it can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// Who it is.
    Hello,
    /// `Watched::since`.
    Since { mark: Option<Mark> },
    /// `Watched::captured`.
    Captured { mark: Mark, checkpoint_id: CheckpointId },
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Hello { instance: String },
    Paths { mark: Mark, paths: Vec<DirtyPath> },
    Everything { mark: Option<Mark>, because: String },
    Noted,
}

impl From<Dirty> for Answer {
    fn from(dirty: Dirty) -> Self {
        match dirty {
            Dirty::Paths { mark, paths } => Self::Paths { mark, paths },
            Dirty::Everything { mark, because } => Self::Everything { mark, because },
        }
    }
}

/// Sends a message and says that it is whole.
pub(super) fn send(stream: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    stream.write_all(&bytes)?;
    stream.shutdown(std::net::Shutdown::Write)
}

/// Receives a message that is no larger and takes no longer than it may.
pub(super) fn receive<T: DeserializeOwned>(
    stream: &mut UnixStream,
    most_bytes: usize,
    deadline: Instant,
) -> io::Result<T> {
    let mut message = Vec::new();
    let mut buffer = vec![0; most_bytes.min(REQUEST_BYTES)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // A timeout of zero would mean none.
        stream.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(serde_json::from_slice(&message)?),
            Ok(count) => message.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if message.len() > most_bytes || left.is_zero() {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
    }
}
