//! A row of the tables as a record.

use aurora_model::{Digest, Timestamp};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::chain::{BEGINNING, Hash};
use crate::record::{Head, Mark, Marked, Record, StreamId};

/// The columns of a record, in the order in which they are read here.
pub(super) const RECORD: &str =
    "r.position, s.name, r.version, r.at, r.kind, r.schema, r.payload, r.hash, r.chain";
/// The columns of a head, likewise.
pub(super) const HEAD: &str = "name, version, first_at, last_at, last_kind, hash";

/// The columns of a stream that was found by its mark, likewise.
pub(super) const MARKED: &str = "id, name, label, wake_at";

/// A record, and whether every column is what only we write. Nothing that somebody put into the file
/// keeps a record from being shown; its hashes tell.
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<(Record, bool)> {
    let mut sound = true;
    let record = Record {
        position: number(row.get_ref(0)?, &mut sound),
        stream: StreamId(text(row.get_ref(1)?, &mut sound)),
        version: number(row.get_ref(2)?, &mut sound),
        at: time(row.get_ref(3)?, &mut sound),
        kind: text(row.get_ref(4)?, &mut sound),
        schema: number(row.get_ref(5)?, &mut sound).try_into().unwrap_or_else(|_| {
            sound = false;
            u16::MAX
        }),
        payload: text(row.get_ref(6)?, &mut sound),
        hash: Digest::of_bytes(hash(row.get_ref(7)?, &mut sound)),
        chain: Digest::of_bytes(hash(row.get_ref(8)?, &mut sound)),
    };
    Ok((record, sound))
}

/// A head.
pub(super) fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let mut sound = true;
    Ok(Head {
        stream: StreamId(text(row.get_ref(0)?, &mut sound)),
        version: number(row.get_ref(1)?, &mut sound),
        first_at: time(row.get_ref(2)?, &mut sound),
        last_at: time(row.get_ref(3)?, &mut sound),
        last_kind: text(row.get_ref(4)?, &mut sound),
        hash: Digest::of_bytes(hash(row.get_ref(5)?, &mut sound)),
    })
}

/// A stream that was found by its mark: what is damaged here hides a stream and changes none.
pub(super) fn marked(row: &Row<'_>) -> rusqlite::Result<Marked> {
    let mut sound = true;
    let wake_at = row.get_ref(3)?.as_i64_or_null().unwrap_or_default();
    Ok(Marked {
        place: number(row.get_ref(0)?, &mut sound),
        stream: StreamId(text(row.get_ref(1)?, &mut sound)),
        mark: Mark {
            label: text(row.get_ref(2)?, &mut sound),
            wake_at: wake_at.map(|unix_ms| Timestamp { unix_ms }),
        },
    })
}

/// The bytes of a hash.
pub(super) fn hash(value: ValueRef<'_>, sound: &mut bool) -> Hash {
    let bytes = value.as_blob().unwrap_or_default();
    bytes.try_into().unwrap_or_else(|_| {
        *sound = false;
        BEGINNING
    })
}

fn text(value: ValueRef<'_>, sound: &mut bool) -> String {
    let bytes = value.as_bytes().unwrap_or_else(|_| {
        *sound = false;
        b""
    });
    let text = String::from_utf8_lossy(bytes);
    *sound = *sound && matches!(text, std::borrow::Cow::Borrowed(_));
    text.into_owned()
}

fn number(value: ValueRef<'_>, sound: &mut bool) -> u64 {
    let number = value.as_i64().ok().and_then(|number| u64::try_from(number).ok());
    *sound = *sound && number.is_some();
    number.unwrap_or(0)
}

fn time(value: ValueRef<'_>, sound: &mut bool) -> Timestamp {
    let unix_ms = value.as_i64();
    *sound = *sound && unix_ms.is_ok();
    Timestamp { unix_ms: unix_ms.unwrap_or(0) }
}
