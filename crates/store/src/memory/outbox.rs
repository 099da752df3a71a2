//! The messages in memory that wait to be delivered, the longest due first.

use std::collections::{BTreeSet, HashMap};

use aurora_model::Timestamp;

use crate::record::Outgoing;

/// When a message is due that nobody has asked for yet.
const AT_ONCE: Timestamp = Timestamp { unix_ms: i64::MIN };

/// What waits. Messages are counted as they come.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: HashMap<u64, (Outgoing, Timestamp)>,
    numbers: HashMap<String, u64>,
    by_due: BTreeSet<(Timestamp, u64)>,
    last: u64,
}

impl Outbox {
    /// Lets a message wait; one that waits already under its id is not put there again.
    pub(super) fn put(&mut self, message: Outgoing) {
        if self.numbers.contains_key(&message.id) {
            return;
        }
        self.last += 1;
        self.numbers.insert(message.id.clone(), self.last);
        self.by_due.insert((AT_ONCE, self.last));
        self.messages.insert(self.last, (Outgoing { tried: 0, ..message }, AT_ONCE));
    }

    /// Gives out what is due, and not again before then.
    pub(super) fn give(
        &mut self,
        now: Timestamp,
        again_at: Timestamp,
        limit: usize,
    ) -> Vec<Outgoing> {
        let due = self.by_due.range(..=(now, u64::MAX)).take(limit);
        let numbers: Vec<u64> = due.map(|(_, number)| *number).collect();
        let mut given = Vec::new();
        for number in numbers {
            self.move_to(number, again_at);
            if let Some((message, _)) = self.messages.get_mut(&number) {
                given.push(message.clone());
                message.tried = message.tried.saturating_add(1);
            }
        }
        given
    }

    /// Lets a message wait until then.
    pub(super) fn put_off(&mut self, id: &str, again_at: Timestamp) {
        if let Some(number) = self.numbers.get(id).copied() {
            self.move_to(number, again_at);
        }
    }

    /// Forgets a message.
    pub(super) fn delivered(&mut self, id: &str) {
        if let Some(number) = self.numbers.remove(id)
            && let Some((_, due)) = self.messages.remove(&number)
        {
            self.by_due.remove(&(due, number));
        }
    }

    /// When a message is due next.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.by_due.first().map(|(due, _)| *due)
    }

    fn move_to(&mut self, number: u64, again_at: Timestamp) {
        if let Some((_, due)) = self.messages.get_mut(&number) {
            self.by_due.remove(&(*due, number));
            *due = again_at;
            self.by_due.insert((again_at, number));
        }
    }
}
