//! `aur watch`: says what changes, lets checkpoints of others cost only that, and makes its own.

mod lines;
mod pace;
mod signals;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use aurora_model::CheckpointKind;
use aurora_workspace::watchdog::{FileChange, Options, Watchdog};
use aurora_workspace::{CheckpointRequest, Workspace as _};

use self::lines::Lines;
use self::pace::Pace;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::wiring::workspace::{Session, failure, now};

/// What to watch for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Make checkpoints: when enough files have changed, at intervals, and at the end.
    #[arg(long)]
    checkpoint: bool,
    /// Make one when so many files have changed.
    #[arg(long, value_name = "N", default_value_t = 50, requires = "checkpoint",
          value_parser = clap::value_parser!(u64).range(1..=10_000))]
    threshold: u64,
    /// Make one after so many seconds, if anything has changed.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "checkpoint",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
    /// Report a file once nothing happened to it for so many milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(1..=60_000))]
    settle: u64,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Print checkpoints and problems only.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  aur watch
  aur watch --checkpoint
  aur watch --checkpoint --threshold 20 --interval 60 --quiet
  aur watch --json | jq -r 'select(.event == \"change\") | .file_path'

While it runs, `aur checkpoint` in this worktree looks only at what changed. Every event is written
to logs/file-changes.jsonl with the checkpoint that captured it. Checkpoints are at least 5 seconds
apart. Ctrl+C ends it, after a last checkpoint where --checkpoint is given; a second Ctrl+C ends it
at once.

Exit codes: 0 ended; 1 it could not watch, or the last checkpoint failed; 2 wrong usage.";

/// What the loop is told.
enum News {
    Changed(FileChange),
    Threshold,
    End,
}

/// Watches until it is told to end.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error(args.json, watch(args))
}

fn watch(args: &Args) -> anyhow::Result<Exit> {
    let session = Session::open()?;
    let (sender, inbox) = channel();
    signals::forward({
        let sender = sender.clone();
        move || sender.send(News::End).is_ok()
    })
    .map_err(|error| Failure::failed(format!("cannot wait for signals: {error}")))?;
    let watchdog = Watchdog::start(session.workspace.place(), options(args, &sender));
    let watchdog = Arc::new(watchdog.map_err(failure)?);
    drop(sender);
    let session = session.watched_by(Arc::clone(&watchdog) as Arc<_>);
    let lines = Lines { json: args.json, quiet: args.quiet, style: Style::of_stdout() };
    let checkpoints = args.checkpoint.then_some((args.threshold, args.interval));
    let root = session.workspace.root();
    lines.say(&lines.begin(root, watchdog.watches(), checkpoints))?;
    let mut watching = Watching { args, session, watchdog, lines, told: None, failed: false };
    watching.follow(&inbox)?;
    watching.end(&inbox)
}

fn options(args: &Args, sender: &Sender<News>) -> Options {
    let mut options = Options::new(now);
    options.settle_ms = args.settle;
    options.change_threshold = args.threshold;
    options.socket_dir = Some(socket_dir());
    let changes = sender.clone();
    options.on_change = Some(Box::new(move |change| {
        // Whoever does not listen any more is about to end the watchdog.
        let _ = changes.send(News::Changed(change.clone()));
    }));
    let threshold = sender.clone();
    options.on_threshold = Some(Box::new(move |_| {
        let _ = threshold.send(News::Threshold);
    }));
    options
}

/// `$XDG_RUNTIME_DIR` is only ours and gone with the session; else the folder for temporary files.
fn socket_dir() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|dir| dir.is_absolute()).unwrap_or_else(std::env::temp_dir)
}

/// A watchdog at work, and what was said so far.
struct Watching<'a> {
    args: &'a Args,
    session: Session,
    watchdog: Arc<Watchdog>,
    lines: Lines,
    told: Option<String>,
    failed: bool,
}

impl Watching<'_> {
    /// Tells what happens until somebody says that it is enough.
    fn follow(&mut self, inbox: &Receiver<News>) -> anyhow::Result<()> {
        let mut pace = Pace::new(Duration::from_secs(self.args.interval), Instant::now());
        if self.args.checkpoint {
            // Without one at the beginning there would be nothing to go back to.
            self.checkpoint("start")?;
            pace.made(Instant::now());
        }
        loop {
            self.tell_trouble();
            let due = pace.due().filter(|_| self.args.checkpoint);
            let news = match due {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match news {
                Ok(News::Changed(change)) => {
                    pace.changed();
                    if !self.lines.say(&self.lines.change(&change))? {
                        return Ok(());
                    }
                }
                Ok(News::Threshold) => pace.threshold(),
                Ok(News::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let reason = pace.reason();
                    // What changes while the checkpoint is made counts for the next one.
                    pace.made(Instant::now());
                    if !self.checkpoint(reason)? {
                        pace.changed();
                    }
                }
            }
        }
    }

    /// Makes the last checkpoint, ends the watchdog and tells what it still had to say.
    fn end(mut self, inbox: &Receiver<News>) -> anyhow::Result<Exit> {
        if self.args.checkpoint {
            self.failed = !self.checkpoint("end")?;
        }
        let Self { session, watchdog, lines, failed, .. } = self;
        drop((session, watchdog));
        for news in inbox.try_iter() {
            if let News::Changed(change) = news {
                lines.say(&lines.change(&change))?;
            }
        }
        lines.say(&lines.end())?;
        Ok(if failed { Exit::Failure } else { Exit::Ok })
    }

    /// Makes a checkpoint and says so; that one cannot be made is told, and the watching goes on.
    fn checkpoint(&mut self, reason: &'static str) -> anyhow::Result<bool> {
        let request = CheckpointRequest { kind: CheckpointKind::Watched, ..Default::default() };
        match self.session.ask(|workspace| workspace.checkpoint(&request)) {
            Ok(created) => {
                self.lines.say(&self.lines.checkpoint(&created, reason))?;
                Ok(true)
            }
            Err(error) => {
                output::warn(&format!("no checkpoint could be made: {error:#}"));
                Ok(false)
            }
        }
    }

    /// Says what keeps the watchdog from seeing everything, once.
    fn tell_trouble(&mut self) {
        let trouble = self.watchdog.trouble();
        if let Some(trouble) = trouble.as_ref().filter(|_| trouble != self.told) {
            output::warn(&format!("{trouble}; checkpoints look at everything meanwhile"));
        }
        self.told = trouble;
    }
}
