//! What a run leaves for people while it goes on: the boxes of its list, the file to resume from, and
//! what the model answered. A thread of its own writes it, so that nothing waits for the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aurora_engine::driver::Told;
use aurora_engine::machine::State;
use aurora_engine::task_file::{self, NotFound, Ticked};
use aurora_model::{Brief, Digest, Event, Route, Task, TaskId};
use aurora_store::Store;

use super::answers;
use super::resume_file::ResumeFile;
use crate::wiring::atomic;

/// The file to resume from is written no more often than this, unless somebody is waited for.
const PACE: Duration = Duration::from_millis(250);

/// What is kept up to date for people.
pub struct Keeping {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    keeper: Keeper,
    owed: Mutex<Owed>,
    changed: Condvar,
}

/// Where things are written.
struct Keeper {
    tasks: Vec<Task>,
    /// The tasks file, whose boxes are ticked.
    list: Option<PathBuf>,
    /// Where answers of the model go, and where they come from.
    answers: PathBuf,
    store: Arc<dyn Store>,
}

/// What is to be written.
#[derive(Default)]
struct Owed {
    file: Option<ResumeFile>,
    /// The transcripts of attempts that are over.
    transcripts: BTreeMap<(TaskId, u32), Digest>,
    ticks: Vec<TaskId>,
    answered: Vec<(TaskId, Option<Digest>)>,
    /// Where the run stands, until that is written.
    state: Option<Arc<State>>,
    urgent: bool,
    closing: bool,
    complaints: Complaints,
}

/// What went wrong since somebody asked last.
#[derive(Default)]
pub struct Complaints {
    /// What a person should read, a line each.
    pub lines: Vec<String>,
    /// What stands beside the progress.
    pub note: Option<String>,
}

impl Owed {
    /// Whether there is anything to write.
    fn is_something(&self) -> bool {
        !self.ticks.is_empty() || !self.answered.is_empty() || self.state.is_some()
    }
}

impl Keeping {
    /// Keeps nothing yet.
    pub fn new(folder: &Path, brief: &Brief, store: Arc<dyn Store>) -> Self {
        let keeper = Keeper {
            tasks: brief.tasks.iter().map(|one| one.task.clone()).collect(),
            list: brief.source.as_ref().map(|source| PathBuf::from(&source.path)),
            answers: answers::folder(folder, &brief.run),
            store,
        };
        let file = || ResumeFile::new(folder, brief.run.as_str());
        let owed = Owed { file: brief.settings.checkpoints.then(file), ..Owed::default() };
        let (owed, changed) = (Mutex::new(owed), Condvar::new());
        Self { shared: Arc::new(Shared { keeper, owed, changed }), thread: Mutex::new(None) }
    }

    /// Takes over what happened before; what is still owed from then is written.
    pub fn resumed(&self, told: &[Told], state: &Arc<State>) {
        let mut owed = self.shared.owed();
        for one in told {
            owed.note(one);
        }
        for task in state.tasks.iter().filter(|task| task.is_done()) {
            if !owed.ticks.contains(task.id()) {
                owed.ticks.push(task.id().clone());
            }
        }
        drop(owed);
        self.shared.write(false);
    }

    /// Takes note of something that happened. It is written before long, and at the latest when this
    /// is closed.
    pub fn told(&self, told: &Told, state: &Arc<State>) {
        let mut owed = self.shared.owed();
        owed.note(told);
        // A person who only looked at the preview finds nothing new.
        let begun = state.tasks.iter().any(|task| !task.attempts.is_empty());
        let is_first = begun && owed.file.as_ref().is_some_and(|file| !file.is_written());
        if begun && owed.file.is_some() {
            owed.state = Some(Arc::clone(state));
        }
        owed.urgent |= matches!(
            told.event,
            Event::QuestionAsked { .. } | Event::RunInterrupted { .. } | Event::RunFinished { .. }
        );
        let something = owed.is_something();
        drop(owed);
        if is_first {
            // That a run has begun is known before anything comes of it: whoever finds it dead at its
            // very end then knows that boxes may be owed.
            self.shared.write(true);
        } else if something {
            self.shared.changed.notify_one();
            self.ensure_thread();
        }
    }

    /// Writes where the run stands, now.
    pub fn settle(&self, state: &Arc<State>) {
        let mut owed = self.shared.owed();
        if owed.file.is_some() {
            owed.state = Some(Arc::clone(state));
        }
        drop(owed);
        self.shared.write(true);
    }

    /// What the model answered, as far as it is written down.
    pub fn answers(&self, state: &State) -> Vec<(TaskId, PathBuf)> {
        answers::of(&self.shared.keeper.answers, state)
    }

    /// What went wrong since this was asked last.
    pub fn complaints(&self) -> Complaints {
        std::mem::take(&mut self.shared.owed().complaints)
    }

    /// Writes everything that is still owed. Nothing is lost when this returns.
    pub fn close(&self) {
        self.shared.owed().closing = true;
        self.shared.changed.notify_one();
        let thread = self.thread().take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        self.shared.write(true);
        self.shared.owed().closing = false;
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ensure_thread(&self) {
        let mut thread = self.thread();
        if thread.is_some() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let begun = std::thread::Builder::new().name("keeping".to_owned());
        match begun.spawn(move || shared.run()) {
            Ok(begun) => *thread = Some(begun),
            // Slower, and nothing is lost.
            Err(_) => self.shared.write(true),
        }
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.close();
    }
}

impl Owed {
    fn note(&mut self, told: &Told) {
        if let Some(file) = &mut self.file {
            file.note(told);
        }
        match &told.event {
            Event::AttemptEnded { task, attempt, transcript: Some(digest), .. } => {
                self.transcripts.insert((task.clone(), *attempt), digest.clone());
            }
            Event::TaskCompleted { task, attempt, route, .. } => {
                self.ticks.push(task.clone());
                if *route == Route::Model {
                    let digest = self.transcripts.get(&(task.clone(), *attempt)).cloned();
                    self.answered.push((task.clone(), digest));
                }
            }
            _ => {}
        }
    }
}

impl Shared {
    fn owed(&self) -> MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is owed, until nothing will be any more.
    fn run(&self) {
        let mut written: Option<Instant> = None;
        loop {
            let mut owed = self.owed();
            while !owed.is_something() && !owed.closing {
                owed = self.changed.wait(owed).unwrap_or_else(PoisonError::into_inner);
            }
            if owed.closing {
                return;
            }
            let since = written.map_or(PACE, |written| written.elapsed());
            let boxes = !owed.ticks.is_empty() || !owed.answered.is_empty();
            if since < PACE && !owed.urgent && !boxes {
                // Whatever comes meanwhile goes into the same file.
                drop(self.changed.wait_timeout(owed, PACE.saturating_sub(since)));
                continue;
            }
            let files = since >= PACE || owed.urgent;
            drop(owed);
            self.write(files);
            if files {
                written = Some(Instant::now());
            }
        }
    }

    /// Writes what is owed now, the file to resume from only if it is said so.
    fn write(&self, with_file: bool) {
        let mut owed = self.owed();
        let (ticks, answered) =
            (std::mem::take(&mut owed.ticks), std::mem::take(&mut owed.answered));
        let state = if with_file { owed.state.take() } else { None };
        let file = state.and_then(|state| Some((owed.file.clone()?, state)));
        if with_file {
            owed.urgent = false;
        }
        drop(owed);
        let mut lines = self.keeper.answer(&answered);
        // The boxes come before the file: one that says that the run is finished says that all are
        // ticked.
        lines.extend(self.keeper.tick(&ticks));
        let failed = file.as_ref().and_then(|(file, state)| file.write(state).err());
        let mut owed = self.owed();
        if let (Some(file), true) = (&mut owed.file, file.is_some()) {
            file.was_written();
        }
        owed.complaints.lines.extend(lines);
        if let Some(error) = failed {
            let note = format!("the file to resume from was not written: {error}");
            owed.complaints.note = Some(note);
        }
    }
}

impl Keeper {
    /// Ticks boxes, wherever they stand in the file by now; says which ones it could not tick.
    fn tick(&self, tasks: &[TaskId]) -> Vec<String> {
        let Some(list) = self.list.as_ref().filter(|_| !tasks.is_empty()) else {
            return Vec::new();
        };
        let cannot =
            |task: &TaskId, why: &str| format!("note: the box of {task} was not ticked: {why}");
        let Ok(before) = std::fs::read_to_string(list) else {
            return tasks.iter().map(|task| cannot(task, "the list cannot be read")).collect();
        };
        let (mut text, mut ticked, mut lines) = (before, Vec::new(), Vec::new());
        for task in tasks {
            match task_file::tick(&text, &self.tasks, task) {
                Ticked::Now(with) => {
                    text = with;
                    ticked.push(task);
                }
                Ticked::Before => {}
                Ticked::NotFound(NotFound::Gone) => {
                    lines.push(cannot(task, "it is no longer in the list"));
                }
                Ticked::NotFound(NotFound::Ambiguous) => {
                    lines.push(cannot(task, "more than one box could be it"));
                }
            }
        }
        if !ticked.is_empty() {
            let text = task_file::tick_groups(&text);
            if let Err(error) = atomic::write(list, text.as_bytes()) {
                lines.extend(ticked.iter().map(|task| cannot(task, &error.to_string())));
            }
        }
        lines
    }

    /// Writes down what the model answered; says which answers could not be.
    fn answer(&self, answered: &[(TaskId, Option<Digest>)]) -> Vec<String> {
        let mut lines = Vec::new();
        for (task, digest) in answered {
            let Some(digest) = digest else { continue };
            if let Err(error) = answers::write(&self.answers, task, digest, &self.store) {
                lines.push(format!("note: the answer to {task} was not written down: {error}"));
            }
        }
        lines
    }
}
