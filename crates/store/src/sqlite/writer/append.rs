//! Appending to a stream inside a transaction that others append in, too.

use aurora_model::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::super::reader::to_sql;
use super::super::row;
use super::{Bench, Done};
use crate::chain::{self, BEGINNING, Hash};
use crate::error::{Error, Result};
use crate::record::{Append, Appended, Expected, NewRecord};

/// The end of the whole log, read once in a transaction: nobody else writes meanwhile.
#[derive(Default, Clone, Copy)]
pub(super) struct Tip {
    last: Option<(u64, Hash)>,
    written: bool,
}

impl Tip {
    /// The last position, when something was appended in this transaction.
    pub(super) fn written(&self) -> Option<u64> {
        self.last.filter(|_| self.written).map(|(position, _)| position)
    }
}

/// A stream, as its head says.
struct Stream {
    id: i64,
    version: u64,
    last_position: u64,
    hash: Hash,
}

impl Bench {
    /// Appends to some streams, all of it or nothing: what fails is taken back to the savepoint, and
    /// the others in the transaction stay. The outer error means that the transaction itself is in
    /// trouble.
    pub(super) fn append(
        &self,
        appends: &[Append],
        tip: &mut Tip,
    ) -> rusqlite::Result<Result<Done>> {
        let mut before = Vec::with_capacity(appends.len());
        for append in appends {
            let stream = self.stream(&append.stream.0)?;
            let found = stream.as_ref().map_or(0, |stream| stream.version);
            if let Expected::Version(expected) = append.expected
                && expected != found
            {
                let stream = append.stream.0.clone();
                return Ok(Err(Error::Conflict { stream, expected, found }));
            }
            before.push(stream);
        }
        self.say("SAVEPOINT one")?;
        let at_start = *tip;
        let mut appended = Vec::with_capacity(appends.len());
        for (append, before) in appends.iter().zip(before) {
            match self.one(append, before, tip) {
                Ok(done) => appended.push(done),
                // A constraint that does not hold concerns this one only. It happens when somebody
                // changed the file behind our back.
                Err(error) if is_constraint(&error) => {
                    self.say("ROLLBACK TO one")?;
                    self.say("RELEASE one")?;
                    *tip = at_start;
                    let stream = &append.stream;
                    let what = format!("{stream} does not go on where its head says: {error}");
                    return Ok(Err(Error::Corrupt { what }));
                }
                Err(error) => return Err(error),
            }
        }
        self.say("RELEASE one")?;
        Ok(Ok(Done::Appended(appended)))
    }

    fn one(
        &self,
        append: &Append,
        before: Option<Stream>,
        tip: &mut Tip,
    ) -> rusqlite::Result<Appended> {
        let appended = self.records(append, before, tip)?;
        if let Some(mark) = &append.mark {
            let query = "UPDATE streams SET label = ?2, wake_at = ?3 WHERE name = ?1";
            let wake_at = mark.wake_at.map(|at| at.unix_ms);
            self.run(query, params![append.stream.0, mark.label, wake_at])?;
        }
        self.messages(append)?;
        Ok(appended)
    }

    fn stream(&self, name: &str) -> rusqlite::Result<Option<Stream>> {
        let query = "SELECT id, version, last_position, hash FROM streams WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(query)?;
        let read = |row: &rusqlite::Row<'_>| {
            let number = |index| row.get::<_, i64>(index).map(|it| u64::try_from(it).unwrap_or(0));
            let hash = row::hash(row.get_ref(3)?, &mut true);
            Ok(Stream { id: row.get(0)?, version: number(1)?, last_position: number(2)?, hash })
        };
        statement.query_row([name], read).optional()
    }

    fn records(
        &self,
        append: &Append,
        before: Option<Stream>,
        tip: &mut Tip,
    ) -> rusqlite::Result<Appended> {
        let Some(last) = append.records.last() else {
            let at = before.map_or((0, 0), |stream| (stream.version, stream.last_position));
            return Ok(Appended { version: at.0, position: at.1 });
        };
        let mut stream = match before {
            Some(stream) => stream,
            None => self.new_stream(append)?,
        };
        let (mut position, mut chain) = match tip.last {
            Some(last) => last,
            None => self.tip()?,
        };
        for record in &append.records {
            position += 1;
            stream.version += 1;
            let (name, version) = (&append.stream.0, stream.version);
            let NewRecord { kind, schema, payload } = record;
            stream.hash =
                chain::hash(&stream.hash, name, version, append.at, kind, *schema, payload);
            chain = chain::link(&chain, position, &stream.hash);
            self.insert(position, &stream, append.at, record, &chain)?;
        }
        let query = "UPDATE streams
            SET version = ?2, last_at = ?3, last_kind = ?4, last_position = ?5, hash = ?6
            WHERE id = ?1";
        let (version, at) = (to_sql(stream.version), append.at.unix_ms);
        let place = to_sql(position);
        self.run(query, params![stream.id, version, at, last.kind, place, stream.hash])?;
        *tip = Tip { last: Some((position, chain)), written: true };
        Ok(Appended { version: stream.version, position })
    }

    fn insert(
        &self,
        position: u64,
        stream: &Stream,
        at: Timestamp,
        record: &NewRecord,
        chain: &Hash,
    ) -> rusqlite::Result<()> {
        let query = "INSERT INTO records
            (position, stream, version, at, kind, schema, payload, hash, chain)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let NewRecord { kind, schema, payload } = record;
        let (position, version) = (to_sql(position), to_sql(stream.version));
        let at = at.unix_ms;
        let hash = &stream.hash;
        let row = params![position, stream.id, version, at, kind, schema, payload, hash, chain];
        self.run(query, row)
    }

    fn new_stream(&self, append: &Append) -> rusqlite::Result<Stream> {
        let query = "INSERT INTO streams
            (name, version, first_at, last_at, last_kind, last_position, hash)
            VALUES (?1, 0, ?2, ?2, '', 0, ?3)";
        self.run(query, params![append.stream.0, append.at.unix_ms, BEGINNING])?;
        let id = self.connection.last_insert_rowid();
        Ok(Stream { id, version: 0, last_position: 0, hash: BEGINNING })
    }

    fn tip(&self) -> rusqlite::Result<(u64, Hash)> {
        let query = "SELECT position, chain FROM records ORDER BY position DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(query)?;
        let read = |row: &rusqlite::Row<'_>| {
            let position = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
            Ok((position, row::hash(row.get_ref(1)?, &mut true)))
        };
        Ok(statement.query_row([], read).optional()?.unwrap_or((0, BEGINNING)))
    }

    /// Messages leave once: one that waits already under its id is not put there again.
    fn messages(&self, append: &Append) -> rusqlite::Result<()> {
        let query = "INSERT INTO outbox (id, topic, payload, due) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (id) DO NOTHING";
        for message in &append.outgoing {
            let row = params![message.id, message.topic, message.payload, i64::MIN];
            self.run(query, row)?;
        }
        Ok(())
    }
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}
