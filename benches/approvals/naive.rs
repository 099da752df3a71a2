//! The naive way: one JSON file for each session with its whole conversation in it, which is read,
//! changed and written anew for every decision, and looked at every second by whoever waits.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Outcome, Sample, told};

/// How often a session is looked at.
const POLL: Duration = Duration::from_secs(1);

/// A session in its file.
pub struct Session {
    path: PathBuf,
}

impl Session {
    /// A session that waits, with a conversation of so many bytes.
    pub fn new(folder: &Path, name: &str, bytes: usize) -> Outcome<Self> {
        let path = folder.join(format!("{name}.json"));
        let turn = json!({ "role": "tool", "content": "x".repeat(bytes.min(1000)) });
        let turns = vec![turn; bytes.div_ceil(1000)];
        let session = Self { path };
        session.write(&json!({ "id": name, "status": "pending", "messages": turns }))?;
        Ok(session)
    }

    fn read(&self) -> Outcome<Value> {
        let bytes = fs::read(&self.path).map_err(told("read a session"))?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }

    fn write(&self, session: &Value) -> Outcome<()> {
        let bytes = serde_json::to_vec(session).map_err(|error| error.to_string())?;
        let draft = self.path.with_extension("draft");
        let write = || {
            let mut file = File::create(&draft)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&draft, &self.path)
        };
        write().map_err(told("write a session"))
    }

    /// Decides it.
    pub fn decide(&self, status: &str) -> Outcome<()> {
        let mut session = self.read()?;
        if let Some(field) = session.get_mut("status") {
            *field = status.into();
        }
        self.write(&session)
    }

    /// Waits until it is decided, as whoever polls does.
    pub fn decided(&self) -> Outcome<()> {
        loop {
            if self.read()?.get("status").is_some_and(|status| status != "pending") {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }
}

/// Decisions by some at once, each about a session of its own.
pub fn decisions(folder: &Path, bytes: usize, crowd: usize, span: Duration) -> Outcome<Sample> {
    let sessions: Outcome<Vec<Session>> = (0..crowd)
        .map(|one| Session::new(folder, &format!("session-{bytes}-{one}"), bytes))
        .collect();
    let sessions = sessions?;
    let start = Instant::now();
    let decide = |session: &Session| {
        let mut waits = Vec::new();
        while start.elapsed() < span {
            let asked = Instant::now();
            session.decide("approved")?;
            waits.push(asked.elapsed());
        }
        Ok::<_, String>(waits)
    };
    let all: Outcome<Vec<Vec<Duration>>> = thread::scope(|scope| {
        let decide = &decide;
        let threads: Vec<_> =
            sessions.iter().map(|session| scope.spawn(move || decide(session))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let took = start.elapsed();
    Ok(Sample::new(all?.into_iter().flatten().collect(), took))
}

/// From a decision until whoever polls has seen it.
pub fn going_on(folder: &Path, bytes: usize, times: usize) -> Outcome<Sample> {
    let start = Instant::now();
    let mut waits = Vec::new();
    for time in 0..times {
        let session = Session::new(folder, &format!("waiting-{bytes}"), bytes)?;
        let taken = thread::scope(|scope| {
            let waiting = scope.spawn(|| session.decided());
            // People do not decide in step with whoever polls.
            let part = u32::try_from(time * 2 + 1).unwrap_or(1);
            thread::sleep(POLL / u32::try_from(times * 2).unwrap_or(1) * part);
            let asked = Instant::now();
            session.decide("approved")?;
            let seen = waiting.join().map_err(|_| "the poller is gone".to_owned())?;
            seen.map(|()| asked.elapsed())
        })?;
        waits.push(taken);
    }
    Ok(Sample::new(waits, start.elapsed()))
}
