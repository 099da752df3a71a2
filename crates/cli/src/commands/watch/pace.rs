//! When the next checkpoint is due.

use std::time::{Duration, Instant};

/// Checkpoints are at least so far apart.
const APART: Duration = Duration::from_secs(5);

/// What has happened since the last checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Since {
    Nothing,
    Changes,
    Many,
}

/// When the next checkpoint is due.
#[derive(Debug)]
pub struct Pace {
    interval: Duration,
    last: Instant,
    since: Since,
}

impl Pace {
    /// Nothing has changed yet.
    pub fn new(interval: Duration, now: Instant) -> Self {
        Self { interval: interval.max(APART), last: now, since: Since::Nothing }
    }

    /// Something changed.
    pub fn changed(&mut self) {
        if self.since == Since::Nothing {
            self.since = Since::Changes;
        }
    }

    /// Much has changed.
    pub fn threshold(&mut self) {
        self.since = Since::Many;
    }

    /// A checkpoint is being made.
    pub fn made(&mut self, now: Instant) {
        self.last = now;
        self.since = Since::Nothing;
    }

    /// When the next one is due; never while nothing changes.
    pub fn due(&self) -> Option<Instant> {
        match self.since {
            Since::Nothing => None,
            Since::Changes => Some(self.last + self.interval),
            Since::Many => Some(self.last + APART),
        }
    }

    /// Why it is due, in a word.
    pub fn reason(&self) -> &'static str {
        if self.since == Since::Many { "threshold" } else { "interval" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_come_when_much_changed_or_time_has_passed_and_never_too_often() {
        let start = Instant::now();
        let mut pace = Pace::new(Duration::from_secs(30), start);
        assert_eq!(pace.due(), None);
        pace.changed();
        assert_eq!(
            (pace.due(), pace.reason()),
            (Some(start + Duration::from_secs(30)), "interval")
        );
        pace.threshold();
        pace.changed();
        assert_eq!((pace.due(), pace.reason()), (Some(start + APART), "threshold"));
        pace.made(start + Duration::from_secs(40));
        assert_eq!(pace.due(), None);
        assert_eq!(Pace::new(Duration::from_secs(1), start).interval, APART);
    }
}
