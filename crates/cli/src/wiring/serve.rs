//! What a running server says about itself: a file that only its user can read.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use aurora_engine::people::Secret;
use serde::{Deserialize, Serialize};

use super::{atomic, input, store};
use crate::exit::Failure;

/// The file, below the folder of the log.
const FILE: &str = "serve.json";
const MAX_BYTES: u64 = 64 * 1024;

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Where it is, such as `http://127.0.0.1:7788`.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// The secret of this start, where it has one: it speaks in the name of whoever started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Where a server of this repository says that it runs.
pub fn path() -> anyhow::Result<PathBuf> {
    Ok(store::folder()?.join(FILE))
}

/// The server of this repository; nothing when none runs.
pub fn find() -> anyhow::Result<Option<Announced>> {
    let Some(text) = input::small_text(&path()?, MAX_BYTES) else { return Ok(None) };
    let found: Option<Announced> = serde_json::from_str(&text).ok();
    // A file that a crash left behind says nothing.
    Ok(found.filter(|one| Path::new(&format!("/proc/{}", one.pid)).exists()))
}

/// Says that a server runs; only its user can read it.
pub fn announce(announced: &Announced) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(announced)?;
    atomic::write_private(&path()?, format!("{text}\n").as_bytes())
}

/// Takes that back, unless another server says so by now.
pub fn withdraw() -> anyhow::Result<()> {
    let own = find()?.is_some_and(|one| one.pid == std::process::id());
    if own {
        let path = path()?;
        std::fs::remove_file(&path).map_err(|error| {
            Failure::failed(format!("cannot remove {}: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// A new token, from the system's source of randomness.
pub fn secret() -> anyhow::Result<Secret> {
    let mut bits = [0; 32];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bits));
    read.map_err(|error| Failure::failed(format!("cannot read /dev/urandom: {error}")))?;
    Ok(Secret::of(bits))
}
