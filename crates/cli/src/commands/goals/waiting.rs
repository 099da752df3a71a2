//! One line for a person who waits for an answer, with the seconds counted.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::output::panel::Canvas;
use crate::output::{self, escape};

/// How often the seconds are counted.
const TICK: Duration = Duration::from_secs(1);

/// What is shown while somebody is asked.
pub struct Waiting {
    text: String,
    since: Instant,
    in_place: bool,
}

impl Waiting {
    /// Says who is asked: on a terminal in place, for programs as JSON, else once.
    pub fn begin(run: &str, who: &str, json: bool) -> anyhow::Result<Self> {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let in_place = !json && !dumb && std::io::stderr().is_terminal();
        let text = format!("asking {} to take the goal apart", escape::line(who));
        if json {
            let told = json!({ "type": "asking", "run": run, "who": who });
            output::print(&format!("{told}\n"))?;
        } else if !in_place {
            output::note(&format!("{text} …"));
        }
        let waiting = Self { text, since: Instant::now(), in_place };
        waiting.draw();
        Ok(waiting)
    }

    /// Counts until it is dropped.
    pub async fn count(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            self.draw();
        }
    }

    /// How many seconds it took so far.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.since.elapsed().as_secs()
    }

    fn draw(&self) {
        if self.in_place {
            let line = format!("{} … {}s", self.text, self.seconds());
            // A line that wraps could not be taken away again.
            let canvas = Canvas::of_stdout();
            let line = format!("\r\x1b[K{}", canvas.cut(&line, canvas.columns().saturating_sub(1)));
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.in_place {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
