//! Reading and hashing many files on two threads, while one writes what is new.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use aurora_model::SkipReason;
use gix::hash::ObjectId;

use super::content::{self, Read};
use super::open::Root;
use crate::error::{Error, Result};
use crate::git::objects::Entry;
use crate::git::stat_cache::FileStat;
use crate::progress::Progress;

/// Larger files are read one at a time, so that memory is bounded.
const LARGE_BYTES: u64 = 4 << 20;
/// Fewer files than this are not worth a thread.
const FEW: usize = 32;

/// A file to read.
pub(crate) struct Job {
    /// Its path.
    pub path: Vec<u8>,
    /// Its size when it was last looked at.
    pub size: u64,
    /// What the previous tree has there, which is stored for good.
    pub before: Option<Entry>,
}

/// What became of a file.
pub(crate) enum Outcome {
    /// It is this.
    Taken(Entry, Option<FileStat>),
    /// It is not there any more.
    Gone,
    /// It could not be taken.
    Skipped(SkipReason, Option<u64>),
}

/// Who is given each content that the previous tree does not have at that path.
pub(crate) type Sink<'a> = dyn FnMut(&[u8], ObjectId, &[u8]) -> Result<()> + 'a;

/// Reads files and hands over what is new.
pub(crate) struct Reader<'a> {
    /// The root.
    pub root: &'a Root,
    /// Which hash objects are named by.
    pub hash: gix::hash::Kind,
    /// A larger file is skipped.
    pub max_file_bytes: u64,
    /// Who is told how far this is.
    pub progress: &'a dyn Progress,
}

/// What became of a file, and its content when that is new.
type Taken = (Outcome, Option<(ObjectId, Vec<u8>)>);
type Answer = (usize, Result<Taken>);

impl Reader<'_> {
    /// Reads all jobs; the answers are in their order.
    pub fn read(&self, jobs: &[Job], sink: &mut Sink<'_>) -> Result<Vec<Outcome>> {
        let mut outcomes: Vec<Outcome> = jobs.iter().map(|_| Outcome::Gone).collect();
        let total = jobs.len() as u64;
        let mut done = 0;
        let mut take = |(at, answer): Answer| -> Result<()> {
            let (outcome, content) = answer?;
            if let (Some((id, bytes)), Some(job)) = (content, jobs.get(at)) {
                sink(&job.path, id, &bytes)?;
            }
            if let Some(place) = outcomes.get_mut(at) {
                *place = outcome;
            }
            done += 1;
            self.progress.at("hashing", done, Some(total));
            Ok(())
        };
        let is_large = |job: &Job| job.size > LARGE_BYTES;
        let small = jobs.iter().filter(|job| !is_large(job)).count();
        if small > FEW {
            self.read_on_threads(jobs, &mut take)?;
        }
        for (at, job) in jobs.iter().enumerate() {
            if is_large(job) || small <= FEW {
                take((at, self.one(job)))?;
            }
        }
        Ok(outcomes)
    }

    fn read_on_threads(
        &self,
        jobs: &[Job],
        take: &mut dyn FnMut(Answer) -> Result<()>,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let (sender, answers) = mpsc::sync_channel::<Vec<Answer>>(4);
            for _ in 0..2 {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    // Several small files are one message, so that waking up costs little.
                    loop {
                        let from = next.fetch_add(16, Ordering::Relaxed);
                        let Some(rest) = jobs.get(from..).filter(|rest| !rest.is_empty()) else {
                            return;
                        };
                        let (mut batch, mut bytes) = (Vec::new(), 0);
                        for (at, job) in rest.iter().take(16).enumerate() {
                            if job.size > LARGE_BYTES {
                                continue;
                            }
                            bytes += job.size;
                            batch.push((from + at, self.one(job)));
                            if bytes > LARGE_BYTES {
                                bytes = 0;
                                if sender.send(std::mem::take(&mut batch)).is_err() {
                                    return;
                                }
                            }
                        }
                        if sender.send(batch).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            answers.into_iter().flatten().try_for_each(take)
        })
    }

    fn one(&self, job: &Job) -> Result<Taken> {
        Ok(match content::read(self.root, &job.path, self.max_file_bytes) {
            Read::Gone => (Outcome::Gone, None),
            Read::Skipped { reason, bytes } => (Outcome::Skipped(reason, bytes), None),
            Read::Content { mode, stat, bytes } => {
                let id = gix::objs::compute_hash(self.hash, gix::objs::Kind::Blob, &bytes)
                    .map_err(|error| Error::Corrupt { what: error.to_string() })?;
                let stored = job.before.is_some_and(|before| before.id == id);
                let content = (!stored).then_some((id, bytes));
                (Outcome::Taken(Entry { mode, id }, stat), content)
            }
        })
    }
}
