//! What follows a header: hunks whose own counts say where they end, or binary data.

use super::header::Header;
use super::reader::{Refused, line_at};

/// The hunks of one file.
#[derive(Debug, Default)]
pub(super) struct Hunks {
    /// How many.
    pub count: usize,
    /// Lines that they expect.
    pub old_lines: u64,
    /// Lines that they leave.
    pub new_lines: u64,
    /// Lines that they add.
    pub added: u64,
    /// Lines that they remove.
    pub removed: u64,
    /// The content is binary.
    pub binary: bool,
    /// Where they end.
    pub end: usize,
}

/// The line counts of a hunk's header, when the line is one.
pub(super) fn range(line: &[u8]) -> Option<(u64, u64)> {
    let line = line.strip_suffix(b"\n")?;
    let rest = line.strip_prefix(b"@@ -")?;
    let (old, rest) = one_range(rest)?;
    let rest = rest.strip_prefix(b" +")?;
    let (new, rest) = one_range(rest)?;
    rest.starts_with(b" @@").then_some((old, new))
}

/// `start[,count]`: the count and what follows.
fn one_range(text: &[u8]) -> Option<(u64, &[u8])> {
    let (_, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(count) => number(count),
        None => Some((1, rest)),
    }
}

/// A decimal number and what follows.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(length)?;
    let value = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((value, rest))
}

/// Reads all hunks from a place on.
pub(super) fn read(patch: &[u8], from: usize, header: &Header) -> Result<Hunks, Refused> {
    let mut hunks = Hunks { end: from, ..Hunks::default() };
    while patch.get(hunks.end..).is_some_and(|rest| rest.len() > 4 && rest.starts_with(b"@@ -")) {
        one(patch, &mut hunks)?;
        let (new, gone) = (header.is_new == Some(true), header.is_delete == Some(true));
        if new && hunks.old_lines > 0 || gone && hunks.new_lines > 0 {
            let why = "a new file has old content, or a deleted one new content";
            return Err(Refused::new(why, hunks.end));
        }
    }
    Ok(hunks)
}

/// Reads one hunk.
fn one(patch: &[u8], hunks: &mut Hunks) -> Result<(), Refused> {
    let start = hunks.end;
    let line = line_at(patch, start);
    let Some((mut old, mut new)) = range(line) else {
        return Err(Refused::new("a hunk's header is not well formed", start));
    };
    hunks.old_lines = hunks.old_lines.saturating_add(old);
    hunks.new_lines = hunks.new_lines.saturating_add(new);
    hunks.count += 1;
    let mut at = start + line.len();
    let mut changes = 0_u64;
    let bad = |at: usize| Refused::new("a hunk's lines do not add up to its header", at);
    while old > 0 || new > 0 {
        let line = line_at(patch, at);
        if line.last() != Some(&b'\n') {
            return Err(bad(at));
        }
        match line.first() {
            Some(b'\n' | b' ') => {
                old = old.checked_sub(1).ok_or_else(|| bad(at))?;
                new = new.checked_sub(1).ok_or_else(|| bad(at))?;
            }
            Some(b'-') => {
                old = old.checked_sub(1).ok_or_else(|| bad(at))?;
                hunks.removed += 1;
                changes += 1;
            }
            Some(b'+') => {
                new = new.checked_sub(1).ok_or_else(|| bad(at))?;
                hunks.added += 1;
                changes += 1;
            }
            Some(b'\\') if line.len() >= 12 && line.starts_with(b"\\ ") => {}
            _ => return Err(bad(at)),
        }
        at += line.len();
    }
    if changes == 0 {
        return Err(Refused::new("a hunk changes nothing", start));
    }
    let rest = patch.get(at..).unwrap_or(&[]);
    if rest.len() > 12 && rest.starts_with(b"\\ ") {
        at += line_at(patch, at).len();
    }
    hunks.end = at;
    Ok(())
}

/// Reads binary data where no hunks are.
pub(super) fn binary(patch: &[u8], from: usize, hunks: &mut Hunks) -> Result<(), Refused> {
    let line = line_at(patch, from);
    if line == b"GIT binary patch\n" {
        let forward = block(patch, from + line.len())?
            .ok_or_else(|| Refused::new("a binary patch holds no data", from))?;
        let reverse = block(patch, forward)?;
        hunks.end = reverse.unwrap_or(forward);
        hunks.binary = true;
    } else if line.ends_with(b" differ\n")
        && [&b"Binary files "[..], b"Files "].iter().any(|start| line.starts_with(start))
    {
        hunks.end = from + line.len();
        hunks.binary = true;
    }
    Ok(())
}

/// Reads one `literal` or `delta` block; nothing when there is none here.
fn block(patch: &[u8], from: usize) -> Result<Option<usize>, Refused> {
    let line = line_at(patch, from);
    if !line.starts_with(b"literal ") && !line.starts_with(b"delta ") {
        return Ok(None);
    }
    let mut at = from + line.len();
    loop {
        let line = line_at(patch, at);
        at += line.len();
        if line == b"\n" {
            return Ok(Some(at));
        }
        let length = match line.first() {
            Some(byte @ b'A'..=b'Z') => usize::from(byte - b'A') + 1,
            Some(byte @ b'a'..=b'z') => usize::from(byte - b'a') + 27,
            _ => 0,
        };
        let most = line.len().saturating_sub(2) / 5 * 4;
        let whole = line.len() >= 7 && (line.len() - 2).is_multiple_of(5) && line.ends_with(b"\n");
        if !whole || length == 0 || most < length || length + 4 <= most {
            return Err(Refused::new("binary data is not well formed", at - line.len()));
        }
    }
}

/// git skips what follows the last hunk without a word; lines that look like a part of the hunk
/// mean that its counts were changed.
pub(super) fn nothing_left_over(patch: &[u8], hunks: &Hunks) -> Result<(), Refused> {
    if hunks.count == 0 {
        return Ok(());
    }
    let line = line_at(patch, hunks.end);
    let signature = line == b"-- \n" || line == b"-- \r\n" || line == b"--\n";
    let next_file =
        line.starts_with(b"--- ") && line_at(patch, hunks.end + line.len()).starts_with(b"+++ ");
    if matches!(line.first(), Some(b'+' | b'-' | b' ' | b'\\')) && !signature && !next_file {
        return Err(Refused::new("lines follow a hunk beyond its counts", hunks.end));
    }
    Ok(())
}
