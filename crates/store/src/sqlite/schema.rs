//! The tables, how a connection is set up, and how an older file becomes one of today.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::Settings;
use super::trouble::{READ_ONLY, io, is_busy, told};
use crate::error::{Error, Result};

/// The newest format that this program reads and writes.
const FORMAT: u32 = 2;
/// How long to wait before asking again for what another process has: a part of a commit.
const PAUSE: Duration = Duration::from_micros(500);
/// The smallest page that a database of SQLite's can have, in bytes.
const SMALLEST: u64 = 512;
/// `AurL`, in the file's header, for `file` and for us.
const APPLICATION: i32 = 0x4175_724c;

/// Format 1. Hashes are 32 bytes, times milliseconds since 1970.
const FORMAT_1: &str = "
CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_kind TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE records (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    stream INTEGER NOT NULL REFERENCES streams (id),
    version INTEGER NOT NULL CHECK (version > 0),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    schema INTEGER NOT NULL,
    payload TEXT NOT NULL,
    hash BLOB NOT NULL,
    chain BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_by_stream ON records (stream, version);
CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    picture TEXT NOT NULL
) STRICT;
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    due INTEGER NOT NULL
) STRICT;
";

/// Format 2: what a stream is found by, and what delivering messages needs. An index by one column is
/// ordered by the row's number within it. Nothing here is hashed, so no record changes.
const FORMAT_2: &str = "
ALTER TABLE streams ADD COLUMN label TEXT;
ALTER TABLE streams ADD COLUMN wake_at INTEGER;
CREATE INDEX streams_by_label ON streams (label) WHERE label IS NOT NULL;
CREATE INDEX streams_by_wake ON streams (wake_at) WHERE wake_at IS NOT NULL;
ALTER TABLE outbox ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_by_due ON outbox (due);
";

/// What raises a file to each format, from nothing on.
const STEPS: [&str; FORMAT as usize] = [FORMAT_1, FORMAT_2];

/// Opens the database for writing, and makes or raises it where that is needed.
pub(super) fn open(settings: &Settings) -> Result<Connection> {
    make_file(&settings.path)?;
    let mut connection = connect(settings)?;
    let path = &settings.path;
    let asked = identity(&connection).map_err(told("open", path))?;
    if asked.format > FORMAT {
        return Err(Error::Newer { path: path.clone(), found: asked.format, known: FORMAT });
    }
    if asked.strange > 0 || asked.application != APPLICATION && !asked.is_new() {
        let what = format!("{} is a database, but no log of Aurora's", path.display());
        return Err(Error::Corrupt { what });
    }
    log_ahead(&connection, settings)?;
    if asked.format < FORMAT {
        raise(&mut connection).map_err(told("make the tables", path))?;
    }
    if let Some(pages) = settings.max_pages {
        let limit = connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        limit.map_err(told("limit the size", path))?;
    }
    Ok(connection)
}

/// Another connection to a database that is open already.
pub(super) fn connect(settings: &Settings) -> Result<Connection> {
    let path = &settings.path;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(told("open", path))?;
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(told("open", path))? {
        let message = READ_ONLY.to_owned();
        return Err(Error::Database { doing: "write", path: path.clone(), message });
    }
    set_up(&mut connection, settings.patience).map_err(told("open", path))?;
    Ok(connection)
}

fn set_up(connection: &mut Connection, patience: Duration) -> rusqlite::Result<()> {
    // SQLite's own way of waiting sleeps longer and longer, and whoever came last overtakes.
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        thread::sleep(PAUSE);
        since.elapsed() < patience
    }))?;
    // Durable when it is answered: every commit is written through to the disk.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // Our own queries only, kept prepared.
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Whose file this is, and how old.
struct Identity {
    application: i32,
    format: u32,
    tables: u32,
    /// Triggers and views: we have none, and what somebody else put there would run when we write.
    strange: u32,
}

impl Identity {
    fn is_new(&self) -> bool {
        self.application == 0 && self.format == 0 && self.tables == 0
    }
}

fn identity(connection: &Connection) -> rusqlite::Result<Identity> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    // In this order: another process may make everything between two questions, and who it belongs
    // to must not be the older answer.
    let tables = "SELECT count(*), count(*) FILTER (WHERE type IN ('trigger', 'view'))
        FROM sqlite_schema";
    let (tables, strange) =
        connection.query_row(tables, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let format = u32::try_from(pragma("user_version")?).unwrap_or(u32::MAX);
    let application = pragma("application_id")?;
    Ok(Identity { application, format, tables, strange })
}

/// Writes go to a log beside the file first. Changing to that needs the file for itself for a moment,
/// and SQLite does not wait for it; so we do.
fn log_ahead(connection: &Connection, settings: &Settings) -> Result<()> {
    let path = &settings.path;
    let ask = || connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    if ask().map_err(told("open", path))? == "wal" {
        return Ok(());
    }
    let until = Instant::now() + settings.patience;
    let set = || {
        let text = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        connection.pragma_update_and_check(None, "journal_mode", "wal", text)
    };
    loop {
        match set() {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let message = format!(
                    "the file system has no shared memory for it: mode {mode}; use a local disk"
                );
                return Err(Error::Database { doing: "open", path: path.clone(), message });
            }
            Err(error) if is_busy(&error) && Instant::now() < until => {
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(told("open", path)(error)),
        }
    }
}

/// Makes a file of today of an older one, or of an empty one, all of it or nothing.
fn raise(connection: &mut Connection) -> rusqlite::Result<()> {
    let behavior = rusqlite::TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behavior)?;
    // Another process may have been faster.
    let format = identity(&transaction)?.format;
    if format < FORMAT {
        for step in STEPS.iter().skip(format as usize) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

/// Makes the file ourselves, so that only its owner may read it: SQLite gives its other files the
/// same mode. A link in its place is not followed.
///
/// A file that is there is not opened: closing it again would take away the locks that SQLite holds on
/// it for another store of this process. For the same reason only one makes it at a time.
fn make_file(path: &Path) -> Result<()> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut make = DirBuilder::new();
    make.recursive(true).mode(0o700).create(folder).map_err(io("create", folder))?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            drop(file);
            let folder_file = File::open(folder).map_err(io("open", folder))?;
            folder_file.sync_all().map_err(io("sync", folder))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path).map_err(io("look at", path))?;
            // SQLite takes what is shorter than its smallest page for nothing at all.
            if found.is_file() && (1..SMALLEST).contains(&found.len()) {
                let what = format!("{} is no log: it was cut off", path.display());
                return Err(Error::Corrupt { what });
            }
            if found.is_file() {
                return Ok(());
            }
            Err(io("open", path)(std::io::Error::other("it is a link, or no file")))
        }
        Err(error) => Err(io("create", path)(error)),
    }
}
