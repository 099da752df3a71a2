//! How patient the delivery is: when it tries again, and when it gives up.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// How patient the delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long one try may take.
    pub timeout: Duration,
    /// For how long a message that was taken is nobody else's.
    pub lease: Duration,
    /// How long after the first failure it is tried again; twice as long after each further one.
    pub first_wait: Duration,
    /// It is never waited longer.
    pub longest_wait: Duration,
    /// After how long a message is given up whose receiver cannot be reached.
    pub give_up_after: Duration,
    /// After how many tries a message is given up that the receiver refuses.
    pub refused_tries: u32,
    /// After how long a message for a terminal is forgotten when nobody sits at one.
    pub forget_after: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            lease: Duration::from_secs(120),
            first_wait: Duration::from_secs(5),
            longest_wait: Duration::from_secs(3600),
            give_up_after: Duration::from_secs(3 * 24 * 3600),
            refused_tries: 5,
            forget_after: Duration::from_secs(600),
        }
    }
}

impl Pace {
    /// How long to wait after so many failures. What failed at one moment is not tried again at one
    /// moment: the name of a message moves it by up to a fifth.
    #[must_use]
    pub(super) fn wait(&self, failures: u32, name: &str) -> Duration {
        let doubled = self.first_wait.saturating_mul(1 << failures.min(20));
        let plain = doubled.min(self.longest_wait);
        let mut hasher = DefaultHasher::new();
        (name, failures).hash(&mut hasher);
        let share = u32::try_from(hasher.finish() % 400).unwrap_or(200);
        plain.saturating_mul(800 + share) / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// APR-9: waits grow twofold up to a bound, and differ between messages.
    #[test]
    fn waits_double_up_to_a_bound_and_differ_by_message() {
        let pace = Pace::default();
        for failures in 0..40 {
            let plain = pace.first_wait.saturating_mul(1 << failures.min(20));
            let plain = plain.min(pace.longest_wait);
            for name in ["a/1/ops", "a/2/ops", "b/1/ops"] {
                let wait = pace.wait(failures, name);
                assert!(wait >= plain * 4 / 5 && wait < plain * 6 / 5, "{failures} {wait:?}");
            }
        }
        let waits = (0..100).map(|number| pace.wait(3, &format!("a/{number}/ops")));
        let different: std::collections::BTreeSet<Duration> = waits.collect();
        assert!(different.len() > 50, "{}", different.len());
    }
}
