//! The journal of a transition: written before the first file is touched, gone after the last.
//!
//! Lines of JSON: a header, one line for each step, one with the hash of all before it. It appears by
//! renaming, so it is whole or not there; the hash is for disks that forget.

mod heal;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use aurora_model::{EntryMode, RepoPath, Timestamp};
use gix::hash::ObjectId;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::beneath::Fuse;
use crate::git::objects::Entry;
use crate::git::own::{self, Prepared};
use crate::git::private::sync_folder;
use crate::git::restore::{Due, Step, Transition};

const VERSION: u32 = 1;
const NAME: &str = "journal";
/// A larger journal is not read: no worktree has as many files.
const LARGEST_BYTES: u64 = 4 << 30;

/// A transition that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journal {
    /// The operation's own name, which its temporary files bear.
    pub op: String,
    /// What it is, for messages.
    pub what: String,
    /// The checkpoint to record at its end.
    pub due: Option<Due>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Folders without content that shall be there afterwards.
    pub empty_folders: Vec<RepoPath>,
    started: Timestamp,
    pid: u32,
}

/// What is found where a journal may be.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing.
    None,
    /// A journal.
    Journal(Box<Journal>),
    /// Something that is none, or no longer.
    Corrupt {
        /// Why.
        because: String,
    },
}

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    version: u32,
    op: String,
    what: String,
    pid: u32,
    started: Timestamp,
    steps: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<Due>,
    #[serde(default)]
    empty_folders: Vec<RepoPath>,
}

#[derive(Serialize, Deserialize)]
struct EntryPart {
    mode: EntryMode,
    id: String,
}

#[derive(Serialize, Deserialize)]
struct StepLine {
    path: RepoPath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<EntryPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<EntryPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permissions: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct LastLine {
    sha256: String,
}

impl Journal {
    /// The journal of a transition that is about to begin.
    pub fn of(transition: &Transition, due: Option<Due>, started: Timestamp) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        Self {
            op: format!("{:x}-{pid:x}-{count:x}", started.unix_ms),
            what: transition.what.clone(),
            due,
            steps: transition.steps.clone(),
            empty_folders: transition.empty_folders.clone(),
            started,
            pid,
        }
    }

    /// The transition that it is of.
    pub fn transition(&self) -> Transition {
        Transition {
            what: self.what.clone(),
            steps: self.steps.clone(),
            empty_folders: self.empty_folders.clone(),
        }
    }

    /// Makes it durable, before anything else is touched.
    pub fn write(&self, dir: &Path, fuse: &Fuse) -> Result<()> {
        let path = dir.join(NAME);
        fuse.burn().map_err(Error::io("write", &path))?;
        let bytes = self.to_bytes().map_err(Error::io("write", &path))?;
        let prepared = Prepared::new(&path, &bytes, true)?;
        fuse.burn().map_err(Error::io("write", &path))?;
        prepared.publish()
    }

    /// Removes the journal: everything is done and durable.
    pub fn end(dir: &Path, fuse: &Fuse) -> Result<()> {
        let path = dir.join(NAME);
        fuse.burn().map_err(Error::io("remove", &path))?;
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        sync_folder(dir)
    }

    /// Reads the journal, if there is one.
    pub fn read(dir: &Path) -> Result<Found> {
        let path = dir.join(NAME);
        let bytes = match own::read(&path, LARGEST_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Found::None),
            Err(Error::Corrupt { .. }) => {
                return Ok(Found::Corrupt { because: "it is far too large".to_owned() });
            }
            Err(error) => return Err(error),
        };
        Ok(match Self::from_bytes(&bytes) {
            Ok(journal) => Found::Journal(Box::new(journal)),
            Err(because) => Found::Corrupt { because },
        })
    }

    /// Moves a journal that cannot be read out of the way, and says where it is.
    pub fn move_aside(dir: &Path) -> Result<std::path::PathBuf> {
        let path = dir.join(NAME);
        let mut aside = dir.join("journal.corrupt");
        let mut attempt = 1;
        while aside.symlink_metadata().is_ok() {
            attempt += 1;
            aside = dir.join(format!("journal.corrupt.{attempt}"));
        }
        fs::rename(&path, &aside).map_err(Error::io("rename", &path))?;
        Ok(aside)
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(256 + 160 * self.steps.len());
        let header = HeaderLine {
            version: VERSION,
            op: self.op.clone(),
            what: self.what.clone(),
            pid: self.pid,
            started: self.started,
            steps: self.steps.len(),
            due: self.due.clone(),
            empty_folders: self.empty_folders.clone(),
        };
        line(&mut bytes, &header)?;
        for step in &self.steps {
            let (from, to) = (step.from.map(EntryPart::of), step.to.map(EntryPart::of));
            let (path, permissions) = (step.path.clone(), step.permissions);
            line(&mut bytes, &StepLine { path, from, to, permissions })?;
        }
        let sha256 = checksum(&bytes).map_err(io::Error::other)?;
        line(&mut bytes, &LastLine { sha256 })?;
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, String> {
        let whole = bytes.strip_suffix(b"\n").ok_or("its end is missing")?;
        let cut = whole.iter().rposition(|byte| *byte == b'\n').ok_or("it has no steps")?;
        let (body, last) = (bytes.get(..=cut).unwrap_or_default(), whole.get(cut + 1..));
        let last: LastLine = read_line(last.unwrap_or_default())?;
        if last.sha256 != checksum(body)? {
            return Err("its checksum does not fit".to_owned());
        }
        let mut lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let header: HeaderLine = read_line(lines.next().unwrap_or_default())?;
        if header.version != VERSION {
            return Err(format!("it is of version {}, not {VERSION}", header.version));
        }
        // It is a part of names that are opened.
        if !header.op.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err("its operation has no sound name".to_owned());
        }
        let steps = lines.map(|line| read_line::<StepLine>(line)?.into_step());
        let steps = steps.collect::<std::result::Result<Vec<Step>, String>>()?;
        if steps.len() != header.steps {
            return Err("steps are missing".to_owned());
        }
        Ok(Self {
            op: header.op,
            what: header.what,
            due: header.due,
            steps,
            empty_folders: header.empty_folders,
            started: header.started,
            pid: header.pid,
        })
    }
}

impl EntryPart {
    fn of(entry: Entry) -> Self {
        Self { mode: entry.mode, id: entry.id.to_string() }
    }

    fn into_entry(self) -> std::result::Result<Entry, String> {
        let id = ObjectId::from_hex(self.id.as_bytes()).map_err(|error| error.to_string())?;
        Ok(Entry { mode: self.mode, id })
    }
}

impl StepLine {
    fn into_step(self) -> std::result::Result<Step, String> {
        let from = self.from.map(EntryPart::into_entry).transpose()?;
        let to = self.to.map(EntryPart::into_entry).transpose()?;
        Ok(Step { path: self.path, from, to, permissions: self.permissions })
    }
}

fn line(bytes: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *bytes, value)?;
    bytes.push(b'\n');
    Ok(())
}

fn read_line<'l, T: Deserialize<'l>>(line: &'l [u8]) -> std::result::Result<T, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

fn checksum(bytes: &[u8]) -> std::result::Result<String, String> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    hasher.update(bytes);
    Ok(hasher.try_finalize().map_err(|error| error.to_string())?.to_string())
}

#[cfg(test)]
pub(crate) use heal::complete;
#[cfg(test)]
mod tests;
