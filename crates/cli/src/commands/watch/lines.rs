//! What `aur watch` prints: one line per event, for people or for programs.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use aurora_model::Timestamp;
use aurora_workspace::Created;
use aurora_workspace::watchdog::{ChangeType, FileChange};
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::output::changes::{self, count};
use crate::output::checkpoint;
use crate::output::escape;
use crate::output::style::Style;
use crate::wiring::workspace::now;

/// For whom, and how much.
pub struct Lines {
    /// One JSON object per line.
    pub json: bool,
    /// Checkpoints only.
    pub quiet: bool,
    /// Colour, where a person reads.
    pub style: Style,
}

impl Lines {
    /// Prints what there is to print; says whether anybody still reads.
    pub fn say(&self, text: &str) -> anyhow::Result<bool> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::failed(format!("cannot write to stdout: {error}")).into()),
        }
    }

    /// What is watched, and what is in force.
    pub fn begin(&self, root: &Path, watches: usize, checkpoints: Option<(u64, u64)>) -> String {
        if self.json {
            let (threshold, interval) = checkpoints.unzip();
            return line(
                "watching",
                json!({
                    "timestamp": now(), "root": root.to_string_lossy(), "watches": watches,
                    "checkpoint_threshold": threshold, "checkpoint_interval_seconds": interval,
                }),
            );
        }
        if self.quiet {
            return String::new();
        }
        let root = escape::line(&root.display().to_string());
        let mut out = format!("watching {root} ({})\n", count(watches, "folder"));
        let told = match checkpoints {
            Some((files, seconds)) => format!(
                "a checkpoint after {files} changed files or {seconds} s, at least 5 s apart; Ctrl+C ends"
            ),
            None => {
                "`aur checkpoint` looks only at what changes from now on; Ctrl+C ends".to_owned()
            }
        };
        out.push_str(&format!("{}\n", self.style.faint(&told)));
        out
    }

    /// One event.
    pub fn change(&self, change: &FileChange) -> String {
        if self.quiet {
            return String::new();
        }
        if self.json {
            return line("change", json!(change));
        }
        let sign = match change.event_type {
            ChangeType::Add => self.style.good("+"),
            ChangeType::Change => self.style.notable("~"),
            ChangeType::Unlink => self.style.bad("-"),
            ChangeType::Rename => self.style.place(">"),
        };
        let from = change.from.as_ref().map(|from| format!(" (was {})", escape::path(from)));
        let path = escape::path(&change.file_path);
        format!("{} {sign} {path}{}\n", self.time(change.timestamp), from.unwrap_or_default())
    }

    /// A checkpoint; nothing when nothing changed.
    pub fn checkpoint(&self, created: &Created, reason: &str) -> String {
        let id = &created.checkpoint.checkpoint_id;
        if self.json {
            return line(
                "checkpoint",
                json!({
                    "timestamp": created.checkpoint.timestamp, "checkpoint_id": id,
                    "tree": created.checkpoint.tree, "reason": reason, "unchanged": created.unchanged,
                    "files_changed": checkpoint::paths(&created.changes), "scanned": created.scanned,
                }),
            );
        }
        if created.unchanged {
            return String::new();
        }
        let id = self.style.bold(&escape::line(&id.0));
        format!("{} * {id}  {}\n", self.time(now()), changes::summary(&created.changes))
    }

    /// The last line.
    pub fn end(&self) -> String {
        if self.json { line("ended", json!({"timestamp": now()})) } else { String::new() }
    }

    /// The time of the day.
    fn time(&self, moment: Timestamp) -> String {
        let text = moment.to_string();
        let clock = text.split_once('T').and_then(|(_, clock)| clock.get(..8)).unwrap_or_default();
        self.style.faint(&format!("{clock}Z"))
    }
}

fn line(event: &str, mut value: Value) -> String {
    let mut all = json!({"event": event});
    if let (Some(all), Some(more)) = (all.as_object_mut(), value.as_object_mut()) {
        all.append(more);
    }
    format!("{all}\n")
}
