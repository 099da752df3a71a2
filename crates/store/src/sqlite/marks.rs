//! What is found by an index alone, however many streams and messages there are.

use aurora_model::Timestamp;
use rusqlite::{Connection, Params, params};

use super::reader::{Reader, count, to_sql};
use super::row;
use crate::error::Result;
use crate::record::Marked;

/// The streams with a label, after a place.
const MARKED: &str = "FROM streams WHERE label = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
/// How many they are.
const COUNT: &str = "SELECT count(*) FROM streams WHERE label = ?1";
/// The streams that somebody must look at.
const DUE: &str = "FROM streams WHERE wake_at <= ?1 ORDER BY wake_at, id LIMIT ?2";
/// When the first of them must be looked at.
const NEXT_WAKE: &str =
    "SELECT wake_at FROM streams WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1";
/// When the first message is due.
const NEXT_OUTGOING: &str = "SELECT due FROM outbox ORDER BY due LIMIT 1";

impl Reader {
    /// The streams that are marked so.
    pub(super) fn marked(&self, label: &str, after: u64, limit: usize) -> Result<Vec<Marked>> {
        self.found(MARKED, params![label, to_sql(after), count(limit)])
    }

    /// The streams that somebody must look at by then.
    pub(super) fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<Marked>> {
        self.found(DUE, params![now.unix_ms, count(limit)])
    }

    /// How many streams are marked so.
    pub(super) fn count_marked(&self, label: &str) -> Result<u64> {
        let found = number(self.connection()?, COUNT, [label]).map_err(self.told())?;
        Ok(u64::try_from(found.unwrap_or(0)).unwrap_or(0))
    }

    /// When somebody must look at a stream next.
    pub(super) fn next_wake(&self) -> Result<Option<Timestamp>> {
        let found = number(self.connection()?, NEXT_WAKE, []).map_err(self.told())?;
        Ok(found.map(|unix_ms| Timestamp { unix_ms }))
    }

    /// When a message is due next.
    pub(super) fn next_outgoing(&self) -> Result<Option<Timestamp>> {
        let found = number(self.connection()?, NEXT_OUTGOING, []).map_err(self.told())?;
        Ok(found.map(|unix_ms| Timestamp { unix_ms }))
    }

    fn found(&self, rest: &str, given: impl Params) -> Result<Vec<Marked>> {
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(&streams_query(rest))?;
            statement.query_map(given, row::marked)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        ask().map_err(self.told())
    }
}

fn streams_query(rest: &str) -> String {
    format!("SELECT {} {rest}", row::MARKED)
}

/// The one number that a query gives, when it gives one.
fn number(
    connection: &Connection,
    query: &str,
    given: impl Params,
) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(given)?;
    rows.next()?.map(|row| row.get(0)).transpose()
}

#[cfg(test)]
mod tests;
