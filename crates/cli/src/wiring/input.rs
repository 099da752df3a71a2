//! Reads stdin and files with a limit on how much.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;

use crate::exit::Failure;

/// The most that is read of SQL, a patch, a command or a tool's arguments.
pub const MAX_INPUT_BYTES: u64 = 16 * 1024 * 1024;

/// A regular file's text if it exists and is not larger than the limit; other bytes than UTF-8
/// are replaced.
#[must_use]
pub fn small_text(path: &Path, max_bytes: u64) -> Option<String> {
    let kind = std::fs::metadata(path).ok()?;
    if !kind.is_file() || kind.len() > max_bytes {
        return None;
    }
    let bytes = capped(File::open(path).ok()?, max_bytes).ok()??;
    Some(text(bytes))
}

/// Bytes as text; what is not UTF-8 becomes the replacement character.
#[must_use]
pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Everything that a reader gives, or nothing when it is more than the limit.
pub fn capped(reader: impl Read, max_bytes: u64) -> std::io::Result<Option<Vec<u8>>> {
    // Most files here are small: one read fetches them.
    let mut bytes = Vec::with_capacity(8 * 1024);
    reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= max_bytes).then_some(bytes))
}

/// All of stdin.
pub fn stdin() -> anyhow::Result<Vec<u8>> {
    let bytes = capped(std::io::stdin().lock(), MAX_INPUT_BYTES).context("cannot read stdin")?;
    bytes.ok_or_else(|| too_large("stdin"))
}

/// All of a file, or of stdin when it is called `-`.
pub fn file_or_stdin(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        return stdin();
    }
    let shown = path.display();
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    let bytes = capped(file, MAX_INPUT_BYTES)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    bytes.ok_or_else(|| too_large(&shown.to_string()))
}

fn too_large(what: &str) -> anyhow::Error {
    Failure::usage(format!("{what} holds more than {} MiB", MAX_INPUT_BYTES / (1024 * 1024))).into()
}
