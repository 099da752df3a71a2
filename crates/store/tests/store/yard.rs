//! A folder with a log in it, and short words for what the tests do with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use aurora_model::Timestamp;
use aurora_store::{
    Append, Appended, Expected, NewRecord, Record, Result, Settings, SqliteStore, Store, StreamId,
    Verification, verify,
};

/// A folder that goes with the test.
pub struct Yard {
    pub folder: tempfile::TempDir,
}

impl Yard {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn settings(&self) -> Settings {
        Settings::within(&self.folder.path().join(".aurora"))
    }

    pub fn path(&self) -> PathBuf {
        self.settings().path
    }

    pub fn open(&self) -> SqliteStore {
        SqliteStore::open(self.settings()).unwrap()
    }

    /// The files of a log that nobody has open, once more.
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        std::fs::create_dir(copy.path().parent().unwrap()).unwrap();
        std::fs::copy(self.path(), copy.path()).unwrap();
        copy
    }

    /// The database, behind the store's back.
    pub fn sql(&self, words: &str) {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        let unchecked = "PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on";
        connection.execute_batch(unchecked).unwrap();
        connection.execute_batch(words).unwrap();
    }
}

/// Waits for an answer.
pub fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub fn stream(name: &str) -> StreamId {
    StreamId(name.to_owned())
}

pub fn one(name: &str, payload: &str) -> Append {
    let record = NewRecord { kind: "k".to_owned(), schema: 1, payload: payload.to_owned() };
    Append {
        stream: stream(name),
        expected: Expected::Any,
        at: Timestamp { unix_ms: 1_700_000_000_000 },
        records: vec![record],
        outgoing: Vec::new(),
        mark: None,
    }
}

pub fn add(store: &SqliteStore, name: &str, payload: &str) -> Result<Appended> {
    wait(store.append(one(name, payload)))
}

pub fn all(store: &SqliteStore) -> Vec<Record> {
    wait(store.read_all(0, usize::MAX)).unwrap()
}

pub fn verified(store: &SqliteStore) -> Verification {
    wait(verify(store, None)).unwrap()
}

pub fn assert_whole(store: &SqliteStore) {
    let seen = verified(store);
    assert!(seen.is_whole(), "{:?}", seen.findings);
}

/// This test once more, in another process that knows what it is to do from the environment.
pub fn again(test: &str, name: &str, value: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(name, value);
    command
}
