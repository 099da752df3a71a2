//! What the streams in memory are found by, kept in the orders in which it is asked for.

use std::collections::{BTreeMap, BTreeSet};

use aurora_model::Timestamp;

use crate::record::{Mark, Marked, StreamId};

/// The marks of all streams, by their places.
#[derive(Debug, Default)]
pub(super) struct Marks {
    of: BTreeMap<u64, (StreamId, Mark)>,
    by_label: BTreeMap<String, BTreeSet<u64>>,
    by_wake: BTreeSet<(Timestamp, u64)>,
}

impl Marks {
    /// Marks the stream at a place, in place of what it was marked as.
    pub(super) fn set(&mut self, place: u64, stream: &StreamId, mark: Mark) {
        if let Some((_, before)) = self.of.remove(&place) {
            if let Some(places) = self.by_label.get_mut(&before.label) {
                places.remove(&place);
            }
            if let Some(at) = before.wake_at {
                self.by_wake.remove(&(at, place));
            }
        }
        self.by_label.entry(mark.label.clone()).or_default().insert(place);
        if let Some(at) = mark.wake_at {
            self.by_wake.insert((at, place));
        }
        self.of.insert(place, (stream.clone(), mark));
    }

    /// The streams that are marked so, after a place.
    pub(super) fn marked(&self, label: &str, after: u64, limit: usize) -> Vec<Marked> {
        let Some(places) = self.by_label.get(label) else { return Vec::new() };
        let places = places.range(after.saturating_add(1)..).take(limit);
        places.filter_map(|place| self.at(*place)).collect()
    }

    /// How many they are.
    pub(super) fn count(&self, label: &str) -> u64 {
        self.by_label.get(label).map_or(0, |places| places.len() as u64)
    }

    /// The streams that somebody must look at by then.
    pub(super) fn due(&self, now: Timestamp, limit: usize) -> Vec<Marked> {
        let due = self.by_wake.range(..=(now, u64::MAX)).take(limit);
        due.filter_map(|(_, place)| self.at(*place)).collect()
    }

    /// When somebody must look at a stream next.
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        self.by_wake.first().map(|(at, _)| *at)
    }

    fn at(&self, place: u64) -> Option<Marked> {
        let (stream, mark) = self.of.get(&place)?;
        Some(Marked { stream: stream.clone(), mark: mark.clone(), place })
    }
}
