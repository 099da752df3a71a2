//! What a person or a program sees of a run while it goes on, and where they answer.

mod asking;
mod steps;

pub use asking::Yes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aurora_agents::Heard;
use aurora_engine::driver::Told;
use aurora_engine::machine::State;
use aurora_engine::world::Audience;
use aurora_model::{Brief, Event, QuestionId, RunKind, TaskId};
use aurora_store::Store;
use serde_json::{Value, json};

use super::keeping::Keeping;
use super::view::{self, Moving};
use crate::output::painter::{Painter, Size};
use crate::output::panel::Canvas;
use crate::output::{self, progress_panel};
use crate::wiring::question;
use crate::wiring::run::{Front, Site};

/// How often the seconds are counted.
const TICK: Duration = Duration::from_millis(500);
/// How many of an agent's last lines are kept for a question about its failure.
const KEPT_LINES: usize = 8;
/// How many lines of each task's attempt are shown with `--verbose`; the rest is in the transcript.
const MAX_SHOWN_LINES: usize = 1000;

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A panel that is redrawn in place.
    Panel,
    /// A line for everything that happens.
    Lines,
    /// The same as JSON.
    Json,
}

/// What is shown of a run.
#[derive(Clone)]
pub struct Screen(Arc<Inner>);

struct Inner {
    /// What was drawn on at the beginning: its width may be another by now.
    canvas: Canvas,
    mode: Mode,
    verbose: bool,
    /// Whether somebody sits there who can be asked.
    can_ask: bool,
    /// Whether the run waits for answers that nobody here can give.
    stays: AtomicBool,
    run: String,
    brief: Brief,
    /// The boxes of the list, the file to resume from, and what the model answered.
    keeping: Keeping,
    store: Arc<dyn Store>,
    uncommitted: AtomicU64,
    turn: tokio::sync::Semaphore,
    closed: AtomicBool,
    shared: Mutex<Shared>,
}

struct Shared {
    painter: Painter<std::io::Stdout>,
    state: Option<Arc<State>>,
    moving: Moving,
    /// How many lines of each task's attempt were shown.
    shown_lines: BTreeMap<TaskId, usize>,
    /// Lines that wait until a question is answered.
    held: Vec<String>,
    /// The question that stands at the prompt.
    asking: Option<QuestionId>,
    /// What became of it elsewhere.
    elsewhere: Option<String>,
    /// Questions of which people here were told what became of them elsewhere.
    told_of: BTreeSet<QuestionId>,
    note: String,
}

impl Screen {
    /// A screen for a run; nothing is shown yet.
    pub fn new(site: &Site, brief: &Brief, json: bool, verbose: bool) -> Self {
        let canvas = Canvas::of_stdout();
        let mode = match (json, canvas.framed && brief.kind == RunKind::Spawn) {
            (true, _) => Mode::Json,
            (false, true) => Mode::Panel,
            (false, false) => Mode::Lines,
        };
        let shared = Shared {
            painter: Painter::new(std::io::stdout(), size()),
            state: None,
            moving: Moving::default(),
            shown_lines: BTreeMap::new(),
            held: Vec::new(),
            asking: None,
            elsewhere: None,
            told_of: BTreeSet::new(),
            note: String::new(),
        };
        let inner = Arc::new(Inner {
            canvas,
            mode,
            verbose,
            can_ask: !json && question::is_possible(),
            stays: AtomicBool::new(false),
            run: brief.run.to_string(),
            keeping: Keeping::new(&site.folder(), brief, Arc::clone(&site.store)),
            store: Arc::clone(&site.store),
            uncommitted: AtomicU64::new(0),
            brief: brief.clone(),
            turn: tokio::sync::Semaphore::new(1),
            closed: AtomicBool::new(false),
            shared: Mutex::new(shared),
        });
        Self(inner)
    }

    /// Whoever sits in front of it, for a run.
    pub fn front(&self, stays: bool) -> Front {
        if self.0.mode == Mode::Panel {
            keep_counting(&self.0);
        }
        self.0.stays.store(stays, Ordering::SeqCst);
        let state = self.0.shared().state.clone();
        if let Some(state) = state {
            // They were asked before this process began.
            state.open_questions().for_each(|question| self.0.announce(question, &state));
        }
        let me = Arc::new(self.clone());
        let asker = Arc::clone(&me);
        Front { asker, audience: me, stays, write_plan: None }
    }

    /// Looks how much of the checkout is no part of the run, for the preview.
    pub fn look_around(&self, site: &Site) {
        let list = self.0.brief.source.as_ref().map(|source| Path::new(&source.path));
        let count = site.uncommitted(list);
        self.0.uncommitted.store(count, Ordering::SeqCst);
    }

    /// Takes over what happened before.
    pub fn resumed(&self, told: &[Told], state: &Arc<State>) {
        self.0.shared().state = Some(Arc::clone(state));
        self.0.keeping.resumed(told, state);
        self.0.complain();
    }

    /// Writes down where the run stands; whatever else was owed to people was done before.
    pub fn settled(&self, state: &Arc<State>) {
        self.0.keeping.settle(state);
        self.0.complain();
    }

    /// Takes the panel away; everything that is owed to people is written then.
    pub fn close(&self) {
        self.0.keeping.close();
        self.0.complain();
        self.0.closed.store(true, Ordering::SeqCst);
        let mut shared = self.0.shared();
        let _ = shared.painter.clear();
    }

    /// Shows what would happen.
    pub fn preview(&self) -> anyhow::Result<()> {
        output::print(&self.0.preview_text(self.canvas()))
    }

    /// Shows what would happen, where no question shows it and no program reads along.
    pub fn review(&self) -> anyhow::Result<()> {
        let asks = self.0.can_ask && !self.0.brief.settings.yes;
        if asks || self.0.mode == Mode::Json { Ok(()) } else { self.preview() }
    }

    /// What the model answered, and where that can be read.
    pub fn answers(&self, state: &State) -> Vec<(TaskId, PathBuf)> {
        self.0.keeping.answers(state)
    }

    /// What is drawn on now.
    pub fn canvas(&self) -> Canvas {
        Canvas::of_stdout()
    }
}

fn size() -> Size {
    let found = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let sound =
        |number: u16, usual: usize| Some(usize::from(number)).filter(|n| *n > 0).unwrap_or(usual);
    found.map_or(Size { columns: 80, rows: 24 }, |size| Size {
        columns: sound(size.ws_col, 80),
        rows: sound(size.ws_row, 24),
    })
}

/// Counts the seconds of what is running, until the screen is closed.
fn keep_counting(inner: &Arc<Inner>) {
    let weak = Arc::downgrade(inner);
    let counting = move || {
        while let Some(inner) = weak.upgrade() {
            if inner.closed.load(Ordering::SeqCst) {
                return;
            }
            inner.draw();
            drop(inner);
            std::thread::sleep(TICK);
        }
    };
    // Without the thread the seconds stand still between two events, and nothing else is lost.
    let _ = std::thread::Builder::new().name("panel".to_owned()).spawn(counting);
}

impl Inner {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn preview_text(&self, canvas: Canvas) -> String {
        if self.brief.kind == RunKind::Goals {
            return output::review::decomposition(canvas, &view::decomposition(&self.brief));
        }
        let mut notes = Vec::new();
        if self.brief.settings.model {
            notes.push("the model answers in words and changes no files".to_owned());
        }
        let shown = view::preview(&self.brief, self.uncommitted.load(Ordering::SeqCst), notes);
        output::review::preview(canvas, &shown)
    }

    fn draw(&self) {
        let mut shared = self.shared();
        let Some(state) = shared.state.clone() else { return };
        if shared.asking.is_some() || self.closed.load(Ordering::SeqCst) {
            return;
        }
        let progress = view::progress(&state, &shared.moving, &shared.note);
        if progress.running.is_empty() && progress.completed == progress.total {
            let _ = shared.painter.clear();
            return;
        }
        shared.painter.resize(size());
        let most = shared.painter.max_lines();
        let lines = progress_panel::panel(Canvas::of_stdout(), &progress, most);
        let _ = shared.painter.draw(&lines);
    }

    /// Shows a line that stays.
    fn show(&self, line: String) {
        let mut shared = self.shared();
        match self.mode {
            Mode::Json => {}
            _ if shared.asking.is_some() => shared.held.push(line),
            Mode::Panel => {
                let _ = shared.painter.print(&line);
            }
            Mode::Lines => {
                let _ = output::print(&format!("{line}\n"));
            }
        }
    }

    fn show_json(&self, value: &Value) {
        let _ = output::print(&format!("{value}\n"));
    }

    /// Shows what could not be written down.
    fn complain(&self) {
        let complaints = self.keeping.complaints();
        if let Some(note) = complaints.note {
            self.shared().note = note;
        }
        complaints.lines.into_iter().for_each(|line| self.show(line));
    }

    fn note_times(&self, told: &Told, state: &Arc<State>) {
        let mut shared = self.shared();
        shared.state = Some(Arc::clone(state));
        if let Event::AttemptStarted { task, .. } = &told.event {
            shared.moving.begun.insert(task.clone(), Instant::now());
            shared.moving.said.remove(task);
            shared.shown_lines.remove(task);
        }
    }
}

impl Audience for Screen {
    fn told(&self, told: &Told, state: &Arc<State>) {
        self.0.told(told, state);
    }

    fn warned(&self, warning: &str) {
        self.0.warned(warning);
    }

    fn heard(&self, task: &TaskId, attempt: u32, heard: &Heard) {
        self.0.heard(task, attempt, heard);
    }
}

impl Inner {
    fn told(&self, told: &Told, state: &Arc<State>) {
        self.keeping.told(told, state);
        self.complain();
        self.note_times(told, state);
        if self.mode == Mode::Json {
            let mut value = serde_json::to_value(&told.event).unwrap_or_default();
            if let Some(object) = value.as_object_mut() {
                object.insert("run".to_owned(), json!(self.run));
                object.insert("at".to_owned(), json!(told.at));
                object.insert("version".to_owned(), json!(told.version));
            }
            return self.show_json(&value);
        }
        let canvas = Canvas::of_stdout();
        let line = steps::line(canvas, told, state, self.mode == Mode::Panel);
        if let Some(line) = line.filter(|_| !self.was_told_of(&told.event)) {
            self.show(line);
        }
        if let Event::QuestionAsked { question } = &told.event {
            self.announce(question, state);
        }
        if self.mode == Mode::Panel {
            self.draw();
        }
    }

    /// Whether whoever sits here knows it from the prompt.
    fn was_told_of(&self, event: &Event) -> bool {
        match event {
            Event::QuestionAnswered { question, .. } | Event::QuestionClosed { question, .. } => {
                self.shared().told_of.contains(question)
            }
            _ => false,
        }
    }

    fn warned(&self, warning: &str) {
        match self.mode {
            Mode::Json => self.show_json(&json!({ "type": "warning", "warning": warning })),
            _ => self.show(format!("warning: {}", self.canvas.safe(warning))),
        }
    }

    fn heard(&self, task: &TaskId, attempt: u32, heard: &Heard) {
        let text = match heard {
            Heard::Said(line) | Heard::Complained(line) => line.clone(),
            Heard::Tool { name, args } => format!("{name} {args}"),
            Heard::Spent(_) => return,
        };
        let text = self.canvas.cut(&text, 400);
        if text.trim().is_empty() {
            return;
        }
        let mut shared = self.shared();
        let lines = shared.moving.said.entry(task.clone()).or_default();
        lines.push(text.clone());
        if lines.len() > KEPT_LINES {
            lines.remove(0);
        }
        let shown = shared.shown_lines.entry(task.clone()).or_default();
        *shown += 1;
        let shows = self.verbose && *shown <= MAX_SHOWN_LINES;
        let text = match *shown {
            MAX_SHOWN_LINES => format!("{text} (and more, which only the transcript has)"),
            _ => text,
        };
        drop(shared);
        if shows && self.mode == Mode::Json {
            self.show_json(
                &json!({ "type": "output", "task": task, "attempt": attempt, "text": text }),
            );
        } else if shows {
            self.show(format!("  {task} | {text}"));
        }
    }
}
