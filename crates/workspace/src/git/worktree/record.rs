//! What is remembered of a worktree while and after it is made: who crashed can be told from who works.

use std::fs::File;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::git::Place;
use crate::git::own;

/// A larger record is none of ours.
const LARGEST_BYTES: u64 = 1 << 20;

/// How far a worktree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// It is being made; nobody works in it yet.
    Making,
    /// It is whole.
    Ready,
    /// Its folder was lost and is being made again; nobody works in it yet.
    Restoring,
    /// Everything in it is safe and it is going away.
    Removing,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    slug: String,
    branch: String,
    path: PathBuf,
    /// The commit that it began with.
    commit: String,
    stage: Stage,
    /// The name beside its own that its folder has while it is looked at for the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    aside: Option<String>,
}

/// A worktree's record. While it is held for work, the kernel keeps its lock, and releases it when we
/// die.
pub(super) struct Record {
    stored: Stored,
    file: PathBuf,
    _lock: Option<File>,
}

impl Record {
    /// A new record of a worktree that is about to be made.
    pub fn begin(
        place: &Place,
        slug: &str,
        branch: &str,
        path: &Path,
        commit: &ObjectId,
    ) -> Result<Self> {
        let lock = lock(place, slug)?.ok_or_else(|| busy(slug))?;
        let file = file_of(place, slug);
        if file.exists() {
            return Err(super::taken(&format!("the worktree `{slug}` is there already")));
        }
        let stored = Stored {
            slug: slug.to_owned(),
            branch: branch.to_owned(),
            path: path.to_owned(),
            commit: commit.to_hex().to_string(),
            stage: Stage::Making,
            aside: None,
        };
        let record = Self { stored, file, _lock: Some(lock) };
        record.write()?;
        Ok(record)
    }

    /// The record of a worktree, held for work; nothing when there is none.
    pub fn open(place: &Place, slug: &str) -> Result<Option<Self>> {
        let lock = lock(place, slug)?.ok_or_else(|| busy(slug))?;
        let file = file_of(place, slug);
        Ok(read(&file)?.map(|stored| Self { stored, file, _lock: Some(lock) }))
    }

    pub fn slug(&self) -> &str {
        &self.stored.slug
    }

    pub fn branch(&self) -> &str {
        &self.stored.branch
    }

    pub fn path(&self) -> &Path {
        &self.stored.path
    }

    pub fn stage(&self) -> Stage {
        self.stored.stage
    }

    /// The commit that it began with.
    pub fn commit(&self) -> Option<ObjectId> {
        ObjectId::from_hex(self.stored.commit.as_bytes()).ok()
    }

    pub fn set_stage(&mut self, stage: Stage) -> Result<()> {
        self.stored.stage = stage;
        self.write()
    }

    /// Where its folder was moved to, or is about to be. Only a name that we would give counts: the
    /// record is a file that others could write.
    pub fn aside(&self) -> Option<PathBuf> {
        let name = self.stored.aside.as_ref()?;
        let digits = name.strip_prefix(&format!(".removing-{}-", self.stored.slug))?;
        let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then(|| self.stored.path.with_file_name(name))
    }

    /// Notes a name beside its own that nobody can guess, or that it has none any more.
    pub fn set_aside(&mut self, digits: Option<u64>) -> Result<()> {
        self.stored.aside =
            digits.map(|digits| format!(".removing-{}-{digits:016x}", self.stored.slug));
        self.write()
    }

    /// The worktree is no more.
    pub fn forget(&self) -> Result<()> {
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", &self.file)(error))
            }
            _ => Ok(()),
        }
    }

    fn write(&self) -> Result<()> {
        let text = serde_json::to_vec(&self.stored).map_err(|error| Error::Corrupt {
            what: format!("a worktree cannot be described: {error}"),
        })?;
        own::replace(&self.file, &text, true)
    }
}

/// All records, by name, not held.
pub(super) fn all(place: &Place) -> Result<Vec<Record>> {
    let dir = dir_of(place);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", &dir)(error)),
    };
    let mut records = Vec::new();
    for entry in entries.flatten() {
        let file = entry.path();
        if file.extension().is_some_and(|extension| extension == "json")
            && let Some(stored) = read(&file)?
        {
            records.push(Record { stored, file, _lock: None });
        }
    }
    records.sort_by(|a, b| a.slug().cmp(b.slug()));
    Ok(records)
}

/// Whether there is a record of that name, held or not.
pub(super) fn is_there(place: &Place, slug: &str) -> bool {
    file_of(place, slug).exists()
}

/// The right to work on a worktree's record; nothing when somebody else has it.
fn lock(place: &Place, slug: &str) -> Result<Option<File>> {
    let path = dir_of(place).join(format!("{slug}.lock"));
    let file = own::open_lock(&path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(Error::io("lock", &path)(error.into())),
    }
}

fn busy(slug: &str) -> Error {
    Error::Busy { what: format!("somebody else is at work on the worktree `{slug}`") }
}

fn read(file: &Path) -> Result<Option<Stored>> {
    match own::read(file, LARGEST_BYTES)? {
        Some(bytes) => {
            let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| {
                Error::Corrupt { what: format!("{} cannot be read: {error}", file.display()) }
            })?;
            super::check_slug(&stored.slug)?;
            Ok(Some(stored))
        }
        None => Ok(None),
    }
}

fn dir_of(place: &Place) -> PathBuf {
    place.aurora_dir.join("worktrees")
}

fn file_of(place: &Place, slug: &str) -> PathBuf {
    dir_of(place).join(format!("{slug}.json"))
}
