//! What waits for one channel in this process: few messages, one on its way, and a rest after failures.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use aurora_model::Timestamp;
use aurora_store::Outgoing;

use super::{after, between};
use crate::notify::message::Message;
use crate::notify::pace::Pace;
use crate::notify::route::{Route, Sender};

/// More do not wait here; they wait in the outbox.
const MAX_WAITING: usize = 8;
/// How much later each further lot of those that do not fit is looked at.
const STEP: Duration = Duration::from_secs(1);

/// A message that is ours for a while.
pub(super) struct Taken {
    pub sent: Outgoing,
    pub message: Box<Message>,
    pub leased: Timestamp,
}

/// What waits for one channel.
pub(super) struct Lane {
    pub route: Route,
    waiting: VecDeque<Taken>,
    is_busy: bool,
    failures: u32,
    rests_until: Option<Timestamp>,
    turned_away: u32,
}

impl Lane {
    pub(super) const fn new(route: Route) -> Self {
        let waiting = VecDeque::new();
        Self { route, waiting, is_busy: false, failures: 0, rests_until: None, turned_away: 0 }
    }

    /// Takes a message in, or gives it back with when to come again.
    pub(super) fn admit(
        &mut self,
        taken: Taken,
        now: Timestamp,
        pace: &Pace,
    ) -> Result<(), Box<(Taken, Timestamp)>> {
        if let Some(until) = self.rests_until.filter(|until| *until > now) {
            let apart = pace.wait(0, &taken.sent.id) / 4;
            return Err(Box::new((taken, after(until, apart))));
        }
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(taken);
            return Ok(());
        }
        // They come back in lots of what fits, not all at once.
        self.turned_away = self.turned_away.saturating_add(1);
        let lots = self.turned_away.div_ceil(u32::try_from(MAX_WAITING).unwrap_or(1));
        Err(Box::new((taken, after(now, STEP.saturating_mul(lots)))))
    }

    /// The next message to send, when the lane is free.
    pub(super) fn next(&mut self, now: Timestamp, pace: &Pace) -> Option<(Arc<dyn Sender>, Taken)> {
        let rests = self.rests_until.is_some_and(|until| until > now);
        let sender = self.route.sender.as_ref().ok()?;
        if self.is_busy || rests {
            return None;
        }
        while let Some(taken) = self.waiting.pop_front() {
            // What could not be sent before its lease ends is somebody else's already.
            if between(now, taken.leased) > pace.timeout {
                self.is_busy = true;
                return Some((Arc::clone(sender), taken));
            }
        }
        self.turned_away = 0;
        None
    }

    /// A message arrived.
    pub(super) fn arrived(&mut self) {
        self.is_busy = false;
        self.failures = 0;
        self.rests_until = None;
        self.turned_away = self.turned_away.saturating_sub(1);
    }

    /// A message failed; with a passing reason the channel rests, and what waits is given back.
    pub(super) fn failed(
        &mut self,
        said: Option<Duration>,
        now: Timestamp,
        pace: &Pace,
    ) -> VecDeque<Taken> {
        self.is_busy = false;
        let Some(said) = said else { return VecDeque::new() };
        let wait = pace.wait(self.failures, &self.route.name).max(said);
        self.failures = self.failures.saturating_add(1);
        self.rests_until = Some(after(now, wait));
        std::mem::take(&mut self.waiting)
    }

    /// Everything that waits here, which is then nobody's.
    pub(super) fn give_back(&mut self) -> VecDeque<Taken> {
        std::mem::take(&mut self.waiting)
    }

    /// When it is tried again.
    pub(super) fn again_at(&self, now: Timestamp) -> Timestamp {
        self.rests_until.unwrap_or(now)
    }

    /// A try ended without an outcome.
    pub(super) const fn broke_down(&mut self) {
        self.is_busy = false;
    }
}
