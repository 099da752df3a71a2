//! What SQLite and the system say, as errors that a caller can do something about.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::Error;

/// SQLite could not make room for the memory that processes share: a full disk, mostly.
const NO_ROOM_FOR_SHARED_MEMORY: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// Said when nothing may be written.
pub(super) const READ_ONLY: &str = "the file, its folder or its disk is read-only";

/// Puts an error of SQLite's into words.
pub(super) fn told<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl Fn(rusqlite::Error) -> Error + 'a {
    move |error| {
        let path = path.to_owned();
        let code = error.sqlite_error_code();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        let message = match code {
            Some(ErrorCode::DiskFull) => return Error::Full { path },
            Some(_) if extended == Some(NO_ROOM_FOR_SHARED_MEMORY) => return Error::Full { path },
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(&path) => {
                return Error::Full { path };
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                let what = format!("{} is damaged, or no database: {error}", path.display());
                return Error::Corrupt { what };
            }
            Some(ErrorCode::ReadOnly) => READ_ONLY.to_owned(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another process keeps it locked".to_owned()
            }
            _ => error.to_string(),
        };
        Error::Database { doing, path, message }
    }
}

/// Puts an error of the system into words.
pub(super) fn io<'a>(doing: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> Error + 'a {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    move |source| match source.kind() {
        StorageFull | QuotaExceeded => Error::Full { path: path.to_owned() },
        _ => Error::Io { doing, path: path.to_owned(), source },
    }
}

/// Whether another process has it.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// Whether there is no room left where this file is.
fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|room| room.f_bavail == 0)
}
