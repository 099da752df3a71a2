//! `logs/file-changes.jsonl`: one line per event, written once, with the checkpoint that captured it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aurora_model::CheckpointId;
use serde::Serialize;

use super::FileChange;
use crate::error::{Error, Result};
use crate::git::Place;
use crate::git::own::{self, Folder};

const NAME: &str = "file-changes.jsonl";
const ROTATE_AT_BYTES: u64 = 64 << 20;
const MOST_BUFFERED: usize = 10_000;
const LONGEST_BUFFERED: Duration = Duration::from_secs(60);
/// How many checkpoints are remembered for events that settle after they were captured.
const REMEMBERED: usize = 16;

/// Lines of this shape are in the log: the event of spec §9.5.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    change: &'a FileChange,
    checkpoint_id: Option<&'a CheckpointId>,
}

struct Buffered {
    change: FileChange,
    sequence: u64,
    since: Instant,
}

/// The log of one worktree's file changes.
pub(super) struct ChangeLog {
    folder: PathBuf,
    file: File,
    bytes: u64,
    rotate_at: u64,
    /// Whether the last append stopped in the middle of a line.
    torn: bool,
    buffer: VecDeque<Buffered>,
    captures: VecDeque<(u64, CheckpointId)>,
}

/// The folder that a place's log is in.
pub(super) fn folder(place: &Place) -> PathBuf {
    place.projections_dir.join("logs")
}

impl ChangeLog {
    /// Opens the log, and makes it when there is none. A line that a crash cut short is ended.
    pub fn open(place: &Place) -> Result<Self> {
        let folder = folder(place);
        Folder::make(&folder)?;
        if folder.starts_with(&place.root) && !folder.starts_with(&place.git_dir) {
            keep_out_of_git(&folder)?;
        }
        let path = folder.join(NAME);
        let (file, bytes) = open(&path)?;
        let (buffer, captures) = (VecDeque::new(), VecDeque::new());
        Ok(Self { folder, file, bytes, rotate_at: ROTATE_AT_BYTES, torn: false, buffer, captures })
    }

    /// Takes an event, to be written when a checkpoint has captured it.
    pub fn push(&mut self, change: FileChange, sequence: u64, now: Instant) {
        self.buffer.push_back(Buffered { change, sequence, since: now });
    }

    /// A checkpoint captured everything up to a moment.
    pub fn captured(&mut self, sequence: u64, checkpoint: &CheckpointId) {
        if self.captures.len() >= REMEMBERED {
            self.captures.pop_front();
        }
        self.captures.push_back((sequence, checkpoint.clone()));
    }

    /// When something must be written whether a checkpoint captured it or not.
    pub fn next_due(&self) -> Option<Instant> {
        self.buffer.front().map(|oldest| oldest.since + LONGEST_BUFFERED)
    }

    /// Writes what is captured, and what has waited too long.
    pub fn write_due(&mut self, now: Instant) -> io::Result<()> {
        let old = |event: &Buffered| now >= event.since + LONGEST_BUFFERED;
        self.write(self.buffer.len() > MOST_BUFFERED || self.buffer.front().is_some_and(old))
    }

    /// Writes everything.
    pub fn write_all(&mut self) -> io::Result<()> {
        self.write(true)
    }

    fn write(&mut self, everything: bool) -> io::Result<()> {
        let mut text = Vec::new();
        let mut later = VecDeque::new();
        for event in self.buffer.drain(..) {
            let capture = self.captures.iter().find(|(sequence, _)| event.sequence <= *sequence);
            let checkpoint_id = capture.map(|(_, id)| id);
            if checkpoint_id.is_none() && !everything {
                later.push_back(event);
                continue;
            }
            let line = Line { change: &event.change, checkpoint_id };
            serde_json::to_writer(&mut text, &line).map_err(io::Error::other)?;
            text.push(b'\n');
        }
        self.buffer = later;
        self.append(&text)
    }

    /// One write of whole lines, so that two writers never mix theirs.
    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.bytes > 0 && self.bytes + text.len() as u64 > self.rotate_at {
            let path = self.folder.join(NAME);
            let folder = Folder::make(&self.folder).map_err(io::Error::other)?;
            folder.rename(OsStr::new(NAME), OsStr::new(&format!("{NAME}.1")))?;
            (self.file, self.bytes) = open(&path).map_err(io::Error::other)?;
            self.torn = false;
        }
        if self.torn {
            self.file.write_all(b"\n")?;
            self.torn = false;
        }
        let written = self.file.write(text)?;
        self.bytes += written as u64;
        if written == text.len() {
            return Ok(());
        }
        // A full disk took only a part: the rest is tried once, and what is torn is mended later.
        self.torn = true;
        self.file.write_all(text.get(written..).unwrap_or_default())?;
        self.torn = false;
        self.bytes += (text.len() - written) as u64;
        Ok(())
    }
}

fn keep_out_of_git(folder: &Path) -> Result<()> {
    let path = folder.join(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    own::replace(&path, b"*\n", false)
}

fn open(path: &Path) -> Result<(File, u64)> {
    let mut file = own::open_append(path)?;
    let bytes = end_line(&mut file).map_err(Error::io("open", path))?;
    Ok((file, bytes))
}

/// Ends a line that was cut short, and says how long the file is.
fn end_line(file: &mut File) -> io::Result<u64> {
    let mut bytes = file.metadata()?.len();
    if bytes > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            bytes += 1;
        }
    }
    Ok(bytes)
}
