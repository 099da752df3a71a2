//! Walks through a patch as `git apply` does: finds each header, then what belongs to it.

use aurora_model::Span;

use super::header::{self, Header};
use super::hunk::{self, Hunks};
use super::{Change, PatchFile, name};

/// Why and where reading stopped.
#[derive(Debug)]
pub(super) struct Refused {
    /// The reason in words.
    pub why: String,
    /// The byte of the patch.
    pub at: usize,
}

impl Refused {
    /// A refusal at a place.
    pub(super) fn new(why: impl Into<String>, at: usize) -> Self {
        Self { why: why.into(), at }
    }
}

/// The line that starts here, with its end.
pub(super) fn line_at(patch: &[u8], at: usize) -> &[u8] {
    let rest = patch.get(at..).unwrap_or(&[]);
    let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
    rest.get(..end).unwrap_or(rest)
}

/// A line without its end.
pub(super) fn content(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Where a header was found.
struct Found {
    header: Header,
    start: usize,
    end: usize,
}

/// Reads all files of a patch.
pub(super) fn read(patch: &[u8], files: &mut Vec<PatchFile>) -> Result<(), Refused> {
    let mut at = 0;
    // How many leading folders are stripped: one, until a name without a folder makes git guess.
    let mut folders = 1;
    let mut guessed = false;
    while let Some(found) = find_header(patch, at, &mut folders, &mut guessed)? {
        let Found { mut header, start, end } = found;
        let mut hunks = hunk::read(patch, end, &header)?;
        if hunks.count == 0 {
            hunk::binary(patch, end, &mut hunks)?;
        }
        hunk::nothing_left_over(patch, &hunks)?;
        settle(&mut header, &hunks, start)?;
        at = hunks.end;
        files.push(file(header, &hunks, Span::new(start, at)));
    }
    if files.is_empty() {
        return Err(Refused::new("the patch names no file", 0));
    }
    Ok(())
}

/// Finds the next header from a place on.
fn find_header(
    patch: &[u8],
    from: usize,
    folders: &mut usize,
    guessed: &mut bool,
) -> Result<Option<Found>, Refused> {
    let mut at = from;
    while at < patch.len() {
        let line = line_at(patch, at);
        let next = at + line.len();
        if line.len() < 6 {
            at = next;
            continue;
        }
        if line.starts_with(b"@@ -") && hunk::range(line).is_some() {
            return Err(Refused::new("a hunk stands without a header", at));
        }
        if patch.len() < next + 6 {
            break;
        }
        if line.starts_with(b"diff --git ") {
            let (header, end) = header::git(patch, at, *folders)?;
            return Ok(Some(Found { header, start: at, end }));
        }
        let second = line_at(patch, next);
        let after = next + second.len();
        let third = patch.get(after..).unwrap_or(&[]);
        if line.starts_with(b"--- ")
            && second.starts_with(b"+++ ")
            && third.len() >= 14usize.saturating_sub(line.len())
            && third.starts_with(b"@@ -")
        {
            let header = header::traditional(line, second, at, folders, guessed)?;
            return Ok(Some(Found { header, start: at, end: after }));
        }
        at = next;
    }
    Ok(None)
}

/// Completes what the hunks tell about a header and checks that both agree.
fn settle(header: &mut Header, hunks: &Hunks, at: usize) -> Result<(), Refused> {
    let several = hunks.count > 1;
    if header.is_new.is_none() && (hunks.old_lines > 0 || several) {
        header.is_new = Some(false);
    }
    if header.is_delete.is_none() && (hunks.new_lines > 0 || several) {
        header.is_delete = Some(false);
    }
    let (is_new, is_delete) = (header.is_new == Some(true), header.is_delete == Some(true));
    if is_new && hunks.old_lines > 0 {
        return Err(Refused::new("a new file depends on old content", at));
    }
    if is_delete && hunks.new_lines > 0 {
        return Err(Refused::new("a deleted file still has content", at));
    }
    if is_new && header.old.is_some() || is_delete && header.new.is_some() {
        return Err(Refused::new("a new or deleted file has two names", at));
    }
    let other_mode = header.old_mode.is_some()
        && header.new_mode.is_some()
        && header.old_mode != header.new_mode;
    let says_something =
        is_new || header.is_delete != Some(false) || header.rename || header.copy || other_mode;
    if hunks.count == 0 && !hunks.binary && !says_something {
        return Err(Refused::new("a file's header is followed by no change", at));
    }
    for name in header.old.iter().chain(&header.new) {
        if let Some(why) = name::unsafe_reason(name) {
            return Err(Refused::new(why, at));
        }
    }
    if !header.rename
        && !header.copy
        && header.old.is_some()
        && header.new.is_some()
        && header.old != header.new
    {
        return Err(Refused::new("the old and the new name differ without a rename", at));
    }
    Ok(())
}

/// What one file's part comes to.
fn file(header: Header, hunks: &Hunks, span: Span) -> PatchFile {
    // A traditional patch does not say whether a file comes or goes: without old lines git
    // creates what is not there, and without new lines it removes what becomes empty.
    let change = if header.rename {
        Change::Renamed
    } else if header.copy {
        Change::Copied
    } else if header.is_delete == Some(true) || header.is_delete.is_none() && hunks.old_lines > 0 {
        Change::Deleted
    } else if header.is_new == Some(true) {
        Change::Added
    } else {
        Change::Modified
    };
    let new = if change == Change::Deleted { None } else { header.new };
    PatchFile {
        old: header.old,
        new,
        change,
        old_mode: header.old_mode,
        new_mode: header.new_mode,
        binary: hunks.binary,
        added_lines: hunks.added,
        removed_lines: hunks.removed,
        span,
    }
}
