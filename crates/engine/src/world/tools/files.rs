//! Reading, listing, finding and writing files of a desk.

use aurora_model::{Digest, RepoPath, Target};
use aurora_workspace::Error;
use aurora_workspace::desk::{FileRead, Files, ListedKind};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::args::shown;
use super::patch::Change;
use super::told::Made;

/// A file that is larger is not read.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// More of a file is not told at once.
const MAX_TOLD_BYTES: usize = 64 << 10;
/// More names are not listed.
const MAX_NAMES: usize = 1000;
/// More files are not searched.
const MAX_SEARCHED: usize = 20_000;
/// A file that is larger is not searched.
const MAX_SEARCHED_BYTES: u64 = 1 << 20;
/// More places are not told.
const MAX_PLACES: usize = 100;
/// Folders deeper than this are not searched.
const MAX_DEPTH: usize = 64;

/// An error of the workspace in words for a model.
pub(super) fn failed(error: &Error) -> Made {
    let kind = match error {
        Error::NotFound { .. } => "not_found",
        Error::TooLarge { .. } => "too_large",
        Error::Refused { .. } => "not_allowed",
        _ => "failed",
    };
    // Where the desk is on this machine is nothing for a model.
    let message = match error {
        Error::Io { doing, source, .. } => format!("could not {doing} it: {source}"),
        other => other.to_string(),
    };
    Made::failed(kind, &message)
}

/// A file, where there is one.
pub(in crate::world) fn look(files: &Files, path: &RepoPath) -> Result<Option<FileRead>, Error> {
    files.read(path, MAX_FILE_BYTES)
}

/// The hash of a content.
pub(in crate::world) fn hash(bytes: &[u8]) -> Digest {
    Digest::of_bytes(Sha256::digest(bytes).into())
}

/// A path as a target: with the hash of its content, or nothing where there is none.
pub(in crate::world) fn target(files: &Files, path: &RepoPath) -> Result<Target, Error> {
    let content = look(files, path)?.map(|file| hash(&file.bytes));
    Ok(Target::Path { path: path.to_string(), content })
}

pub(super) fn read(files: &Files, path: &RepoPath, first: u64, lines: Option<u64>) -> Made {
    let file = match look(files, path) {
        Ok(Some(file)) => file,
        Ok(None) => return Made::failed("not_found", &format!("there is no file {path}")),
        Err(error) => return failed(&error),
    };
    let Ok(text) = String::from_utf8(file.bytes) else {
        return Made::failed("not_text", &format!("{path} is no text"));
    };
    let skip = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let most = lines.map_or(usize::MAX, |lines| usize::try_from(lines).unwrap_or(usize::MAX));
    let (mut told, mut next) = (String::new(), None);
    for (at, line) in text.split_inclusive('\n').enumerate().skip(skip).take(most) {
        if told.len() + line.len() > MAX_TOLD_BYTES && !told.is_empty() {
            next = Some(at + 1);
            break;
        }
        told.push_str(cut(line, MAX_TOLD_BYTES));
    }
    if let Some(next) = next {
        told.push_str(&format!("\n[there is more: go on with first_line {next}]\n"));
    }
    Made::text(told, format!("read {path}"))
}

/// As much of a text as has at most so many bytes.
fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

pub(super) fn list(files: &Files, path: Option<&RepoPath>) -> Made {
    let found = match files.list(path, MAX_NAMES) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return Made::failed("not_found", &format!("there is no folder {}", shown(path)));
        }
        Err(error) => return failed(&error),
    };
    let more = found.len() == MAX_NAMES;
    let lines = found.iter().map(|one| {
        let name = String::from_utf8_lossy(&one.name);
        match one.kind {
            ListedKind::Folder => format!("{name}/\n"),
            ListedKind::File => format!("{name} ({} bytes)\n", one.bytes),
            ListedKind::Link => format!("{name} (link, not followed)\n"),
            ListedKind::Special => format!("{name} (no file)\n"),
        }
    });
    let mut told: String = lines.collect();
    if told.is_empty() {
        told.push_str("[nothing is in it]\n");
    }
    if more {
        told.push_str("[there may be more]\n");
    }
    Made::text(told, format!("listed {}", shown(path)))
}

pub(super) fn search(files: &Files, text: &str, path: Option<&RepoPath>) -> Made {
    let mut search = Search { files, text, told: String::new(), places: 0, searched: 0 };
    if let Err(error) = search.folder(path, 0) {
        return failed(&error);
    }
    if search.places == 0 {
        search.told.push_str("[it is nowhere]\n");
    }
    if search.is_over() {
        search.told.push_str("[not everything was searched: name a folder]\n");
    }
    Made::text(search.told, format!("searched {}", shown(path)))
}

struct Search<'a> {
    files: &'a Files,
    text: &'a str,
    told: String,
    places: usize,
    searched: usize,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.places >= MAX_PLACES || self.searched >= MAX_SEARCHED
    }

    fn folder(&mut self, path: Option<&RepoPath>, depth: usize) -> Result<(), Error> {
        let found = self.files.list(path, MAX_SEARCHED)?.unwrap_or_default();
        for one in found {
            if self.is_over() || depth > MAX_DEPTH {
                return Ok(());
            }
            let Some(below) = RepoPath::below(path, &one.name) else { continue };
            match one.kind {
                ListedKind::Folder => self.folder(Some(&below), depth + 1)?,
                ListedKind::File if one.bytes <= MAX_SEARCHED_BYTES => self.file(&below),
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &RepoPath) {
        self.searched += 1;
        // What cannot be read, or is no text, has no lines.
        let Ok(Some(file)) = self.files.read(path, MAX_SEARCHED_BYTES) else { return };
        let Ok(content) = String::from_utf8(file.bytes) else { return };
        for (at, line) in content.lines().enumerate() {
            if line.contains(self.text) && self.places < MAX_PLACES {
                self.places += 1;
                self.told.push_str(&format!("{path}:{}: {}\n", at + 1, cut(line, 400)));
            }
        }
    }
}

pub(super) fn write(
    files: &Files,
    path: &RepoPath,
    content: &str,
    executable: Option<bool>,
) -> Made {
    match files.write(path, content.as_bytes(), executable) {
        Ok(()) => {
            let told = json!({"written": path.to_string(), "bytes": content.len()});
            Made::told(&told, format!("wrote {path} ({} bytes)", content.len()))
        }
        Err(error) => failed(&error),
    }
}

/// Makes the changes of a patch, which were all worked out before the first is made.
pub(super) fn change(files: &Files, changes: &[Change]) -> Made {
    for one in changes {
        let done = match &one.after {
            Some(after) => files.write(&one.path, &after.bytes, Some(after.executable)),
            None => files.remove(&one.path),
        };
        if let Err(error) = done {
            return failed(&error);
        }
    }
    let paths: Vec<String> = changes.iter().map(|one| one.path.to_string()).collect();
    let summary = format!("applied a patch to {}", paths.join(", "));
    Made::told(&json!({"changed": paths}), summary)
}

#[cfg(test)]
mod tests;
