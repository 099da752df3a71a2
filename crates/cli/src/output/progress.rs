//! How far long work is: one line on stderr, for a person who waits.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use aurora_workspace::Progress;

/// Work that is shorter shows nothing.
const PATIENCE: Duration = Duration::from_millis(300);
const BETWEEN: Duration = Duration::from_millis(100);

/// One line that is rewritten in place. Only a terminal gets it, and it is gone when it is cleared.
pub struct Bar {
    shows: bool,
    state: Mutex<State>,
}

struct State {
    stage: &'static str,
    since: Instant,
    drawn: Option<Instant>,
}

impl Bar {
    /// A line on stderr where that is a terminal; elsewhere nothing is shown.
    #[must_use]
    pub fn on_stderr() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let state = State { stage: "", since: Instant::now(), drawn: None };
        Self { shows: std::io::stderr().is_terminal() && !dumb, state: Mutex::new(state) }
    }

    /// Work begins now: patience is counted from here.
    pub fn begin(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.since = Instant::now();
        }
    }

    /// Takes the line away, so that something else can be said.
    pub fn clear(&self) {
        let Ok(mut state) = self.state.lock() else { return };
        if state.drawn.take().is_some() {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

impl Progress for Bar {
    fn at(&self, stage: &'static str, done: u64, total: Option<u64>) {
        if !self.shows {
            return;
        }
        // A thread that finds another one drawing goes on with its work.
        let Ok(mut state) = self.state.try_lock() else { return };
        let now = Instant::now();
        let waited = now.duration_since(state.since) >= PATIENCE;
        let soon = state.drawn.is_some_and(|drawn| now.duration_since(drawn) < BETWEEN);
        if !waited || (soon && state.stage == stage) {
            return;
        }
        state.stage = stage;
        state.drawn = Some(now);
        let line = format!("\r\x1b[K{}", line(stage, done, total));
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// What the line says.
fn line(stage: &str, done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) if total > 0 => {
            let percent = u128::from(done.min(total)) * 100 / u128::from(total);
            format!("{stage}: {percent}% ({done} of {total})")
        }
        _ if done > 0 => format!("{stage}: {done}"),
        _ => format!("{stage} …"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_where_that_is_known() {
        assert_eq!(line("reading", 0, None), "reading …");
        assert_eq!(line("reading", 12, None), "reading: 12");
        assert_eq!(line("reading", 12, Some(48)), "reading: 25% (12 of 48)");
        assert_eq!(line("reading", 50, Some(48)), "reading: 100% (50 of 48)");
        assert_eq!(line("reading", 1, Some(0)), "reading: 1");
    }
}
