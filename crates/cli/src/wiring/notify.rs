//! Channels of notifications as this process can reach them: its secrets, its terminal, its desktop.

mod desktop;
mod secret;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aurora_engine::approvals::{Notices, Queue, Silence, Timekeeper};
use aurora_engine::notify::{Announcer, Delivery, Means, Route, Routes, Terminal};
use aurora_gate::approval::rules::notify::Channel;
use aurora_store::Store;

use self::desktop::NotifySend;
use super::place;
use super::store::Log;
use super::workspace::now;

/// A command does not wait longer for what it tells to arrive.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is on its way after that is given back after this.
const LAST: Duration = Duration::from_millis(500);

/// Who is told what happens to a request, by these settings.
#[must_use]
pub fn notices(channels: &[Channel]) -> Arc<dyn Notices> {
    if channels.is_empty() {
        return Arc::new(Silence);
    }
    Arc::new(Announcer::new(channels))
}

/// The channels as this process can reach them.
#[must_use]
pub fn routes(channels: &[Channel], terminal: Option<Arc<dyn Terminal>>) -> Routes {
    let folder = secrets_folder();
    let secret = |place: &_| secret::read(place, folder.as_deref());
    let means = Means { secret: &secret, terminal, desktop: NotifySend::find() };
    channels.iter().map(|channel| Route::new(channel, &means)).collect()
}

/// What goes on beside a run: the clock of requests, and the delivery of messages.
pub struct Beside {
    _timekeeper: Timekeeper,
    delivery: Option<Delivery>,
}

impl Beside {
    /// Starts it, where a runtime is.
    #[must_use]
    pub fn start(queue: &Queue, channels: &[Channel]) -> Self {
        let deliver = || {
            let sits = std::io::stderr().is_terminal();
            let terminal = sits.then(|| Arc::new(Chime) as Arc<dyn Terminal>);
            Delivery::start(Arc::clone(queue.store()), routes(channels, terminal), now)
        };
        let delivery = (!channels.is_empty()).then(deliver);
        Self { _timekeeper: Timekeeper::start(queue.clone()), delivery }
    }

    /// Ends it, after what there is to tell was tried once.
    pub async fn stop(self) {
        if let Some(delivery) = self.delivery {
            delivery.idle(PATIENCE).await;
            delivery.stop_within(LAST).await;
        }
    }
}

/// Sends what this command made happen, for a moment. What does not leave stays in the outbox, for
/// whoever delivers next.
pub fn flush(log: &Log, channels: &[Channel]) {
    if channels.is_empty() {
        return;
    }
    let routes = routes(channels, None);
    log.ask(async {
        let delivery = Delivery::start(Arc::clone(&log.store), routes, now);
        delivery.idle(PATIENCE).await;
        delivery.stop_within(LAST).await;
    });
}

/// Sends whatever is told as long as it lives; nothing where nobody is to be told.
#[must_use]
pub fn deliver(store: &Arc<dyn Store>, channels: &[Channel]) -> Option<Delivery> {
    let routes = || routes(channels, bell());
    (!channels.is_empty()).then(|| Delivery::start(Arc::clone(store), routes(), now))
}

/// Where the user's own secrets are.
fn secrets_folder() -> Option<PathBuf> {
    Some(place::home()?.join(".aurora").join("secrets"))
}

/// The terminal of this process, where somebody sits at it.
#[must_use]
pub fn bell() -> Option<Arc<dyn Terminal>> {
    std::io::stderr().is_terminal().then(|| Arc::new(Bell) as Arc<dyn Terminal>)
}

/// A bell alone: a run has screens of its own, which say what it is about.
struct Chime;

impl Terminal for Chime {
    fn ring(&self, _: &str) -> bool {
        write!(std::io::stderr(), "\u{7}").is_ok()
    }
}

/// A bell and a line on stderr.
struct Bell;

impl Terminal for Bell {
    fn ring(&self, line: &str) -> bool {
        let line = crate::output::escape::line(line);
        writeln!(std::io::stderr(), "\u{7}aur: {line}").is_ok()
    }
}
