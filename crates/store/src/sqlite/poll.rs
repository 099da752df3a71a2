//! Looks for what other processes wrote, when they ring and ten times a second, while somebody wants to
//! know.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::watch;

use super::bell::{Bell, Ear};
use super::{Settings, reader, schema};

/// How long another process's record may stay unnoticed when its bell is not heard.
const PAUSE: Duration = Duration::from_millis(100);

/// The thread that looks, when there is one.
#[derive(Debug)]
pub(super) struct Poll {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: Arc<Settings>,
    position: watch::Sender<u64>,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    over: bool,
    thread: Option<JoinHandle<()>>,
}

impl Poll {
    /// Looks at nothing yet.
    pub(super) fn new(settings: Arc<Settings>, position: watch::Sender<u64>) -> Self {
        let (state, ended) = (Mutex::default(), Condvar::new());
        Self { shared: Arc::new(Shared { settings, position, state, ended }) }
    }

    /// Looks from now on, as long as somebody is subscribed.
    pub(super) fn wake(&self) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("aurora-log-poll".to_owned());
            // Without the thread a subscriber hears of this process's own records only, and the
            // next one tries again.
            state.thread = thread.spawn(move || shared.look()).ok();
        }
    }
}

impl Shared {
    fn look(&self) {
        // It listens before it looks: what is written after the look is heard.
        let ear = Ear::at(&self.settings.bell());
        let mut connection = None;
        loop {
            connection = connection.or_else(|| schema::connect(&self.settings).ok());
            // Asking for the last position costs a look at one page of memory, hardly more than
            // asking SQLite whether anything changed at all.
            let last = connection.as_ref().and_then(|connection| {
                // What cannot be read now is tried again; who reads himself is told why.
                reader::last_position(connection, &self.settings).ok()
            });
            if let Some(last) = last {
                self.position.send_if_modified(|known| {
                    let news = last > *known;
                    *known = last.max(*known);
                    news
                });
            }
            let mut state = self.pause(ear.as_ref());
            // Whoever subscribes is counted first and asks for the thread under the lock then.
            if state.over || self.position.receiver_count() == 0 {
                state.thread = None;
                return;
            }
        }
    }
}

impl Shared {
    /// Waits until there may be something new, or it is over.
    fn pause(&self, ear: Option<&Ear>) -> MutexGuard<'_, State> {
        if let Some(ear) = ear {
            ear.listen(PAUSE);
            return self.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(state, PAUSE, |state| !state.over);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.over = true;
        let thread = state.thread.take();
        drop(state);
        self.shared.ended.notify_all();
        if let Some(thread) = thread {
            // One that listens hears that it is over.
            Bell::at(&self.shared.settings.bell()).ring();
            // It has nothing to answer for.
            let _ = thread.join();
        }
    }
}
