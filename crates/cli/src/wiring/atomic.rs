//! Writes files so that a reader sees the old content or the new, never half of it, and keeps
//! backups that are never overwritten.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

const MAX_ATTEMPTS: u32 = 100;

/// Writes a file by way of a temporary one in the same folder. A link is followed, and the mode of
/// a file that is already there is kept.
pub fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_with(path, bytes, None)
}

/// The same for what only its owner should read.
pub fn write_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_with(path, bytes, Some(Permissions::from_mode(0o600)))
}

fn write_with(path: &Path, bytes: &[u8], mode: Option<Permissions>) -> anyhow::Result<()> {
    let target = target(path)?;
    let there = || std::fs::metadata(&target).ok().map(|kind| kind.permissions());
    let mode = mode.or_else(there);
    let temporary = temporary(&target, bytes, mode)?;
    std::fs::rename(&temporary, &target).map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        failure(&target, &error)
    })?;
    sync_folder(&target);
    Ok(())
}

/// Puts a copy of a file's content beside it, as `<name>.aurora-backup`. An older backup of other
/// content stays: the new one then gets a number. Returns where the content is kept.
pub fn backup(path: &Path, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    backup_as(path, bytes, ".aurora-backup")
}

/// The same with another ending.
pub fn backup_as(path: &Path, bytes: &[u8], ending: &str) -> anyhow::Result<PathBuf> {
    let target = target(path)?;
    let mode = std::fs::metadata(&target).ok().map(|kind| kind.permissions());
    let mut temporary_file = None;
    for number in 0..MAX_ATTEMPTS {
        let name = match number {
            0 => suffixed(&target, ending),
            number => suffixed(&target, &format!("{ending}.{number}")),
        };
        // Reading a pipe would wait for somebody to write into it.
        if name.is_file() && std::fs::read(&name).is_ok_and(|kept| kept == bytes) {
            discard(temporary_file);
            return Ok(name);
        }
        let made = match temporary_file.take() {
            Some(made) => made,
            None => temporary(&target, bytes, mode.clone())?,
        };
        // A hard link appears whole and never replaces what is there, whoever else is at it.
        match std::fs::hard_link(&made, &name) {
            Ok(()) => {
                discard(Some(made));
                return Ok(name);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => temporary_file = Some(made),
            Err(error) => {
                discard(Some(made));
                return Err(failure(&name, &error));
            }
        }
    }
    discard(temporary_file);
    let shown = target.display();
    Err(Failure::failed(format!("cannot back up {shown}: there are {MAX_ATTEMPTS} backups")).into())
}

/// Where a path really leads; the path itself when nothing is there yet.
pub fn target(path: &Path) -> anyhow::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.symlink_metadata().is_ok() {
                let shown = path.display();
                return Err(Failure::failed(format!("{shown} is a link to nothing"))
                    .hint("make the file that it leads to, or remove the link")
                    .into());
            }
            Ok(path.to_owned())
        }
        Err(error) => Err(failure(path, &error)),
    }
}

fn discard(temporary: Option<PathBuf>) {
    if let Some(path) = temporary {
        let _ = std::fs::remove_file(path);
    }
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A new file beside `target` with this content, safely on disk.
fn temporary(target: &Path, bytes: &[u8], mode: Option<Permissions>) -> anyhow::Result<PathBuf> {
    for number in 0..MAX_ATTEMPTS {
        let name = suffixed(target, &format!(".{}-{number}.tmp", std::process::id()));
        let file = match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failure(target, &error)),
        };
        return match fill(file, bytes, mode) {
            Ok(()) => Ok(name),
            Err(error) => {
                discard(Some(name));
                Err(failure(target, &error))
            }
        };
    }
    let shown = target.display();
    Err(Failure::failed(format!("cannot write {shown}: too many temporary files beside it")).into())
}

fn fill(mut file: File, bytes: &[u8], mode: Option<Permissions>) -> std::io::Result<()> {
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the new name durable; where a folder cannot be synced there is nothing more to do.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

fn failure(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::failed(format!("cannot write {}: {error}", path.display())).into()
}
