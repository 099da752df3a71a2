//! How much one may ask: sizes, times, and a bucket of requests for each address and each token.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits of everything that comes from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest body, in bytes.
    pub body_bytes: usize,
    /// How long the head of a request may take to arrive.
    pub head_time: Duration,
    /// How long its body may take to arrive.
    pub body_time: Duration,
    /// How long answering may take.
    pub answer_time: Duration,
    /// How many connections there may be.
    pub connections: usize,
    /// How many streams of events there may be.
    pub streams: usize,
    /// How long a stream waits for a client that does not read.
    pub stall_time: Duration,
    /// How often a stream says that it lives.
    pub heartbeat: Duration,
    /// Requests per second of one token, on average; an address has four times as many.
    pub rate_per_s: f64,
    /// How long what is going on may take after it was told to stop.
    pub leave_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(10),
            answer_time: Duration::from_secs(60),
            connections: 512,
            streams: 64,
            stall_time: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            rate_per_s: 50.0,
            leave_time: Duration::from_secs(5),
        }
    }
}

/// How many seconds' worth of requests may come at once.
const BURST_S: f64 = 4.0;
/// More than so many are not remembered one by one.
const MAX_BUCKETS: usize = 10_000;

/// A bucket for each of many.
#[derive(Debug)]
pub struct Buckets<K> {
    rate_per_s: f64,
    filled: Mutex<HashMap<K, (f64, Instant)>>,
}

impl<K: Eq + Hash> Buckets<K> {
    /// Buckets that fill so fast.
    #[must_use]
    pub fn new(rate_per_s: f64) -> Self {
        Self { rate_per_s, filled: Mutex::default() }
    }

    /// Takes one out of a bucket.
    ///
    /// # Errors
    /// When it is empty, with how many seconds it takes until it is not.
    pub fn take(&self, key: K, now: Instant) -> Result<(), u64> {
        let most = (self.rate_per_s * BURST_S).max(1.0);
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if filled.len() >= MAX_BUCKETS && !filled.contains_key(&key) {
            let rate = self.rate_per_s;
            filled.retain(|_, (left, at)| refilled(*left, *at, now, rate) < most);
            if filled.len() >= MAX_BUCKETS {
                return Err(1);
            }
        }
        let (left, at) = filled.entry(key).or_insert((most, now));
        *left = refilled(*left, *at, now, self.rate_per_s).min(most);
        *at = now;
        if *left < 1.0 {
            let wait = ((1.0 - *left) / self.rate_per_s.max(0.001)).ceil();
            return Err(wait.clamp(1.0, 3600.0) as u64);
        }
        *left -= 1.0;
        Ok(())
    }
}

fn refilled(left: f64, at: Instant, now: Instant, rate_per_s: f64) -> f64 {
    left + now.saturating_duration_since(at).as_secs_f64() * rate_per_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_is_in_it_and_fills_again() {
        let (buckets, now) = (Buckets::new(2.0), Instant::now());
        for _ in 0..8 {
            assert_eq!(buckets.take("a", now), Ok(()));
        }
        assert_eq!(buckets.take("a", now), Err(1));
        assert_eq!(buckets.take("b", now), Ok(()), "each has its own");
        assert_eq!(buckets.take("a", now + Duration::from_secs(1)), Ok(()));
        assert_eq!(buckets.take("a", now), Ok(()), "a clock that goes back takes nothing away");
        assert_eq!(buckets.take("a", now), Err(1));
    }

    #[test]
    fn so_many_are_remembered_and_no_more() {
        let (buckets, now) = (Buckets::new(1.0), Instant::now());
        for key in 0..MAX_BUCKETS {
            assert_eq!(buckets.take(key, now), Ok(()));
        }
        assert_eq!(buckets.take(MAX_BUCKETS, now), Err(1));
        assert_eq!(buckets.take(MAX_BUCKETS, now + Duration::from_secs(10)), Ok(()));
    }
}
