//! Every question to the tables that changes nothing.

use std::cell::OnceCell;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::trouble::told;
use super::{Settings, row, schema};
use crate::error::{Error, Result};
use crate::record::{Head, Record, StreamId};

/// A connection that reads, made when it is needed first.
pub(super) struct Reader {
    connection: OnceCell<Connection>,
    settings: Arc<Settings>,
}

/// The last position of the log, 0 when it is empty.
pub(super) fn last_position(connection: &Connection, settings: &Settings) -> Result<u64> {
    let ask = || {
        let query = "SELECT max(position) FROM records";
        connection.prepare_cached(query)?.query_row([], |row| row.get::<_, Option<i64>>(0))
    };
    let found = ask().map_err(told("read", &settings.path))?;
    Ok(u64::try_from(found.unwrap_or(0)).unwrap_or(0))
}

impl Reader {
    /// Reads the log of these settings.
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self { connection: OnceCell::new(), settings }
    }

    pub(super) fn connection(&self) -> Result<&Connection> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let connection = schema::connect(&self.settings)?;
        Ok(self.connection.get_or_init(|| connection))
    }

    pub(super) fn told(&self) -> impl Fn(rusqlite::Error) -> Error + '_ {
        told("read", &self.settings.path)
    }

    /// The records of a stream; what is missing or unreadable among them is an error. What stands
    /// where a verification would not see it is not there.
    pub(super) fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Record>> {
        let query = records_query(
            "FROM streams s JOIN records r ON r.stream = s.id \
             WHERE s.name = ?1 AND r.version > ?2 AND r.version <= s.version AND r.position > 0 \
             ORDER BY r.version LIMIT ?3",
        );
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(&query)?;
            let given = params![stream.0, to_sql(after), count(limit)];
            statement.query_map(given, row::record)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        let found = ask().map_err(self.told())?;
        let mut records = Vec::with_capacity(found.len());
        for ((record, sound), expected) in found.into_iter().zip(after.saturating_add(1)..) {
            if !sound || record.version != expected {
                let what = format!("version {expected} of {stream} is missing or unreadable");
                return Err(Error::Corrupt { what });
            }
            records.push(record);
        }
        Ok(records)
    }

    /// The records of the whole log as they are, damaged or not: verifying tells. Only where positions
    /// do not increase, which a damaged file can make of an ordered question, reading ends: whoever
    /// goes on after the last one would go round in circles.
    pub(super) fn read_all(&self, after: u64, limit: usize) -> Result<Vec<Record>> {
        let query = records_query(
            "FROM records r LEFT JOIN streams s ON s.id = r.stream \
             WHERE r.position > ?1 ORDER BY r.position LIMIT ?2",
        );
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(&query)?;
            let found = statement.query_map(params![to_sql(after), count(limit)], row::record)?;
            found
                .map(|found| found.map(|(record, _)| record))
                .collect::<rusqlite::Result<Vec<Record>>>()
        };
        let mut found = ask().map_err(self.told())?;
        let mut last = after;
        let increasing = found.iter().take_while(|record| {
            let more = record.position > last;
            last = record.position;
            more
        });
        let sound = increasing.count();
        if sound == 0 && !found.is_empty() {
            let path = self.settings.path.display();
            let what =
                format!("{path} is damaged: its records after position {after} have no order");
            return Err(Error::Corrupt { what });
        }
        found.truncate(sound);
        Ok(found)
    }

    /// What SQLite finds wrong with its own file.
    pub(super) fn inspect(&self) -> Result<Vec<String>> {
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        };
        let found = ask().map_err(self.told())?;
        let lines = found.iter().flat_map(|text| text.lines());
        let heading = |line: &str| line.is_empty() || line.starts_with("***") || line == "ok";
        let told = lines.map(str::trim).filter(|line| !heading(line));
        Ok(told.take(10).map(str::to_owned).collect())
    }

    /// How a stream stands.
    pub(super) fn head(&self, stream: &StreamId) -> Result<Option<Head>> {
        let query = format!("SELECT {} FROM streams WHERE name = ?1", row::HEAD);
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(&query)?;
            statement.query_row([&stream.0], row::head).optional()
        };
        ask().map_err(self.told())
    }

    /// The streams whose names begin so. Names are compared by their bytes, so that those that begin
    /// alike stand together from the beginning itself on.
    pub(super) fn heads(&self, prefix: &str, limit: usize) -> Result<Vec<Head>> {
        let query = format!(
            "SELECT {} FROM streams WHERE name >= ?1 AND substr(name, 1, ?2) = ?1 \
             ORDER BY last_position DESC LIMIT ?3",
            row::HEAD
        );
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(&query)?;
            let given = params![prefix, count(prefix.chars().count()), count(limit)];
            statement.query_map(given, row::head)?.collect::<rusqlite::Result<_>>()
        };
        ask().map_err(self.told())
    }

    /// A picture and how far it goes.
    pub(super) fn projection(&self, name: &str) -> Result<Option<(u64, String)>> {
        let query = "SELECT position, picture FROM projections WHERE name = ?1";
        let connection = self.connection()?;
        let ask = || {
            let mut statement = connection.prepare_cached(query)?;
            let found = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
            statement.query_row([name], found).optional()
        };
        let found = ask().map_err(self.told())?;
        Ok(found.map(|(position, picture)| (u64::try_from(position).unwrap_or(0), picture)))
    }
}

fn records_query(rest: &str) -> String {
    format!("SELECT {} {rest}", row::RECORD)
}

/// A number as SQLite holds it; what is larger than it can hold is past the end of everything.
pub(super) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count, likewise.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
